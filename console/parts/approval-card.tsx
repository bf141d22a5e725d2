/** A question of a run: what is asked, with the exact bytes, and the answers. The answers stay in view however long the question is. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Approvals } from '#server/api';
import { post } from '../client.ts';
import { t } from '../language.ts';
import { link } from '../route.ts';
import { bytes, date, line, short } from '../text.ts';
import { Diff } from './diff.tsx';
import { LongText } from './long-text.tsx';
import { typedText } from './fields.tsx';
import { ActionButton, State, listed } from './parts.tsx';
import { isTyping } from './virtual-list.tsx';

/** The keys are those of the terminal. */
const SCOPES = {
  once: ['y', 'Yes, once'],
  run: ['r', 'Yes, for this run'],
  skill: ['a', 'Yes, for this skill as it is'],
} as const;

type Scope = keyof typeof SCOPES;

interface ApprovalCardProps {
  readonly approval: Approvals['pending'][number];
  /** With a failure, such as an answer that came first from elsewhere. The card may be gone then, so that the page shows it. */
  readonly onAnswered: (cause?: unknown) => void;
  /** Whether keys answer this question: one question at a time. */
  readonly hasKeys?: boolean;
}

export function ApprovalCard({ approval, onAnswered, hasKeys = false }: ApprovalCardProps): JSX.Element {
  const [reason, setReason] = useState('');
  const { id, tool, risk, scopes, run, isAnswered } = approval;
  const answer = async (verdict: 'yes' | 'no', scope: Scope): Promise<void> => {
    await post('/approvals/{id}', { id }, { verdict, scope, reason: verdict === 'no' ? typedText(reason) : undefined });
    onAnswered();
  };
  const refuse = (): Promise<void> => answer('no', 'once');
  useKeys(hasKeys && !isAnswered, (key) => {
    const scope = scopes.find((one) => SCOPES[one][0] === key);
    if (scope !== undefined) answer('yes', scope).catch(onAnswered);
    else if (key === 'n') refuse().catch(onAnswered);
  });
  return (
    <article class={`approval panel ${risk}`} aria-label={`${tool} ${short(id)}`}>
      <header>
        <h3>{line(tool)}</h3>
        <State name={risk} />
        <span class="faint">{t('risk')}</span>
        <span class="faint end">
          {run === undefined ? null : (
            <>
              <a href={link('runs', run)}>{run}</a> ·{' '}
            </>
          )}
          {date(approval.at)} · <code>{short(id)}</code>
        </span>
      </header>
      <div class="approval-detail">
        <Detail detail={approval.detail} />
      </div>
      <Why approval={approval} />
      {isAnswered ? (
        <p class="faint" role="status">
          {t('Answered. The run has not picked the answer up yet.')}
        </p>
      ) : (
        <div class="answers">
          {scopes.map((scope) => (
            <ActionButton
              key={scope}
              kind={scope === 'once' ? 'primary' : ''}
              act={() => answer('yes', scope)}
              onError={onAnswered}
            >
              {t(SCOPES[scope][1])} {hasKeys ? <Key name={SCOPES[scope][0]} /> : null}
            </ActionButton>
          ))}
          <span class="refusal">
            <input
              type="text"
              value={reason}
              placeholder={t('Reason (the model reads it)')}
              aria-label={t('Reason (the model reads it)')}
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
              onKeyDown={({ key }) => {
                if (key === 'Enter') refuse().catch(onAnswered);
              }}
            />
            <ActionButton kind="danger" act={refuse} onError={onAnswered}>
              {t('No')} {hasKeys ? <Key name="n" /> : null}
            </ActionButton>
          </span>
        </div>
      )}
    </article>
  );
}

function Key({ name }: { readonly name: string }): JSX.Element {
  return <kbd aria-hidden="true">{name}</kbd>;
}

/** A key that was meant for what was there before must not answer a question that has just appeared. */
const QUIET_MS = 500;

function useKeys(isOn: boolean, press: (key: string) => void): void {
  const since = useRef(0);
  useEffect(() => {
    since.current = performance.now();
  }, [isOn]);
  useEffect(() => {
    if (!isOn) return undefined;
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
      if (performance.now() - since.current >= QUIET_MS) press(event.key);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
}

/** Why it is asked and what it reaches, on as few lines as fit. */
function Why({ approval }: Pick<ApprovalCardProps, 'approval'>): JSX.Element {
  const { rule, origin, skill, affects, isolation, capabilities } = approval;
  const facts: readonly (readonly [string, string | undefined])[] = [
    [t('Rule'), `${line(rule)} (${[t(origin.layer), line(origin.where)].filter((part) => part !== '').join(' ')})`],
    [t('Skill'), skill && `${line(skill.id)} ${short(skill.digest)}`],
    [t('Isolation'), isolation && line(isolation)],
    [t('Reaches'), listed(capabilities, '; ')],
    [t('Touches'), listed(affects)],
  ];
  return (
    <dl class="why">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function Detail({ detail }: { readonly detail: Approvals['pending'][number]['detail'] }): JSX.Element {
  switch (detail.kind) {
    case 'command':
      return <LongText text={detail.command} label={t('Command')} isWhole />;
    case 'script':
      return (
        <LongText
          text={[detail.script, ...detail.args.map((one) => JSON.stringify(one))].join(' ')}
          label={t('Script')}
          isWhole
        />
      );
    case 'write':
      return (
        <>
          <p>
            <code>{line(detail.path)}</code> {detail.before === undefined ? t('is created') : t('is changed')}
          </p>
          <Diff before={detail.before ?? ''} after={detail.after} label={line(detail.path)} />
        </>
      );
    case 'delete':
      return (
        <p>
          <code>{line(detail.path)}</code> {t('is deleted')} ({bytes(detail.bytes)})
        </p>
      );
    case 'request':
      return <LongText text={`${detail.method} ${detail.url}\n\n${detail.body}`} label={t('Request')} isWhole />;
    case 'packages':
      return <LongText text={[detail.index, ...detail.packages].join('\n')} label={t('Packages')} isWhole />;
    case 'other':
      return <LongText text={detail.summary} label={t('Action')} isWhole />;
  }
}

/** A question of a run: what is asked, with the exact bytes, and the answers. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { Approvals } from '#server/api';
import { post } from '../client.ts';
import { t } from '../language.ts';
import { link } from '../route.ts';
import { bytes, date, line, short } from '../text.ts';
import { Diff } from './diff.tsx';
import { LongText } from './long-text.tsx';
import { typedText } from './fields.tsx';
import { ActionButton, Facts, State, listed } from './parts.tsx';

const SCOPES = { once: 'Yes, once', run: 'Yes, for this run', skill: 'Yes, for this skill as it is' } as const;

interface ApprovalCardProps {
  readonly approval: Approvals['pending'][number];
  /** With a failure, such as an answer that came first from elsewhere. The card may be gone then, so that the page shows it. */
  readonly onAnswered: (cause?: unknown) => void;
}

export function ApprovalCard({ approval, onAnswered }: ApprovalCardProps): JSX.Element {
  const [reason, setReason] = useState('');
  const { id, tool, risk, rule, origin, skill, affects, isolation, capabilities, scopes, run } = approval;
  const answer = async (verdict: 'yes' | 'no', scope: keyof typeof SCOPES): Promise<void> => {
    await post('/approvals/{id}', { id }, { verdict, scope, reason: verdict === 'no' ? typedText(reason) : undefined });
    onAnswered();
  };
  return (
    <article class={`approval panel ${risk}`} aria-label={`${tool} ${short(id)}`}>
      <header>
        <h3>{line(tool)}</h3>
        <State name={risk} />
        <span class="faint">{t('risk')}</span>
        <span class="faint end">
          {date(approval.at)} · <code>{short(id)}</code>
        </span>
      </header>
      <Detail detail={approval.detail} />
      <Facts
        facts={(
          [
            [t('Rule'), <code>{line(rule)}</code>],
            [t('From'), `${t(origin.layer)}${origin.where === '' ? '' : ` (${line(origin.where)})`}`],
            [t('Skill'), skill && `${line(skill.id)} ${short(skill.digest)}`],
            [t('Isolation'), isolation && line(isolation)],
            [t('Reaches'), listed(capabilities, '; ')],
            [t('Touches'), listed(affects)],
            [t('Run'), run && <a href={link('runs', run)}>{run}</a>],
          ] as const
        ).filter(([, value]) => value !== undefined)}
      />
      {approval.isAnswered ? (
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
              {t(SCOPES[scope])}
            </ActionButton>
          ))}
          <span class="refusal">
            <input
              type="text"
              value={reason}
              placeholder={t('Reason (the model reads it)')}
              aria-label={t('Reason (the model reads it)')}
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
            />
            <ActionButton kind="danger" act={() => answer('no', 'once')} onError={onAnswered}>
              {t('No')}
            </ActionButton>
          </span>
        </div>
      )}
    </article>
  );
}

function Detail({ detail }: { readonly detail: Approvals['pending'][number]['detail'] }): JSX.Element {
  switch (detail.kind) {
    case 'command':
      return <LongText text={detail.command} label={t('Command')} />;
    case 'script':
      return (
        <LongText
          text={[detail.script, ...detail.args.map((one) => JSON.stringify(one))].join(' ')}
          label={t('Script')}
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
      return <LongText text={`${detail.method} ${detail.url}\n\n${detail.body}`} label={t('Request')} />;
    case 'packages':
      return <LongText text={[detail.index, ...detail.packages].join('\n')} label={t('Packages')} />;
    case 'other':
      return <LongText text={detail.summary} label={t('Action')} />;
  }
}

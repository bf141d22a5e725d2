import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { ServerStatus } from '#server/api';
import { useVersion } from '../changes.ts';
import { remove } from '../client.ts';
import { useFailure, useGet } from '../hooks.ts';
import { t } from '../language.ts';
import { allowNotices, noticeState } from '../notice.ts';
import { ApprovalCard } from '../parts/approval-card.tsx';
import { ModeSwitch } from '../parts/mode-switch.tsx';
import { ActionButton, Empty, Problem, Section, State, Waiting } from '../parts/parts.tsx';
import { date, line, short } from '../text.ts';

export function ApprovalsPage({ status }: { readonly status: ServerStatus | undefined }): JSX.Element {
  const { data, error, reload } = useGet('/approvals', {}, useVersion('questions', 'answered'));
  const [problem, fail] = useFailure();
  if (data === undefined) return <Waiting error={error} />;
  const revoke = async (id: string): Promise<void> => {
    await remove('/approvals/stored/{id}', { id });
    reload();
  };
  const answered = (cause?: unknown): void => {
    fail(cause);
    reload();
  };
  const waiting = data.pending.filter(({ isAnswered }) => !isAnswered).length;
  const current = data.pending.find(({ isAnswered }) => !isAnswered)?.id;
  return (
    <div class="page">
      <div class="page-title">
        <h1>{t('Approvals')}</h1>
        <ModeSwitch status={status} report={fail} />
      </div>
      <div class="dock-line">
        <p class="faint" role="status" aria-live="polite">
          {waiting === 0 ? t('No run waits for you.') : t('{count} waiting', { count: waiting })}
        </p>
        <Notices />
      </div>
      <Problem error={problem} />
      {data.pending.length === 0 ? (
        <Empty title={t('No questions')}>
          <p>{t('Questions of runs in a terminal, on this page and of the MCP server appear here by themselves.')}</p>
        </Empty>
      ) : (
        data.pending.map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} onAnswered={answered} hasKeys={approval.id === current} />
        ))
      )}
      {data.problems.map((text) => (
        <div class="banner warning" key={text}>
          {line(text)}
        </div>
      ))}
      <Section title={t('Stored answers')}>
        {data.stored.length === 0 ? (
          <p class="faint">{t('Answers “for this skill” are kept here until a byte of the skill changes.')}</p>
        ) : (
          <ul class="stored">
            {data.stored.map(({ id, skill, tool, verdict, at, digest }) => (
              <li key={id}>
                <State name={verdict === 'yes' ? 'allow' : 'deny'} />
                <b>{line(skill)}</b>
                <span>{line(tool)}</span>
                <code>{short(digest)}</code>
                <span class="faint">{date(at)}</span>
                <ActionButton kind="small" act={() => revoke(id)} onError={fail}>
                  {t('Revoke')}
                </ActionButton>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </div>
  );
}

function Notices(): JSX.Element | null {
  const [state, setState] = useState(noticeState);
  if (state === 'absent') return null;
  if (state !== 'off')
    return (
      <span class="faint">
        {state === 'on'
          ? t('Your browser notifies you of questions.')
          : t('Your browser blocks notifications of this page.')}
      </span>
    );
  return (
    <button type="button" class="small" onClick={() => void allowNotices().then(setState)}>
      {t('Tell me when a run waits')}
    </button>
  );
}

import type { JSX } from 'preact';

import type { ServerStatus } from '#server/api';
import { useVersion } from '../changes.ts';
import { useGet } from '../hooks.ts';
import { t } from '../language.ts';
import { useMay } from '../rights.ts';
import { link } from '../route.ts';
import { ApprovalCard } from './approval-card.tsx';
import { ModeSwitch } from './mode-switch.tsx';

interface QuestionDockProps {
  readonly id: string;
  readonly isRunning: boolean;
  readonly status: ServerStatus | undefined;
  readonly report: (cause?: unknown) => void;
}

/** The oldest question of this run, at the lower edge of the window wherever the page is scrolled to. Questions of other processes are in the inbox. */
export function QuestionDock({ id, isRunning, status, report }: QuestionDockProps): JSX.Element | null {
  const isAsked = useMay('approve') && isRunning;
  const { data, reload } = useGet(isAsked ? '/approvals' : undefined, {}, useVersion('questions', 'answered'));
  const pending = isAsked ? (data?.pending ?? []) : [];
  const own = pending.filter(({ run }) => run === id);
  const [first] = own;
  const others = pending.filter(({ run, isAnswered }) => run !== id && !isAnswered).length;
  if (first === undefined) return null;
  const answered = (cause?: unknown): void => {
    report(cause);
    reload();
  };
  return (
    <section class="question-dock" aria-label={t('Question')}>
      <div class="dock-line">
        {own.length === 1 ? null : <b>{t('Question {at} of {count}', { at: 1, count: own.length })}</b>}
        <ModeSwitch status={status} report={report} />
        {others === 0 ? null : (
          <a class="end" href={link('approvals')}>
            {t('{count} more waiting in other runs', { count: others })}
          </a>
        )}
      </div>
      <ApprovalCard key={first.id} approval={first} onAnswered={answered} hasKeys />
    </section>
  );
}

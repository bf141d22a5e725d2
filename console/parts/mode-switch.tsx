import type { JSX } from 'preact';

import type { ServerStatus } from '#server/api';
import { post } from '../client.ts';
import { t } from '../language.ts';

interface ModeSwitchProps {
  readonly status: ServerStatus | undefined;
  readonly report: (cause?: unknown) => void;
}

const MODES = [
  ['ask', 'Ask'],
  ['edits', 'Accept edits'],
] as const;

/** What the runs of this page do without asking. A fleet has no mode: its workers decide. */
export function ModeSwitch({ status, report }: ModeSwitchProps): JSX.Element | null {
  if (status?.mode === undefined) return null;
  return (
    <div class="mode" role="group" aria-label={t('Mode')}>
      <span class="faint">{t('Mode')}</span>
      {MODES.map(([mode, label]) => (
        <button
          type="button"
          class="small"
          key={mode}
          aria-pressed={status.mode === mode}
          title={mode === 'edits' ? t('Edits of files that git can restore are made without asking.') : undefined}
          onClick={() => void post('/mode', {}, { mode }).catch(report)}
        >
          {t(label)}
        </button>
      ))}
    </div>
  );
}

/** Where the time of a run went. */
import type { JSX } from 'preact';

import { t } from '../language.ts';
import { TIME_KINDS, type RunCost, type TimeKind } from '../step-times.ts';
import { duration } from '../text.ts';

const LABELS: Readonly<Record<TimeKind, string>> = {
  queue: 'Queue',
  model: 'Model',
  approval: 'Waiting for approval',
  program: 'Programs',
  tool: 'Other tools',
  other: 'Between the steps',
};

export function TimeBar({ times }: Pick<RunCost, 'times'>): JSX.Element | null {
  const shown = TIME_KINDS.filter((kind) => times[kind] >= 1);
  const all = shown.reduce((sum, kind) => sum + times[kind], 0);
  if (all === 0) return null;
  return (
    <section class="time-bar" aria-label={t('Where the time went')}>
      <div class="time-parts" aria-hidden="true">
        {shown.map((kind) => (
          <i key={kind} class={`of-${kind}`} style={{ flexGrow: times[kind] / all }} />
        ))}
      </div>
      <ul class="legend">
        {shown.map((kind) => (
          <li key={kind}>
            <span class={`swatch of-${kind}`} aria-hidden="true" />
            {t(LABELS[kind])} <b>{duration(times[kind])}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}

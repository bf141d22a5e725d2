/** Pass rates with their intervals, oldest first. */
import type { JSX } from 'preact';

import { t } from '../language.ts';

export interface TrendPoint {
  readonly id: string;
  readonly label: string;
  readonly rate: { readonly count: number; readonly of: number; readonly low: number; readonly high: number };
}

const HEIGHT = 140;
const MOST = 60;

export function Trend({ points }: { readonly points: readonly TrendPoint[] }): JSX.Element {
  const shown = points.slice(-MOST);
  const width = Math.max(320, shown.length * 44);
  const x = (at: number): number => 52 + at * ((width - 72) / Math.max(1, shown.length - 1));
  const y = (value: number): number => 8 + (1 - value) * (HEIGHT - 28);
  const valueOf = ({ rate: { count, of } }: TrendPoint): number => (of === 0 ? 0 : count / of);
  return (
    <div class="trend" tabIndex={0} role="region" aria-label={t('Pass rate over time')}>
      <svg
        viewBox={`0 0 ${String(width)} ${String(HEIGHT)}`}
        role="img"
        aria-label={shown.map(({ label }) => label).join('; ')}
      >
        {[0, 0.5, 1].map((level) => (
          <g key={level}>
            <line class="guide" x1="34" x2={width} y1={y(level)} y2={y(level)} />
            <text x="28" y={y(level) + 4}>{`${String(level * 100)} %`}</text>
          </g>
        ))}
        <polyline points={shown.map((point, at) => `${String(x(at))},${String(y(valueOf(point)))}`).join(' ')} />
        {shown.map((point, at) => (
          <g key={point.id}>
            <line class="interval" x1={x(at)} x2={x(at)} y1={y(point.rate.low)} y2={y(point.rate.high)} />
            <circle cx={x(at)} cy={y(valueOf(point))} r="4">
              <title>{point.label}</title>
            </circle>
          </g>
        ))}
      </svg>
    </div>
  );
}

/** Pass rates with their intervals, oldest first. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { t } from '../language.ts';

export interface TrendPoint {
  readonly id: string;
  readonly label: string;
  readonly rate: { readonly count: number; readonly of: number; readonly low: number; readonly high: number };
}

const HEIGHT = 180;
/** Points that are closer cannot be told apart; then the chart scrolls. */
const LEAST_STEP = 28;
const MOST = 60;

export function Trend({ points }: { readonly points: readonly TrendPoint[] }): JSX.Element {
  const shown = points.slice(-MOST);
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(600);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    setRoom(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  const width = Math.max(room, shown.length * LEAST_STEP + 80);
  const x = (at: number): number => 64 + at * ((width - 96) / Math.max(1, shown.length - 1));
  const y = (value: number): number => 8 + (1 - value) * (HEIGHT - 28);
  const toShare = ({ rate: { count, of } }: TrendPoint): number => (of === 0 ? 0 : count / of);
  return (
    <div class="trend" ref={box} tabIndex={0} role="region" aria-label={t('Pass rate over time')}>
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${String(width)} ${String(HEIGHT)}`}
        role="img"
        aria-label={shown.map(({ label }) => label).join('; ')}
      >
        {[0, 0.5, 1].map((level) => (
          <g key={level}>
            <line class="guide" x1="44" x2={width} y1={y(level)} y2={y(level)} />
            <text x="38" y={y(level) + 4}>{`${String(level * 100)} %`}</text>
          </g>
        ))}
        <polyline points={shown.map((point, at) => `${String(x(at))},${String(y(toShare(point)))}`).join(' ')} />
        {shown.map((point, at) => (
          <g key={point.id}>
            <line class="interval" x1={x(at)} x2={x(at)} y1={y(point.rate.low)} y2={y(point.rate.high)} />
            <circle cx={x(at)} cy={y(toShare(point))} r="4">
              <title>{point.label}</title>
            </circle>
          </g>
        ))}
      </svg>
    </div>
  );
}

/** When each step of a run began and ended, and what its time, tokens and money went into. */
import type { LiveRun, RunStep } from './live-run.ts';

/** What a span of time was spent on. `other` is what lies between the steps: starting, staging files, writing the record. */
export const TIME_KINDS = ['queue', 'model', 'approval', 'program', 'tool', 'other'] as const;
export type TimeKind = (typeof TIME_KINDS)[number];

export interface TimeSpan {
  readonly kind: TimeKind;
  readonly from: number;
  /** Undefined while it lasts. */
  readonly to: number | undefined;
}

const PROGRAMS: ReadonlySet<string> = new Set([
  'run_script',
  'run_command',
  'start_command',
  'poll_command',
  'write_input',
]);

/** The spans of a step in their order; none for a step that takes no time, such as a note. */
export function stepSpans({ row, more }: RunStep): readonly TimeSpan[] {
  if (row.type === 'model-call')
    return [{ kind: 'model', from: row.at, to: more.find(({ type }) => type === 'model-answer')?.at }];
  if (row.type !== 'action') return [];
  const kind = PROGRAMS.has(row.action ?? '') ? 'program' : 'tool';
  const spans: TimeSpan[] = [];
  let from = row.at;
  for (const { type, at } of more) {
    if (type === 'approval-ask') {
      if (at > from) spans.push({ kind, from, to: at });
      spans.push({ kind: 'approval', from: at, to: undefined });
    }
    const last = spans.at(-1);
    if (type === 'approval-answer' && last?.kind === 'approval') spans.splice(-1, 1, { ...last, to: at });
    if (type === 'approval-answer' || type === 'approval-ask') from = at;
    if (type === 'observation') return [...spans, { kind, from, to: at }];
  }
  return spans.at(-1)?.to === undefined && spans.length > 0 ? spans : [...spans, { kind, from, to: undefined }];
}

/** Whether a question of the newest steps has no answer yet. */
export function isWaiting({ steps }: Pick<LiveRun, 'steps'>): boolean {
  return steps
    .slice(-NEWEST)
    .some((step) => stepSpans(step).some(({ kind, to }) => kind === 'approval' && to === undefined));
}

const NEWEST = 50;

/** How long a step took; undefined if it takes no time. */
export function stepDuration(step: RunStep, now: number): number | undefined {
  const spans = stepSpans(step);
  const [first] = spans;
  return first === undefined ? undefined : (spans.at(-1)?.to ?? now) - first.from;
}

export interface RunCost {
  readonly times: Readonly<Record<TimeKind, number>>;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** Undefined if the price of an answer is not known. */
  readonly usd: number | undefined;
  readonly isEstimated?: undefined;
}

/** Sums over all steps. Steps that ran at the same time count each, so that the parts may be more than the whole. */
export function sumSteps({ steps }: Pick<LiveRun, 'steps'>, now: number, queuedMs = 0): RunCost {
  const times = { queue: queuedMs, model: 0, approval: 0, program: 0, tool: 0, other: 0 };
  let [inputTokens, outputTokens, cachedTokens] = [0, 0, 0];
  let usd: number | undefined;
  let isPriced = true;
  let [covered, end] = [0, 0];
  for (const step of steps) {
    for (const { kind, from, to = now } of stepSpans(step)) {
      times[kind] += Math.max(0, to - from);
      covered += Math.max(0, to - Math.max(from, end));
      end = Math.max(end, to);
    }
    for (const row of step.more) {
      if (row.type !== 'model-answer') continue;
      inputTokens += row.usage?.inputTokens ?? 0;
      outputTokens += row.usage?.outputTokens ?? 0;
      cachedTokens += row.usage?.cachedInputTokens ?? 0;
      if (row.usd === undefined) isPriced = false;
      else usd = (usd ?? 0) + row.usd;
    }
  }
  times.other = Math.max(0, now - covered);
  return { times, inputTokens, outputTokens, cachedTokens, usd: isPriced ? usd : undefined };
}

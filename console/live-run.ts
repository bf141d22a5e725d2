/** The state of a run that is followed: its steps, plan and answer, with what is not recorded. Keeps the newest steps only, so that memory stays flat. */
import type { EventRow } from '#server/api';

export interface RunStep {
  readonly key: number;
  readonly row: EventRow;
  /** What followed of the same call: decision, approval, result; or the answer to this request to a model. */
  readonly more: readonly EventRow[];
}

export interface LiveRun {
  readonly last: number;
  /** In a fleet: whose record the steps are from. */
  readonly attempt: number | undefined;
  readonly steps: readonly RunStep[];
  readonly stepsLeftOut: number;
  readonly plan: EventRow['plan'];
  readonly answer: string;
  /** The part of the answer that grows. */
  readonly delta: string;
  /** The end of the output of the program that runs. */
  readonly output: string;
  readonly elapsedMs: number;
  readonly tokens: number;
  /** The stream has ended, so that the summary of the run is complete. The last event comes before that. */
  readonly isOver: boolean;
}

const MAX_STEPS = 20_000;
const MAX_OUTPUT = 20_000;
/** Events that are no step of their own. */
const MINOR: ReadonlySet<string> = new Set([
  'run-start',
  'scan',
  'turn',
  'session',
  'span',
  'content-keep',
  'activation',
  'answer-withdraw',
  'run-end',
]);

export const EMPTY_RUN: LiveRun = {
  last: 0,
  attempt: undefined,
  steps: [],
  stepsLeftOut: 0,
  plan: undefined,
  answer: '',
  delta: '',
  output: '',
  elapsedMs: 0,
  tokens: 0,
  isOver: false,
};

export type LiveMessage =
  | { readonly type: 'row'; readonly row: EventRow }
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'withdraw' }
  | { readonly type: 'output'; readonly text: string }
  | { readonly type: 'end' };

export function withMessages(run: LiveRun, messages: readonly LiveMessage[]): LiveRun {
  let next = { ...run, steps: [...run.steps] };
  for (const message of messages) {
    if (message.type === 'delta') next.delta += message.text;
    else if (message.type === 'withdraw') next.delta = '';
    else if (message.type === 'output') next.output = (next.output + message.text).slice(-MAX_OUTPUT);
    else if (message.type === 'end') next.isOver = true;
    else {
      const { row } = message;
      // Another worker continues the run in a record of its own, which repeats this one.
      if (row.attempt !== next.attempt) next = { ...EMPTY_RUN, attempt: row.attempt, isOver: next.isOver, steps: [] };
      // A stream that reconnects may repeat a line.
      if (row.seq <= next.last) continue;
      next.last = row.seq;
      next.elapsedMs = Math.max(next.elapsedMs, row.at);
      next.plan = row.plan ?? next.plan;
      next.tokens += row.tokens ?? 0;
      next.answer = row.answer ?? next.answer;
      if (row.type === 'model-answer') next.delta = '';
      if (row.type === 'observation') next.output = '';
      const known = next.steps.findLastIndex((step) => isPartOf(row, step.row));
      const step = next.steps[known];
      if (step !== undefined) next.steps[known] = { ...step, more: [...step.more, row] };
      else if (!MINOR.has(row.type) && row.plan?.steps.length !== 0) next.steps.push({ key: row.seq, row, more: [] });
    }
  }
  const over = Math.max(0, next.steps.length - MAX_STEPS);
  return { ...next, steps: next.steps.slice(over), stepsLeftOut: next.stepsLeftOut + over };
}

function isPartOf({ type, call, turn }: EventRow, first: EventRow): boolean {
  if (type === 'model-answer') return first.type === 'model-call' && first.turn === turn;
  return call !== undefined && first.call === call;
}

/** The id that the server gave to the last row. */
export function lastId({ last, attempt }: LiveRun): string {
  return attempt === undefined ? String(last) : `${String(attempt)}-${String(last)}`;
}

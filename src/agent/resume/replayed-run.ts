/** Reconstructs a run from its events: the answers of the model, the actions, and the observations (AGT-10). */
import type { Action, Budget, JournalLine, ModelAnswer, Observation, RunEvent, OfType, RunInfo } from '#core';
import { UNANSWERED } from '../state.ts';

export type AgentStart = NonNullable<OfType<RunEvent, 'run-start'>['agent']>;
type ResumedRun = NonNullable<AgentStart['resumes']>;

export interface RecordedCall {
  readonly action: Action;
  readonly askedBy: OfType<RunEvent, 'action'>['askedBy'];
  /** The decision, the approval, and the skill use of the action. */
  readonly events: readonly RunEvent[];
  /** The action was allowed, so it may have started even without a recorded observation. */
  readonly isAllowed: boolean;
  readonly observation?: Observation;
}

export interface RecordedChild {
  readonly run: string;
  /** Absent if no end was recorded. */
  readonly end?: { readonly outcome: RunInfo['outcome']; readonly used: Budget | undefined };
}

export interface ReplayedRun {
  readonly run: string;
  /** In the order of turns. */
  readonly answers: readonly ModelAnswer[];
  /** By number, from 1. */
  readonly calls: ReadonlyMap<number, RecordedCall>;
  /** By the number of the call that started them. */
  readonly children: ReadonlyMap<number, RecordedChild>;
  readonly proposed: readonly string[];
  readonly elapsedMs: number;
  /** Begins the idempotency keys of its programs; absent in a record of an older version, or if no programs could run. */
  readonly idempotencyKey?: string;
  /** Programs that were interrupted and are run again. */
  readonly again: ReadonlySet<number>;
  /** Only a part of the record is followed, on purpose: another course of the run. */
  readonly isFork: boolean;
  readonly lifts?: ResumedRun['lifts'];
  readonly source: RecordSource;
}

/** Where the record is, and how its subagents are resumed. */
export interface RecordSource {
  readonly directory: string;
  /** The version of this program that recorded it. */
  readonly version: string;
  /** The caller knows that the process of the run has ended, although this machine cannot see it (default: false). */
  readonly hasEnded?: boolean | undefined;
  /**
   * Programs that were interrupted are run again, with the idempotency key that they had (default: false, the model is told that their
   * outcome is unknown).
   */
  readonly repeatsPrograms?: boolean | undefined;
  /** Continues a run that another run already continued, so that actions of that one may happen again (default: false). */
  readonly again?: boolean | undefined;
}

/** Programs that can be run again: the key lets them find out what the interrupted attempt did. */
const REPEATABLE: ReadonlySet<Action['type']> = new Set(['run_script', 'run_command']);

/** Actions without side effects, which are safe to repeat. */
const HARMLESS: ReadonlySet<Action['type']> = new Set([
  'search_skills',
  'load_skill',
  'list_resources',
  'read_resource',
  'select_documents',
  'get_script_path',
  'install_packages',
  'poll_command',
  'read_file',
  'list_dir',
  'grep',
  'final_answer',
]);

function isHarmless({ type }: Action): boolean {
  return HARMLESS.has(type);
}

/** The action must not be performed again: its outcome is known, or it may have had effects. */
export function isSettled({ action, observation, isAllowed }: RecordedCall): boolean {
  return observation !== undefined || (isAllowed && !isHarmless(action));
}

export function resumedRun(past: ReplayedRun): ResumedRun {
  const { run, elapsedMs, answers, again, isFork, lifts } = past;
  return {
    run,
    elapsedMs,
    answers: answers.length,
    calls: settledCalls(past).size,
    ...(again.size === 0 ? {} : { again: [...again] }),
    ...(isFork ? { fork: true } : {}),
    lifts,
  };
}

type Moment =
  | { readonly type: 'answer'; readonly answer: ModelAnswer }
  | { readonly type: 'call'; readonly call: number };

interface Gathered {
  readonly moments: Moment[];
  readonly calls: Map<number, RecordedCall>;
  readonly children: Map<number, RecordedChild>;
  readonly proposed: string[];
}

/** Returns the part of a run that is replayed when it is resumed. `answers`: at most so many answers of the model, with what followed. */
export function replayedRun(
  run: string,
  lines: Iterable<JournalLine>,
  source: RecordSource,
  answers = Number.POSITIVE_INFINITY,
): ReplayedRun {
  const gathered: Gathered = { moments: [], calls: new Map(), children: new Map(), proposed: [] };
  let elapsed = 0;
  let before = 0;
  let seen = 0;
  let outcome: RunInfo['outcome'] = 'running';
  let key: string | undefined;
  for (const line of lines) {
    if (line.event.type === 'model-answer') seen += 1;
    if (seen > answers) break;
    ({ elapsed } = line);
    if (line.event.type === 'run-start') {
      before = line.event.agent?.resumes?.elapsedMs ?? 0;
      key = line.event.agent?.idempotencyKey;
    }
    if (line.event.type === 'run-end') ({ outcome } = line.event);
    gather(gathered, line.event);
  }
  const { moments, calls, children, proposed } = gathered;
  const kept = moments.slice(0, replayLength(moments, calls, outcome));
  const keptCalls = new Set(kept.flatMap((moment) => (moment.type === 'call' ? [moment.call] : [])));
  const isInterrupted = (call: number): boolean => {
    const { action, observation, isAllowed = false } = calls.get(call) ?? {};
    return action !== undefined && REPEATABLE.has(action.type) && isAllowed && observation === undefined;
  };
  return {
    run,
    answers: kept.flatMap((moment) => (moment.type === 'answer' ? [moment.answer] : [])),
    calls: new Map([...calls].filter(([call]) => keptCalls.has(call))),
    children: new Map([...children].filter(([call]) => keptCalls.has(call))),
    proposed,
    elapsedMs: before + elapsed,
    // Another course does other things, so its programs have other keys.
    ...(typeof key === 'string' && answers === Number.POSITIVE_INFINITY ? { idempotencyKey: key } : {}),
    again: new Set(
      source.repeatsPrograms === true && typeof key === 'string' ? [...keptCalls].filter(isInterrupted) : [],
    ),
    isFork: answers !== Number.POSITIVE_INFINITY,
    source,
  };
}

/** The actions in a record that had effects, or may have had, without the numbers in `settled`. */
export function effectsIn(lines: Iterable<JournalLine>, settled: ReadonlySet<number>): readonly Action[] {
  const gathered: Gathered = { moments: [], calls: new Map(), children: new Map(), proposed: [] };
  for (const { event } of lines) gather(gathered, event);
  return [...gathered.calls]
    .filter(([number, call]) => !settled.has(number) && hadEffect(call))
    .map(([, { action }]) => action);
}

/** Numbers of the actions that a resume does not perform again. */
export function settledCalls({ calls, again }: ReplayedRun): ReadonlySet<number> {
  return new Set(
    [...calls].filter(([number, call]) => isSettled(call) && !again.has(number)).map(([number]) => number),
  );
}

function gather({ moments, calls, children, proposed }: Gathered, event: RunEvent): void {
  switch (event.type) {
    case 'model-answer': {
      const { text, toolCalls, finish, usage, retries } = event;
      moments.push({ type: 'answer', answer: { text, toolCalls, finish, usage, retries } });
      return;
    }
    case 'action': {
      const { call, action, askedBy } = event;
      // A final answer that the loop composed itself is composed again at the new end.
      if (action.type === 'final_answer' && askedBy === 'program') return;
      moments.push({ type: 'call', call });
      calls.set(call, { action, askedBy, events: [], isAllowed: false });
      return;
    }
    case 'decision':
    case 'approval-ask':
    case 'approval-answer':
    case 'skill-use':
    case 'observation': {
      const open = calls.get(event.call);
      if (open !== undefined) calls.set(event.call, withEvent(open, event));
      return;
    }
    case 'subagent-start':
      children.set(event.call, { run: event.run });
      return;
    case 'subagent-end':
      children.set(event.call, { run: event.run, end: { outcome: event.outcome, used: event.used } });
      return;
    case 'activation':
      if (event.reason === 'shortlist' || event.reason === 'forced')
        if (moments.every(({ type }) => type === 'call')) proposed.push(event.skill);
      return;
    default:
  }
}

type CallEvent = Extract<
  RunEvent,
  { readonly type: 'decision' | 'approval-ask' | 'approval-answer' | 'skill-use' | 'observation' }
>;

function withEvent(open: RecordedCall, event: CallEvent): RecordedCall {
  if (event.type === 'observation') return { ...open, observation: event.observation };
  // The last decides: a program that is allowed waits until its packages are.
  const isAllowed =
    event.type === 'decision'
      ? event.decision.effect === 'allow'
      : event.type === 'approval-answer'
        ? typeof event.answer === 'object' && event.answer.verdict === 'yes'
        : open.isAllowed;
  return { ...open, events: [...open.events, event], isAllowed };
}

/** Returns how many moments to replay. An action that waited for approval is asked for again, unless a later action had effects. */
function replayLength(
  moments: readonly Moment[],
  calls: ReadonlyMap<number, RecordedCall>,
  outcome: RunInfo['outcome'],
): number {
  const callAt = (place: number): RecordedCall | undefined => {
    const moment = moments[place];
    return moment?.type === 'call' ? calls.get(moment.call) : undefined;
  };
  const lastEffect = moments.findLastIndex((_, place) => hadEffect(callAt(place)));
  const waiting = moments.findIndex((_, place) => place > lastEffect && isWaiting(callAt(place)));
  if (waiting !== -1) return waiting;
  // The model is asked again for an answer that made the run fail.
  return outcome === 'failed' && moments.at(-1)?.type === 'answer' ? moments.length - 1 : moments.length;
}

function isWaiting(call: RecordedCall | undefined): boolean {
  return call?.observation?.type === 'failed' && UNANSWERED.has(call.observation.code);
}

function hadEffect(call: RecordedCall | undefined): boolean {
  if (call === undefined || isHarmless(call.action)) return false;
  return call.observation === undefined ? call.isAllowed : call.observation.type !== 'failed';
}

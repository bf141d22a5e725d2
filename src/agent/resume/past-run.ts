/** What a run came to before this process: what its model said, what was done and what came of it, from its events alone (AGT-10). */
import type { Action, ActionType } from '../../core/action.ts';
import type { Budget } from '../../core/budget.ts';
import type { FailureCode } from '../../core/failure-codes.ts';
import type { JournalLine, Outcome, ResumedRun, RunEvent } from '../../core/run-events.ts';
import type { ModelAnswer } from '../../core/model.ts';
import type { Observation } from '../../core/observation.ts';
import type { AskedBy } from '../../core/session.ts';

/** An action of that run. */
export interface PastCall {
  readonly action: Action;
  readonly askedBy: AskedBy;
  /** What was decided, asked and used. */
  readonly events: readonly RunEvent[];
  /** It was allowed, so that it may have begun even where no observation was recorded. */
  readonly isAllowed: boolean;
  readonly observation?: Observation;
}

/** A run that it started for a skill with a context of its own. */
export interface PastChild {
  readonly run: string;
  /** Absent where its end was not seen. */
  readonly end?: { readonly outcome: Outcome; readonly used: Budget | undefined };
}

export interface PastRun {
  readonly run: string;
  /** In the order of turns. */
  readonly answers: readonly ModelAnswer[];
  /** By number, from 1. */
  readonly calls: ReadonlyMap<number, PastCall>;
  /** By the number of the call that started them. */
  readonly children: ReadonlyMap<number, PastChild>;
  /** Ids of skills that a search put before the model. */
  readonly proposed: readonly string[];
  readonly elapsedMs: number;
}

/** Actions that change nothing outside the run: to do one twice is to do it once. */
const HARMLESS: ReadonlySet<ActionType> = new Set([
  'search_skills',
  'load_skill',
  'list_resources',
  'read_resource',
  'select_documents',
  'get_script_path',
  'poll_command',
  'read_file',
  'list_dir',
  'grep',
  'final_answer',
]);

/** Failures that somebody's answer turns into something else. */
const WAITING: ReadonlySet<FailureCode> = new Set(['approval/pending', 'approval/needed']);

function isHarmless({ type }: Action): boolean {
  return HARMLESS.has(type);
}

/** What came of it is known, or will not be: either way it is not done again. */
export function isSettled({ action, observation, isAllowed }: PastCall): boolean {
  return observation !== undefined || (isAllowed && !isHarmless(action));
}

export function resumedRun({ run, elapsedMs, answers, calls }: PastRun): ResumedRun {
  return { run, elapsedMs, answers: answers.length, calls: [...calls.values()].filter(isSettled).length };
}

type Moment =
  | { readonly type: 'answer'; readonly answer: ModelAnswer }
  | { readonly type: 'call'; readonly call: number };

interface Gathered {
  readonly moments: Moment[];
  readonly calls: Map<number, PastCall>;
  readonly children: Map<number, PastChild>;
  readonly proposed: string[];
}

/** The past of a run, as far as it is gone on from. */
export function pastRun(run: string, lines: Iterable<JournalLine>): PastRun {
  const gathered: Gathered = { moments: [], calls: new Map(), children: new Map(), proposed: [] };
  let elapsed = 0;
  let before = 0;
  let outcome: Outcome = 'running';
  for (const line of lines) {
    ({ elapsed } = line);
    if (line.event.type === 'run-start') before = line.event.agent?.resumes?.elapsedMs ?? 0;
    if (line.event.type === 'run-end') ({ outcome } = line.event);
    gather(gathered, line.event);
  }
  const { moments, calls, children, proposed } = gathered;
  const kept = moments.slice(0, placeToGoOn(moments, calls, outcome));
  const keptCalls = new Set(kept.flatMap((moment) => (moment.type === 'call' ? [moment.call] : [])));
  return {
    run,
    answers: kept.flatMap((moment) => (moment.type === 'answer' ? [moment.answer] : [])),
    calls: new Map([...calls].filter(([call]) => keptCalls.has(call))),
    children: new Map([...children].filter(([call]) => keptCalls.has(call))),
    proposed,
    elapsedMs: before + elapsed,
  };
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
      // What the loop itself says where no model answers is said anew at the new end.
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

function withEvent(open: PastCall, event: CallEvent): PastCall {
  if (event.type === 'observation') return { ...open, observation: event.observation };
  const isYes =
    (event.type === 'decision' && event.decision.effect === 'allow') ||
    (event.type === 'approval-answer' && typeof event.answer === 'object' && event.answer.verdict === 'yes');
  return { ...open, events: [...open.events, event], isAllowed: open.isAllowed || isYes };
}

/** How many moments are kept. What waited for an answer is asked again, unless something was done after it that must not be done twice. */
function placeToGoOn(moments: readonly Moment[], calls: ReadonlyMap<number, PastCall>, outcome: Outcome): number {
  const callAt = (place: number): PastCall | undefined => {
    const moment = moments[place];
    return moment?.type === 'call' ? calls.get(moment.call) : undefined;
  };
  const lastEffect = moments.findLastIndex((_, place) => hadEffect(callAt(place)));
  const waiting = moments.findIndex((_, place) => place > lastEffect && isWaiting(callAt(place)));
  if (waiting !== -1) return waiting;
  // An answer that ended the run is asked for again.
  return outcome === 'failed' && moments.at(-1)?.type === 'answer' ? moments.length - 1 : moments.length;
}

function isWaiting(call: PastCall | undefined): boolean {
  return call?.observation?.type === 'failed' && WAITING.has(call.observation.code);
}

function hadEffect(call: PastCall | undefined): boolean {
  if (call === undefined || isHarmless(call.action)) return false;
  return call.observation === undefined ? call.isAllowed : call.observation.type !== 'failed';
}

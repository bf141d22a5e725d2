/** The state of an agent as a reduction of the events of its run: the same events give the same state (AGT-1). */
import {
  describeAction,
  describeOutcome,
  toPhase,
  REFUSALS,
  stableJson,
  withToolName,
  type Action,
  type ActionFailed,
  type Budget,
  type Observation,
  type Plan,
  type RunEvent,
  type ActionProblem,
} from '#core';
import { sha256 } from '#platform';
import { NOTHING_USED, countEvent } from './count-budget.ts';

/** Failures that a later approval resolves. */
export const UNANSWERED: ReadonlySet<ActionProblem['code']> = new Set(['approval/needed', 'approval/pending']);

/** Turns with the same actions and results. Keys are hashes; a turn with a failure has none, because the session counts failures. */
interface RepeatedTurns {
  readonly key: string;
  /** The turn before, and how many turns in a row were like it. */
  readonly before: string;
  readonly times: number;
  readonly what: string;
}

const NOT_REPEATED: RepeatedTurns = { key: '', before: '', times: 0, what: '' };

/** Returns how many turns in a row had the same actions and results, including the current one. */
export function repeatedTurns({ key, before, times }: RepeatedTurns): number {
  return key === '' || key === 'failed' ? 0 : key === before ? times + 1 : 1;
}

/** `tool` is the name in the vocabulary of the run. */
interface RefusedCall extends Pick<ActionFailed, 'code' | 'message'> {
  readonly tool: string;
}

export interface AgentState {
  readonly phase: NonNullable<ReturnType<typeof toPhase>>;
  readonly turn: number;
  readonly used: Budget;
  /** Absent until the first decision. */
  readonly plan: Plan | undefined;
  /** The outcomes of the last actions, one line each, latest last. */
  readonly done: readonly string[];
  /** Actions without an observation so far. */
  readonly open: readonly { readonly call: number; readonly action: Action; readonly tool?: string }[];
  readonly call: number;
  /** The last action, if policy or a person refused it: an answer after that is not a success. */
  readonly refused: RefusedCall | undefined;
  readonly repeated: RepeatedTurns;
  /** The first action that needed approval and has no answer: no user was available, or the question waits. */
  readonly unapproved: RefusedCall | undefined;
}

/** Older lines are only in the record. */
const KEPT_LINES = 40;

export const FIRST_STATE: AgentState = {
  phase: 'Init',
  turn: 0,
  used: NOTHING_USED,
  plan: undefined,
  done: [],
  open: [],
  call: 0,
  refused: undefined,
  repeated: NOT_REPEATED,
  unapproved: undefined,
};

/** Returns the state after an event that was recorded `elapsedMs` after the start of the run. Pure. */
export function reduceAgent(before: AgentState, event: RunEvent, elapsedMs: number): AgentState {
  const phase = toPhase(event) ?? before.phase;
  const state = { ...before, phase, used: countEvent(before.used, event, elapsedMs) };
  switch (event.type) {
    case 'turn': {
      const { repeated } = state;
      const times = repeatedTurns(repeated);
      return { ...state, turn: event.turn, repeated: { ...repeated, key: '', before: repeated.key, times } };
    }
    case 'plan':
      return { ...state, plan: event.plan };
    case 'action': {
      const { call, action, tool } = event;
      return { ...state, open: [...state.open, { call, action, tool }], call };
    }
    case 'observation': {
      const started = state.open.find(({ call }) => call === event.call);
      const what = started === undefined ? event.observation.action : describeAction(started.action, started.tool);
      const observation = nameTool(event.observation, event.tool ?? started?.tool);
      const line = `${what}: ${describeOutcome(observation, false).text}`;
      return {
        ...state,
        done: [...state.done.slice(1 - KEPT_LINES), line],
        open: state.open.filter((one) => one !== started),
        ...updateRefusals(state, observation, event.tool ?? started?.tool),
        repeated: updateRepeated(state, started, event.observation),
      };
    }
    case 'session':
      // A new message of a chat starts here; the actions for earlier messages are in the record.
      return event.event.type === 'turn-start'
        ? { ...state, done: [], refused: undefined, repeated: NOT_REPEATED, unapproved: undefined }
        : state;
    default:
      return state;
  }
}

/** The reason of a run and its answer name the tool as the model does. */
function nameTool(observation: Observation, tool: string | undefined): Observation {
  return observation.type === 'failed' ? withToolName(tool, observation) : observation;
}

function updateRefusals(
  { refused, unapproved }: AgentState,
  observation: Observation,
  tool: string | undefined,
): Pick<AgentState, 'refused' | 'unapproved'> {
  if (observation.action === 'final_answer') return { refused, unapproved };
  if (observation.type !== 'failed' || !REFUSALS.has(observation.code)) return { refused: undefined, unapproved };
  const { action, code, message } = observation;
  const one = { tool: tool ?? action, code, message };
  return { refused: one, unapproved: unapproved ?? (UNANSWERED.has(code) ? one : undefined) };
}

const TIMES = /duration|_ms$|Ms$|(?:_at|At)$/;
/** The same in JSON. A value may look like it too, which only costs time. */
const TIMES_IN_JSON = /duration|_ms"|Ms"|_at"|At"/;

/** Failures are counted by the session. Polling a program is meant to be repeated. */
function updateRepeated(
  { repeated }: AgentState,
  started: AgentState['open'][number] | undefined,
  observation: Observation,
): RepeatedTurns {
  const action = started?.action;
  if (action === undefined || observation.type === 'failed' || action.type === 'poll_command')
    return { ...repeated, key: 'failed' };
  if (repeated.key === 'failed') return repeated;
  // Two results that differ in their times alone are the same, and so are a body and the note that it is known.
  const whole = JSON.stringify(
    observation.type === 'skill-loaded' ? [observation.skill.id, observation.report.digest] : observation,
  );
  const result = TIMES_IN_JSON.test(whole)
    ? JSON.stringify(JSON.parse(whole), (name, value: unknown) => (TIMES.test(name) ? undefined : value))
    : whole;
  return {
    ...repeated,
    key: sha256(`${repeated.key}\n${stableJson(action)}\n${result}`),
    what: describeAction(action, started?.tool),
  };
}

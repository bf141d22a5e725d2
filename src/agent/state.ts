/** Where an agent stands, as a reduction of the events of its run: the same events give the same state (AGT-1). */
import { describeAction, describeOutcome } from '../core/action-text.ts';
import type { Action } from '../core/action.ts';
import type { Budget } from '../core/budget.ts';
import { NOTHING_USED, countEvent } from './count-budget.ts';
import type { RunEvent } from '../core/run-events.ts';
import type { Plan } from '../core/plan.ts';

export const PHASES = ['init', 'index-skills', 'decide', 'act', 'observe', 'final'] as const;
export type Phase = (typeof PHASES)[number];

export interface AgentState {
  readonly phase: Phase;
  readonly turn: number;
  readonly used: Budget;
  /** Absent until the first decision. */
  readonly plan: Plan | undefined;
  /** What came of the last actions, a line each, the last one last. */
  readonly done: readonly string[];
  /** Actions whose observation has not come yet. */
  readonly open: readonly { readonly call: number; readonly action: Action }[];
  /** The number of the last action. */
  readonly call: number;
  /** Runs that were started for skills with a context of their own. */
  readonly subagents: number;
}

/** Older ones are in the record alone. */
const KEPT_LINES = 40;

export const FIRST_STATE: AgentState = {
  phase: 'init',
  turn: 0,
  used: NOTHING_USED,
  plan: undefined,
  done: [],
  open: [],
  call: 0,
  subagents: 0,
};

/** The state after an event that came `elapsedMs` after the start of the run. Pure. */
export function reduceAgent(state: AgentState, event: RunEvent, elapsedMs: number): AgentState {
  const used = countEvent(state.used, event, elapsedMs);
  switch (event.type) {
    case 'run-start':
      return withUsed(state, used, 'index-skills');
    case 'turn':
      return { ...withUsed(state, used, 'decide'), turn: event.turn };
    case 'plan':
      return { ...withUsed(state, used), plan: event.plan };
    case 'action': {
      const { call, action } = event;
      const { turn, plan, done, open, subagents } = state;
      return { phase: 'act', turn, used, plan, done, open: [...open, { call, action }], call, subagents };
    }
    case 'observation': {
      const begun = state.open.find(({ call }) => call === event.call);
      const open = state.open.filter((one) => one !== begun);
      const what = begun === undefined ? event.observation.action : describeAction(begun.action);
      const line = `${what}: ${describeOutcome(event.observation, false)}`;
      const { turn, plan, call, subagents } = state;
      const done = [...state.done.slice(1 - KEPT_LINES), line];
      return { phase: 'observe', turn, used, plan, done, open, call, subagents };
    }
    case 'session':
      // The person speaks again: what was done for another message is in the record.
      return event.event.type === 'turn-start'
        ? { ...withUsed(state, used), done: [], subagents: 0 }
        : withUsed(state, used);
    case 'subagent-start':
      return { ...withUsed(state, used), subagents: state.subagents + 1 };
    case 'run-end':
      return withUsed(state, used, 'final');
    default:
      return withUsed(state, used);
  }
}

/** Field by field, as everything that each event comes by: to spread it takes several times as long. */
function withUsed(
  { phase: before, turn, plan, done, open, call, subagents }: AgentState,
  used: Budget,
  phase = before,
): AgentState {
  return { phase, turn, used, plan, done, open, call, subagents };
}

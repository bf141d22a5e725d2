/** Skills that run in a context of their own (AGT-11): a child agent with no more rights and no more budget than its parent has left. */
import type { Budget } from '../core/budget.ts';
import { budgetLeft } from './count-budget.ts';
import type { Failure } from '../core/failure-codes.ts';
import { failure } from '../core/failure-codes.ts';
import type { Outcome } from '../core/run-events.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed } from '../core/observation.ts';
import type { SkillEntry } from '../core/skill.ts';
import { quoted } from '../core/text/text.ts';
import type { Run } from '../runtime/start-run.ts';
import type { AgentState } from './state.ts';

/** Where an agent stands among those that started it. */
export interface Ancestry {
  /** 0 for the agent that a person started. */
  readonly depth: number;
  /** Takes one of the places that all agents below a person's share; false where none is left. */
  readonly takePlace: () => boolean;
}

const DEEPEST = 2;
const MOST_SUBAGENTS = 4;

export function firstAncestry(): Ancestry {
  let left = MOST_SUBAGENTS;
  return {
    depth: 0,
    takePlace() {
      if (left === 0) return false;
      left -= 1;
      return true;
    },
  };
}

/** What a child is started with. */
export interface ChildTask {
  readonly skill: SkillEntry;
  readonly request: string;
  readonly budget: Budget;
  readonly ancestry: Ancestry;
  /** Told before the child does anything; its run has no name where nothing is recorded. */
  readonly onStart: (run: string | undefined) => void;
}

export interface ChildResult {
  readonly outcome: Outcome;
  readonly answer: string;
  readonly used: Budget;
  readonly run: string | undefined;
}

export interface SubagentParts {
  readonly run: Run;
  readonly request: string;
  readonly limits: Budget;
  readonly state: () => AgentState;
  readonly ancestry: Ancestry;
  readonly start: (task: ChildTask) => Promise<ChildResult>;
}

export type Delegated = { readonly type: 'delegated'; readonly result: ChildResult } | ActionFailed;

export async function delegate(skill: SkillEntry, parts: SubagentParts, signal: AbortSignal): Promise<Delegated> {
  const { run, ancestry, state, limits } = parts;
  const refused = refusal(skill, ancestry);
  if (refused !== undefined) return actionFailed('load_skill', refused);
  // Whether the model may have this skill at all is decided as for every action; its instructions stay out of this conversation.
  const seen = await run.session.perform({ type: 'list_resources', skill: skill.id }, { signal });
  if (seen.type === 'failed') return { ...seen, action: 'load_skill' };
  const { call, used } = state();
  const result = await parts.start({
    skill,
    request: childRequest(parts.request, skill),
    budget: budgetLeft(used, limits),
    ancestry: { ...ancestry, depth: ancestry.depth + 1 },
    onStart: (name = '') => {
      run.record({ type: 'subagent-start', call, run: name, skill: skill.id });
      run.flush();
    },
  });
  run.record({ type: 'subagent-end', call, run: result.run ?? '', outcome: result.outcome, used: result.used });
  return { type: 'delegated', result };
}

function refusal({ name }: SkillEntry, { depth, takePlace }: Ancestry): Failure | undefined {
  const hint = 'go on without it and say what is missing';
  if (depth >= DEEPEST)
    return failure('load/too-many', `${quoted(name)} would be a subagent of a subagent of a subagent`, { hint });
  if (takePlace()) return undefined;
  return failure('load/too-many', `${quoted(name)} was not run: ${String(MOST_SUBAGENTS)} subagents have run already`, {
    hint,
  });
}

function childRequest(request: string, { name }: SkillEntry): string {
  return [
    `Do the part of the task below that the skill ${quoted(name)} is for, and nothing else.`,
    'Answer with a short summary: what was found or made, where files are, what is left.',
    '',
    request,
  ].join('\n');
}

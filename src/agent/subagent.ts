/**
 * Subagents (AGT-11): a skill with a context of its own runs in a child agent, which gets no more rights and no more budget than its
 * parent has left.
 */
import { actionFailed, defined, failure, quoted, type ActionFailed, type ActionProblem, type SkillEntry } from '#core';
import type { Run } from '#runtime';
import type { AgentOptions } from './agent-options.ts';
import { budgetLeft } from './count-budget.ts';
import type { AgentParts, Ancestry, ChildResult, ChildTask } from './agent-parts.ts';

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

export type DelegationResult = { readonly type: 'delegated'; readonly result: ChildResult } | ActionFailed;

/** `tool` is the one that the model called. The child listens to the signal of its parent, and its record is closed before that of its parent. */
export async function delegate(skill: SkillEntry, tool: string, parts: AgentParts): Promise<DelegationResult> {
  const { run, ancestry, state, limits, stop: signal } = parts;
  const refused = refusal(skill, ancestry);
  if (refused !== undefined) return actionFailed('load_skill', refused);
  // The policy decides about the skill as for any other action; its instructions stay out of this conversation.
  const seen = await run.session.perform({ type: 'list_resources', skill: skill.id }, { signal, tool });
  if (seen.type === 'failed') return { ...seen, action: 'load_skill' };
  const { call, used } = state();
  const result = await parts.startChild({
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

function refusal({ name }: SkillEntry, { depth, takePlace }: Ancestry): ActionProblem | undefined {
  const hint = 'continue without it and say what is missing';
  if (depth >= DEEPEST)
    return failure(
      'load/too-many',
      `${quoted(name)} was not run: subagents may be nested ${String(DEEPEST)} levels deep`,
      { hint },
    );
  if (takePlace()) return undefined;
  return failure(
    'load/too-many',
    `${quoted(name)} was not run: the limit of ${String(MOST_SUBAGENTS)} subagents is reached`,
    {
      hint,
    },
  );
}

function childRequest(request: string, { name }: SkillEntry): string {
  return [
    `Do only the part of the task below that the skill ${quoted(name)} is for.`,
    'Answer with a short summary: what you found or made, where files are, what is left to do.',
    '',
    request,
  ].join('\n');
}

export function childOptions(
  options: AgentOptions,
  parent: Run,
  { skill, request, budget, call }: ChildTask & { readonly call: number },
  signal: AbortSignal,
): AgentOptions {
  const { sinks: _sinks, notes: _notes, execution, ...run } = options.run ?? {};
  // Two sessions must not share a workspace.
  const { key: _key, afterProgram: _afterProgram, idempotencyKey, ...ownExecution } = execution ?? {};
  const { activation: _activation, beforeEnd: _beforeEnd, ...same } = options;
  return {
    ...same,
    request,
    budget,
    required: [skill.id],
    signal,
    run: {
      ...run,
      ...(execution === undefined
        ? {}
        : {
            execution: {
              ...ownExecution,
              idempotencyKey: idempotencyKey === undefined ? undefined : `${idempotencyKey}/${String(call)}`,
            },
          }),
      parent: parent.session,
      ...defined({ parentRun: parent.id }),
    },
  };
}

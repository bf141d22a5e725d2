/** Derives the options of a subagent: the same model, files and policy, but its own workspace and no sinks. */
import { defined } from '#core';
import type { Run } from '#runtime';
import type { AgentOptions } from './agent-options.ts';
import type { ChildTask } from './subagent.ts';

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

/** Who answers, the same for every command with a model: the one that was named, else as the configuration and the surroundings say. */
import { openAgentModel } from '../../agent/agent-model.ts';
import type { AgentModel } from '../../agent/agent-model.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { choiceLines } from './agent-outcome.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ModelChoice {
  readonly name: string | undefined;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
}

export async function chooseModel({ name, runtime, signal }: ModelChoice): Promise<AgentModel> {
  const config = runtime.config.model;
  return await openAgentModel({
    env: surroundingsOf({}).env,
    signal,
    ...(config === undefined ? {} : { config }),
    ...(name === undefined ? {} : { name }),
  });
}

/** And says which it is, and why. */
export async function chooseModelAloud(choice: ModelChoice, terminal: Terminal): Promise<AgentModel> {
  const chosen = await chooseModel(choice);
  for (const line of choiceLines(chosen, terminal)) terminal.remark(line);
  return chosen;
}

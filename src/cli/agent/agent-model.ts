/** The model of a command, how the agent's run ended, and what it used. */
import path from 'node:path';

import type { AgentResult } from '#agent';
import { countText, durationText, printable } from '#core';
import { openAgentModel, type AgentModel } from '#model';
import type { Runtime } from '#runtime';
import type { Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { MODEL_FLAG } from './agent-flags.ts';

type ModelInvocation = Pick<
  Invocation<{ readonly model: typeof MODEL_FLAG }>,
  'flags' | 'signal' | 'surroundings' | 'terminal'
>;

/** Opens the named model; without a name, the one that the configuration and the environment select. */
export async function chooseModel(
  { signal, surroundings: { cwd, env } }: Pick<ModelInvocation, 'signal' | 'surroundings'>,
  { config }: Runtime,
  name: string | undefined,
): Promise<AgentModel> {
  const scripted = (_: string, file: string): string => `scripted:${path.resolve(cwd, file)}`;
  return await openAgentModel({ env, signal, config: config.model, name: name?.replace(/^scripted:(.*)$/s, scripted) });
}

/** Opens the model of `--model`, and tells the user which model it is and why. */
export async function announceModel(invocation: ModelInvocation, runtime: Runtime): Promise<AgentModel> {
  const { flags, terminal } = invocation;
  const chosen = await chooseModel(invocation, runtime, flags.model);
  const { model, reason, tried } = chosen;
  const line = `model ${printable(model.id)}: ${printable(reason)}`;
  if (model.id !== 'rules' || tried.length === 0) terminal.remark(line);
  else
    terminal.remark([
      `${terminal.style('yellow', line)}; ${tried.map((one) => printable(one)).join('; ')}`,
      'rules is not a language model: it only follows the quickstart of a skill',
    ]);
  return chosen;
}

/** The exit code of a run. A refusal that was the last action decides, whatever the model answered. */
export function toExitCode({ outcome }: AgentResult, isRefused: boolean): number {
  switch (outcome) {
    case 'done':
      return isRefused ? EXIT.refused : EXIT.done;
    case 'refused':
      return EXIT.refused;
    case 'cancelled':
      return EXIT.interrupted;
    case 'degraded':
    case 'failed':
      return EXIT.failed;
  }
}

export function endLines(
  { outcome, used, run }: AgentResult,
  copied: readonly string[] = [],
  files: readonly string[] = [],
): readonly string[] {
  const spent = [
    countText(used.turns, 'turn'),
    `about ${countText(used.tokens, 'token')}`,
    countText(used.toolCalls, 'tool call'),
    durationText(used.wallMs),
  ];
  return [
    ...copied.map((name) => `wrote ${printable(name)}`),
    ...files,
    `${outcome} after ${spent.join(', ')}${run === undefined ? '' : '; details:'}`,
    ...(run === undefined ? [] : [`  skillwright runs show ${run}`]),
  ];
}

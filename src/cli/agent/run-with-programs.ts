import path from 'node:path';

import { openChat, runAgent, type AgentOptions, type AgentResult, type Chat, type ChatOptions } from '#agent';
import { defined, isSkillError, type Executor } from '#core';
import type { ExecutionOptions } from '#runtime';
import type { PackageOptions } from '#sandbox';
import { modelExecution } from './execution-options.ts';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';

export interface ProgramChoice {
  /** The value of --executor; `none` runs no programs. */
  readonly executor: 'auto' | 'none' | Executor['name'] | undefined;
  readonly terminal: Terminal;
  readonly cwd: string;
  /** What programs see of the host, and who sees their output. */
  readonly sandbox: Pick<ExecutionOptions, 'mounts' | 'network' | 'onOutput'>;
  /** Packages for scripts. */
  readonly packages?: PackageOptions;
  /** Receives what programs print while they run. */
  readonly onOutput?: NonNullable<ExecutionOptions['onOutput']>;
}

/**
 * Runs an agent that may run programs. If no executor isolates programs on this machine, the agent runs without programs and the user
 * is warned. An executor that the command line names is used or the run fails.
 */
export async function runWithPrograms(options: AgentOptions, choice: ProgramChoice): Promise<AgentResult> {
  const execution = toExecutionOptions(choice);
  if (execution === undefined) return runAgent(withoutPrograms(options, choice.cwd));
  try {
    return await runAgent({ ...options, run: { ...options.run, execution } });
  } catch (error) {
    warnWithoutPrograms(error, choice);
    return runAgent(withoutPrograms(options, choice.cwd));
  }
}

/** Like `runWithPrograms`, for a chat. The first message starts its session. */
export function openChatWithPrograms(options: ChatOptions, choice: ProgramChoice): Chat {
  const execution = toExecutionOptions(choice);
  if (execution === undefined) return openChat(withoutPrograms(options, choice.cwd));
  let chat = openChat({ ...options, run: { ...options.run, execution } });
  let { model } = options;
  return {
    get run() {
      return chat.run;
    },
    get said() {
      return chat.said;
    },
    get plan() {
      return chat.plan;
    },
    get used() {
      return chat.used;
    },
    get ledger() {
      return chat.ledger;
    },
    useModel(next) {
      model = next;
      chat.useModel(next);
    },
    async send(message, sending) {
      try {
        return await chat.send(message, sending);
      } catch (error) {
        warnWithoutPrograms(error, choice);
        const { earlier } = options;
        chat = openChat({
          ...withoutPrograms(options, choice.cwd),
          model,
          ...(earlier === undefined ? {} : { earlier: { ...earlier, said: chat.said } }),
        });
        return chat.send(message, sending);
      }
    },
    undo: () => chat.undo(),
    end: () => chat.end(),
  };
}

function namedExecutor({ executor }: ProgramChoice): Executor['name'] | undefined {
  return executor === 'auto' || executor === 'none' ? undefined : executor;
}

function toExecutionOptions(choice: ProgramChoice): ExecutionOptions | undefined {
  if (choice.executor === 'none') return undefined;
  const { terminal, sandbox, packages, onOutput } = choice;
  return {
    ...modelExecution(terminal, namedExecutor(choice)),
    ...sandbox,
    ...defined({ packages, onOutput }),
  };
}

/** Warns that no program will run, if that is the problem and the command line names no executor; rethrows everything else. */
function warnWithoutPrograms(error: unknown, choice: ProgramChoice): void {
  if (!isSkillError(error) || error.code !== 'executor/unavailable' || namedExecutor(choice) !== undefined) throw error;
  const { terminal } = choice;
  reportWarning(terminal, `programs are disabled: ${error.message}`);
  terminal.err(terminal.style('dim', `hint: ${error.hint}`));
}

/** Without a workspace, input files stay where they are, under the names that the project tools use. */
function withoutPrograms<T extends Pick<AgentOptions, 'files'>>(options: T, cwd: string): T {
  const names = (options.files ?? []).map((file) => {
    const name = path.relative(cwd, file);
    return name.startsWith('..') || path.isAbsolute(name) ? file : name;
  });
  return { ...options, files: names };
}

import path from 'node:path';

import type { AgentOptions, AgentResult } from '../../agent/agent-options.ts';
import { runAgent } from '../../agent/agent.ts';
import { openChat } from '../../agent/chat.ts';
import type { Chat, ChatOptions } from '../../agent/chat.ts';
import { isSkillError } from '../../core/errors.ts';
import { EXECUTOR_NAMES } from '../../core/execution.ts';
import type { ExecutionOptions } from '../../runtime/execution/execution.ts';
import { modelPrograms } from './execution-options.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ProgramChoice {
  /** As it was named; `none` for no programs. */
  readonly executor: string | undefined;
  readonly terminal: Terminal;
  /** The folder of the project. */
  readonly cwd: string;
}

/**
 * Runs an agent that may run programs where something here isolates them, and says so where nothing does: it then works without
 * programs. An executor that the command line names is had or refused.
 */
export async function runWithPrograms(options: AgentOptions, choice: ProgramChoice): Promise<AgentResult> {
  const execution = executionOf(choice);
  if (execution === undefined) return runAgent(withoutPrograms(options, choice.cwd));
  try {
    return await runAgent({ ...options, run: { ...options.run, execution } });
  } catch (error) {
    goOnWithout(error, choice);
    return runAgent(withoutPrograms(options, choice.cwd));
  }
}

/** The same for a chat, whose session is started by its first message. */
export function openChatWithPrograms(options: ChatOptions, choice: ProgramChoice): Chat {
  const execution = executionOf(choice);
  if (execution === undefined) return openChat(withoutPrograms(options, choice.cwd));
  let chat = openChat({ ...options, run: { ...options.run, execution } });
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
    async send(message, sending) {
      try {
        return await chat.send(message, sending);
      } catch (error) {
        goOnWithout(error, choice);
        const { earlier } = options;
        chat = openChat({
          ...withoutPrograms(options, choice.cwd),
          ...(earlier === undefined ? {} : { earlier: { ...earlier, said: chat.said } }),
        });
        return chat.send(message, sending);
      }
    },
    undo: () => chat.undo(),
    end: () => chat.end(),
  };
}

function namedExecutor({ executor }: ProgramChoice): (typeof EXECUTOR_NAMES)[number] | undefined {
  return EXECUTOR_NAMES.find((known) => known === executor);
}

/** Nothing where no programs are wanted. */
function executionOf(choice: ProgramChoice): ExecutionOptions | undefined {
  if (choice.executor === 'none') return undefined;
  return modelPrograms(choice.terminal, namedExecutor(choice));
}

/** Says that no program will be run, where that is what went wrong and nobody asked for an executor by name. */
function goOnWithout(error: unknown, choice: ProgramChoice): void {
  if (!isSkillError(error) || error.code !== 'executor/unavailable' || namedExecutor(choice) !== undefined) throw error;
  const { err, style } = choice.terminal;
  err(
    `${style('yellow', 'warning')}: no program will be run: ${error.message}\n${style('dim', `hint: ${error.hint}`)}`,
  );
}

/** No workspace takes the files: they stay files of the project, by the names that its tools know. */
function withoutPrograms<T extends Pick<AgentOptions, 'files'>>(options: T, cwd: string): T {
  const names = (options.files ?? []).map((file) => {
    const name = path.relative(cwd, file);
    return name.startsWith('..') || path.isAbsolute(name) ? file : name;
  });
  return { ...options, files: names };
}

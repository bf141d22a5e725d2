import path from 'node:path';

import type { AgentOptions, AgentResult } from '../agent/agent-options.ts';
import { runAgent } from '../agent/agent.ts';
import { isSkillError } from '../core/errors.ts';
import { EXECUTOR_NAMES } from '../core/execution.ts';
import type { ExecutionOptions } from '../runtime/execution/execution.ts';
import type { Terminal } from './terminal.ts';

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
export async function runWithPrograms(
  options: AgentOptions,
  { executor, terminal, cwd }: ProgramChoice,
): Promise<AgentResult> {
  if (executor === 'none') return runAgent(withoutPrograms(options, cwd));
  const named = EXECUTOR_NAMES.find((known) => known === executor);
  const execution: ExecutionOptions = { opens: false, ...(named === undefined ? {} : { executor: named }) };
  try {
    return await runAgent({ ...options, run: { ...options.run, execution } });
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'executor/unavailable' || named !== undefined) throw error;
    terminal.err(
      `${terminal.style('yellow', 'warning')}: no program will be run: ${error.message}\n${terminal.style('dim', `hint: ${error.hint}`)}`,
    );
    return runAgent(withoutPrograms(options, cwd));
  }
}

/** No workspace takes the files: they stay files of the project, by the names that its tools know. */
function withoutPrograms(options: AgentOptions, cwd: string): AgentOptions {
  const names = (options.files ?? []).map((file) => {
    const name = path.relative(cwd, file);
    return name.startsWith('..') || path.isAbsolute(name) ? file : name;
  });
  return { ...options, files: names };
}

import type { AgentOptions } from '#agent';
import { defined, type Executor } from '#core';
import type { ExecutionOptions } from '#runtime';
import type { PackageOptions } from '#sandbox';
import { modelExecution } from './execution-options.ts';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';

export interface ProgramChoice {
  readonly executor: 'auto' | 'none' | Executor['name'] | undefined;
  readonly terminal: Terminal;
  readonly sandbox: Pick<ExecutionOptions, 'mounts' | 'network' | 'onOutput'>;
  readonly packages?: PackageOptions;
  readonly onOutput?: NonNullable<ExecutionOptions['onOutput']>;
}

/**
 * The options of an agent that may run programs. If no executor isolates programs on this machine, it runs without programs and the user is
 * warned. An executor that the command line names is used or the run fails.
 */
export function withPrograms<Options extends Pick<AgentOptions, 'run' | 'onProgramsUnavailable'>>(
  options: Options,
  { executor, terminal, sandbox, packages, onOutput }: ProgramChoice,
): Options {
  if (executor === 'none') return options;
  const named = executor === 'auto' ? undefined : executor;
  const execution = { ...modelExecution(terminal, named), ...sandbox, ...defined({ packages, onOutput }) };
  const onProgramsUnavailable: AgentOptions['onProgramsUnavailable'] = ({ message, hint }) => {
    reportWarning(terminal, `programs are disabled: ${message}`);
    terminal.err(terminal.style('dim', `hint: ${hint}`));
  };
  return {
    ...options,
    run: { ...options.run, execution },
    onProgramsUnavailable: named === undefined ? onProgramsUnavailable : undefined,
  };
}

/** Flags for the programs of a command: their executor, what they see of the host, and their packages. */
import path from 'node:path';

import type { AgentOptions } from '#agent';
import { EXECUTOR_NAMES, isProblem, quoted, readHostPattern, type Config, type Problem } from '#core';
import { isDirectory } from '#platform';
import type { Runtime } from '#runtime';
import type { ExecutionOptions } from '#sandbox';
import { list, option, toggle, type FlagValues, type Flags, type GlobalInvocation } from '../command.ts';
import { usageError } from '../exit.ts';
import { reportHint, reportWarning, type Terminal } from '../terminal/terminal.ts';

export const EXECUTOR_FLAG = {
  executor: option(
    'NAME',
    'run programs with this executor; none runs no programs (default: auto, the first that isolates)',
    { choices: ['auto', 'none', ...EXECUTOR_NAMES] },
  ),
} as const satisfies Flags;

export const SANDBOX_FLAGS = {
  project: option(
    'ACCESS',
    'let programs see the project: none, read or write; write needs approval (default: read in run and chat)',
    { choices: ['none', 'read', 'write'] },
  ),
  mount: option(
    'DIR[:rw]',
    'let programs see DIR at its own path, read-only; :rw lets them change it and needs approval; may be repeated',
    { multiple: true },
  ),
  allow: list('HOST[:PORT]', 'let programs reach HOST (default: no network)'),
} as const satisfies Flags;

export const PACKAGE_FLAGS = {
  with: option('PACKAGE', 'install PACKAGE for the scripts, such as pypdf>=4 or npm:docx@9; may be repeated', {
    multiple: true,
  }),
  environment: option('NAME', 'install the packages of this environment of the configuration (packages.environments)'),
  venv: option('DIR', 'use an existing virtual environment for Python, read-only'),
  offline: toggle('use only packages that are installed already (see skillwright prepare)'),
} as const satisfies Flags;

type With<F extends Flags> = Pick<GlobalInvocation, 'terminal' | 'surroundings'> & { readonly flags: FlagValues<F> };

/** What the flags and the configuration let programs see. An agent sees the project by default, and starts programs where their skill is. */
export function sandboxOptions(
  { flags, surroundings: { cwd } }: With<typeof SANDBOX_FLAGS>,
  config: Config,
  isAgent: boolean,
): Pick<ExecutionOptions, 'mounts' | 'network' | 'startsInProject'> {
  const project = flags.project ?? config.sandbox?.project ?? (isAgent ? 'read' : 'none');
  const mounts = (flags.mount ?? []).map((text) => readMount(text, cwd));
  const allowed = flags.allow ?? [];
  for (const host of allowed) checkHost(host);
  return {
    mounts:
      project === 'none'
        ? mounts
        : [{ folder: cwd, access: project, isProject: true, isOptional: flags.project === undefined }, ...mounts],
    network: allowed.length === 0 ? undefined : [...(config.execution?.network ?? []), ...allowed],
    startsInProject: isAgent ? undefined : true,
  };
}

/** Parses DIR, DIR:ro and DIR:rw. A folder whose name ends like that is taken whole. */
function readMount(text: string, cwd: string): NonNullable<ExecutionOptions['mounts']>[number] {
  const [, folder = text, mode = 'ro'] = /^(.+):(ro|rw)$/s.exec(text) ?? [];
  const isWhole = folder !== text && isDirectory(path.resolve(cwd, text));
  if (text === '') throw usageError('--mount is empty', 'write --mount DIR or --mount DIR:rw');
  return {
    folder: path.resolve(cwd, isWhole ? text : folder),
    access: mode === 'rw' && !isWhole ? 'write' : 'read',
  };
}

function checkHost(text: string): void {
  const read = readHostPattern(text);
  if (isProblem(read))
    throw usageError(
      `--allow ${quoted(text)}: ${read.message}`,
      'write --allow example.org, *.example.org or example.org:8443',
    );
}

export function packageOptions({
  flags,
  surroundings,
  terminal,
}: With<typeof PACKAGE_FLAGS>): NonNullable<ExecutionOptions['packages']> {
  return {
    with: flags.with,
    environment: flags.environment,
    venv: flags.venv && path.resolve(surroundings.cwd, flags.venv),
    isOffline: flags.offline,
    onProgress: (text) => terminal.remark(`packages: ${text}`),
  };
}

/** What every command that runs programs has in common. Tells the user why the first program of a day starts later than the others. */
export function commandExecution(terminal: Terminal): Pick<ExecutionOptions, 'onTrial' | 'runsBuiltIn'> {
  return {
    runsBuiltIn: true,
    onTrial: (executor) => {
      const text = `testing the isolation of ${executor}; this takes some seconds once a day`;
      if (terminal.isInteractive) terminal.remark(terminal.style('dim', text));
    },
  };
}

/** Loaded only where nothing else isolates. */
export function weakerQuestion(terminal: Terminal): NonNullable<ExecutionOptions['askWeaker']> {
  return async (gaps) => {
    const { askForWeaker } = await import('./weaker-question.ts');
    return await askForWeaker(terminal, gaps);
  };
}

/** Program execution for a model: every program needs approval, unless a policy rule allows it. */
export function modelExecution(terminal: Terminal, executor?: ExecutionOptions['executor']): ExecutionOptions {
  return {
    ...commandExecution(terminal),
    onRestriction: (restriction) => warnOf('only scripts of built-in skills run here', restriction, terminal),
    onUnmounted: ({ message }) => reportWarning(terminal, `programs do not see the project: ${message}`),
    askWeaker: weakerQuestion(terminal),
    opens: false,
    executor,
  };
}

function warnOf(what: string, { message, hint }: Pick<Problem, 'message' | 'hint'>, terminal: Terminal): void {
  reportWarning(terminal, `${what}: ${message}`);
  reportHint(terminal, hint);
}

/** The same with what the flags let programs see. */
export function agentExecution(
  invocation: With<typeof SANDBOX_FLAGS>,
  { config }: Runtime,
  executor: ExecutionOptions['executor'],
): ExecutionOptions {
  return { ...modelExecution(invocation.terminal, executor), ...sandboxOptions(invocation, config, true) };
}

type ProgramInvocation = With<typeof EXECUTOR_FLAG & typeof SANDBOX_FLAGS & typeof PACKAGE_FLAGS>;

/**
 * The options of an agent that may run programs. If no executor isolates programs on this machine, it runs without programs and the user is
 * warned. An executor that the command line names is used or the run fails.
 */
export function withPrograms<Options extends Pick<AgentOptions, 'runtime' | 'run' | 'onProgramsUnavailable'>>(
  options: Options,
  invocation: ProgramInvocation,
  live: Partial<ExecutionOptions>,
): Options {
  const { flags, terminal } = invocation;
  if (flags.executor === 'none') return options;
  const isNamed = flags.executor !== undefined && flags.executor !== 'auto';
  const execution = {
    ...agentExecution(invocation, options.runtime, flags.executor),
    packages: packageOptions(invocation),
    ...live,
  };
  return {
    ...options,
    run: { ...options.run, execution },
    onProgramsUnavailable: isNamed ? undefined : (problem) => warnOf('programs are disabled', problem, terminal),
  };
}

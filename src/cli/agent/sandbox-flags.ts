/** Flags for what programs see of the host: folders, the project, the network. */
import path from 'node:path';

import { quoted, readHostPattern, type Config, isProblem } from '#core';
import type { ExecutionOptions } from '#runtime';
import { isDirectory } from '#platform';
import { list, option, type FlagValues, type Flags } from '../command.ts';
import { UsageError } from '../exit.ts';

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

export interface SandboxFlagContext {
  readonly config: Config;
  readonly cwd: string;
  /** An agent chooses the programs: it sees the project by default, and starts programs where their skill is. */
  readonly isAgent?: boolean;
}

/** What the flags and the configuration let programs see. */
export function sandboxOptions(
  given: FlagValues<typeof SANDBOX_FLAGS>,
  { config, cwd, isAgent = false }: SandboxFlagContext,
): Pick<ExecutionOptions, 'mounts' | 'network' | 'startsInProject'> {
  const project = given.project ?? config.sandbox?.project ?? (isAgent ? 'read' : 'none');
  const mounts = [
    ...(project === 'none'
      ? []
      : [{ folder: cwd, access: project, isProject: true, isOptional: given.project === undefined } as const]),
    ...(given.mount ?? []).map((text) => readMount(text, cwd)),
  ];
  const allowed = given.allow ?? [];
  for (const host of allowed) checkHost(host);
  return {
    mounts,
    ...(allowed.length === 0 ? {} : { network: [...(config.execution?.network ?? []), ...allowed] }),
    ...(isAgent ? {} : { startsInProject: true }),
  };
}

/** Parses DIR, DIR:ro and DIR:rw. A folder whose name ends like that is taken whole. */
function readMount(text: string, cwd: string): NonNullable<ExecutionOptions['mounts']>[number] {
  const [, folder = text, mode = 'ro'] = /^(.+):(ro|rw)$/s.exec(text) ?? [];
  const isWhole = folder !== text && isDirectory(path.resolve(cwd, text));
  if (text === '') throw new UsageError('--mount is empty', 'write --mount DIR or --mount DIR:rw');
  return {
    folder: path.resolve(cwd, isWhole ? text : folder),
    access: mode === 'rw' && !isWhole ? 'write' : 'read',
  };
}

function checkHost(text: string): void {
  const read = readHostPattern(text);
  if (isProblem(read))
    throw new UsageError(
      `--allow ${quoted(text)}: ${read.message}`,
      'write --allow example.org, *.example.org or example.org:8443',
    );
}

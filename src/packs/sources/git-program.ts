/** The program git as we use it: to fetch objects, and to print them. No checkout, so no filter, hook or link of a repository acts. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { PackRefused, packRefusal } from '../problems.ts';
import { printable } from '../../core/text/text.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import type { Bringing } from './bring-options.ts';
import { runProgram } from './run-program.ts';
import type { Program, ProgramResult } from './run-program.ts';

/** What a person sets to reach their servers. All else of git's own would turn it to other repositories, programs or settings. */
const KEPT =
  /^GIT_(?:ASKPASS|SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|PROXY_\w+|HTTP_\w+|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|EXEC_PATH)$/;
const TIMEOUT_MS = 300_000;

const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=false',
  'credential.interactive=never',
  'fetch.recurseSubmodules=no',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/** A bare repository of ours, in the staging folder. */
export interface OwnRepository {
  readonly folder: string;
  /** Where it is fetched from. */
  readonly url: string;
  readonly bringing: Bringing;
}

/** Credentials come from the environment and from git's own helpers; nobody is asked: without a terminal ssh would ask by a window. */
export function gitEnvironment(url: string, env: Bringing['env']): Readonly<Record<string, string>> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && (!name.startsWith('GIT_') || KEPT.test(name))) given[name] = value;
  return {
    ...given,
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: protocolsFor(url),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    SSH_ASKPASS_REQUIRE: 'never',
  };
}

/**
 * The way that was asked for, and the secure ones: a person's settings may turn https into ssh. A server that sends on from a secure
 * connection to an open one is not followed.
 */
function protocolsFor(url: string): string {
  const [, scheme = 'ssh'] = /^(https?|ssh|git|file):/.exec(url) ?? [];
  return scheme === 'file' ? scheme : [...new Set(['https', 'ssh', scheme])].join(':');
}

export type GitRun = Pick<Program, 'stdin' | 'onOutput' | 'isTooMuch' | 'maxOutputBytes'>;

export async function runGit(
  { folder, url, bringing }: OwnRepository,
  args: readonly string[],
  run: GitRun = {},
): Promise<ProgramResult> {
  const { network, signal, to } = bringing;
  return await runProgram({
    argv: [network.git ?? 'git', ...SETTINGS, `--git-dir=${folder}`, ...args],
    cwd: to,
    env: gitEnvironment(url, bringing.env),
    timeoutMs: network.timeoutMs ?? TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
    ...run,
  });
}

/** Runs git where only its success will do. Throws `PackRefused`. */
export async function mustGit(own: OwnRepository, args: readonly string[], run: GitRun = {}): Promise<Buffer> {
  const result = await runGit(own, args, run);
  if (result.exitCode !== 0) throw gitFailed(result);
  return result.output;
}

export function gitFailed({ errors }: Pick<ProgramResult, 'errors'>): PackRefused {
  return new PackRefused(packRefusal('source/failed', `git: ${shownErrors(errors)}`));
}

const MAX_SHOWN = 300;

/** The last lines, without what git itself may have put into an address. */
export function shownErrors(errors: string): string {
  const lines = errors
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const text = lines
    .slice(-3)
    .join('; ')
    .replaceAll(/:\/\/[^/@\s]*@/g, '://');
  return text === '' ? 'it failed without a word' : printable(text.slice(0, MAX_SHOWN));
}

/** Bytes of the packs that were fetched. */
export function packBytes({ folder }: OwnRepository): number {
  try {
    const packs = path.join(folder, 'objects', 'pack');
    return readdirSync(packs).reduce(
      (sum, name) => sum + (statSync(path.join(packs, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}

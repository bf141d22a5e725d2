/** Finds an earlier version of a skill to compare it with. */
import { renameSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { invalidInput, quoted, type SkillError } from '#core';
import { isSystemError, makeFolders, realPath } from '#platform';
import { stageSource } from '../inspect/stage-pack.ts';
import { findRefusal, isRefusal } from '../problems.ts';
import { runProgram } from '../sources/run-program.ts';
import { closeRootHandle, openRootHandle } from './root-paths.ts';
import { listBackups } from './skill-backups.ts';

/** A folder with the same base name as that of the skill, and a description of the version for messages. */
type BaselineVersion = Readonly<Record<'folder' | 'from', string>>;

interface BaselineOptions {
  /** `old` is the previous installed version, or HEAD without one; any other value is a git revision (default: `old`). */
  readonly baseline?: string;
  readonly home?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** The previous installed version of a skill, or a git revision of it. `to` is an unused folder. Throws `input/invalid` if neither exists. */
export async function findBaselineVersion(
  skill: string,
  to: string,
  options: BaselineOptions,
): Promise<BaselineVersion> {
  const kept = (options.baseline ?? 'old') === 'old' ? keptVersion(skill) : undefined;
  return kept ?? (await gitVersion(skill, to, options));
}

function keptVersion(skill: string): BaselineVersion | undefined {
  try {
    const held = openRootHandle(path.dirname(skill), { create: false });
    try {
      const [newest] = listBackups(held, 'previous', path.basename(skill));
      return newest === undefined ? undefined : { folder: newest.path, from: `the version from ${newest.at}` };
    } finally {
      closeRootHandle(held);
    }
  } catch (error) {
    // Nothing was installed in this root.
    if (isSystemError(error) || findRefusal(error) !== undefined) return undefined;
    throw error;
  }
}

async function gitVersion(skill: string, to: string, options: BaselineOptions): Promise<BaselineVersion> {
  const { baseline = 'old', home = to, env = {}, signal } = options;
  const noVersion = (why: string): SkillError =>
    invalidInput(
      `no baseline version of ${quoted(path.basename(skill))}: ${why}`,
      'a previous or committed version',
      'pass --baseline REF with a git revision, or --baseline none',
    );
  const real = realPath(skill);
  const ref = baseline === 'old' ? 'HEAD' : baseline;
  const top = await gitOutput(['rev-parse', '--show-toplevel'], real, options);
  if (top === undefined) throw noVersion('the skill is not in a git repository');
  const revision = await gitOutput(['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], real, options);
  if (revision === undefined) throw noVersion(`git has no revision ${quoted(ref)}`);
  makeFolders(to);
  const folder = path.relative(top, real).split(path.sep).join('/') || undefined;
  const source = { type: 'git', url: pathToFileURL(top).href, ref: revision, folder } as const;
  const brought = await stageSource(source, { to, cwd: to, home, env, signal });
  if (isRefusal(brought)) throw noVersion(brought.message);
  const found = brought.skills.find((one) => path.basename(one.path) === path.basename(real)) ?? brought.skills[0];
  if (found === undefined) throw noVersion(`the revision ${quoted(ref)} does not contain the skill`);
  // The only skill of a source is staged under a name of its own; the folder is part of what a model sees.
  const named = path.join(to, 'baseline', path.basename(skill));
  makeFolders(path.dirname(named));
  renameSync(found.path, named);
  return { folder: named, from: `${ref} (${revision.slice(0, 12)})` };
}

const GIT_MS = 30_000;

async function gitOutput(
  args: readonly string[],
  cwd: string,
  { env = {}, signal }: BaselineOptions,
): Promise<string | undefined> {
  const variables = Object.entries(env).filter(([name, value]) => value !== undefined && !name.startsWith('GIT_'));
  const { exitCode, output } = await runProgram({
    argv: ['git', '-c', 'core.fsmonitor=false', ...args],
    cwd,
    env: { ...Object.fromEntries(variables.map(([name, value]) => [name, value ?? ''])), LC_ALL: 'C' },
    timeoutMs: GIT_MS,
    signal,
  });
  return exitCode === 0 ? output.toString('utf8').trim() : undefined;
}

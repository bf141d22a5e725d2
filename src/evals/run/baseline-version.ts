/** Finds the baseline version of a skill: the previous installed version, or a git revision, without a checkout. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { SkillError } from '../../core/errors.ts';
import { isRefusal, PackRefused } from '../../packs/problems.ts';
import { quoted } from '../../core/text/text.ts';
import { listBackups } from '../../packs/root/skill-backups.ts';
import { openRootHandle, closeRootHandle } from '../../packs/root/root-paths.ts';
import { stageSource } from '../../packs/sources/stage-source.ts';
import { runProgram } from '../../packs/sources/run-program.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isSystemError, realPath } from '../../platform/fs/paths.ts';

export interface BaselineVersionOptions {
  /** `old` is the previous installed version, or HEAD without one; any other value is a git revision. */
  readonly wanted: string;
  /** An unused folder. */
  readonly to: string;
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface BaselineVersion {
  /** Has the same base name as the folder of the skill. */
  readonly folder: string;
  /** Description of the version for messages. */
  readonly from: string;
}

/** Throws `input/invalid` if there is no such version. */
export async function findBaselineVersion(skill: string, options: BaselineVersionOptions): Promise<BaselineVersion> {
  const kept = options.wanted === 'old' ? keptVersion(skill) : undefined;
  return kept ?? gitVersion(skill, options);
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
    if (isSystemError(error) || error instanceof PackRefused) return undefined;
    throw error;
  }
}

async function gitVersion(skill: string, options: BaselineVersionOptions): Promise<BaselineVersion> {
  const { wanted, to, home, env, signal } = options;
  const real = realPath(skill);
  const ref = wanted === 'old' ? 'HEAD' : wanted;
  const top = await gitOutput(['rev-parse', '--show-toplevel'], real, options);
  const revision = await gitOutput(['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], real, options);
  if (top === undefined || revision === undefined)
    throw noVersion(
      skill,
      top === undefined ? 'the skill is not in a git repository' : `git has no revision ${quoted(ref)}`,
    );
  makeFolders(to);
  const folder = path.relative(top, real).split(path.sep).join('/');
  const brought = await stageSource(
    {
      type: 'git',
      url: pathToFileURL(top).href,
      ref: revision,
      ...(folder === '' ? {} : { folder }),
    },
    { to, cwd: to, home: home ?? to, env, signal, extract: neverExtracted },
  );
  if (isRefusal(brought)) throw noVersion(skill, brought.message);
  const found = brought.skills.find((one) => path.basename(one.path) === path.basename(real)) ?? brought.skills[0];
  if (found === undefined) throw noVersion(skill, `the revision ${quoted(ref)} does not contain the skill`);
  return { folder: found.path, from: `${ref} (${revision.slice(0, 12)})` };
}

function neverExtracted(): never {
  throw new TypeError('a git source is never extracted');
}

const GIT_MS = 30_000;

/** The output of a git command; undefined if it fails. */
async function gitOutput(
  args: readonly string[],
  cwd: string,
  { env, signal }: BaselineVersionOptions,
): Promise<string | undefined> {
  const given = Object.entries(env).filter(([name, value]) => value !== undefined && !name.startsWith('GIT_'));
  const { exitCode, output } = await runProgram({
    argv: ['git', '-c', 'core.fsmonitor=false', ...args],
    cwd,
    env: { ...Object.fromEntries(given.map(([name, value]) => [name, value ?? ''])), LC_ALL: 'C' },
    timeoutMs: GIT_MS,
    signal,
  });
  return exitCode === 0 ? output.toString('utf8').trim() : undefined;
}

function noVersion(skill: string, why: string): SkillError {
  return new SkillError({
    code: 'input/invalid',
    message: `no baseline version of ${quoted(path.basename(skill))}: ${why}`,
    hint: 'pass --baseline REF with a git revision, or --baseline none',
    data: { expected: 'a previous or committed version' },
  });
}

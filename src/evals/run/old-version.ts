/** The version of a skill that it is compared with: the one before that installing kept, or one of its git repository, without a checkout. */
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

export interface OldVersionOptions {
  /** `old`: the version before, else what is committed; anything else is a revision of git. */
  readonly wanted: string;
  /** A new folder of ours. */
  readonly to: string;
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface OldVersion {
  /** A folder with the name of the skill's own. */
  readonly folder: string;
  /** In words, for people. */
  readonly from: string;
}

/** Throws `input/invalid` where there is no such version. */
export async function findOldVersion(skill: string, options: OldVersionOptions): Promise<OldVersion> {
  const kept = options.wanted === 'old' ? keptVersion(skill) : undefined;
  return kept ?? gitVersion(skill, options);
}

function keptVersion(skill: string): OldVersion | undefined {
  try {
    const held = openRootHandle(path.dirname(skill), { create: false });
    try {
      const [newest] = listBackups(held, 'previous', path.basename(skill));
      return newest === undefined ? undefined : { folder: newest.path, from: `the version of ${newest.at}` };
    } finally {
      closeRootHandle(held);
    }
  } catch (error) {
    // Nothing was ever installed there.
    if (isSystemError(error) || error instanceof PackRefused) return undefined;
    throw error;
  }
}

async function gitVersion(skill: string, options: OldVersionOptions): Promise<OldVersion> {
  const { wanted, to, home, env, signal } = options;
  const real = realPath(skill);
  const ref = wanted === 'old' ? 'HEAD' : wanted;
  const top = await gitWord(['rev-parse', '--show-toplevel'], real, options);
  const revision = await gitWord(['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], real, options);
  if (top === undefined || revision === undefined)
    throw noVersion(skill, top === undefined ? 'it lies in no git repository' : `git knows no revision ${quoted(ref)}`);
  makeFolders(to);
  const folder = path.relative(top, real).split(path.sep).join('/');
  const brought = await stageSource(
    {
      type: 'git',
      url: pathToFileURL(top).href,
      ref: revision,
      ...(folder === '' ? {} : { folder }),
    },
    { to, cwd: to, home: home ?? to, env, signal, network: { allowFile: true }, extract: neverExtracted },
  );
  if (isRefusal(brought)) throw noVersion(skill, brought.message);
  const found = brought.skills.find((one) => path.basename(one.path) === path.basename(real)) ?? brought.skills[0];
  if (found === undefined) throw noVersion(skill, `it is not in ${quoted(ref)}`);
  return { folder: found.path, from: `${ref} (${revision.slice(0, 12)})` };
}

function neverExtracted(): never {
  throw new TypeError('a git repository is no archive');
}

const GIT_MS = 30_000;

/** One word that git prints; nothing where it fails. */
async function gitWord(
  args: readonly string[],
  cwd: string,
  { env, signal }: OldVersionOptions,
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
    message: `there is no older version of ${quoted(path.basename(skill))} to compare with: ${why}`,
    hint: 'name a revision with --baseline REF, or compare with --baseline none',
    data: { expected: 'a version that is kept or committed' },
  });
}

import { readFileSync } from 'node:fs';
import path from 'node:path';

import { isSkillError } from '#core';
import { findFrontmatter, openPlugin } from '#skills';
import { isInside, isPresent, isSystemError, readTreeDigest, realPath, sha256 } from '#platform';
import { openTrust } from '#policy';
import { projectTop, type Runtime } from '#runtime';
import type { LockedSkill } from './lock/lock-file.ts';
import type { PackSettings } from './pack-settings.ts';
import { isRefusal } from './problems.ts';
import type { ArrivingSkill, BeforeCommit } from './root/commit.ts';
import { presentFiles } from './root/present-files.ts';
import { SKILL_FILE_NAME } from './sources/skill-folders.ts';

type SkillToTrust = Parameters<ReturnType<typeof openTrust>['trustSkills']>[0][number];

/**
 * Trusts confirmed skills of a project before they are moved into it, so that the consent survives a crash between the two. Trust that
 * cannot be stored is left to `settleTrust`, which reports it.
 */
export function trustArriving({ root, surroundings }: Pick<PackSettings, 'root' | 'surroundings'>): BeforeCommit {
  return async (skills) => {
    const { home } = surroundings;
    const project = projectTop(surroundings);
    // Skills of the home folder need no trust.
    if (home === undefined || project === undefined || !isInside(realPath(root), realPath(project))) return;
    const trusted: SkillToTrust[] = [];
    for (const skill of skills) trusted.push(...(await skillsToTrust(skill)));
    try {
      await openTrust({ home, bind: 'digest' }).trustSkills(trusted);
    } catch (error) {
      if (!isSkillError(error)) throw error;
    }
  };
}

export type IsTrusted = (dir: string, digest: string | undefined, locked: LockedSkill) => boolean;

/**
 * Whether the user trusted a skill folder with these bytes, installed from where the lock says. A change of the
 * project can put another source there. False for folders that need no trust.
 */
export function openTrustCheck(home: string | undefined): IsTrusted {
  const store = openTrust({ home, bind: 'digest' });
  const isTrusted: IsTrusted = (dir, digest, { source }) => {
    const verdict = digest === undefined ? undefined : store.isTrusted({ source: 'project', dir, digest });
    return verdict?.trusted === true && verdict.because !== 'own' && verdict.origin === source;
  };
  return (dir, digest, locked) => {
    const plugin = digest === undefined || isPresent(path.join(dir, SKILL_FILE_NAME)) ? undefined : openPlugin(dir);
    if (plugin === undefined || typeof plugin === 'string') return isTrusted(dir, digest, locked);
    // An install trusts the skills of a plugin one by one.
    return plugin.skills.every((name) => {
      const skill = path.join(dir, 'skills', name);
      const present = presentFiles(skill, { withoutLooks: true });
      return !isRefusal(present) && isTrusted(skill, present.digest, locked);
    });
  };
}

/**
 * Trusts skills wherever the index finds them with exactly the bytes that the user confirmed. `confirmed` maps the names of installed
 * folders to tree digests; SKILL.md may declare another name. Returns a note for each of the `others` that the user has to trust before
 * models see it. Throws `io/failed` if the trust cannot be stored.
 */
export async function settleTrust(
  runtime: Runtime,
  home: string | undefined,
  confirmed: ReadonlyMap<string, string | undefined>,
  others: readonly string[] = [],
): Promise<readonly string[]> {
  const isMeant = (name: string): boolean => confirmed.has(name) || others.includes(name);
  const meant = runtime.index.all.filter(({ dir }) => isMeant(path.basename(dir)));
  const distrusted = await runtime.distrust(meant, { files: true });
  const unseen = meant.filter(({ dir }) => distrusted.has(dir));
  const skills: SkillToTrust[] = [];
  for (const { dir, digest: head } of unseen) {
    const expected = confirmed.get(path.basename(dir));
    const read = expected === undefined ? undefined : await readTreeDigest(dir);
    if (read?.type === 'digest' && read.digest === expected) skills.push({ dir, digest: read.digest, head });
  }
  if (skills.length > 0) await openTrust({ home, bind: 'digest' }).trustSkills(skills);
  return others
    .filter((name) => unseen.some(({ dir }) => path.basename(dir) === name))
    .map(
      (name) =>
        `${name} is not trusted: it was not trusted before the update, or its lock names another source than when you trusted it; review it, then run skillwright trust`,
    );
}

async function skillsToTrust({ from, folders, lock }: Omit<ArrivingSkill, 'name'>): Promise<readonly SkillToTrust[]> {
  const plugin = isPresent(path.join(from, SKILL_FILE_NAME)) ? undefined : openPlugin(from);
  if (plugin !== undefined && typeof plugin !== 'string') {
    // The skills are trusted one by one; its servers are not.
    const below = plugin.skills.map((name) => path.join('skills', name));
    const found = below.map((one) =>
      skillsToTrust({ from: path.join(from, one), folders: folders.map((folder) => path.join(folder, one)), lock }),
    );
    return (await Promise.all(found)).flat();
  }
  const read = await readTreeDigest(from);
  const head = headDigest(path.join(from, SKILL_FILE_NAME));
  if (read.type !== 'digest' || head === undefined) return [];
  return [...new Set(folders.map(realPath))].map((dir) => ({ dir, digest: read.digest, head, origin: lock.source }));
}

/** The digest of the frontmatter as the index has it. Without it, a list would trust any frontmatter at that path. */
function headDigest(file: string): string | undefined {
  try {
    const bytes = readFileSync(file);
    const bounds = findFrontmatter(bytes, bytes.length, true);
    return bounds.type === 'found' ? `sha256:${sha256(bytes.subarray(0, bounds.end))}` : undefined;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

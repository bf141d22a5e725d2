/** Creates the bill of materials of a root from the installed files and the lock. */
import path from 'node:path';

import { compareText, quoted } from '#core';
import type { LockedSkill } from '../lock/lock.ts';
import { isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import { makeSbom, type Sbom, type SbomSkill } from './sbom.ts';
import { presentBuffer, presentFiles } from '../root/present-files.ts';
import { readLock } from '../lock/lock-file.ts';
import { settingsForLock, readTypedSource } from '../inspect/stage-pack.ts';
import { readSkillHead, lockedGroups } from '../lock/locked-skills.ts';
import type { PackSettings } from '../pack-settings.ts';

export interface SbomOfRoot {
  readonly type: 'sbom';
  readonly sbom: Sbom;
  readonly names: readonly string[];
  /** Differences from the lock, for the user. */
  readonly notes: readonly string[];
}

export interface SbomOfRootOptions {
  /** Names of skills (default: all in the lock). */
  readonly names?: readonly string[];
  readonly now?: Date;
}

/** Refuses if a skill cannot be read, because the list would be incomplete. */
export function sbomOfRoot(
  settings: PackSettings,
  { names = [], now = new Date() }: SbomOfRootOptions = {},
): SbomOfRoot | PackRefusal {
  const { root } = settings;
  const lock = readLock(root);
  if (lock === undefined) return packRefusal('lock/missing', `${quoted(root, 200)} has no skills.lock.json`);
  if (isRefusal(lock)) return lock;
  const groups = lockedGroups(lock, names, root);
  if ('type' in groups) return groups;
  const buffer = presentBuffer();
  const skills: SbomSkill[] = [];
  const notes: string[] = [];
  for (const locked of groups.flatMap((group) => group.skills).toSorted((a, b) => compareText(a.name, b.name))) {
    const tree = presentFiles(path.join(root, locked.name), { buffer, withoutLooks: true, locked: locked.files });
    if (isRefusal(tree)) return tree;
    if (tree.digest !== locked.digest)
      notes.push(`${quoted(locked.name)} was edited: the list describes the edited files`);
    skills.push(sbomSkill(locked, tree, settings));
  }
  return { type: 'sbom', sbom: makeSbom(skills, { now }), names: skills.map(({ name }) => name), notes };
}

function sbomSkill(
  { name, source: text, revision, requires, signedBy, digest: lockedDigest }: LockedSkill,
  { digest, files }: Pick<SbomSkill, 'digest' | 'files'>,
  settings: PackSettings,
): SbomSkill {
  const head = readSkillHead(path.join(settings.root, name), name);
  const version = head?.meta['version'];
  const source = readTypedSource(text, settingsForLock(settings));
  return {
    name,
    version,
    digest,
    files,
    description: head?.description,
    license: head?.license === undefined ? undefined : head.license,
    ...(isRefusal(source) ? {} : { source }),
    revision,
    requires,
    // The signature does not cover changed files.
    ...(signedBy === undefined || digest !== lockedDigest ? {} : { signedBy }),
  };
}

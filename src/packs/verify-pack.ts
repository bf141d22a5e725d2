/** Verifies a pack without installing it: contents, manifest, signature and scan findings. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { quoted } from '#core';
import { removeTree } from '#platform';
import { openNameCheck } from './inspect/confusable-name.ts';
import { isRefusal, packRefusal, type PackRefusal } from './problems.ts';
import type { StagedSource } from './sources/source.ts';
import { groupBy } from './group-by.ts';
import { inspectSkills, verifySource } from './inspect/verdicts.ts';
import { stagePack, readTypedSource } from './inspect/stage-pack.ts';
import type { InspectedSkill } from './inspect/inspect-skill.ts';
import type { PackSettings } from './pack-settings.ts';

export interface VerifiedPack {
  readonly type: 'verified-pack';
  readonly source: string;
  readonly archive?: string;
  readonly hasManifest: boolean;
  readonly signedBy?: string;
  readonly skills: readonly InspectedSkill[];
  /** Files and folders that an install leaves out, each with the reason. */
  readonly leftOut: readonly string[];
  /** Reasons not to install it; empty if there are none. */
  readonly refusals: readonly PackRefusal[];
}

interface VerifyPackOptions {
  readonly settings: PackSettings;
  readonly source: string;
  /** The pack is unpacked into a temporary folder below this one (default: that of the system). */
  readonly workFolder?: string;
  /** Treats a missing signature as a refusal. */
  readonly signature?: boolean;
  readonly lenient?: boolean;
  readonly signal?: AbortSignal;
}

/** Refuses if the pack cannot be unpacked. */
export async function verifyPack(options: VerifyPackOptions): Promise<VerifiedPack | PackRefusal> {
  const { settings, workFolder = os.tmpdir(), signal } = options;
  const source = readTypedSource(options.source, settings);
  if (isRefusal(source)) return source;
  const to = mkdtempSync(path.join(workFolder, 'skillwright-verify-'));
  const place = (name: string): string => {
    mkdirSync(path.join(to, name));
    return path.join(to, name);
  };
  try {
    let staged = await stagePack(source, { settings, to: place('skills'), signal });
    if (!isRefusal(staged) && staged.isPlugin === true)
      staged = await stagePack(source, { settings: { ...settings, unit: 'plugin' }, to: place('plugin'), signal });
    return isRefusal(staged) ? staged : await inspectStaged(staged, options);
  } finally {
    await removeTree(to);
  }
}

async function inspectStaged(staged: StagedSource, options: VerifyPackOptions): Promise<VerifiedPack | PackRefusal> {
  const { settings, signature = false, signal } = options;
  const { inspected: skills, unusable } = await inspectSkills(staged.skills, {
    settings,
    mode: options.lenient === true ? 'lenient' : 'strict',
    checkName: openNameCheck([]),
    signal,
  });
  const requireSigned = settings.requireSigned || signature;
  const proof = await verifySource(staged, skills, { ...settings, requireSigned });
  const { resolved, manifest } = staged;
  const signedBy = isRefusal(proof) ? undefined : proof.signedBy;
  const unproven =
    signature && !isRefusal(proof) && signedBy === undefined
      ? [packRefusal('signature/missing', 'it is not signed')]
      : [];
  return {
    type: 'verified-pack',
    source: resolved.source,
    archive: resolved.archive,
    hasManifest: manifest !== undefined,
    signedBy,
    skills,
    leftOut: staged.leftOut,
    refusals: [
      ...(isRefusal(proof) ? [proof] : []),
      ...unproven,
      ...[...staged.unusable, ...unusable].map(({ refusal }) => refusal),
      ...repeatedNames(skills),
      ...skills.flatMap(({ refusals }) => refusals),
    ],
  };
}

/** A pack has one skill of each name. */
function repeatedNames(skills: readonly InspectedSkill[]): readonly PackRefusal[] {
  return [...groupBy(skills, ({ name }) => name)]
    .filter(([, group]) => group.length > 1)
    .map(([name, group]) => {
      const places = group.map(({ folder }) => quoted(folder, 100));
      return packRefusal('pack/two-skills', `${quoted(name)} is in ${places.join(' and ')}`);
    });
}

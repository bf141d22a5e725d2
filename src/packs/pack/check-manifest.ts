/** Compares an unpacked pack with its manifest and names each changed, missing and added file. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { listParentFolders, compareText, quoted } from '#core';
import { isPresent } from '#platform';
import { findDrift, hasDrift } from '../lock/lock-file.ts';
import type { Drift } from '../lock/lock.ts';
import { isRefusal, packRefusal, readRefusal, type PackRefusal } from '../problems.ts';
import { presentFiles } from '../root/present-files.ts';
import { MANIFEST_NAME, type ManifestSkill, type PackManifest } from './manifest.ts';

export type ManifestCheck = { readonly type: 'same' } | { readonly type: 'drift'; readonly drift: Drift } | PackRefusal;

/** `folder` contains `<skill>/…` for each skill. Paths of the drift start there; folders end with `/`. */
export function checkManifest(folder: string, { skills }: PackManifest): ManifestCheck {
  const drifts: Drift[] = [];
  try {
    drifts.push({ changed: [], missing: [], added: extraEntries(folder, skills) });
  } catch (error) {
    return readRefusal(error, folder);
  }
  for (const skill of skills) {
    const drift = skillDrift(folder, skill);
    if (isRefusal(drift)) return drift;
    drifts.push(drift);
  }
  const all = (key: keyof Drift): readonly string[] => drifts.flatMap((drift) => drift[key]).sort(compareText);
  const drift = { changed: all('changed'), missing: all('missing'), added: all('added') };
  return hasDrift(drift) ? { type: 'drift', drift } : { type: 'same' };
}

/** Entries beside the skills and the manifest. */
function extraEntries(folder: string, skills: readonly ManifestSkill[]): readonly string[] {
  const known = new Set([MANIFEST_NAME, ...skills.map(({ name }) => name)]);
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !known.has(name))
    .map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`);
}

function skillDrift(folder: string, skill: ManifestSkill): Drift | PackRefusal {
  const { name, files, digest } = skill;
  const dir = path.join(folder, name);
  const below = (at: string): string => `${name}/${at}`;
  if (!isPresent(dir)) return { changed: [], missing: Object.keys(files).map(below), added: [] };
  const tree = presentFiles(dir, { withoutLooks: true });
  if (isRefusal(tree)) return tree;
  const link = Object.keys(tree.files).find((at) => tree.files[at]?.sha256 === '');
  if (link !== undefined)
    return packRefusal('archive/link', `${quoted(below(link), 120)} is a link or a special file`, below(link));
  const { changed, missing, added } = findDrift(files, tree.files);
  const expected = new Set(Object.keys(files).flatMap(listParentFolders));
  const folders = tree.folders.filter((at) => !expected.has(at)).map((at) => `${at}/`);
  const drift = {
    changed: changed.map(below),
    missing: missing.map(below),
    added: [...added, ...folders].map(below),
  };
  if (!hasDrift(drift) && tree.digest !== digest)
    return packRefusal(
      'pack/manifest',
      `the digest of ${quoted(name)} in ${MANIFEST_NAME} does not match its files`,
      MANIFEST_NAME,
    );
  return drift;
}

/** Resolves a skill reference of a user or a model to its entry. */
import { nameKey, rootOf, type SkillIndex } from './index-skills.ts';
import { nearest, type SkillEntry } from '#core';

/**
 * Finds the entry for a reference: `name`, `source/name`, `group/name` (the whole group, its first or its last
 * folder), `source/group/name`, each with or without `@version`, an id, the name of its folder, or the name without the namespace of
 * `org/name`. Shadowed entries are found by all but the bare name. Case is ignored, unless that leaves several skills of one root: then only the exact spelling finds one.
 */
export function resolveSkill(index: SkillIndex, reference: string, source?: string): SkillEntry | undefined {
  const written = reference.trim().normalize('NFC');
  const key = nameKey(written);
  const from = source === undefined ? undefined : nameKey(source);
  const fits = (entry: SkillEntry): boolean => from === undefined || nameKey(entry.source) === from;

  // The skill `user/pdf` does not stand in for the skill `pdf` of the source `user`.
  const ofSource = qualified(index, key, written, fits, isOfSource);
  if (ofSource !== undefined) return ofSource;
  const named = entriesNamed(index, key).filter(fits);
  if (named.length > 0) return pickSpelling(named, written);
  const at = key.lastIndexOf('@');
  if (at > 0) {
    const version = key.slice(at + 1);
    const rest = key.slice(0, at);
    const ofVersion = (entry: SkillEntry): boolean => fits(entry) && nameKey(entry.meta['version'] ?? '') === version;
    const writtenRest = written.slice(0, written.lastIndexOf('@'));
    const exact =
      qualified(index, rest, writtenRest, ofVersion, isOfSource) ??
      pickSpelling(entriesNamed(index, rest).filter(ofVersion), writtenRest) ??
      qualified(index, rest, writtenRest, ofVersion, isInGroup);
    if (exact !== undefined) return exact;
  }
  return (
    qualified(index, key, written, fits, isInGroup) ??
    onlyOne(index, written, fits, readFolderName) ??
    onlyOne(index, written, fits, ({ name }) => name.slice(name.indexOf('/') + 1))
  );
}

/** The first entry of a name; of several in its root that differ in case, the one that is spelled like the reference. */
function pickSpelling(entries: readonly SkillEntry[], written: string): SkillEntry | undefined {
  const [first] = entries;
  if (first === undefined) return undefined;
  const inRoot = entries.filter((entry) => rootOf(entry) === rootOf(first));
  const spelled = inRoot.find(({ name }) => written === name || written.endsWith(`/${name}`));
  return spelled ?? (inRoot.every(({ name }) => name === first.name) ? first : undefined);
}

/** Finds a skill by another name than its own, such as that of its folder, by which some systems go. Two such skills are ambiguous. */
function onlyOne(
  index: SkillIndex,
  written: string,
  fits: (entry: SkillEntry) => boolean,
  nameOf: (entry: SkillEntry) => string,
): SkillEntry | undefined {
  const key = nameKey(written);
  const found = index.skills.filter((entry) => nameKey(nameOf(entry)) === key && fits(entry));
  const spelled = found.filter((entry) => nameOf(entry) === written);
  const [only, ...more] = found.length > 1 ? spelled : found;
  return more.length === 0 ? only : undefined;
}

export function readFolderName({ dir }: SkillEntry): string {
  return dir.slice(dir.lastIndexOf('/') + 1);
}

function qualified(
  index: SkillIndex,
  key: string,
  written: string,
  fits: (entry: SkillEntry) => boolean,
  isQualified: (entry: SkillEntry, qualifier: string) => boolean,
): SkillEntry | undefined {
  // A name may contain slashes itself, so every split is tried, the longest qualifier first.
  for (let cut = key.lastIndexOf('/'); cut > 0; cut = key.lastIndexOf('/', cut - 1)) {
    const qualifier = key.slice(0, cut);
    const entries = entriesNamed(index, key.slice(cut + 1)).filter(fits);
    const found = entries.filter((candidate) => isQualified(candidate, qualifier));
    const entry = pickSpelling(found, written);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function isOfSource({ source }: SkillEntry, qualifier: string): boolean {
  return nameKey(source) === qualifier;
}

function isInGroup({ source, group }: SkillEntry, qualifier: string): boolean {
  if (group === '') return false;
  const key = nameKey(group);
  return (
    key === qualifier ||
    key.startsWith(`${qualifier}/`) ||
    key.endsWith(`/${qualifier}`) ||
    `${nameKey(source)}/${key}` === qualifier
  );
}

/** The entries of one name, the winner first: a binary search, `all` is sorted by key. */
function entriesNamed({ all }: SkillIndex, key: string): readonly SkillEntry[] {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = all[middle];
    if (entry !== undefined && nameKey(entry.name) < key) low = middle + 1;
    else high = middle;
  }
  let end = low;
  for (let entry = all[end]; entry !== undefined && nameKey(entry.name) === key; entry = all[end]) end += 1;
  return all.slice(low, end);
}

/** The names most similar to an unknown reference, best first; empty if none is similar. */
export function nearestNames(index: SkillIndex, reference: string, count = 3): readonly string[] {
  const key = nameKey(reference.trim());
  const bare = key.slice(key.lastIndexOf('/') + 1).replace(/@[^@]*$/, '');
  return nearest(
    bare,
    index.skills.map(({ name }) => name),
    count,
  );
}

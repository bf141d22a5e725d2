import { compareText, type Profile, type SkillEntry } from '#core';
import { sha256 } from '#platform';
import { isShadowedBy, nameKey, sortSkills, type SkillIndex } from './index-skills.ts';
import { readFolderName } from './resolve-skill.ts';

interface NameRule {
  /** By the rule of a system instead of the time of change, which copying a tree alters. With `folder`, each is called like its folder. */
  readonly rule?: Profile['sameNames'];
  /** Each name goes to the first of its skills for which this is true; the others keep their order behind them. */
  readonly isPreferred?: (skill: SkillEntry) => boolean;
  /** Skills that are in no list, but can be loaded by the names of their folders unless a listed one has the name. */
  readonly unlisted?: readonly SkillEntry[];
}

/** Decides again which skill has a name that several folders declare. */
export function settleSameNames(index: SkillIndex, { rule, isPreferred, unlisted = [] }: NameRule): SkillIndex {
  const settled = withUnlisted(rule === undefined ? index : settleByRule(index, rule), unlisted);
  return isPreferred === undefined ? settled : settlePreferred(settled, isPreferred);
}

function settleByRule(index: SkillIndex, rule: NonNullable<NameRule['rule']>): SkillIndex {
  const found = findFolders(index);
  const named = rule === 'folder' ? nameByFolder(found) : found;
  if (named === found && index.shadowed.length === 0) return index;
  const ordered = named.toSorted(compareFound);
  const skills: SkillEntry[] = [];
  const shadowed: SkillIndex['shadowed'][number][] = [];
  let winners: Found[] = [];
  for (const one of ordered) {
    const { entry, root, sameAs } = one;
    if (nameKey(winners[0]?.entry.name ?? '') !== nameKey(entry.name)) winners = [];
    const winner = winners.find((other) => sameAs === other.entry.dir || isShadowedBy(entry, other.entry));
    if (winner === undefined) {
      winners.push(one);
      skills.push(entry);
      continue;
    }
    const { name, source, dir, meta } = entry;
    const reason = sameAs !== undefined ? 'same-directory' : root === winner.root ? 'first-path' : 'higher-root';
    shadowed.push({ name, source, version: meta['version'], dir, by: sameAs ?? winner.entry.dir, reason });
  }
  // Caches of what is derived from an index go by its hash.
  const indexHash = `sha256:${sha256(`${index.indexHash} ${rule}`)}`;
  return {
    ...index,
    skills: sortSkills(skills),
    all: ordered.map(({ entry }) => entry),
    shadowed,
    report: { ...index.report, conflicts: shadowed, indexHash },
    indexHash,
  };
}

interface Found {
  readonly entry: SkillEntry;
  /** The position of its root: 0 has the highest priority. */
  readonly root: number;
  /** The folder that is the same on disk. */
  readonly sameAs?: string;
}

function findFolders({ all, shadowed, report }: SkillIndex): readonly Found[] {
  const roots = report.roots
    .toSorted((a, b) => b.priority - a.priority)
    .map(({ path }) => path.replaceAll('\\', '/').replace(/\/$/, ''));
  const same = new Map(
    shadowed.filter(({ reason }) => reason === 'same-directory').map(({ dir, by }) => [dir, by] as const),
  );
  return all.map((entry) => {
    const { dir } = entry;
    const root = roots.findIndex((path) => dir === path || dir.startsWith(`${path}/`));
    return { entry, root, sameAs: same.get(dir) };
  });
}

/** Renames each skill whose declared name is also that of another one in its root, or of the folder of another one. */
function nameByFolder(found: readonly Found[]): readonly Found[] {
  const distinct = found.filter(({ sameAs }) => sameAs === undefined);
  // How many skills have a name as the declared one or as that of the folder.
  const known = new Map<string, number>();
  for (const { entry, root } of distinct) {
    for (const name of new Set([nameKey(entry.name), nameKey(readFolderName(entry))])) {
      const key = `${String(root)}/${name}`;
      known.set(key, (known.get(key) ?? 0) + 1);
    }
  }
  let isChanged = false;
  const named = found.map((one) => {
    const { entry, root, sameAs } = one;
    const name = readFolderName(entry).normalize('NFC');
    const isClear = (known.get(`${String(root)}/${nameKey(entry.name)}`) ?? 0) < 2;
    if (sameAs !== undefined || isClear || name === entry.name) return one;
    isChanged = true;
    return { ...one, entry: called(entry, name) };
  });
  return isChanged ? named : found;
}

function called(entry: SkillEntry, name: string): SkillEntry {
  const version = entry.meta['version'];
  return { ...entry, id: `${entry.source}/${name}${version === undefined ? '' : `@${version}`}`, name };
}

function withUnlisted(index: SkillIndex, entries: readonly SkillEntry[]): SkillIndex {
  if (entries.length === 0) return index;
  const unlisted = entries.map((entry) => called(entry, readFolderName(entry).normalize('NFC')));
  return { ...index, all: [...index.all, ...unlisted].toSorted(byKey) };
}

function byKey(a: SkillEntry, b: SkillEntry): number {
  return compareText(nameKey(a.name), nameKey(b.name));
}

function compareFound(a: Found, b: Found): number {
  const [one, other] = [nameKey(a.entry.name), nameKey(b.entry.name)];
  if (one !== other) return one < other ? -1 : 1;
  return (
    a.root - b.root ||
    Number(a.sameAs !== undefined) - Number(b.sameAs !== undefined) ||
    compareText(a.entry.dir, b.entry.dir)
  );
}

function settlePreferred(index: SkillIndex, isPreferred: (skill: SkillEntry) => boolean): SkillIndex {
  const [preferred, others] = [index.all.filter(isPreferred), index.all.filter((skill) => !isPreferred(skill))];
  // The winner of a name is the first of `all`, which is sorted by name.
  const all = [...preferred, ...others].toSorted(byKey);
  const isListed = new Set([...index.skills, ...index.shadowed].map(({ dir }) => dir));
  const skills: SkillEntry[] = [];
  for (const skill of all) {
    if (!isListed.has(skill.dir)) continue;
    const same = skills.slice(skills.findLastIndex(({ name }) => nameKey(name) !== nameKey(skill.name)) + 1);
    if (!same.some((winner) => isShadowedBy(skill, winner))) skills.push(skill);
  }
  const lost = index.skills.filter((skill) => !skills.includes(skill));
  if (lost.length === 0) return index;
  const winners = new Map(skills.map(({ name, dir }) => [nameKey(name), dir] as const));
  const shadowed = [
    ...index.shadowed.filter(({ dir }) => !skills.some((skill) => skill.dir === dir)),
    ...lost.map(({ name, source, dir, meta }) => ({
      name,
      source,
      version: meta['version'],
      dir,
      by: '',
      reason: 'untrusted' as const,
    })),
  ].map((one) => (one.reason === 'same-directory' ? one : { ...one, by: winners.get(nameKey(one.name)) ?? one.by }));
  // Caches of what is derived from an index go by its hash.
  const indexHash = `sha256:${sha256(JSON.stringify([index.indexHash, ...lost.map(({ dir }) => dir)]))}`;
  const report = { ...index.report, conflicts: shadowed, indexHash };
  return { ...index, all, skills: sortSkills(skills), shadowed, report, indexHash };
}

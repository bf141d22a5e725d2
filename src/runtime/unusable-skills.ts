import type { Profile, SkillEntry } from '#core';
import { sha256, withForwardSlashes } from '#platform';
import { settleSameNames, type SkillIndex } from '#skills';

/** The skills of a snapshot that a system can use, under the names that it gives them. */
export function usableSkills(
  snapshot: SkillIndex,
  { unusable = [], unlisted = [], rootIsNoSkill, sameNames: rule, ignoredFields = [] }: Profile,
): SkillIndex {
  const known = new Set(snapshot.report.leftOut.map(({ path }) => path));
  const refused = snapshot.diagnostics
    .filter(({ code, path }) => unusable.includes(code) && !known.has(path))
    .toReversed();
  // What lenient reading does instead follows a semicolon, and quotes nothing.
  const leftOut = refused.map(({ path, code, message }) => ({ path, code, message: message.replace(/; [^"]*$/, '') }));
  const roots = new Set(
    rootIsNoSkill === true ? snapshot.report.roots.map(({ path }) => withForwardSlashes(path)) : [],
  );
  const own = snapshot.all.flatMap(({ dir, file }) => (roots.has(dir) ? [rootSkill(`${dir}/${file}`)] : []));
  const broken = new Set(
    [...leftOut.filter(({ code }) => !unlisted.includes(code)), ...own].map(({ path: file }) => file),
  );
  const incomplete = new Set(leftOut.map(({ path: file }) => file).filter((file) => !broken.has(file)));
  const settled = settleSameNames(without(snapshot, [...leftOut, ...own]), {
    rule,
    unlisted: [
      ...snapshot.all.filter(({ dir, file }) => incomplete.has(`${dir}/${file}`)),
      ...(unlisted.includes('description/missing') ? snapshot.undescribed : []),
    ],
  });
  return withoutFields(settled, ignoredFields);
}

function withoutFields(index: SkillIndex, ignored: NonNullable<Profile['ignoredFields']>): SkillIndex {
  const changed = new Map<SkillEntry, SkillEntry>();
  for (const skill of index.all) {
    const { runMode, paths } = skill.controls;
    const controls = {
      ...skill.controls,
      runMode: ignored.includes('run-mode') ? 'inline' : runMode,
      paths: ignored.includes('paths') ? undefined : paths,
    } as const;
    if (controls.runMode !== runMode || controls.paths !== paths) changed.set(skill, { ...skill, controls });
  }
  if (changed.size === 0) return index;
  const change = (skill: SkillEntry): SkillEntry => changed.get(skill) ?? skill;
  return { ...index, skills: index.skills.map(change), all: index.all.map(change) };
}

function rootSkill(path: string): LeftOut {
  return {
    path,
    code: 'file/unusable',
    message: 'a SKILL.md in the root itself is no skill here; name the folder above it as the root',
  };
}

interface UsableIndexOptions {
  /** Absent: the whole snapshot is shown. */
  readonly profile: Profile | undefined;
  /** Whether a skill is trusted; opened only for names that several folders declare. */
  readonly openTrust: () => Promise<(skill: SkillEntry) => boolean>;
}

/** Shows each snapshot as sessions use it, so that a listing never names another skill than the one that a model gets. */
export function openUsableIndex({ profile, openTrust }: UsableIndexOptions): {
  readonly of: (snapshot: SkillIndex) => SkillIndex;
  /** To be called for each new snapshot. */
  readonly learn: (snapshot: SkillIndex) => Promise<SkillIndex>;
} {
  let isPreferred: ((skill: SkillEntry) => boolean) | undefined;
  let made: { readonly from: SkillIndex; readonly index: SkillIndex } | undefined;
  const of = (snapshot: SkillIndex): SkillIndex => {
    if (profile === undefined) return snapshot;
    if (made?.from !== snapshot)
      made = { from: snapshot, index: settleSameNames(usableSkills(snapshot, profile), { isPreferred }) };
    return made.index;
  };
  return {
    of,
    async learn(snapshot) {
      if (snapshot.shadowed.length > 0) isPreferred = await openTrust();
      made = undefined;
      return of(snapshot);
    },
  };
}

type LeftOut = SkillIndex['report']['leftOut'][number];

/** Leaves out skills, by the path of their SKILL.md, as if these could not be read. */
function without(index: SkillIndex, found: readonly LeftOut[]): SkillIndex {
  if (found.length === 0) return index;
  const byPath = new Map(found.map((one) => [one.path, one]));
  const isUsable = ({ dir, file }: SkillIndex['all'][number]): boolean => !byPath.has(`${dir}/${file}`);
  const { skills, all, report } = index;
  // Caches of what is derived from an index go by its hash.
  const indexHash = `sha256:${sha256(JSON.stringify([index.indexHash, ...byPath.keys()]))}`;
  return {
    ...index,
    indexHash,
    skills: skills.filter(isUsable),
    all: all.filter(isUsable),
    report: { ...report, indexHash, leftOut: [...report.leftOut, ...byPath.values()] },
  };
}

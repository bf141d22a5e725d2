import type { Diagnostic, Profile, SkillEntry } from '#core';
import { sha256 } from '#platform';
import { settleSameNames, type SkillIndex } from '#skills';

/** The skills of a snapshot that a system can use, under the names that it gives them. */
export function usableSkills(snapshot: SkillIndex, { unusable = [], sameNames: rule }: Profile): SkillIndex {
  return settleSameNames(withoutUnusable(snapshot, unusable), { rule });
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

/** Leaves out skills whose SKILL.md has one of these diagnostics, as if it could not be read. */
function withoutUnusable(index: SkillIndex, codes: readonly Diagnostic['code'][]): SkillIndex {
  const found = index.diagnostics.filter(({ code }) => codes.includes(code));
  if (found.length === 0) return index;
  const byPath = new Map(found.toReversed().map((diagnostic) => [diagnostic.path, diagnostic]));
  const isUsable = ({ dir, file }: SkillIndex['all'][number]): boolean => !byPath.has(`${dir}/${file}`);
  // What lenient reading does instead follows a semicolon.
  const leftOut = [...byPath.values()].map(({ path, code, message }) => ({
    path,
    code,
    message: message.split(';', 1)[0] ?? message,
  }));
  const { skills, all, report } = index;
  // Caches of what is derived from an index go by its hash.
  const indexHash = `sha256:${sha256(JSON.stringify([index.indexHash, ...byPath.keys()]))}`;
  return {
    ...index,
    indexHash,
    skills: skills.filter(isUsable),
    all: all.filter(isUsable),
    report: { ...report, indexHash, leftOut: [...report.leftOut, ...leftOut] },
  };
}

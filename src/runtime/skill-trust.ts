import { settleSameNames, type SkillIndex } from '#skills';
import { isForModel, printable, typedWord, type SkillEntry } from '#core';
import { isInside, realPath } from '#platform';
import type { openTrust } from '#policy';

type TrustVerdict = ReturnType<ReturnType<typeof openTrust>['isTrusted']>;
type UntrustedVerdict = Extract<TrustVerdict, { readonly trusted: false }>;

/** Decides which skills may be used at all (POL-5). */
export interface SkillTrust {
  /** Why the skill must not be used, based on its current files; undefined if it may. */
  distrust(skill: SkillEntry): Promise<UntrustedVerdict | undefined>;
  /** Like `distrust`, based on its folder and frontmatter; for lists. */
  distrustByHead(skill: SkillEntry): UntrustedVerdict | undefined;
}

/**
 * Hides untrusted skills, including their descriptions, from the model, and gives their names to trusted skills that have the same ones.
 * `known` are folders of skills whose files are untrusted.
 */
export function trustedIndex(index: SkillIndex, trust: SkillTrust, known: ReadonlySet<string>): SkillIndex {
  const untrusted = new Set(
    index.all.filter((skill) => known.has(skill.dir) || trust.distrustByHead(skill) !== undefined),
  );
  if (untrusted.size === 0) return index;
  const hidden = (skill: SkillEntry): SkillEntry =>
    untrusted.has(skill) && isForModel(skill.state) ? { ...skill, state: 'manual' } : skill;
  const { all, skills, ...rest } = settleSameNames(index, { isPreferred: (skill) => !untrusted.has(skill) });
  return { ...rest, all: all.map(hidden), skills: skills.map(hidden) };
}

/** Why a skill must not be used yet, and how to trust it. */
export interface Distrust {
  /** One sentence for a person. */
  readonly reason: string;
  readonly why: UntrustedVerdict['reason'];
  /** The command that trusts the enclosing project, or the skill itself. */
  readonly command: string;
}

export interface DistrustOptions {
  /** Also check whether files changed since they were trusted, if the configuration binds trust to digests (default: false). */
  readonly files?: boolean;
}

/** The skills that must not be used yet, by folder. `projects` are folders that are trusted as a whole. */
export async function untrustedSkills(
  skills: readonly SkillEntry[],
  trust: SkillTrust,
  { projects, files = false }: DistrustOptions & { readonly projects: readonly string[] },
): Promise<ReadonlyMap<string, Distrust>> {
  const untrusted = new Map<string, Distrust>();
  const folders = projects.map(realPath);
  for (const skill of skills) {
    const verdict = files ? await trust.distrust(skill) : trust.distrustByHead(skill);
    if (verdict === undefined) continue;
    const { message, place, reason: why } = verdict;
    const folder = folders.find((around) => isInside(place, around)) ?? place;
    untrusted.set(skill.dir, { reason: message, why, command: `skillwright trust ${typedWord(folder)}` });
  }
  return untrusted;
}

/** One line for each command that would trust skills that are hidden from models; usually there is one. */
export function trustRemarks(untrusted: ReadonlyMap<string, Distrust>): readonly string[] {
  const counts = new Map<string, number>();
  for (const { command } of untrusted.values()) counts.set(command, (counts.get(command) ?? 0) + 1);
  return [...counts].map(
    ([command, count]) => `${String(count)} untrusted, hidden from models; review, then run: ${printable(command)}`,
  );
}

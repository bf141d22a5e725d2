import {
  compareText,
  diagnose,
  DIAGNOSTIC_RULES,
  type Diagnostic,
  type Mode,
  type SkillHead,
  type SkillRoot,
} from '#core';
import { realPath } from '#platform';
import type { ExplainedDirectory, LeftOutSkill, RootReport, SkillCandidate } from './index-skills.ts';
import { directoryStatus } from './list-directory.ts';
import type { LocatedRecord } from './known-skills.ts';
import type { ScanResult, ScannedSkill } from './scan-result.ts';

/** The result of a scan in which each skill folder is either a candidate or excluded, and repeated folders are marked. */
export interface Assembled {
  readonly candidates: readonly SkillCandidate[];
  /** What is left out for the want of a description alone. */
  readonly undescribed: readonly SkillCandidate[];
  readonly leftOut: readonly LeftOutSkill[];
  readonly diagnostics: readonly Diagnostic[];
  readonly roots: readonly RootReport[];
  readonly explain: readonly ExplainedDirectory[];
  /** The next scan may reuse every record, and no folder was reached twice or shares its file with another. */
  readonly isReusable: boolean;
}

export interface AssembleOptions {
  readonly mode: Mode;
  readonly explain: boolean;
  /** Leaves out every skill with an error, not only those that cannot be read. */
  readonly omitInvalid: boolean;
  /** Problems that leave no skill out unless `omitInvalid` does. */
  readonly tolerated: readonly Diagnostic['code'][];
}

export function assemble(
  result: ScanResult,
  skills: readonly ScannedSkill[],
  { mode, explain, omitInvalid, tolerated }: AssembleOptions,
): Assembled {
  const isOmitted = ({ diagnostics: found }: ScannedSkill): boolean =>
    found.some(({ code, severity }) => {
      const { excludes, isUnderstood } = DIAGNOSTIC_RULES[code];
      return severity === 'error' && ((omitInvalid && !isUnderstood) || (excludes && !tolerated.includes(code)));
    });
  const { firsts, repeats } = result.mayRepeat ? firstOccurrences(skills) : { firsts: undefined, repeats: false };
  const candidates: SkillCandidate[] = [];
  const undescribed: SkillCandidate[] = [];
  const leftOut = result.mayRepeat ? withoutRepeats(result.failed) : [...result.failed];
  const diagnostics = [
    ...result.diagnostics,
    ...leftOut.map(({ code, path, message }) => diagnose({ code, path, message }, mode)),
  ];
  const explained = [...result.explained];
  if (explain)
    explained.push(...leftOut.map(({ path, message }) => ({ path, decision: 'left-out' as const, reason: message })));
  const counts = new Map<SkillRoot, number>();
  let isReusable = !repeats;

  for (const skill of skills) {
    isReusable &&= isLocated(skill);
    const first = firsts?.get(skill);
    if (first !== undefined) {
      const { root, name, dir, group } = skill;
      const { head, file, digest, mtimeMs } = first;
      if (head !== undefined && !isOmitted(first))
        candidates.push({ head, root, name, dir, file, group, digest, mtimeMs, sameAs: first.dir });
      if (explain) explained.push({ path: dir, decision: 'repeated', reason: `the same folder as ${first.dir}` });
      continue;
    }
    for (const diagnostic of skill.diagnostics) diagnostics.push(diagnostic);
    if (hasHead(skill) && !isOmitted(skill)) {
      candidates.push(skill);
      counts.set(skill.root, (counts.get(skill.root) ?? 0) + 1);
      if (explain) explained.push({ path: skill.dir, decision: 'skill', reason: `contains ${skill.file}` });
    } else {
      const reason = leaveOut(skill);
      leftOut.push(reason);
      if (hasHead(skill) && reason.code === 'description/missing') undescribed.push(skill);
      if (explain) explained.push({ path: skill.dir, decision: 'left-out', reason: reason.message });
    }
  }
  return {
    candidates,
    undescribed,
    leftOut: leftOut.toSorted((a, b) => compareText(a.path, b.path)),
    diagnostics,
    roots: result.roots.map((root) => ({ ...root, skills: skillsIn(counts, root) })),
    explain: explained.toSorted((a, b) => compareText(a.path, b.path)),
    isReusable,
  };
}

function hasHead(skill: ScannedSkill): skill is ScannedSkill & { readonly head: SkillHead } {
  return skill.head !== undefined;
}

/** The records that the next scan may reuse: those of files that had settled before they were read. */
export function toLocated(skills: readonly ScannedSkill[]): readonly LocatedRecord[] {
  return skills.filter(isLocated);
}

function isLocated(skill: ScannedSkill): skill is ScannedSkill & LocatedRecord {
  return skill.settled && skill.parent !== undefined;
}

/** Maps each folder that was reached by a second path to its first occurrence. */
function firstOccurrences(skills: readonly ScannedSkill[]): {
  readonly firsts: ReadonlyMap<ScannedSkill, ScannedSkill>;
  readonly repeats: boolean;
} {
  let repeats = false;
  const byInode = new Map<number, ScannedSkill[]>();
  const firsts = new Map<ScannedSkill, ScannedSkill>();
  for (const skill of skills.toSorted(byPrecedence)) {
    const sharing = byInode.get(skill.ino);
    if (sharing === undefined) {
      byInode.set(skill.ino, [skill]);
      continue;
    }
    repeats = true;
    // A hard link puts one file in two folders, which are still two skills.
    const first = sharing.find(({ dir, dev }) => dev === skill.dev && isSameDirectory(dir, skill.dir));
    if (first === undefined) sharing.push(skill);
    else firsts.set(skill, first);
  }
  return { firsts, repeats };
}

/** Roots with higher priority first; within a root, real folders before folders behind links. */
function byPrecedence(a: ScannedSkill, b: ScannedSkill): number {
  return (
    b.root.priority - a.root.priority ||
    compareText(a.root.path, b.root.path) ||
    Number(a.linked) - Number(b.linked) ||
    compareText(a.dir, b.dir)
  );
}

function isSameDirectory(a: string, b: string): boolean {
  const first = directoryStatus(a);
  const second = directoryStatus(b);
  return (
    first.type === 'directory' && second.type === 'directory' && first.dev === second.dev && first.ino === second.ino
  );
}

function withoutRepeats(failed: readonly LeftOutSkill[]): LeftOutSkill[] {
  const byPlace = new Map<string, LeftOutSkill>();
  for (const failure of failed) {
    const cut = failure.path.lastIndexOf('/');
    const place = `${realPath(failure.path.slice(0, cut))}/${failure.path.slice(cut + 1)}`;
    if (!byPlace.has(place)) byPlace.set(place, failure);
  }
  return [...byPlace.values()];
}

function leaveOut({ dir, diagnostics, file }: ScannedSkill): LeftOutSkill {
  const path = `${dir}/${file}`;
  const cause =
    diagnostics.find(({ code }) => DIAGNOSTIC_RULES[code].excludes) ??
    diagnostics.find(({ code, severity }) => severity === 'error' && !DIAGNOSTIC_RULES[code].isUnderstood);
  if (cause === undefined) return { path, code: 'frontmatter/invalid-yaml', message: 'the frontmatter cannot be read' };
  // What lenient reading does instead follows a semicolon.
  return { path, code: cause.code, message: cause.message.split(';', 1)[0] ?? cause.message };
}

function skillsIn(
  counts: ReadonlyMap<SkillRoot, number>,
  { source, path, priority }: Omit<RootReport, 'skills'>,
): number {
  const isSame = (root: SkillRoot): boolean =>
    root.path === path && root.source === source && root.priority === priority;
  return [...counts].find(([root]) => isSame(root))?.[1] ?? 0;
}

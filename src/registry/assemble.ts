import { compareText, diagnose } from '../core/diagnostic.ts';
import type { Diagnostic, Mode } from '../core/diagnostic.ts';
import { DIAGNOSTIC_RULES } from '../core/diagnostic-codes.ts';
import type { ExplainedDirectory, LeftOutSkill, RootReport, SkillCandidate } from './index-skills.ts';
import type { SkillEntry, SkillHead, SkillRoot } from '../core/skill.ts';
import { directoryStatus } from '../platform/fs/list-directory.ts';
import { realPath } from '../platform/fs/paths.ts';
import type { PlacedRecord } from './head-record.ts';
import type { ReadSkill, Walked } from './walked.ts';

/** A walk, sorted out: each skill folder is one candidate or one left-out record, and a folder met again is marked. */
export interface Assembled {
  readonly candidates: readonly SkillCandidate[];
  readonly leftOut: readonly LeftOutSkill[];
  /** Gathered when they are asked for; every skill must have been told by then. */
  readonly diagnostics: () => readonly Diagnostic[];
  readonly roots: readonly RootReport[];
  readonly explain: readonly ExplainedDirectory[];
  /** Every skill may be believed in the next scan, and none was met twice or shares its file with another. */
  readonly stands: boolean;
}

/** Sorts out what a walk found. */
export function assemble(
  walked: Walked,
  skills: readonly ReadSkill[],
  { mode, explain }: { readonly mode: Mode; readonly explain: boolean },
): Assembled {
  const { firsts, repeats } = walked.mayRepeat ? firstSights(skills) : { firsts: undefined, repeats: false };
  const candidates: SkillCandidate[] = [];
  const leftOut = walked.mayRepeat ? withoutRepeats(walked.failed) : [...walked.failed];
  const failed = leftOut.map(({ code, path, message }) => diagnose({ code, path, message }, mode));
  const explained = [...walked.explained];
  if (explain)
    explained.push(...leftOut.map(({ path, message }) => ({ path, decision: 'left-out' as const, reason: message })));
  const counts: RootCount[] = [];
  let count: RootCount | undefined;
  let stands = !repeats;

  // Counted, as in `indexSkills`.
  for (let at = 0; at < skills.length; at += 1) {
    const skill = skills[at];
    if (skill === undefined) continue;
    stands &&= isPlaced(skill);
    const first = firsts?.get(skill);
    if (first !== undefined) {
      const { root, name, dir, group } = skill;
      const { head, file, digest, mtimeMs } = first;
      if (head !== undefined)
        candidates.push({ head, root, name, dir, file, group, digest, mtimeMs, sameAs: first.dir });
      if (explain) explained.push({ path: dir, decision: 'repeated', reason: `the same folder as ${first.dir}` });
      continue;
    }
    if (isUnderstood(skill)) {
      candidates.push(skill);
      // Skills of one root come one after the other.
      if (count?.root !== skill.root) count = countOf(counts, skill.root);
      count.skills += 1;
      if (explain) explained.push({ path: skill.dir, decision: 'skill', reason: `it holds ${skill.file}` });
    } else {
      const reason = leaveOut(skill);
      leftOut.push(reason);
      if (explain) explained.push({ path: skill.dir, decision: 'left-out', reason: reason.message });
    }
  }
  return {
    candidates,
    leftOut: leftOut.toSorted((a, b) => compareText(a.path, b.path)),
    diagnostics: () => {
      const gathered = [...walked.diagnostics, ...failed];
      for (let at = 0; at < skills.length; at += 1) {
        const skill = skills[at];
        if (skill === undefined || firsts?.has(skill) === true) continue;
        for (let each = 0; each < skill.diagnostics.length; each += 1) {
          const diagnostic = skill.diagnostics[each];
          if (diagnostic !== undefined) gathered.push(diagnostic);
        }
      }
      return gathered;
    },
    roots: walked.roots.map((root) => ({ ...root, skills: skillsIn(counts, root) })),
    explain: explained.toSorted((a, b) => compareText(a.path, b.path)),
    stands,
  };
}

/** Has a head, so that it is a candidate as it is. */
function isUnderstood(skill: ReadSkill): skill is ReadSkill & { readonly head: SkillHead } {
  return skill.head !== undefined;
}

/** What may be believed in the next scan: everything read from a file that had settled; entries of the index first and in its order. */
export function toPlaced(skills: readonly ReadSkill[], all: readonly SkillEntry[]): readonly PlacedRecord[] {
  const order = new Map(all.map(({ dir }, place) => [dir, place]));
  const placed = skills.filter(isPlaced).map((record) => ({ record, place: order.get(record.dir) ?? all.length }));
  return placed.sort((a, b) => a.place - b.place).map(({ record }) => record);
}

function isPlaced(skill: ReadSkill): skill is ReadSkill & PlacedRecord {
  return skill.settled && skill.parent !== undefined;
}

/** For each folder that was met before by another path: that first sight of it. */
function firstSights(skills: readonly ReadSkill[]): {
  readonly firsts: ReadonlyMap<ReadSkill, ReadSkill>;
  readonly repeats: boolean;
} {
  let repeats = false;
  const byInode = new Map<number, ReadSkill[]>();
  const firsts = new Map<ReadSkill, ReadSkill>();
  for (const skill of skills.toSorted(byPrecedence)) {
    const sharing = byInode.get(skill.ino);
    if (sharing === undefined) {
      byInode.set(skill.ino, [skill]);
      continue;
    }
    repeats = true;
    // One file in two folders (a hard link) is still two skills.
    const first = sharing.find(({ dir, dev }) => dev === skill.dev && isSameDirectory(dir, skill.dir));
    if (first === undefined) sharing.push(skill);
    else firsts.set(skill, first);
  }
  return { firsts, repeats };
}

/** Higher roots first and, within a root, real folders before those behind links. */
function byPrecedence(a: ReadSkill, b: ReadSkill): number {
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

const MISSING = 'description/missing';

function leaveOut({ dir, diagnostics, file, untold }: ReadSkill): LeftOutSkill {
  const path = `${dir}/${file}`;
  // Not told yet: there is one such reason, and it is told in the words of its rule.
  if (untold !== '') return { path, code: MISSING, message: DIAGNOSTIC_RULES[MISSING].about };
  const cause =
    diagnostics.find(({ code }) => DIAGNOSTIC_RULES[code].excludes) ??
    diagnostics.find(({ severity }) => severity === 'error');
  if (cause === undefined) return { path, code: 'frontmatter/invalid-yaml', message: 'the frontmatter cannot be read' };
  return { path, code: cause.code, message: cause.message };
}

interface RootCount {
  readonly root: SkillRoot;
  skills: number;
}

function countOf(counts: RootCount[], root: SkillRoot): RootCount {
  const known = counts.find((count) => count.root === root);
  if (known !== undefined) return known;
  const count = { root, skills: 0 };
  counts.push(count);
  return count;
}

function skillsIn(counts: readonly RootCount[], { source, path, priority }: Omit<RootReport, 'skills'>): number {
  const count = counts.find(({ root }) => root.path === path && root.source === source && root.priority === priority);
  return count?.skills ?? 0;
}

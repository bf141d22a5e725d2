import { compareText, diagnose } from '../core/diagnostic.ts';
import type { Diagnostic, Mode } from '../core/diagnostic.ts';
import { DIAGNOSTIC_RULES } from '../core/diagnostic-codes.ts';
import type { ExplainedDirectory, LeftOutSkill, RootReport, SkillCandidate } from '../core/index-skills.ts';
import type { SkillEntry, SkillRoot } from '../core/skill.ts';
import { directoryStatus } from '../platform/list-directory.ts';
import { realPath } from '../platform/paths.ts';
import type { HeadRecord, PlacedRecord } from './head-record.ts';
import type { FoundSkill, Walked } from './walked.ts';

/** A found skill and what its frontmatter says. */
export interface ReadSkill extends FoundSkill {
  readonly record: HeadRecord;
  /** May be believed in the next scan without another read. */
  readonly settled: boolean;
}

/** A walk, sorted out: each skill folder is one candidate or one left-out record, and a folder met again is marked. */
export interface Assembled {
  readonly candidates: readonly SkillCandidate[];
  readonly leftOut: readonly LeftOutSkill[];
  readonly diagnostics: readonly Diagnostic[];
  readonly roots: readonly RootReport[];
  readonly explain: readonly ExplainedDirectory[];
  /** Some folders were met twice, or share a file. */
  readonly repeats: boolean;
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
  const diagnostics = [
    ...walked.diagnostics,
    ...leftOut.map(({ code, path, message }) => diagnose({ code, path, message }, mode)),
  ];
  const explained = [...walked.explained];
  if (explain)
    explained.push(...leftOut.map(({ path, message }) => ({ path, decision: 'left-out' as const, reason: message })));
  const counts = new Map<SkillRoot, number>();

  for (const skill of skills) {
    const first = firsts?.get(skill);
    const { root, dir, group } = skill;
    const { record } = first ?? skill;
    if (first === undefined) diagnostics.push(...record.diagnostics);
    const { head, file, digest, mtimeMs } = record;
    if (head === undefined) {
      const reason = first === undefined ? leaveOut(dir, record) : undefined;
      if (reason !== undefined) leftOut.push(reason);
      if (explain)
        explained.push({
          path: dir,
          decision: first === undefined ? 'left-out' : 'repeated',
          reason: reason?.message ?? `the same folder as ${first?.dir ?? ''}`,
        });
      continue;
    }
    candidates.push(
      first === undefined
        ? { head, root, dir, file, group, digest, mtimeMs }
        : { head, root, dir, file, group, digest, mtimeMs, sameAs: first.dir },
    );
    if (first === undefined) counts.set(root, (counts.get(root) ?? 0) + 1);
    if (explain)
      explained.push({
        path: dir,
        decision: first === undefined ? 'skill' : 'repeated',
        reason: first === undefined ? `it holds ${file}` : `the same folder as ${first.dir}`,
      });
  }
  return {
    candidates,
    leftOut: leftOut.toSorted((a, b) => compareText(a.path, b.path)),
    diagnostics,
    roots: walked.roots.map((root) => ({ ...root, skills: countOf(counts, root) })),
    explain: explained.toSorted((a, b) => compareText(a.path, b.path)),
    repeats,
  };
}

/** What may be believed in the next scan: everything read from a file that had settled; entries of the index first and in its order. */
export function toPlaced(skills: readonly ReadSkill[], all: readonly SkillEntry[]): readonly PlacedRecord[] {
  const order = new Map(all.map(({ dir }, place) => [dir, place]));
  const kept = skills.flatMap(({ parent, name, dir, settled, record }) =>
    parent === undefined || !settled ? [] : [{ parent, name, record, place: order.get(dir) ?? all.length }],
  );
  return kept.sort((a, b) => a.place - b.place);
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
    const sharing = byInode.get(skill.record.ino);
    if (sharing === undefined) {
      byInode.set(skill.record.ino, [skill]);
      continue;
    }
    repeats = true;
    // One file in two folders (a hard link) is still two skills.
    const first = sharing.find(({ dir, record }) => record.dev === skill.record.dev && isSameDirectory(dir, skill.dir));
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

function leaveOut(dir: string, { diagnostics, file }: HeadRecord): LeftOutSkill {
  const cause =
    diagnostics.find(({ code }) => DIAGNOSTIC_RULES[code].excludes) ??
    diagnostics.find(({ severity }) => severity === 'error');
  const path = `${dir}/${file}`;
  if (cause === undefined) return { path, code: 'frontmatter/invalid-yaml', message: 'the frontmatter cannot be read' };
  return { path, code: cause.code, message: cause.message };
}

function countOf(
  counts: ReadonlyMap<SkillRoot, number>,
  { source, path, priority }: Omit<RootReport, 'skills'>,
): number {
  for (const [root, count] of counts)
    if (root.path === path && root.source === source && root.priority === priority) return count;
  return 0;
}

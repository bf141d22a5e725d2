import path from 'node:path';

import { diagnose, type Diagnostic } from '#core';
import { applyEdits, checkSkill, openRegistry, unusableFiles, type SkillIndex } from '#skills';
import { isDirectory, isPresent, replaceText, withForwardSlashes } from '#platform';

type CheckOptions = Parameters<typeof checkSkill>[2];

export interface CheckTarget {
  readonly dir: string;
  readonly file: string;
}

export interface Targets {
  readonly skills: readonly CheckTarget[];
  /** Problems with skill folders that cannot be opened. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Finds the skills at a path: a SKILL.md, a skill folder, or all skills below a folder. Returns nothing if the path does not exist. */
export async function targetsAt(
  given: string,
  options: CheckOptions,
  signal?: AbortSignal,
): Promise<Targets | undefined> {
  const absolute = path.resolve(given);
  const base = path.basename(absolute);
  if (/^skill\.md$/i.test(base) && !isDirectory(absolute))
    return { skills: [{ dir: path.dirname(absolute), file: base }], diagnostics: [] };
  if (!isDirectory(absolute)) return undefined;
  if (isPresent(path.join(absolute, 'SKILL.md')) && !isDirectory(path.join(absolute, 'SKILL.md')))
    return { skills: [{ dir: absolute, file: 'SKILL.md' }], diagnostics: [] };

  const { index } = await openRegistry({
    roots: [{ source: 'check', path: absolute, priority: 1, explicit: true }],
    mode: options.mode,
    nestedInSkills: true,
    signal,
  });
  const readable = new Set(index.all.map(({ dir, file }) => `${dir}/${file}`));
  const skills = index.all.map(({ dir, file }) => ({ dir, file }));
  const diagnostics = index.diagnostics.filter(({ path: file }) => !readable.has(file));
  // A named folder without skills is probably a mistake and must not pass.
  return skills.length + diagnostics.length > 0
    ? { skills, diagnostics }
    : { skills, diagnostics: [noSkillIn(absolute, options)] };
}

function noSkillIn(folder: string, { mode }: CheckOptions): Diagnostic {
  const file = withForwardSlashes(path.join(folder, 'SKILL.md'));
  return diagnose(
    { code: 'file/missing', path: file, message: 'there is no SKILL.md in this folder or below it' },
    mode,
  );
}

/** The skills of one source, and problems with its folders that cannot be opened. */
export function sourceTargets(index: SkillIndex, source: string): Targets {
  const roots = index.report.roots
    .filter((root) => root.source === source)
    .map((root) => withForwardSlashes(root.path));
  const readable = new Set(index.all.map(({ dir, file }) => `${dir}/${file}`));
  return {
    skills: index.all.filter((skill) => skill.source === source),
    diagnostics: index.diagnostics.filter(
      ({ path: file }) => !readable.has(file) && roots.some((root) => file.startsWith(`${root}/`)),
    ),
  };
}

export interface FixedSkill extends ReturnType<typeof checkSkill> {
  /** Diagnostics before the fixes; `diagnostics` are those that remain. */
  readonly found: readonly Diagnostic[];
  /** Diagnostics that were fixed, or would be with `dryRun`. */
  readonly applied: readonly Diagnostic[];
  /** The text after the fixes. */
  readonly fixedText: string;
}

/** A fix can reveal another problem; more rounds mean that two fixes undo each other. */
const MAX_ROUNDS = 6;

/** Checks a skill and applies mechanical fixes. The file is replaced atomically and keeps its mode. */
export function checkAndFix(
  { dir, file }: CheckTarget,
  options: CheckOptions,
  { dryRun }: { readonly dryRun: boolean },
): FixedSkill {
  const first = checkSkill(dir, file, options);
  // SKILL.md itself has diagnostics of its own.
  const unusable = unusableFiles(dir, options.mode).filter(({ path: at }) => at !== first.file);
  const applied: Diagnostic[] = [];
  let { text } = first;
  let current = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const fixed = applyEdits(text, current.diagnostics);
    if (fixed.applied.length === 0) break;
    applied.push(...fixed.applied);
    text = fixed.text;
    current = checkSkill(dir, file, { ...options, text });
  }
  if (!dryRun && text !== first.text) replaceText(first.file, text);
  return {
    file: first.file,
    text: first.text,
    fixedText: text,
    applied,
    found: [...first.diagnostics, ...unusable],
    diagnostics: [...current.diagnostics, ...unusable],
  };
}

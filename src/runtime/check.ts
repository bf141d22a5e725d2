import path from 'node:path';

import { diagnose, invalidInput, quoted, type Diagnostic } from '#core';
import { applyEdits, checkSkill, openPlugin, openRegistry, unusableFiles, type SkillIndex } from '#skills';
import { isDirectory, isPresent, writeTextFile, withForwardSlashes } from '#platform';
import type { Runtime } from './runtime.ts';

type CheckOptions = Parameters<typeof checkSkill>[2];

interface CheckTarget {
  readonly dir: string;
  readonly file: string;
}

interface Targets {
  readonly skills: readonly CheckTarget[];
  /** Problems with skill folders that cannot be opened. */
  readonly diagnostics: readonly Diagnostic[];
}

interface TargetOptions extends CheckOptions {
  readonly cwd: string;
  readonly source: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * The skills that these paths and names mean. Without any: the skill in the current folder or, without one, the skills of a source.
 * Throws `input/invalid` for a path where nothing is, and `skill/unknown` for a name.
 */
export async function findCheckTargets(
  words: readonly string[],
  runtime: Runtime,
  { cwd, source, signal, ...options }: TargetOptions,
): Promise<Targets> {
  if (words.length === 0) {
    const isOwn = findSkillFile(cwd) !== undefined || openPlugin(cwd) !== undefined;
    const own = isOwn ? await targetsAt(cwd, options, signal) : undefined;
    return own ?? sourceTargets(runtime.index, source ?? 'project');
  }
  const found: Targets[] = [];
  for (const word of words) {
    const at = await targetsAt(path.resolve(cwd, word), options, signal);
    if (at === undefined && /[/\\]/.test(word))
      throw invalidInput(
        `${isPresent(path.resolve(cwd, word)) ? 'neither a folder nor a SKILL.md' : 'path not found'}: ${quoted(word, 200)}`,
        'a path or the name of a skill',
        'name a skill folder, its SKILL.md, or a folder of skills',
      );
    found.push(at ?? { skills: [runtime.find(word, source)], diagnostics: [] });
  }
  const skills = new Map(found.flatMap((targets) => targets.skills).map((target) => [target.dir, target]));
  return { skills: [...skills.values()], diagnostics: found.flatMap((targets) => targets.diagnostics) };
}

/** Finds the skills at a path: a SKILL.md, a skill folder, or all skills below a folder. Returns nothing if the path does not exist. */
async function targetsAt(place: string, options: CheckOptions, signal?: AbortSignal): Promise<Targets | undefined> {
  const absolute = path.resolve(place);
  const base = path.basename(absolute);
  if (/^skill\.md$/i.test(base) && !isDirectory(absolute))
    return { skills: [{ dir: path.dirname(absolute), file: base }], diagnostics: [] };
  if (!isDirectory(absolute)) return undefined;
  const plugin = pluginTargets(absolute, options);
  if (plugin !== undefined) return plugin;
  const file = findSkillFile(absolute);
  if (file !== undefined) return { skills: [{ dir: absolute, file }], diagnostics: [] };

  const { index } = await openRegistry({
    roots: [{ source: 'check', path: absolute, priority: 1, explicit: true }],
    mode: options.mode,
    nestedInSkills: true,
    signal,
  });
  const skills = withUndescribed(index).map(({ dir, file }) => ({ dir, file }));
  const diagnostics = diagnosticsOfOthers(index, skills);
  // A named folder without skills is probably a mistake and must not pass.
  return skills.length + diagnostics.length > 0
    ? { skills, diagnostics }
    : { skills, diagnostics: [noSkillIn(absolute, options)] };
}

/** The skills of an Agent Plugin are those directly in `skills`. */
function pluginTargets(folder: string, { mode }: CheckOptions): Targets | undefined {
  const plugin = openPlugin(folder);
  if (plugin === undefined) return undefined;
  const report = (code: Diagnostic['code'], message: string): Diagnostic =>
    diagnose({ code, path: withForwardSlashes(path.join(folder, 'plugin.json')), message }, mode);
  if (typeof plugin === 'string') return { skills: [], diagnostics: [report('plugin/rejected', plugin)] };
  return {
    skills: plugin.skills.map((name) => ({ dir: path.join(folder, 'skills', name), file: 'SKILL.md' })),
    diagnostics: plugin.problems.map((problem) => report('plugin/ignored', problem)),
  };
}

/** The name of the file that makes the folder a skill. */
function findSkillFile(folder: string): string | undefined {
  return ['SKILL.md', 'skill.md'].find((name) => {
    const file = path.join(folder, name);
    return isPresent(file) && !isDirectory(file);
  });
}

function noSkillIn(folder: string, { mode }: CheckOptions): Diagnostic {
  const file = withForwardSlashes(path.join(folder, 'SKILL.md'));
  return diagnose(
    { code: 'file/missing', path: file, message: 'there is no SKILL.md in this folder or below it' },
    mode,
  );
}

/** The skills of one source, and problems with its folders that cannot be opened. */
function sourceTargets(index: SkillIndex, source: string): Targets {
  const roots = index.report.roots
    .filter((root) => root.source === source)
    .map((root) => withForwardSlashes(root.path));
  const isInSource = (file: string): boolean => roots.some((root) => file.startsWith(`${root}/`));
  return {
    skills: withUndescribed(index).filter((skill) => skill.source === source),
    diagnostics: diagnosticsOfOthers(index, withUndescribed(index)).filter(({ path: file }) => isInSource(file)),
  };
}

/** What is left out for the description alone can be checked as a whole, and some descriptions repaired. */
function withUndescribed({ all, undescribed }: SkillIndex): SkillIndex['all'] {
  return undescribed.length === 0 ? all : [...all, ...undescribed];
}

/** Problems with files that are not checked themselves. */
function diagnosticsOfOthers(index: SkillIndex, skills: readonly CheckTarget[]): readonly Diagnostic[] {
  const checked = new Set(skills.map(({ dir, file }) => `${dir}/${file}`));
  return index.diagnostics.filter(({ path: file }) => !checked.has(file));
}

interface FixedSkill extends ReturnType<typeof checkSkill> {
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
  if (!dryRun && text !== first.text) writeTextFile(first.file, text);
  return {
    file: first.file,
    text: first.text,
    fixedText: text,
    applied,
    found: [...first.diagnostics, ...unusable],
    diagnostics: [...current.diagnostics, ...unusable],
  };
}

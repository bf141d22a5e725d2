/** Packs folders and installed skills into one reproducible zip with a manifest, after a strict check. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { compareText, diagnose, DIAGNOSTIC_RULES, quoted, type Diagnostic } from '#core';
import { accepted, isRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { buildPack, type BuildPackOptions, type BuiltPack, type PackProgress } from './build-pack.ts';
import { checkSkill, openPlugin } from '#skills';
import { readStagedPlugin } from '../sources/skill-folders.ts';
import { projectTop } from '#runtime';
import { isDirectory, isInside, isPresent, isSystemError, realPath, removeTree } from '#platform';
import { composePlugin } from './compose-plugin.ts';
import { readSkillHead } from '../lock/locked-skills.ts';
import { skillsFolder, type PackSettings } from '../pack-settings.ts';

export interface SkillToPack {
  readonly dir: string;
  readonly name: string;
  readonly version?: string;
  /** An Agent Plugin, which is packed as a whole. */
  readonly isPlugin?: boolean;
}

export interface PackOptions {
  readonly settings: PackSettings;
  readonly skills: readonly SkillToPack[];
  /** Without it, everything is done except writing. */
  readonly out?: string;
  readonly force?: boolean;
  readonly allowSecrets?: boolean;
  readonly layout?: NonNullable<BuildPackOptions['layout']>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PackProgress) => void;
}

/** The Agent Plugin or the skill in a folder, or the skills in its direct subfolders. */
export function skillsToPack(folder: string): readonly SkillToPack[] | PackRefusal {
  try {
    const dir = realPath(folder);
    const plugin = openPlugin(dir);
    if (typeof plugin === 'string') return packRefusal('pack/plugin', `plugin.json: ${plugin}`, folder);
    if (plugin !== undefined)
      return [{ dir, name: readStagedPlugin(dir).name, version: plugin.version, isPlugin: true }];
    if (isPresent(path.join(dir, 'SKILL.md'))) return [skillToPack(dir)];
    const skills = readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isPresent(path.join(dir, entry.name, 'SKILL.md')))
      .map((entry) => skillToPack(path.join(dir, entry.name)))
      .sort((a, b) => compareText(a.name, b.name));
    return skills.length > 0 ? skills : packRefusal('pack/no-skill', `${quoted(folder, 200)} has no SKILL.md`, folder);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const isGone = error.code === 'ENOENT' || error.code === 'ENOTDIR';
    return packRefusal(
      isGone ? 'source/missing' : 'source/failed',
      `${quoted(folder, 200)} ${isGone ? 'is not a folder' : `cannot be read (${error.code})`}`,
      folder,
    );
  }
}

interface PackWordsOptions extends Omit<PackOptions, 'skills' | 'out'> {
  /** Folders and names of skills; empty means the current folder, or the folder that `new` and `install` use. */
  readonly words: readonly string[];
  /** Relative to the current folder (default: `<name>-<version>.zip`). */
  readonly output?: string;
  readonly dryRun?: boolean;
  /** Makes an Agent Plugin of the skills: `NAME` or `NAME@VERSION`. */
  readonly plugin?: string;
  readonly findSkill: (name: string) => Promise<string | undefined>;
}

/** Packs folders and skills by name. An existing folder takes precedence over a skill of that name. Throws a refusal. */
export async function packWords(options: PackWordsOptions): Promise<BuiltPack & { readonly out: string }> {
  const { words, output, dryRun = false, findSkill, plugin, ...rest } = options;
  const { cwd } = options.settings.surroundings;
  const skills: SkillToPack[] = [];
  for (const word of words.length === 0 ? [defaultFolder(options.settings)] : words) {
    const folder = path.resolve(cwd, word);
    const place = isDirectory(folder) || /^[.~]|[/\\]/.test(word) ? folder : await findSkill(word);
    if (place === undefined)
      throw refused('pack/unknown-skill', `${quoted(word)} is neither a folder nor a known skill`);
    skills.push(...accepted(skillsToPack(place)));
  }
  const write = async (units: readonly SkillToPack[]): Promise<BuiltPack & { readonly out: string }> => {
    const out = output === undefined ? defaultOut(units, cwd) : path.resolve(cwd, output);
    return { ...accepted(await packSkills({ ...rest, skills: units, out: dryRun ? undefined : out })), out };
  };
  if (plugin === undefined) return await write(skills);
  if (skills.some(({ isPlugin }) => isPlugin === true))
    throw refused('pack/plugin', 'the folder is an Agent Plugin already: pack it without --plugin');
  const { work, unit } = composePlugin(skills, plugin);
  try {
    return await write([unit]);
  } finally {
    await removeTree(work);
  }
}

/** The current folder if it is or contains a skill, otherwise the folder that `new` and `install` use. */
function defaultFolder({ surroundings: { cwd }, installFolder }: PackSettings): string {
  if (!isRefusal(skillsToPack(cwd))) return cwd;
  const own = skillsFolder(projectTop({ cwd, home: undefined }) ?? cwd, installFolder?.project);
  return isDirectory(own) ? own : cwd;
}

/** The current folder; inside a skill its parent, so that the pack is not part of the next pack. */
function defaultOut(skills: readonly SkillToPack[], cwd: string): string {
  const here = realPath(cwd);
  const around = skills.find(({ dir }) => isInside(here, dir));
  return path.join(around === undefined ? cwd : path.dirname(around.dir), packName(skills));
}

/** Uses the declared name; the strict check compares it with the folder. */
function skillToPack(dir: string): SkillToPack {
  const head = readSkillHead(dir, path.basename(dir));
  const version = head?.meta['version'];
  return { dir, name: head?.name ?? path.basename(dir), version };
}

/** Builds a pack of folders and named skills and writes it to a file. */
export async function packSkills({ settings, ...options }: PackOptions): Promise<BuiltPack | PackRefusal> {
  const { skills } = options;
  if (skills.length > 1 && skills.some(({ isPlugin }) => isPlugin === true))
    return packRefusal('pack/plugin', 'a pack has one plugin and nothing else');
  return await buildPack({ ...options, limits: settings.limits, check: (dir) => strictly(dir, settings) });
}

function strictly(dir: string, settings: PackSettings): readonly Diagnostic[] {
  const plugin = openPlugin(dir);
  if (plugin === undefined || typeof plugin === 'string') return strictSkill(dir, settings);
  const file = path.join(dir, 'plugin.json');
  return [
    ...plugin.problems.map((message) => diagnose({ code: 'plugin/ignored', path: file, message }, 'strict')),
    ...plugin.skills.flatMap((name) => strictSkill(path.join(dir, 'skills', name), settings)),
  ];
}

function strictSkill(dir: string, { check }: PackSettings): readonly Diagnostic[] {
  const { diagnostics } = checkSkill(dir, 'SKILL.md', {
    mode: 'strict',
    maxBodyLines: check.max_skill_body_lines,
    maxBodyCharacters: check.max_skill_body_characters,
  });
  return diagnostics.filter(({ code }) => !DIAGNOSTIC_RULES[code].isUnderstood);
}

/** `<name>-<version>.zip` for one skill, `skills.zip` for several. */
export function packName(skills: readonly SkillToPack[]): string {
  const [first] = skills;
  if (first === undefined || skills.length > 1) return 'skills.zip';
  const version = first.version?.replaceAll(/[^\w.+-]/g, '_').slice(0, 64);
  return version === undefined ? `${first.name}.zip` : `${first.name}-${version}.zip`;
}

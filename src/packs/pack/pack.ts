/** Packs folders and installed skills into one reproducible zip with a manifest, after a strict check. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { compareText, DIAGNOSTIC_RULES, quoted, type Diagnostic } from '#core';
import { accepted, isRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { buildPack, type BuildPackOptions, type BuiltPack, type PackProgress } from './build-pack.ts';
import { checkSkill } from '#skills';
import { projectTop } from '#runtime';
import { isDirectory, isInside, isPresent, isSystemError, realPath } from '#platform';
import { readSkillHead } from '../lock/locked-skills.ts';
import { skillsFolder, type PackSettings } from '../pack-settings.ts';

export interface SkillToPack {
  readonly dir: string;
  readonly name: string;
  readonly version?: string;
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

/** The skill in a folder, or the skills in its direct subfolders. */
export function skillsToPack(folder: string): readonly SkillToPack[] | PackRefusal {
  try {
    const dir = realPath(folder);
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
  readonly findSkill: (name: string) => Promise<string | undefined>;
}

/** Packs folders and skills by name. An existing folder takes precedence over a skill of that name. Throws a refusal. */
export async function packWords(options: PackWordsOptions): Promise<BuiltPack & { readonly out: string }> {
  const { words, output, dryRun = false, findSkill, ...rest } = options;
  const { cwd } = options.settings.surroundings;
  const skills: SkillToPack[] = [];
  for (const word of words.length === 0 ? [defaultFolder(options.settings)] : words) {
    const folder = path.resolve(cwd, word);
    const place = isDirectory(folder) || /^[.~]|[/\\]/.test(word) ? folder : await findSkill(word);
    if (place === undefined)
      throw refused('pack/unknown-skill', `${quoted(word)} is neither a folder nor a known skill`);
    skills.push(...accepted(skillsToPack(place)));
  }
  const out = output === undefined ? defaultOut(skills, cwd) : path.resolve(cwd, output);
  return { ...accepted(await packSkills({ ...rest, skills, out: dryRun ? undefined : out })), out };
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
  return await buildPack({ ...options, limits: settings.limits, check: (dir) => strictly(dir, settings) });
}

function strictly(dir: string, { check }: PackSettings): readonly Diagnostic[] {
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

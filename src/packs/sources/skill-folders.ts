/** Finds the skill folders in a list of paths. */
import { closeSync, openSync, readSync } from 'node:fs';

import {
  listParentFolders,
  ARCHIVE_LIMITS,
  quoted,
  isNeverSearched,
  printable,
  isValidName,
  toSlug,
  type SkillHead,
} from '#core';
import { openPlugin, readSimpleHead } from '#skills';
import { refused } from '../problems.ts';
import type { StagedPlugin } from './source.ts';

const KEPT_FILES: ReadonlySet<string> = new Set(['.gitignore', '.skillignore', '.env.example', '.gitkeep']);
const VERSION_CONTROL: ReadonlySet<string> = new Set(['.git', '.svn', '.hg']);
const SYSTEM: ReadonlySet<string> = new Set(['__macosx', '.ds_store']);

const HIDDEN_FOLDER = 'hidden folder';

/** Why a name is not part of a skill; undefined if it is. */
export function whyLeftOut(name: string, type: 'file' | 'folder'): string | undefined {
  const start = name.charAt(0);
  if (start !== '.' && start !== '_') return undefined;
  const folded = name.toLowerCase();
  if (SYSTEM.has(folded)) return 'system file';
  if (start !== '.') return undefined;
  if (VERSION_CONTROL.has(folded)) return 'version control';
  if (type === 'folder') return HIDDEN_FOLDER;
  return KEPT_FILES.has(name) ? undefined : 'hidden file';
}

/** Why a folder of a source is not searched for skills. Hidden folders are: collections keep skills in `.curated` or `.claude/skills`. */
export function whyNotSearched(name: string): string | undefined {
  const reason = whyLeftOut(name, 'folder');
  if (reason !== undefined && reason !== HIDDEN_FOLDER) return reason;
  return isNeverSearched(name) === false ? undefined : 'not searched';
}

export interface LeftOut {
  /** The outermost excluded name. */
  readonly path: string;
  readonly type: 'file' | 'folder';
  readonly reason: string;
}

/** The same for a path inside a skill, including its folders. */
export function findOmission(path: string, type: 'file' | 'folder'): LeftOut | undefined {
  const parts = path.split('/');
  for (const [place, part] of parts.entries()) {
    const partType = place < parts.length - 1 ? 'folder' : type;
    const reason = whyLeftOut(part, partType);
    if (reason !== undefined) return { path: parts.slice(0, place + 1).join('/'), type: partType, reason };
  }
  return undefined;
}

/** One line for the user, equal for all kinds of sources. */
export function leftOutLine({ path, type, reason }: LeftOut): string {
  return `${printable(path.normalize('NFC'))}${type === 'folder' ? '/' : ''}: ${reason}`;
}

export const SKILL_FILE_NAME = 'SKILL.md';
/** Maximum number of folders above a skill, as in archives. */
const MAX_SKILL_DEPTH = ARCHIVE_LIMITS.maxDepth;

export interface SkillFolders {
  /** Sorted. An empty string means that the source itself is a skill. */
  readonly folders: readonly string[];
  /** Each SKILL.md that does not become a skill, with the reason. */
  readonly leftOut: readonly LeftOut[];
}

/** Finds `SKILL.md` in exactly this spelling. `paths` are relative to the source, with `/` as separator. */
export function findSkillFolders(paths: readonly string[]): SkillFolders {
  const found = paths
    .filter((path) => path === SKILL_FILE_NAME || path.endsWith(`/${SKILL_FILE_NAME}`))
    .map((path) => path.slice(0, -SKILL_FILE_NAME.length).replace(/\/$/, ''))
    .toSorted((a, b) => (a < b ? -1 : 1));
  const folders = new Set<string>();
  const leftOut: LeftOut[] = [];
  for (const folder of found) {
    const outer = ['', ...listParentFolders(folder)].find((parent) => parent !== folder && folders.has(parent));
    const omission = outer === undefined ? whyUnreachable(folder) : nestedSkill(folder, outer);
    if (omission === undefined) folders.add(folder);
    else leftOut.push(omission);
  }
  return { folders: [...folders], leftOut };
}

/** The SKILL.md of a folder that is not searched, or that is too deep; undefined if it is a skill. */
export function whyUnreachable(folder: string): LeftOut | undefined {
  const parts = folder === '' ? [] : folder.split('/');
  const reason =
    parts.length > MAX_SKILL_DEPTH
      ? `more than ${String(MAX_SKILL_DEPTH)} folders deep`
      : parts.map(whyNotSearched).find((why) => why !== undefined);
  return reason === undefined ? undefined : { path: `${folder}/${SKILL_FILE_NAME}`, type: 'file', reason };
}

/** A SKILL.md inside another skill is a plain file of the outer one. */
export function nestedSkill(folder: string, outer: string): LeftOut {
  const where = outer === '' ? 'the skill' : quoted(outer, 100);
  return { path: `${folder}/${SKILL_FILE_NAME}`, type: 'file', reason: `inside ${where}, a file of that skill` };
}

/** The skill folder that contains a file; undefined if none does. */
export function findSkillFolder(file: string, folders: ReadonlySet<string>): string | undefined {
  for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1))
    if (folders.has(file.slice(0, end))) return file.slice(0, end);
  return folders.has('') ? '' : undefined;
}

/** The path of a file relative to the skill folder that contains it. */
export function insideSkill(file: string, folder: string): string {
  return folder === '' ? file : file.slice(folder.length + 1);
}

/** More than frontmatter may have. */
export const MAX_HEAD = 80 * 1024;

/** The frontmatter of SKILL.md, if it can be read. The start of the file is sufficient. */
export async function skillHead(text: string, folder: string): Promise<SkillHead | undefined> {
  const source = { path: SKILL_FILE_NAME, directory: folder, fileName: SKILL_FILE_NAME, text, validUtf8: true };
  const plain = readSimpleHead(source, { mode: 'lenient' });
  if (plain?.head !== undefined) return plain.head;
  // Loaded lazily: few files need the YAML library, and it loads slowly.
  const { readHead } = await import('#skills/read-head');
  return readHead(source, { mode: 'lenient' }).head;
}

/**
 * The name under which a skill is installed: the name in SKILL.md, or `folder` if it has none. A name that a loader accepts and that is not
 * valid, such as `My Skill`, gives way to a valid name of the folder, or to its nearest valid spelling.
 */
export async function skillName(text: string, folder: string): Promise<string> {
  // In NFC as in unpacked archives, because some systems decompose folder names.
  const composed = folder.normalize('NFC');
  const name = (await skillHead(text, folder))?.name ?? composed;
  if (isValidName(name)) return name;
  return [composed, toSlug(name)].find(isValidName) ?? name;
}

/** A staged Agent Plugin, and the name of its folder: periods are allowed in names of plugins. Throws a refusal. */
export function readStagedPlugin(place: string): { readonly plugin: StagedPlugin; readonly name: string } {
  const plugin = openPlugin(place);
  if (plugin === undefined || typeof plugin === 'string')
    throw refused('pack/plugin', `plugin.json: ${plugin ?? 'it is not a manifest of Agent Plugins'}`);
  return { plugin, name: isValidName(plugin.name) ? plugin.name : (toSlug(plugin.name) ?? plugin.name) };
}

/** Reads the start of a file in the staging folder. */
export function startOfFile(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(MAX_HEAD);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, MAX_HEAD, 0));
  } finally {
    closeSync(descriptor);
  }
}

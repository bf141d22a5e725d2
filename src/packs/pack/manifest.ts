/**
 * `manifest.json` of a pack lists every file of every skill with its SHA-256. Parsing validates untrusted text; formatting is canonical.
 */
import {
  listParentFolders,
  collisionKey,
  compareText,
  isObject,
  isValidName,
  parseJson,
  quoted,
  type SkillError,
  ARCHIVE_LIMITS,
} from '#core';
import { findOmission } from '../sources/skill-folders.ts';
import { countKeys, measureJson, type LockedFile, type LockedSkill } from '../lock/lock-file.ts';
import { portableNameProblem } from '../sources/portable-name.ts';
import { asRefusal, refused, type PackRefusal } from '../problems.ts';

export const MANIFEST_NAME = 'manifest.json';
export const MANIFEST_SCHEMA = 1;
/** Room for a name of 1 KiB and a hash for each file of the largest pack. */
export const MAX_MANIFEST_BYTES = 32 * 1024 * 1024;

export type ManifestSkill = Pick<LockedSkill, 'name' | 'version' | 'digest' | 'files'>;

export interface PackManifest {
  readonly schema: typeof MANIFEST_SCHEMA;
  /** Sorted by name. */
  readonly skills: readonly ManifestSkill[];
}

export type ManifestReading =
  | { readonly type: 'manifest'; readonly manifest: PackManifest }
  /** Other JSON that happens to have this file name. */
  | { readonly type: 'foreign' }
  | PackRefusal;

/** Equal manifests give equal text, independent of the input order. */
export function formatManifest({ schema, skills }: PackManifest): string {
  const sorted = skills
    .toSorted((a, b) => compareText(a.name, b.name))
    .map(({ name, version, digest, files }) => ({
      name,
      version,
      digest,
      files: Object.fromEntries(
        Object.entries(files)
          .toSorted(([a], [b]) => compareText(a, b))
          .map(([path, { sha256, bytes, executable }]) => [
            path,
            { sha256, bytes, ...(executable === true ? { executable } : {}) },
          ]),
      ),
    }));
  return `${JSON.stringify({ schema, skills: sorted }, undefined, 2)}\n`;
}

/** Parses a manifest. Refuses unknown and duplicate keys, so that all readers see the same content. */
export function readManifest(text: string): ManifestReading {
  try {
    const value = parsed(text);
    if (isForeign(value)) return { type: 'foreign' };
    return { type: 'manifest', manifest: parseManifest(value, text) };
  } catch (error) {
    return asRefusal(error);
  }
}

function parsed(text: string): unknown {
  if (text.length > MAX_MANIFEST_BYTES) throw wrong('the file is too large');
  // Before it is parsed: a million nested lists take far longer.
  if (measureJson(text).depth > MAX_DEPTH) throw wrong('the JSON is nested too deeply');
  const value = parseJson(text);
  if (value === undefined) throw wrong('the file is not valid JSON');
  return value;
}

/** A manifest has five levels; foreign files may have more. */
const MAX_DEPTH = 64;

/** Other programs have a `manifest.json` too. One that lists nothing may be what is left of ours, so it is not taken for theirs. */
function isForeign(value: unknown): boolean {
  if (!isObject(value) || Object.hasOwn(value, 'schema') || Object.hasOwn(value, 'skills')) return false;
  const { files = value } = value;
  if (typeof files === 'object' && files !== null && Object.keys(files).length === 0) throw wrong('it lists no files');
  return true;
}

function parseManifest(value: unknown, text: string): PackManifest {
  const { schema, skills } = fields(value, ['schema', 'skills'], 'the manifest');
  if (schema !== MANIFEST_SCHEMA) throw wrong('unknown schema version');
  if (!Array.isArray(skills) || skills.length === 0) throw wrong('there are no skills');
  const read = skills.map(parseSkill);
  if (measureJson(text).keys > countKeys(value)) throw wrong('a key occurs twice');
  if (new Set(read.map(({ name }) => collisionKey(name))).size < read.length) throw wrong('a skill occurs twice');
  if (read.reduce((sum, { files }) => sum + Object.keys(files).length, 0) > ARCHIVE_LIMITS.maxEntries)
    throw wrong('there are too many files');
  return { schema, skills: read };
}

function parseSkill(value: unknown): ManifestSkill {
  const { name, version, digest, files } = fields(value, ['name', 'version', 'digest', 'files'], 'a skill');
  if (typeof name !== 'string' || !isValidName(name)) throw wrong('a skill has an invalid name');
  const which = `the skill ${quoted(name)}`;
  if (version !== undefined && (typeof version !== 'string' || version === ''))
    throw wrong(`${which} has a version that is not a string`);
  if (typeof digest !== 'string' || !/^sha256-tree:[0-9a-f]{64}$/.test(digest)) throw wrong(`${which} has no digest`);
  // A plugin has its manifest instead.
  if (!isObject(files) || !['SKILL.md', 'plugin.json'].some((file) => Object.hasOwn(files, file)))
    throw wrong(`${which} has no SKILL.md`);
  return { name, version, digest, files: parseFiles(name, files) };
}

function parseFiles(skill: string, files: Readonly<Record<string, unknown>>): Readonly<Record<string, LockedFile>> {
  const entries = Object.entries(files).map(([path, value]) => [path, parseFile(`${skill}/${path}`, value)] as const);
  const names = new Set(entries.map(([path]) => collisionKey(path)));
  if (names.size < entries.length)
    throw wrong(`two files of the skill ${quoted(skill)} are the same file on some systems`);
  for (const folder of new Set(entries.flatMap(([path]) => listParentFolders(path))))
    if (names.has(collisionKey(folder))) throw wrong(`${quoted(`${skill}/${folder}`)} is both a file and a folder`);
  // Creates own properties, so a file may be called `__proto__`.
  return Object.fromEntries(entries);
}

function parseFile(path: string, value: unknown): LockedFile {
  const problem = portableNameProblem(path);
  if (problem !== undefined) throw wrong(problem.message);
  const which = quoted(path, 120);
  const omission = findOmission(path, 'file');
  if (omission !== undefined) throw wrong(`${which} is never installed: ${omission.reason}`);
  if (path !== path.normalize('NFC')) throw wrong(`${which} is not in NFC, as installed file names are`);
  const { sha256, bytes, executable } = fields(value, ['sha256', 'bytes', 'executable'], which);
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw wrong(`${which} has no SHA-256`);
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0) throw wrong(`${which} has no size`);
  if (executable !== undefined && executable !== true)
    throw wrong(`${which} must have "executable": true or no such field`);
  return { sha256, bytes, executable };
}

function fields<K extends string>(value: unknown, known: readonly K[], which: string): Partial<Record<K, unknown>> {
  if (!isObject(value)) throw wrong(`${which} is not an object`);
  const stranger = Object.keys(value).find((key) => !known.some((name) => name === key));
  if (stranger !== undefined) throw wrong(`${which} has the unknown field ${quoted(stranger)}`);
  const found: Partial<Record<K, unknown>> = {};
  for (const key of known) if (Object.hasOwn(value, key)) found[key] = value[key];
  return found;
}

function wrong(what: string): SkillError {
  return refused('pack/manifest', `manifest.json is invalid: ${what}`, MANIFEST_NAME);
}

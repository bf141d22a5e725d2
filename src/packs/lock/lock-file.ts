/** Reads and writes `skills.lock.json`. */
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import { isValidName } from '../../core/skill-name.ts';
import { readJsonText } from '../../core/json/json-position.ts';
import { isObject } from '../../core/json/json-schema.ts';
import { parseJson } from '../../core/json/parse-json.ts';
import { hiddenCharacters, quoted } from '../../core/text/text.ts';
import { LOCK_FILE_NAME, LOCK_SCHEMA } from './lock.ts';
import type { Drift, LockFile, LockedFile, LockedSkill } from './lock.ts';
import { PackRefused, packRefusal, refused } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';

export const EMPTY_LOCK: LockFile = { schema: LOCK_SCHEMA, skills: new Map() };

/** ISO 8601 to the second. */
export function lockTime(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Parses a lock. Every field is validated, because the file is untrusted. */
export function readLockFile(text: string): LockFile | PackRefusal {
  try {
    const value = parsed(text);
    const lock = toLock(value);
    // `JSON.parse` does not report duplicate keys. A text with more `":` than the value has keys may have some.
    if (countKeys(value) !== (text.match(/"\s*:/g)?.length ?? 0)) refuseRepeated(text);
    return lock;
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    throw error;
  }
}

/**
 * Formats a lock with sorted keys and one file per line. Equal locks give equal text, and a change of one skill changes only its own lines,
 * so that version control can merge.
 */
export function lockFileText(lock: LockFile): string {
  const skills = [...lock.skills.values()].toSorted((a, b) => compareText(a.name, b.name)).map(skillText);
  const body = skills.length === 0 ? '{}' : `{\n${skills.join(',\n')}\n  }`;
  return `{\n  "schema": ${String(lock.schema)},\n  "skills": ${body}\n}\n`;
}

type LockedFiles = Readonly<Record<string, LockedFile>>;

/** Compares present files with locked ones. Folders are not compared; an empty folder only changes the tree digest. */
export function driftOf(locked: LockedFiles, present: LockedFiles): Drift {
  const changed: string[] = [];
  const missing: string[] = [];
  for (const [path, file] of Object.entries(locked)) {
    const found = Object.hasOwn(present, path) ? present[path] : undefined;
    if (found === undefined) missing.push(path);
    else if (!isSameFile(file, found)) changed.push(path);
  }
  const added = Object.keys(present).filter((path) => !Object.hasOwn(locked, path));
  return {
    changed: changed.toSorted(compareText),
    missing: missing.toSorted(compareText),
    added: added.toSorted(compareText),
  };
}

export function hasDrift({ changed, missing, added }: Drift): boolean {
  return changed.length + missing.length + added.length > 0;
}

function isSameFile(a: LockedFile, b: LockedFile): boolean {
  return a.sha256 === b.sha256 && a.bytes === b.bytes && a.executable === b.executable;
}

/** Entries that were validated: a change is planned and then committed with the same ones. */
const VALID = new WeakSet<LockedSkill>();

/** Why an entry cannot be written to a lock and read back; undefined if it can. */
export function lockedSkillProblem(skill: LockedSkill): PackRefusal | undefined {
  if (VALID.has(skill)) return undefined;
  try {
    const { name, ...fields } = skill;
    toSkill(name, fields);
    VALID.add(skill);
    return undefined;
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    throw error;
  }
}

/** Parses the entry in a journal or in the record of a backup. Throws `PackRefused`. */
export function toLockedSkill(name: string, value: unknown): LockedSkill {
  return toSkill(name, value);
}

/** The entry without its name, which is the key. */
export function lockedFields(skill: LockedSkill): Omit<LockedSkill, 'name'> {
  const { name: _, ...fields } = skill;
  return fields;
}

function skillText(skill: LockedSkill): string {
  const lines = Object.entries(lockedFields(skill))
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(
      ([key, value]) => `      ${JSON.stringify(key)}: ${key === 'files' ? filesText(skill) : JSON.stringify(value)}`,
    );
  return `    ${JSON.stringify(skill.name)}: {\n${lines.join(',\n')}\n    }`;
}

function filesText({ files }: LockedSkill): string {
  const lines = Object.entries(files)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([path, { bytes, executable, sha256 }]) => {
      const program = executable === true ? '"executable": true, ' : '';
      return `        ${JSON.stringify(path)}: { "bytes": ${String(bytes)}, ${program}"sha256": ${JSON.stringify(sha256)} }`;
    });
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n      }`;
}

/** Markers of an unresolved merge. */
const MERGE_MARK = /^(?:<{7}|\|{7}|={7}|>{7})(?: |\r?$)/m;

function parsed(text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value;
  const mark = MERGE_MARK.exec(text);
  if (mark === null) throw invalid(`${LOCK_FILE_NAME} is not valid JSON`);
  const line = text.slice(0, mark.index).split('\n').length;
  throw invalid(`${LOCK_FILE_NAME} has an unresolved merge conflict in line ${String(line)}`);
}

function toLock(value: unknown): LockFile {
  if (!isObject(value)) throw invalid(`${LOCK_FILE_NAME} is not a JSON object`);
  const { schema, skills, ...rest } = value;
  if (typeof schema === 'number' && Number.isInteger(schema) && schema > LOCK_SCHEMA)
    throw refused(
      'lock/newer',
      `${LOCK_FILE_NAME} has schema ${String(schema)}; this version supports ${String(LOCK_SCHEMA)}`,
    );
  if (schema !== LOCK_SCHEMA) throw invalid(`"schema" of ${LOCK_FILE_NAME} must be ${String(LOCK_SCHEMA)}`);
  refuseUnknown(rest, () => LOCK_FILE_NAME);
  if (!isObject(skills)) throw invalid(`"skills" of ${LOCK_FILE_NAME} must be an object`);
  const entries = Object.entries(skills).toSorted(([a], [b]) => compareText(a, b));
  return { schema: LOCK_SCHEMA, skills: new Map(entries.map(([name, entry]) => [name, toSkill(name, entry)])) };
}

const isTreeDigest = (text: string): boolean => /^sha256-tree:[0-9a-f]{64}$/.test(text);
const isArchiveDigest = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text);
const FILE_DIGEST = /^[0-9a-f]{64}$/;
const isTime = (text: string): boolean =>
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(text);
const MAX_TEXT = 4096;
const MAX_PATH = 1024;

function toSkill(name: string, value: unknown): LockedSkill {
  if (!isValidName(name)) throw invalid(`${quoted(name)} is not a valid skill name`);
  if (!isObject(value)) throw invalid(`the entry of ${quoted(name)} is not an object`);
  const {
    version,
    source,
    revision,
    archive,
    folder,
    digest,
    files,
    requires,
    signedBy,
    installedAt,
    tool,
    ...others
  } = value;
  const { links, copies, ...rest } = others;
  const what = `the entry of ${quoted(name)}`;
  refuseUnknown(rest, () => what);
  const text = (key: string, field: unknown, fits: (text: string) => boolean = isPlainText): string => {
    if (typeof field === 'string' && fits(field)) return field;
    throw invalid(`"${key}" in ${what} is ${field === undefined ? 'missing' : 'invalid'}`);
  };
  return {
    name,
    ...(version === undefined ? {} : { version: text('version', version) }),
    source: text('source', source),
    ...(revision === undefined ? {} : { revision: text('revision', revision) }),
    ...(archive === undefined ? {} : { archive: text('archive', archive, isArchiveDigest) }),
    ...(folder === undefined ? {} : { folder: text('folder', folder, isFilePath) }),
    digest: text('digest', digest, isTreeDigest),
    files: toFiles(what, files),
    ...(links === undefined ? {} : { links: toFolders('links', what, links) }),
    ...(copies === undefined ? {} : { copies: toFolders('copies', what, copies) }),
    ...(requires === undefined ? {} : { requires: toNames(what, requires) }),
    ...(signedBy === undefined ? {} : { signedBy: text('signedBy', signedBy) }),
    installedAt: text('installedAt', installedAt, isTime),
    tool: text('tool', tool),
  };
}

function toFiles(what: string, value: unknown): Readonly<Record<string, LockedFile>> {
  if (!isObject(value)) throw invalid(`"files" in ${what} is ${value === undefined ? 'missing' : 'not an object'}`);
  const entries = Object.entries(value).toSorted(([a], [b]) => compareText(a, b));
  // `Object.fromEntries` creates own properties, so a file may be called `__proto__`.
  return Object.fromEntries(entries.map(([path, file]) => [path, toFile(what, path, file)]));
}

function toFile(what: string, path: string, value: unknown): LockedFile {
  if (!isFilePath(path)) throw invalid(`${quoted(path)} in ${what} is not a valid file path`);
  const { sha256, bytes, executable, ...rest } = isObject(value) ? value : {};
  refuseUnknown(rest, () => `${quoted(path)} in ${what}`);
  const isFit =
    typeof sha256 === 'string' &&
    FILE_DIGEST.test(sha256) &&
    typeof bytes === 'number' &&
    Number.isSafeInteger(bytes) &&
    bytes >= 0 &&
    (executable === undefined || executable === true);
  if (!isFit)
    throw invalid(`${quoted(path)} in ${what} must have "sha256" and "bytes"; "executable" must be true or absent`);
  return { sha256, bytes, ...(executable === true ? { executable } : {}) };
}

function toNames(what: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalid(`"requires" in ${what} is not a list`);
  return value.map((name: unknown) => {
    if (typeof name === 'string' && isValidName(name)) return name;
    throw invalid(`"requires" in ${what} contains an invalid skill name`);
  });
}

function toFolders(key: string, what: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalid(`"${key}" in ${what} is not a list`);
  return value.map((folder: unknown) => {
    if (typeof folder === 'string' && isFolderPath(folder)) return folder;
    throw invalid(`"${key}" in ${what} contains an invalid folder`);
  });
}

/** A path relative to the root: `..` may stand only at the start, and the path is not the root itself. */
export function isFolderPath(folder: string): boolean {
  return folder.length <= MAX_PATH && FOLDER.test(folder) && isFilePath(folder.replace(/^(?:\.\.\/)+/, ''));
}

const FOLDER = /^(?:\.\.\/)*(?!\.\.$)[^/\\]/;

function isPlainText(text: string): boolean {
  return text !== '' && text.length <= MAX_TEXT && isOneLine(text);
}

function isOneLine(text: string): boolean {
  return !/[\t\n\r]/.test(text) && hiddenCharacters(text) === undefined;
}

/** A canonical relative path. */
function isFilePath(path: string): boolean {
  if (path.length > MAX_PATH || path.includes('\\') || !isOneLine(path)) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function refuseUnknown(rest: Readonly<Record<string, unknown>>, what: () => string): void {
  const [key] = Object.keys(rest);
  if (key !== undefined) throw invalid(`${what()} has ${quoted(key)}, which is not a known field`);
}

/** The keys of all objects of a parsed lock. */
function countKeys(value: unknown): number {
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, field) => sum + 1 + countKeys(field), 0);
}

function refuseRepeated(text: string): void {
  const written = readJsonText(text);
  const [path] = written.repeated;
  if (path === undefined) return;
  const { line } = written.locate(path);
  throw invalid(`${quoted(String(path.at(-1)))} is a duplicate key in ${LOCK_FILE_NAME}, line ${String(line)}`);
}

function invalid(message: string): PackRefused {
  return refused('lock/invalid', message);
}

const MAX_BYTES = 256 * 1024 * 1024;

/** Reads the lock of a root without opening the root. Returns undefined if the root has no lock. */
export function readLock(root: string): LockFile | PackRefusal | undefined {
  return readFileAt(path.join(root, LOCK_FILE_NAME));
}

/** Reads a lock file; a missing one is an empty lock. */
export function readLockAt(file: string): LockFile | PackRefusal {
  return readFileAt(file) ?? EMPTY_LOCK;
}

function readFileAt(file: string): LockFile | PackRefusal | undefined {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type === 'absent') return undefined;
  if (read.type === 'failed') return packRefusal('lock/invalid', `${LOCK_FILE_NAME} cannot be read: ${read.reason}`);
  if (!read.validUtf8) return packRefusal('lock/invalid', `${LOCK_FILE_NAME} is not UTF-8`);
  return readLockFile(read.text);
}

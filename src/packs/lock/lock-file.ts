/** Reads `skills.lock.json` and gives its text; `root/commit.ts` writes it. */
import path from 'node:path';

import {
  compareText,
  findHidden,
  isObject,
  isValidName,
  parseJson,
  quoted,
  readJsonText,
  type SkillError,
} from '#core';
import { readTextFile } from '#platform';
import { accepted, asRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';

/** `skills.lock.json` records what is installed in a root, from which source and with which bytes. It is stored in the root. */
export const LOCK_FILE_NAME = 'skills.lock.json';
const LOCK_SCHEMA = 1;

export interface LockedFile {
  readonly sha256: string;
  readonly bytes: number;
  /** Absent if the file is not executable. */
  readonly executable?: true;
}

export interface LockedSkill {
  readonly name: string;
  /** `metadata.version` of SKILL.md. */
  readonly version?: string;
  /** As `ResolvedSource.source`. */
  readonly source: string;
  readonly revision?: string;
  /** `sha256:<hex>` of the original archive. */
  readonly archive?: string;
  /** Relative to the source; absent if the source itself is the skill. */
  readonly folder?: string;
  /** `sha256-tree:<hex>`, see `platform/fs/tree-digest.ts`. */
  readonly digest: string;
  /** Sorted by path, with `/` as separator. */
  readonly files: Readonly<Record<string, LockedFile>>;
  /** Folders that have a link to the skill, relative to the root, with `/` as separator; sorted. */
  readonly links?: readonly string[];
  readonly copies?: readonly string[];
  /** Digests of copies, by folder, if they differ from `digest`: a merged or edited skill was copied. */
  readonly copyDigests?: Readonly<Record<string, string>>;
  /** Names of the required skills. */
  readonly requires?: readonly string[];
  /** Id of the key that signed it. */
  readonly signedBy?: string;
  /** Rules of the scan that the user accepted for exactly these files (`digest`); sorted. */
  readonly accepted?: readonly string[];
  /** ISO 8601 to the second. Changes only when the bytes change. */
  readonly installedAt: string;
  /** The version of skillwright. */
  readonly tool: string;
}

export interface LockFile {
  readonly schema: typeof LOCK_SCHEMA;
  readonly skills: ReadonlyMap<string, LockedSkill>;
}

/** Differences between an installed skill and the lock, each list sorted. */
export interface Drift {
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
}

const EMPTY_LOCK: LockFile = { schema: LOCK_SCHEMA, skills: new Map() };

/** ISO 8601 to the second. */
export function lockTime(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Parses a lock. Every field is validated, because the file is untrusted. */
export function readLockFile(text: string): LockFile | PackRefusal {
  try {
    const value = parsed(text);
    const lock = toLock(value);
    if (countKeys(value) !== measureJson(text).keys) refuseRepeated(text);
    return lock;
  } catch (error) {
    return asRefusal(error);
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
export function findDrift(locked: LockedFiles, present: LockedFiles): Drift {
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
    toLockedSkill(name, fields);
    VALID.add(skill);
    return undefined;
  } catch (error) {
    return asRefusal(error);
  }
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
  const { schema, skills } = value;
  if (typeof schema === 'number' && Number.isInteger(schema) && schema > LOCK_SCHEMA)
    throw refused(
      'lock/newer',
      `${LOCK_FILE_NAME} has schema ${String(schema)}; this version supports ${String(LOCK_SCHEMA)}`,
    );
  if (schema !== LOCK_SCHEMA) throw invalid(`"schema" of ${LOCK_FILE_NAME} must be ${String(LOCK_SCHEMA)}`);
  const unknown = Object.keys(value).find((key) => key !== 'schema' && key !== 'skills');
  if (unknown !== undefined) throw unknownField(unknown, LOCK_FILE_NAME);
  if (!isObject(skills)) throw invalid(`"skills" of ${LOCK_FILE_NAME} must be an object`);
  const locked = new Map<string, LockedSkill>();
  for (const name of Object.keys(skills).sort(compareText)) locked.set(name, toLockedSkill(name, skills[name]));
  return { schema: LOCK_SCHEMA, skills: locked };
}

const TREE_DIGEST = /^sha256-tree:[0-9a-f]{64}$/;
const ARCHIVE_DIGEST = /^sha256:[0-9a-f]{64}$/;
const FILE_DIGEST = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
/** Ids of scan rules, also those of other versions. */
const RULE = /^[a-z][a-z-]{0,60}$/;
const MAX_TEXT = 4096;
const MAX_PATH = 1024;

type LockedFields = Omit<LockedSkill, 'name'>;
/** Throws if the value of a field of this skill is invalid. */
type Check = (value: unknown, skill: string) => void;

const FIELDS: ReadonlyMap<string, Check> = new Map([
  text('version', isPlainText),
  text('source', isPlainText),
  text('revision', isPlainText),
  text('archive', (value) => ARCHIVE_DIGEST.test(value)),
  text('folder', isFilePath),
  text('digest', (value) => TREE_DIGEST.test(value)),
  ['files', checkFiles],
  list('links', isFolderPath, 'folder'),
  list('copies', isFolderPath, 'folder'),
  ['copyDigests', checkCopyDigests],
  list('requires', isValidName, 'skill name'),
  text('signedBy', isPlainText),
  list('accepted', (rule) => RULE.test(rule), 'rule'),
  text('installedAt', (value) => TIME.test(value)),
  text('tool', isPlainText),
]);
const REQUIRED: readonly (keyof LockedFields)[] = ['source', 'digest', 'files', 'installedAt', 'tool'];

function text(key: keyof LockedFields, isValid: (value: string) => boolean): [string, Check] {
  const check: Check = (value, skill) => {
    if (typeof value !== 'string' || !isValid(value)) throw invalid(`"${key}" in ${describeEntry(skill)} is invalid`);
  };
  return [key, check];
}

function list(key: keyof LockedFields, isValid: (value: string) => boolean, what: string): [string, Check] {
  const check: Check = (value, skill) => {
    if (!Array.isArray(value)) throw invalid(`"${key}" in ${describeEntry(skill)} is not a list`);
    if (!value.every((item) => typeof item === 'string' && isValid(item)))
      throw invalid(`"${key}" in ${describeEntry(skill)} contains an invalid ${what}`);
  };
  return [key, check];
}

/** Checks the parsed objects and keeps them: copying each of them took as long as parsing the lock. Throws a refusal. */
export function toLockedSkill(name: string, value: unknown): LockedSkill {
  if (!isValidName(name)) throw invalid(`${quoted(name)} is not a valid skill name`);
  checkFields(name, value);
  return { name, ...value, files: sortedFiles(value.files) };
}

function checkFields(name: string, value: unknown): asserts value is LockedFields {
  if (!isObject(value)) throw invalid(`${describeEntry(name)} is not an object`);
  for (const key of Object.keys(value)) {
    const check = FIELDS.get(key);
    if (check === undefined) throw unknownField(key, describeEntry(name));
    if (value[key] !== undefined) check(value[key], name);
  }
  for (const key of REQUIRED)
    if (value[key] === undefined) throw invalid(`"${key}" in ${describeEntry(name)} is missing`);
}

function checkCopyDigests(value: unknown, skill: string): void {
  const isValid = ([folder, digest]: [string, unknown]): boolean =>
    isFolderPath(folder) && typeof digest === 'string' && TREE_DIGEST.test(digest);
  if (!isObject(value) || !Object.entries(value).every(isValid))
    throw invalid(`"copyDigests" in ${describeEntry(skill)} is invalid`);
}

function checkFiles(value: unknown, skill: string): void {
  if (!isObject(value)) throw invalid(`"files" in ${describeEntry(skill)} is not an object`);
  for (const path of Object.keys(value)) {
    const file = value[path];
    if (!isFilePath(path)) throw invalid(`${quoted(path)} in ${describeEntry(skill)} is not a valid file path`);
    const { sha256, bytes, executable } = isObject(file) ? checkFileFields(file, path, skill) : NO_FIELDS;
    const isFit =
      typeof sha256 === 'string' &&
      FILE_DIGEST.test(sha256) &&
      typeof bytes === 'number' &&
      Number.isSafeInteger(bytes) &&
      bytes >= 0 &&
      (executable === undefined || executable === true);
    if (!isFit)
      throw invalid(
        `${quoted(path)} in ${describeEntry(skill)} must have "sha256" and "bytes"; "executable" must be true or absent`,
      );
  }
}

type Fields = Readonly<Record<string, unknown>>;
const NO_FIELDS: Fields = {};

function checkFileFields(file: Fields, path: string, skill: string): Fields {
  for (const key of Object.keys(file))
    if (key !== 'sha256' && key !== 'bytes' && key !== 'executable')
      throw unknownField(key, `${quoted(path)} in ${describeEntry(skill)}`);
  return file;
}

function sortedFiles(files: LockedFiles): LockedFiles {
  const paths = Object.keys(files);
  if (paths.every((path, index) => index === 0 || compareText(paths[index - 1] ?? '', path) < 0)) return files;
  // `Object.fromEntries` creates own properties, so a file may be called `__proto__`.
  return Object.fromEntries(Object.entries(files).toSorted(([a], [b]) => compareText(a, b)));
}

function describeEntry(skill: string): string {
  return `the entry of ${quoted(skill)}`;
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
  return !/[\t\n\r]/.test(text) && findHidden(text) === undefined;
}

/** A canonical relative path. */
function isFilePath(path: string): boolean {
  if (path.length > MAX_PATH || path.includes('\\') || !isOneLine(path)) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function unknownField(key: string, what: string): SkillError {
  return invalid(`${what} has ${quoted(key)}, which is not a known field`);
}

export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, item) => sum + countKeys(item), inside);
}

/** The depth and the keys of JSON text. `JSON.parse` keeps the last of duplicate keys, other parsers the first. */
export function measureJson(text: string): { readonly depth: number; readonly keys: number } {
  let open = 0;
  let depth = 0;
  let keys = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_LIST || code === OPEN_OBJECT) depth = Math.max(depth, (open += 1));
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) open -= 1;
    else if (code === COLON) keys += 1;
    else if (code === QUOTE)
      for (at += 1; at < text.length && text.charCodeAt(at) !== QUOTE; at += 1)
        if (text.charCodeAt(at) === BACKSLASH) at += 1;
  }
  return { depth, keys };
}

const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, COLON, QUOTE, BACKSLASH] = [
  0x5b, 0x5d, 0x7b, 0x7d, 0x3a, 0x22, 0x5c,
];

function refuseRepeated(text: string): void {
  const written = readJsonText(text);
  const [path] = written.repeated;
  if (path === undefined) return;
  const { line } = written.locate(path);
  throw invalid(`${quoted(String(path.at(-1)))} is a duplicate key in ${LOCK_FILE_NAME}, line ${String(line)}`);
}

function invalid(message: string): SkillError {
  return refused('lock/invalid', message);
}

export const MAX_LOCK_BYTES = 256 * 1024 * 1024;

/** Reads the lock of a root without opening the root. Returns undefined if the root has no lock. */
export function readLock(root: string): LockFile | PackRefusal | undefined {
  return readFileAt(path.join(root, LOCK_FILE_NAME));
}

/** The lock of a root. Throws a refusal if the root has no lock. */
export function requireLock(root: string): LockFile {
  return accepted(readLock(root) ?? packRefusal('lock/missing', `${quoted(root, 200)} has no skills.lock.json`));
}

/** Reads a lock file; a missing one is an empty lock. */
export function readLockAt(file: string): LockFile | PackRefusal {
  return readFileAt(file) ?? EMPTY_LOCK;
}

function readFileAt(file: string): LockFile | PackRefusal | undefined {
  const read = readTextFile(file, MAX_LOCK_BYTES);
  if (read.type === 'absent') return undefined;
  if (read.type === 'failed') return packRefusal('lock/invalid', `${LOCK_FILE_NAME} cannot be read: ${read.reason}`);
  if (!read.validUtf8) return packRefusal('lock/invalid', `${LOCK_FILE_NAME} is not UTF-8`);
  return readLockFile(read.text);
}

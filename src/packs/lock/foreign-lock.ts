/**
 * Reads what other installers leave, so that their skills can be installed here: `skills-lock.json` of a project (version 1) and
 * `.skill-lock.json` of a user (version 3) by `npx skills`, and `.openskills.json` in each skill folder by openskills. They contain no
 * commits, so a source may have changed since.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { findHidden, isObject, parseJson, quoted, readName, toRelativePath, compareText, isProblem } from '#core';
import { isDirectory, isPresent, isSystemError, readTextFile } from '#platform';
import { packRefusal, type PackRefusal } from '../problems.ts';

export interface ForeignSkill {
  readonly name: string;
  /** Untrusted text with ref. `readSource` parses and validates it. */
  readonly source: string;
  /** Relative to the source; absent if the source itself is the skill. */
  readonly folder?: string;
}

interface UnreadForeignSkill {
  /** Untrusted; do not print it unquoted. */
  readonly name: string;
  readonly reason: string;
}

export interface ForeignLock {
  readonly type: 'read';
  readonly scope: 'project' | 'person';
  /** Sorted by name. */
  readonly skills: readonly ForeignSkill[];
  readonly unread: readonly UnreadForeignSkill[];
}

const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_SKILLS = 10_000;
const SCOPES: ReadonlyMap<unknown, ForeignLock['scope']> = new Map([
  [1, 'project'],
  [3, 'person'],
]);

/** Reads both versions. An invalid entry does not affect the others. */
export function readForeignLock(text: string): ForeignLock | PackRefusal {
  const value = parse(text);
  if (typeof value === 'string') return packRefusal('lock/invalid', value);
  const { version, skills } = { version: undefined, skills: undefined, ...value };
  const scope = SCOPES.get(version);
  if (scope === undefined) {
    const shown = typeof version === 'number' ? String(version) : 'none';
    return packRefusal('lock/invalid', `the file has version ${shown}, expected 1 (project) or 3 (user)`);
  }
  if (!isObject(skills)) return packRefusal('lock/invalid', 'the file has no "skills" object');
  const entries = Object.entries(skills).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length > MAX_SKILLS)
    return packRefusal('lock/invalid', `the file has more than ${String(MAX_SKILLS)} skills`);
  const read: ForeignSkill[] = [];
  const unread: UnreadForeignSkill[] = [];
  for (const [name, entry] of entries) {
    const skill = readEntry(name, entry);
    if (typeof skill === 'string') unread.push({ name, reason: skill });
    else read.push(skill);
  }
  return { type: 'read', scope, skills: read, unread };
}

function parse(text: string): object | string {
  if (text.length > MAX_CHARACTERS) return `the file has more than ${String(MAX_CHARACTERS)} characters`;
  if (/^(?:<{7}|>{7}) /m.test(text)) return 'the file has unresolved merge conflicts';
  const value = parseJson(text);
  if (value === undefined) return 'the file is not valid JSON';
  return isObject(value) ? value : 'the file is not a JSON object';
}

function readEntry(key: string, value: unknown): ForeignSkill | string {
  const { name } = readName(key);
  if (name === undefined) return `${quoted(key)} is not a valid skill name`;
  if (!isObject(value)) return 'its entry is not an object';
  const texts = readTextFields(value);
  if (texts === undefined) return 'its entry has invisible characters or is too long';
  const { source, ref } = texts;
  if (source === undefined || source === '') return 'its entry has no source';
  const folder = parseSkillFolder(texts.skillPath);
  if (folder === undefined) return `its path ${quoted(texts.skillPath ?? '')} is outside of the source`;
  if (ref !== undefined && !REF.test(ref)) return `${quoted(ref)} is not a valid branch, tag or commit`;
  const place = toForeignSource({ ...texts, source, folder: folder === '' ? undefined : folder });
  return typeof place === 'string' ? place : { name, ...place };
}

const FIELDS = [
  'source',
  'sourceType',
  'sourceUrl',
  'sourceBaseUrl',
  'ref',
  'skillPath',
  'repoUrl',
  'subpath',
  'localPath',
] as const;
const MAX_FIELD = 2048;
/** `readSource` validates the ref again. This pattern only excludes options and second fragments. */
const REF = /^[^\s\-:#~^?*[\\][^\s:#~^?*[\\]{0,249}$/;

type TextFields = Partial<Record<(typeof FIELDS)[number], string>>;

function readTextFields(entry: object): TextFields | undefined {
  const all = new Map<string, unknown>(Object.entries(entry));
  const texts: TextFields = {};
  for (const field of FIELDS) {
    const value = all.get(field);
    if (typeof value !== 'string') continue;
    if (value.length > MAX_FIELD || /[\r\n\t]/.test(value) || findHidden(value) !== undefined) return undefined;
    texts[field] = value;
  }
  return texts;
}

/** The folder of `skills/pdf/SKILL.md`; empty for the source itself; undefined for a path outside of the source. */
function parseSkillFolder(skillPath = ''): string | undefined {
  const folder = skillPath.replace(/(?:^|\/)SKILL\.md$/, '');
  if (folder === '') return '';
  const read = toRelativePath(folder);
  return !isProblem(read) && !folder.includes('#') ? read : undefined;
}

type ForeignSource = Omit<ForeignSkill, 'name'>;

type Entry = TextFields & ForeignSource;

function toForeignSource(entry: Entry): ForeignSource | string {
  const { source, sourceType = 'github' } = entry;
  const sourceUrl = entry.sourceBaseUrl ?? entry.sourceUrl;
  switch (sourceType) {
    case 'github':
      return inRepository(OWNER_AND_NAME.test(source) ? `github:${source}` : repository(source), entry);
    case 'gitlab':
    case 'git':
      // Older versions wrote only `owner/name`, without the host.
      return inRepository(repository(sourceUrl ?? source), entry);
    case 'well-known':
      if (sourceUrl !== undefined && /^https?:\/\//i.test(sourceUrl)) return { source: `well-known:${sourceUrl}` };
      return /^[\w.-]+(?::\d+)?$/.test(source)
        ? // The file does not contain the path of the site.
          { source: `well-known:https://${source}` }
        : `${quoted(source)} is not a valid site name`;
    case 'node_modules':
      return /^(?:@[\w.-]+\/)?[\w.-]+$/.test(source)
        ? { source: `npm:${source}` }
        : `${quoted(source)} is not a valid package name`;
    case 'local':
      return /^(?:\/|\.{1,2}(?:\/|$)|[A-Za-z]:[\\/])/.test(source) ? { source } : `${quoted(source)} is not a path`;
    default:
      return `unknown source type: ${quoted(sourceType)}`;
  }
}

/** Reads the `.openskills.json` of one skill folder. Returns the skill or an error message. */
export function readOpenSkillsEntry(name: string, text: string): ForeignSkill | string {
  const value = parse(text);
  if (typeof value === 'string') return value.replace('the file', 'its .openskills.json');
  const texts = readTextFields(value);
  if (texts === undefined) return 'its .openskills.json has invisible characters or is too long';
  const { sourceType, source = '', repoUrl = '', subpath = '', localPath = '' } = texts;
  return readEntry(
    name,
    sourceType === 'local'
      ? { source: localPath, sourceType }
      : { source: repoUrl === '' ? source : repoUrl, sourceType, skillPath: subpath },
  );
}

const OWNER_AND_NAME = /^[\w.-]+\/[\w.-]+$/;

/** Spells a repository address for `readSource`. Undefined if the address has no host. */
function repository(address: string): string | undefined {
  if (/^https?:\/\//i.test(address)) return `git+${address}`;
  // A repository of this machine, which is read as a folder.
  if (/^file:\/\/\//i.test(address)) return address;
  return /^(?:ssh:\/\/|\w[\w.-]*@[\w.-]+:)/i.test(address) ? address : undefined;
}

function inRepository(address: string | undefined, { source, ref, folder }: Entry): ForeignSource | string {
  if (address === undefined || address.includes('#'))
    return `the file does not contain the address of its repository, only ${quoted(source)}`;
  return { source: ref === undefined ? address : `${address}#${ref}`, folder };
}

const MAX_BYTES = 8 * 1024 * 1024;
const OPENSKILLS_FILE = '.openskills.json';
const LOCK_FILES = ['skills-lock.json', '.skill-lock.json'];
/** Where openskills puts skills, relative to a project or the home folder. */
const OPENSKILLS_FOLDERS = ['.claude/skills', '.agent/skills'];
const HINT =
  'name a skills-lock.json or .skill-lock.json of npx skills, a folder of skills of openskills, or a project that has one of them';

export interface ForeignInstall extends ForeignLock {
  /** Relative paths in the file start here. */
  readonly base: string;
}

/** Replaces the hints of the parser, which are about our own lock file. */
export function readForeignInstall(file: string): ForeignInstall | PackRefusal {
  const shown = quoted(file, 200);
  if (path.basename(file) === OPENSKILLS_FILE) {
    const folder = path.dirname(file);
    return openSkills(path.dirname(folder), [path.basename(folder)]);
  }
  if (isDirectory(file)) return readForeignFolder(file);
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') {
    const why = read.type === 'absent' ? 'file not found' : read.reason;
    return { ...packRefusal('lock/missing', `cannot read ${shown}: ${why}`), hint: HINT };
  }
  const foreign = readForeignLock(read.text);
  if (foreign.type === 'read') return { ...foreign, base: path.dirname(file) };
  return { ...foreign, message: `cannot import ${shown}: ${foreign.message}`, hint: HINT };
}

function readForeignFolder(folder: string): ForeignInstall | PackRefusal {
  const lock = LOCK_FILES.map((name) => path.join(folder, name)).find((file) => isPresent(file));
  if (lock !== undefined) return readForeignInstall(lock);
  const places = [folder, ...OPENSKILLS_FOLDERS.map((below) => path.join(folder, below))];
  const found = places.find((place) =>
    namesIn(place).some((name) => isPresent(path.join(place, name, OPENSKILLS_FILE))),
  );
  if (found !== undefined) return openSkills(found, namesIn(found));
  const message = `${quoted(folder, 200)} has no skills-lock.json, no .skill-lock.json and no skill with .openskills.json`;
  return { ...packRefusal('lock/missing', message), hint: HINT };
}

function openSkills(folder: string, names: readonly string[]): ForeignInstall {
  const skills: ForeignSkill[] = [];
  const unread: UnreadForeignSkill[] = [];
  for (const name of names) {
    const read = readTextFile(path.join(folder, name, OPENSKILLS_FILE), MAX_BYTES);
    const skill =
      read.type === 'read'
        ? readOpenSkillsEntry(name, read.text)
        : read.type === 'absent'
          ? `it has no ${OPENSKILLS_FILE}, so its source is unknown: install it from its source`
          : `its ${OPENSKILLS_FILE} cannot be read: ${read.reason}`;
    if (typeof skill === 'string') unread.push({ name, reason: skill });
    else skills.push(skill);
  }
  return { type: 'read', scope: 'project', skills, unread, base: folder };
}

/** Names of the folders in a folder; links are left out, because they lead to skills of another folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .toSorted(compareText);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** Keeps one index file per source in `~/.agent/sources`. Writers take a lock and replace the file atomically; readers need neither. */
import { readdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { nearest, quoted, SkillError, isObject, isValidName, parseJson, sliceStart } from '#core';
import { isPresent, isSystemError, makeFolders, readTextFile, withFileLock, writeFileAtomically } from '#platform';

export interface StoredSources {
  /** Sorted by name. */
  readonly sources: readonly SourceIndex[];
  /** One sentence for each index that cannot be read; safe to print. */
  readonly problems: readonly string[];
}

export interface SourceStore {
  /** The files of all sources, for fingerprints. */
  files(): readonly string[];
  list(): StoredSources;
  /** Throws `input/invalid` if there is no such source, `io/failed` if its index is damaged. */
  read(name: string): SourceIndex;
  /** Throws `input/invalid` if the name is invalid, or taken. */
  checkNew(name: string): void;
  /** `isNew`: refuses a name that was taken meanwhile. Otherwise a source that was removed meanwhile stays removed. */
  save(index: SourceIndex, options: { readonly isNew: boolean; readonly signal?: AbortSignal }): Promise<void>;
  remove(name: string): Promise<void>;
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const ENDING = '.json';
const STALE_MS = 60 * 60 * 1000;

/** Opens the indexes of sources that were added for browsing. */
export function openSourceStore({ home }: { readonly home: string | undefined }): SourceStore {
  const folder = home === undefined ? undefined : path.join(home, '.agent/sources');
  const fileOf = (name: string): string => {
    if (!NAME.test(name))
      throw invalid(
        `${quoted(name)} is not a name of a source`,
        'use lower-case letters, digits and hyphens, at most 64',
      );
    if (folder === undefined) throw invalid('there is no home folder to keep sources in', 'set HOME');
    return path.join(folder, `${name}${ENDING}`);
  };
  const names = (): readonly string[] => (folder === undefined ? [] : namesIn(folder));
  const unknown = (name: string): SkillError<'input/invalid'> => {
    const [meant] = nearest(name, names(), 1);
    return invalid(
      `there is no source ${quoted(name)}`,
      meant === undefined ? 'list the sources with skillwright source' : `did you mean ${meant}?`,
    );
  };
  return {
    files: () => names().map(fileOf),
    list() {
      const read = names().map((name) => ({ name, index: load(fileOf(name), name) }));
      return {
        sources: read.flatMap(({ index }) => (index === undefined ? [] : [index])),
        problems: read.filter(({ index }) => index === undefined).map(({ name }) => damaged(name)),
      };
    },
    read(name) {
      const file = fileOf(name);
      if (!isPresent(file)) throw unknown(name);
      const index = load(file, name);
      if (index === undefined) throw failed(file, damaged(name), 'damaged');
      return index;
    },
    checkNew(name) {
      if (isPresent(fileOf(name))) throw sourceExistsError(name);
    },
    async save(index, { isNew, signal }) {
      const file = fileOf(index.name);
      await writing(file, () => {
        makeFolders(path.dirname(file), 0o700);
        return withFileLock(
          file,
          () => {
            if (isNew === isPresent(file)) throw isNew ? sourceExistsError(index.name) : unknown(index.name);
            const bytes = Buffer.from(sourceIndexText(index), 'utf8');
            writeFileAtomically(file, bytes, { sync: true, staleMs: STALE_MS });
          },
          signal === undefined ? {} : { signal },
        );
      });
    },
    async remove(name) {
      const file = fileOf(name);
      if (!isPresent(file)) throw unknown(name);
      await writing(file, () => withFileLock(file, () => unlinkSync(file)));
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith(ENDING) && NAME.test(file.slice(0, -ENDING.length)))
      .map((file) => file.slice(0, -ENDING.length))
      .toSorted();
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
    throw error;
  }
}

/** The file name decides the name of a source, whatever the file says. */
function load(file: string, name: string): SourceIndex | undefined {
  const read = readTextFile(file, MAX_INDEX_BYTES);
  const index = read.type === 'read' ? readSourceIndex(read.text) : undefined;
  return index === undefined ? undefined : { ...index, name };
}

async function writing(file: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw failed(file, `cannot write ${JSON.stringify(file)} (${error.code}); nothing was changed`, error.code);
  }
}

function damaged(name: string): string {
  return `the index of the source ${quoted(name)} cannot be read; remove the source and add it again`;
}

function sourceExistsError(name: string): SkillError<'input/invalid'> {
  return invalid(
    `a source ${quoted(name)} exists already`,
    `use another name, or skillwright source update ${name}, or skillwright source remove ${name} first`,
  );
}

function invalid(message: string, hint: string): SkillError<'input/invalid'> {
  return new SkillError({ code: 'input/invalid', message, hint, data: { expected: 'the name of a source' } });
}

function failed(file: string, message: string, cause: string): SkillError<'io/failed'> {
  return new SkillError({
    code: 'io/failed',
    message,
    hint: 'check the permissions and the free space of ~/.agent/sources',
    data: { path: file, cause },
  });
}

/** A skill of a source. Not installed, not validated beyond its name. */
export interface AvailableSkill {
  readonly name: string;
  /** Untrusted text; make it `printable` before you show it. */
  readonly description: string;
  /** The folder in the source; absent for sites. */
  readonly path?: string;
  /** `sha256-tree:<hex>` of the files; for sites `sha256:<hex>` of the published file, if the site promises one. */
  readonly digest?: string;
}

export interface SourceIndex {
  /** The user's name for the source. */
  readonly name: string;
  /** Canonical text for `install`, without credentials. */
  readonly source: string;
  /** ISO time of the last update. */
  readonly at: string;
  /** The commit or version that was indexed; absent if the source has none. */
  readonly revision?: string;
  /** Sorted by name. */
  readonly skills: readonly AvailableSkill[];
}

const SCHEMA = 1;
export const MAX_INDEX_BYTES = 32 * 1024 * 1024;
export const MAX_AVAILABLE = 20_000;
/** Longer descriptions are cut; the specification allows 1,024 characters. */
const MAX_DESCRIPTION = 2_000;

export function availableSkill({ description, ...skill }: AvailableSkill): AvailableSkill {
  return { ...skill, description: sliceStart(description, MAX_DESCRIPTION) };
}

export function sourceIndexText(index: SourceIndex): string {
  return `${JSON.stringify({ schema: SCHEMA, ...index }, undefined, 1)}\n`;
}

/** Validates the text of an index file; `undefined` if it is damaged or of another version. */
export function readSourceIndex(text: string): SourceIndex | undefined {
  const value = parseJson(text);
  if (!isObject(value) || value['schema'] !== SCHEMA) return undefined;
  const { name, source, at, revision, skills } = value;
  if (!isText(name) || !isText(source) || !isText(at) || !Array.isArray(skills)) return undefined;
  if (revision !== undefined && !isText(revision)) return undefined;
  const read = skills.map(readSkill);
  const whole = read.filter((skill) => skill !== undefined);
  if (whole.length !== read.length) return undefined;
  return { name, source, at, revision, skills: whole };
}

function readSkill(value: unknown): AvailableSkill | undefined {
  if (!isObject(value)) return undefined;
  const { name, description, path, digest } = value;
  if (!isText(name) || !isValidName(name) || !isText(description)) return undefined;
  if ((path !== undefined && !isText(path)) || (digest !== undefined && !isText(digest))) return undefined;
  return availableSkill({ name, description, path, digest });
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Keeps one index file per source in `~/.agent/sources`. Writers take a lock and replace the file atomically; readers need neither. */
import { readdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { nearest, quoted, SkillError } from '#core';
import {
  isPresent,
  isSystemError,
  makeFolders,
  readTextFile,
  removeStaleTemporaries,
  withFileLock,
  writeFileAtomically,
} from '#platform';
import { MAX_INDEX_BYTES, readSourceIndex, sourceIndexText, type SourceIndex } from './source-index.ts';

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
            removeStaleTemporaries(file, { now: Date.now(), olderThanMs: STALE_MS });
            writeFileAtomically(file, Buffer.from(sourceIndexText(index), 'utf8'), { sync: true });
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

import { lstatSync, renameSync } from 'node:fs';
import path from 'node:path';

import { isSkillError, SkillError } from '../../core/errors.ts';
import { printable } from '../../core/text/text.ts';
import { writeFileAtomically } from './atomic-replace.ts';
import { withFileLock } from './lock.ts';
import { isSystemError } from './paths.ts';
import { readPrivateFile } from './read-file.ts';
import { isSealOf, sealKey, sealOf } from './seal-key.ts';
import { makeFolders } from './make-folders.ts';

/** How entries of one kind are kept. */
export interface SealedFileOptions<T extends object> {
  readonly file: string;
  /** Whose key seals them. */
  readonly home: string;
  /** What they are, for the seal. */
  readonly purpose: string;
  /** The entry in a value that somebody may have edited; nothing where the value has not its shape. */
  readonly read: (value: object) => T | undefined;
  /** All of an entry, for the seal: no two entries have the same text. */
  readonly text: (entry: T) => string;
  /** What a person would call it. */
  readonly name: (entry: T) => string;
  /** The oldest make room. */
  readonly maxEntries: number;
}

export interface SealedEntries<T> {
  readonly entries: readonly T[];
  /** What does not count, and why: one sentence each. */
  readonly problems: readonly string[];
}

/** A file of our own whose entries count only as we wrote them. */
export interface SealedFile<T> {
  /** As it is now; from memory where the file looks as it did. */
  load(): SealedEntries<T>;
  /** Two processes at once lose nothing. Entries that do not count stay where they are, unless they are to be dropped. Throws `io/failed`. */
  change(
    act: (entries: readonly T[]) => readonly T[],
    options?: { readonly dropUnsealed?: boolean; readonly signal?: AbortSignal },
  ): Promise<SealedEntries<T>>;
}

const SCHEMA = 1;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 8;

interface Contents<T> extends SealedEntries<T> {
  /** Entries that do not count, as they stand there. */
  readonly others: readonly unknown[];
  /** The file as a whole cannot be used: it is moved aside before another is written. */
  readonly isUnusable: boolean;
}

export function openSealedFile<T extends object>(options: SealedFileOptions<T>): SealedFile<T> {
  const { file } = options;
  let known: { readonly look: string; readonly contents: Contents<T> } | undefined;
  return {
    load() {
      const look = lookOf(file);
      if (known === undefined || known.look !== look) known = { look, contents: readContents(options) };
      const { entries, problems } = known.contents;
      return { entries, problems };
    },
    async change(act, { dropUnsealed = false, signal } = {}) {
      known = undefined;
      const key = sealKey(options.home);
      try {
        makeFolders(path.dirname(file), 0o700);
        return await withFileLock(
          file,
          () => {
            const { entries, others, isUnusable, problems } = readContents(options);
            const { kept, text } = fitting(act(entries).slice(-options.maxEntries), (some) => {
              const sealed = some.map((entry) => ({
                ...entry,
                mac: sealOf(key, options.purpose, options.text(entry)),
              }));
              const all = [...(dropUnsealed ? [] : others), ...sealed];
              return `${JSON.stringify({ schema: SCHEMA, entries: all }, undefined, 2)}\n`;
            });
            if (isUnusable) renameSync(file, asideName(file));
            writeFileAtomically(file, Buffer.from(text, 'utf8'), { sync: true });
            return { entries: kept, problems: dropUnsealed ? [] : problems };
          },
          signal === undefined ? {} : { signal },
        );
      } catch (error) {
        if (!isSystemError(error)) throw error;
        throw new SkillError({
          code: 'io/failed',
          message: `${JSON.stringify(file)} cannot be written (${error.code}); it is as it was`,
          hint: 'make room, or give yourself write permission on the folder',
          data: { path: file, cause: error.code },
          cause: error,
        });
      }
    },
  };
}

/** As many of the newest as a file may hold: one that is too large would not be read again. */
function fitting<T>(
  entries: readonly T[],
  write: (some: readonly T[]) => string,
): { readonly kept: readonly T[]; readonly text: string } {
  const text = write(entries);
  if (Buffer.byteLength(text) <= MAX_BYTES) return { kept: entries, text };
  if (entries.length > 1) return fitting(entries.slice(Math.ceil(entries.length / 8)), write);
  throw new SkillError({
    code: 'io/failed',
    message: 'it is too much to be kept',
    hint: 'take back what is kept already',
    data: { path: '', cause: 'too large' },
  });
}

function readContents<T extends object>(options: SealedFileOptions<T>): Contents<T> {
  const name = printable(options.file);
  const unusable = (reason: string): Contents<T> => ({
    entries: [],
    others: [],
    problems: [`${name} is not used: ${reason}`],
    isUnusable: true,
  });
  const read = readPrivateFile(options.file, { maxBytes: MAX_BYTES });
  if (read.type === 'absent') return { entries: [], others: [], problems: [], isUnusable: false };
  if (read.type === 'failed') return unusable(read.reason);
  const values = entriesOf(read.bytes.toString('utf8'));
  if (typeof values === 'string') return unusable(values);
  const key = keyOrReason(options.home);
  if (typeof key === 'string')
    return { entries: [], others: values, problems: [`${name} is not used: ${key}`], isUnusable: false };

  const entries: T[] = [];
  const others: unknown[] = [];
  const problems: string[] = [];
  for (const [place, value] of values.entries()) {
    const isObject = typeof value === 'object' && value !== null;
    const entry = isObject ? options.read(value) : undefined;
    const mac = isObject && 'mac' in value && typeof value.mac === 'string' ? value.mac : '';
    const isOurs = entry !== undefined && isSealOf(mac, { key, purpose: options.purpose, text: options.text(entry) });
    if (isOurs) entries.push(entry);
    else {
      others.push(value);
      const which = entry === undefined ? '' : ` (${printable(options.name(entry))})`;
      problems.push(`entry ${String(place + 1)}${which} of ${name} does not count: it is not as it was written`);
    }
  }
  return { entries, others, problems, isUnusable: false };
}

/** The raw entries, or why there are none. */
function entriesOf(text: string): readonly unknown[] | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is no JSON';
    throw error;
  }
  if (typeof value !== 'object' || value === null || !('entries' in value) || !Array.isArray(value.entries))
    return 'it has no entries';
  if (!('schema' in value) || value.schema !== SCHEMA) return 'it is of another version';
  return value.entries.every((entry) => isShallow(entry, MAX_DEPTH)) ? value.entries : 'it is nested too deeply';
}

/** What is written back unchanged must be such that it can be written. */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((part) => isShallow(part, depth - 1));
}

function keyOrReason(home: string): Uint8Array | string {
  try {
    return sealKey(home);
  } catch (error) {
    if (isSkillError(error)) return error.message;
    throw error;
  }
}

function lookOf(file: string): string {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
  } catch (error) {
    if (isSystemError(error)) return error.code;
    throw error;
  }
}

function asideName(file: string): string {
  return `${file}.unused-${new Date().toISOString().replaceAll(/[^0-9]/g, '')}`;
}

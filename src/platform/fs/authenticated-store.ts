import { lstatSync, renameSync } from 'node:fs';
import path from 'node:path';

import { isSkillError, printable, SkillError } from '#core';
import { writeFileAtomically } from './atomic-replace.ts';
import { isSystemError } from './paths.ts';
import { readPrivateFile } from './read-file.ts';
import { isSealOf, sealKey, computeSeal } from './seal-key.ts';
import { makeFolders } from './make-folders.ts';

export interface SealedFileOptions<T extends object> {
  readonly file: string;
  /** The home folder of the user whose key authenticates the entries. */
  readonly home: string;
  /** Separates the MACs of different stores. */
  readonly purpose: string;
  /** Validates a value that may have been edited; `undefined` if it is not an entry. */
  readonly read: (value: object) => T | undefined;
  /** The text that the MAC covers: unambiguous for every entry. */
  readonly text: (entry: T) => string;
  /** The name of an entry in messages. */
  readonly name: (entry: T) => string;
  /** Beyond this the oldest entries are dropped. */
  readonly maxEntries: number;
}

export interface SealedEntries<T> {
  readonly entries: readonly T[];
  /** One sentence for each entry that is ignored, with the reason. */
  readonly problems: readonly string[];
}

/** A JSON file whose entries are used only if they are exactly as this program wrote them. */
export interface SealedFile<T> {
  /** The current entries; from memory if the file is unchanged. */
  load(): SealedEntries<T>;
  /** Safe with concurrent processes. Ignored entries stay in the file unless `dropUnsealed` is set. Throws `io/failed`. */
  change(
    act: (entries: readonly T[]) => readonly T[],
    options?: { readonly dropUnsealed?: boolean; readonly signal?: AbortSignal },
  ): Promise<SealedEntries<T>>;
}

const SCHEMA = 1;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 8;

interface Contents<T> extends SealedEntries<T> {
  /** Ignored entries, unchanged. */
  readonly others: readonly unknown[];
  /** The whole file is unusable: it is moved aside before a new one is written. */
  readonly isUnusable: boolean;
}

export function openSealedFile<T extends object>(options: SealedFileOptions<T>): SealedFile<T> {
  const { file } = options;
  let known: { readonly stamp: string; readonly contents: Contents<T> } | undefined;
  return {
    load() {
      const stamp = readStamp(file);
      if (known === undefined || known.stamp !== stamp) known = { stamp, contents: readContents(options) };
      const { entries, problems } = known.contents;
      return { entries, problems };
    },
    async change(act, { dropUnsealed = false, signal } = {}) {
      known = undefined;
      const key = sealKey(options.home);
      // Reading needs no lock.
      const { withFileLock } = await import('./lock.ts');
      try {
        makeFolders(path.dirname(file), 0o700);
        return await withFileLock(
          file,
          () => {
            const { entries, others, isUnusable, problems } = readContents(options);
            const { kept, text } = fitting(act(entries).slice(-options.maxEntries), (some) => {
              const sealed = some.map((entry) => ({
                ...entry,
                mac: computeSeal(key, options.purpose, options.text(entry)),
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
          message: `cannot write ${JSON.stringify(file)} (${error.code}); the file is unchanged`,
          hint: 'free disk space, or give yourself write permission on the folder',
          data: { path: file, cause: error.code },
          cause: error,
        });
      }
    },
  };
}

/** Drops the oldest entries until the file fits: a larger file would not be read again. */
function fitting<T>(
  entries: readonly T[],
  write: (some: readonly T[]) => string,
): { readonly kept: readonly T[]; readonly text: string } {
  const text = write(entries);
  if (Buffer.byteLength(text) <= MAX_BYTES) return { kept: entries, text };
  if (entries.length > 1) return fitting(entries.slice(Math.ceil(entries.length / 8)), write);
  throw new SkillError({
    code: 'io/failed',
    message: `the entry is ${String(Buffer.byteLength(text))} bytes; the limit is ${String(MAX_BYTES)}`,
    hint: 'remove stored entries, or store a smaller one',
    data: { path: '', cause: 'too large' },
  });
}

function readContents<T extends object>(options: SealedFileOptions<T>): Contents<T> {
  const name = printable(options.file);
  const unusable = (reason: string): Contents<T> => ({
    entries: [],
    others: [],
    problems: [`${name} is ignored: ${reason}`],
    isUnusable: true,
  });
  const read = readPrivateFile(options.file, { maxBytes: MAX_BYTES });
  if (read.type === 'absent') return { entries: [], others: [], problems: [], isUnusable: false };
  if (read.type === 'failed') return unusable(read.reason);
  const values = parseEntries(read.bytes.toString('utf8'));
  if (typeof values === 'string') return unusable(values);
  const key = keyOrReason(options.home);
  if (typeof key === 'string')
    return { entries: [], others: values, problems: [`${name} is ignored: ${key}`], isUnusable: false };

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
      problems.push(`entry ${String(place + 1)}${which} of ${name} is ignored: it was edited after it was written`);
    }
  }
  return { entries, others, problems, isUnusable: false };
}

/** The raw entries, or why the file is unusable. */
function parseEntries(text: string): readonly unknown[] | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is not JSON';
    throw error;
  }
  if (typeof value !== 'object' || value === null || !('entries' in value) || !Array.isArray(value.entries))
    return 'it has no entries';
  if (!('schema' in value) || value.schema !== SCHEMA) return 'it has another schema version';
  return value.entries.every((entry) => isShallow(entry, MAX_DEPTH)) ? value.entries : 'it is nested too deeply';
}

/** Ignored entries are written back: deep nesting would overflow the stack. */
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

function readStamp(file: string): string {
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

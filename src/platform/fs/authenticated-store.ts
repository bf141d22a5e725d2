import { accessSync, constants, lstatSync, renameSync } from 'node:fs';
import path from 'node:path';

import { isSkillError, parseJson, printable, readField, SkillError } from '#core';
import { writeFileAtomically } from './atomic-replace.ts';
import { isPresent } from './paths.ts';
import { readPrivateFile } from './read-file.ts';
import { openSeals, sealKey, type Seals } from './seal-key.ts';
import { makeFolders } from './make-folders.ts';
import { isSystemError } from '../system-error.ts';

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
  /**
   * Another file, which remembers how often this one was written. With it, entries that were removed and an older copy of the file are
   * noticed too. Without it, a removed entry is not: it must not matter that it is gone.
   */
  readonly memory?: string;
}

interface SealedEntries<T> {
  readonly entries: readonly T[];
  /** One sentence for each entry that is ignored, with the reason. */
  readonly problems: readonly string[];
}

/** A JSON file whose entries are used only if they are exactly as this program wrote them. With a `memory`, all of them must be there. */
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
const MAX_MEMORY_BYTES = 4096;

interface Contents<T> extends SealedEntries<T> {
  /** Ignored entries, unchanged. */
  readonly others: readonly unknown[];
  /** The whole file is unusable: it is moved aside before a new one is written. */
  readonly isUnusable: boolean;
  /** How often it was written; 0 without a `memory`. */
  readonly writes: number;
}

export function openSealedFile<T extends object>(options: SealedFileOptions<T>): SealedFile<T> {
  const { file } = options;
  let known: { readonly stamp: string; readonly contents: Contents<T> } | undefined;
  return {
    load() {
      const stamp = [file, ...memoryFiles(options)].map(readStamp).join('\n');
      if (known === undefined || known.stamp !== stamp) known = { stamp, contents: readContents(options) };
      const { entries, problems } = known.contents;
      return { entries, problems };
    },
    async change(act, { dropUnsealed = false, signal } = {}) {
      known = undefined;
      const seals = openSeals(sealKey(options.home), options.purpose);
      // Reading needs no lock.
      const { withFileLock } = await import('./lock.ts');
      try {
        for (const place of [file, ...memoryFiles(options)]) {
          makeFolders(path.dirname(place), 0o700);
          // Both files are written or none.
          accessSync(path.dirname(place), constants.W_OK);
        }
        return await withFileLock(
          file,
          () => {
            const { entries, others, isUnusable, problems, writes } = readContents(options);
            const { kept, text } = fitting(act(entries).slice(-options.maxEntries), (some) => {
              const sealed = some.map((entry) => ({ ...entry, mac: seals.compute(options.text(entry)) }));
              const all = [...(dropUnsealed ? [] : others), ...sealed];
              const whole = options.memory === undefined ? {} : sealWhole(seals, { writes: writes + 1, all });
              return `${JSON.stringify({ schema: SCHEMA, ...whole, entries: all }, undefined, 2)}\n`;
            });
            if (isUnusable) renameSync(file, asideName(file));
            writeFileAtomically(file, Buffer.from(text, 'utf8'), { sync: true });
            // After the file: a kill in between leaves a file that is ahead, which is not an older copy.
            for (const memory of memoryFiles(options)) {
              const count = { writes: writes + 1, mac: seals.compute(memoryText(writes + 1)) };
              writeFileAtomically(memory, Buffer.from(`${JSON.stringify(count)}\n`, 'utf8'), { sync: true });
            }
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

function memoryFiles({ memory }: { readonly memory?: string }): readonly string[] {
  return memory === undefined ? [] : [memory];
}

function memoryText(writes: number): string {
  return JSON.stringify(['written', writes]);
}

/** The fields of a whole file, beside its entries. */
function sealWhole(
  seals: Seals,
  { writes, all }: { readonly writes: number; readonly all: readonly unknown[] },
): { readonly writes: number; readonly mac: string } {
  return { writes, mac: seals.compute(JSON.stringify(['whole', writes, all])) };
}

/** How often the file was written, or why it is not the one that was written last. */
function checkWhole(
  { memory }: { readonly memory?: string },
  seals: Seals,
  { value, all }: { readonly value: unknown; readonly all: readonly unknown[] },
): number | string {
  if (memory === undefined) return 0;
  const [writes, mac] = [readField(value, 'writes'), readField(value, 'mac')];
  const read = readPrivateFile(memory, { maxBytes: MAX_MEMORY_BYTES });
  if (read.type === 'failed') return `${printable(memory)} is unusable: ${read.reason}`;
  const count = read.type === 'absent' ? undefined : parseJson(read.bytes.toString('utf8'));
  const known = readField(count, 'writes');
  const seal = readField(count, 'mac');
  const isKnown = typeof known === 'number' && typeof seal === 'string' && seals.isValid(seal, memoryText(known));
  if (read.type === 'read' && !isKnown) return `${printable(memory)} was edited`;
  // A file of an earlier version, or none yet.
  if (writes === undefined && read.type === 'absent') return 0;
  if (value === undefined) return 'it was removed';
  if (typeof writes !== 'number' || mac !== sealWhole(seals, { writes, all }).mac)
    return 'it was edited after it was written';
  if (!isKnown) return `${printable(memory)}, which remembers how often it was written, was removed`;
  return writes < known ? 'it is an older copy' : writes;
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
    writes: 0,
  });
  const read = readPrivateFile(options.file, { maxBytes: MAX_BYTES });
  const isAbsent = read.type === 'absent';
  if (isAbsent && memoryFiles(options).every((memory) => !isPresent(memory)))
    return { entries: [], others: [], problems: [], isUnusable: false, writes: 0 };
  if (read.type === 'failed') return unusable(read.reason);
  const value = isAbsent ? undefined : parseJson(read.bytes.toString('utf8'));
  const values = isAbsent ? [] : parseEntries(value);
  if (typeof values === 'string') return unusable(values);
  const seals = sealsOrReason(options);
  if (typeof seals === 'string')
    return { entries: [], others: values, problems: [`${name} is ignored: ${seals}`], isUnusable: false, writes: 0 };

  const entries: T[] = [];
  const others: unknown[] = [];
  const problems: string[] = [];
  for (const [place, value] of values.entries()) {
    const isObject = typeof value === 'object' && value !== null;
    const entry = isObject ? options.read(value) : undefined;
    const mac = isObject && 'mac' in value && typeof value.mac === 'string' ? value.mac : '';
    const isOurs = entry !== undefined && seals.isValid(mac, options.text(entry));
    if (isOurs) entries.push(entry);
    else {
      others.push(value);
      const which = entry === undefined ? '' : ` (${printable(options.name(entry))})`;
      problems.push(`entry ${String(place + 1)}${which} of ${name} is ignored: it was edited after it was written`);
    }
  }
  const writes = problems.length > 0 ? 0 : checkWhole(options, seals, { value, all: values });
  if (typeof writes === 'string') problems.push(`${name} is ignored: ${writes}`);
  return { entries, others, problems, isUnusable: false, writes: typeof writes === 'number' ? writes : 0 };
}

/** The raw entries, or why the file is unusable. */
function parseEntries(value: unknown): readonly unknown[] | string {
  if (value === undefined) return 'it is not JSON';
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

function sealsOrReason({ home, purpose }: { readonly home: string; readonly purpose: string }): Seals | string {
  try {
    return openSeals(sealKey(home), purpose);
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

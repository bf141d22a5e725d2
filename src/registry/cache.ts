import path from 'node:path';

import type { Mode } from '../core/diagnostic.ts';
import { removeStaleTemporaries, writeFileAtomically } from '../platform/fs/atomic-replace.ts';
import { makeFolders } from '../platform/fs/make-folders.ts';
import { isSystemError } from '../platform/fs/paths.ts';
import { readPrivateFile } from '../platform/fs/read-file.ts';
import { readSections, writeSections } from '../platform/fs/checksummed-file.ts';
import { diagnosticsAt, digestAt, headAt, toDiagnosticColumn, toHeadColumns, toPlaceColumns } from './columns.ts';
import type { DiagnosticColumn, HeadColumns, PlaceColumns } from './columns.ts';
import { jsonPieces } from './json-pieces.ts';
import { STAMP_FIELDS, stampsOf } from './head-record.ts';
import type { HeadRecord, Memory, PlacedRecord } from './head-record.ts';
import { lazily } from './stored-index.ts';
import type { StoredIndex, StoredRecords } from './stored-index.ts';

/**
 * Raise it whenever the same frontmatter may give another head or another diagnostic, or the columns change:
 * `test/registry/cache.system.test.ts` fails when that is forgotten.
 */
export const CACHE_FORMAT = 2;

/** Heads depend on these; a file written under others is not believed. */
export interface CacheKey {
  readonly mode: Mode;
  readonly blockAngleBrackets: boolean;
}

export type CacheLoad =
  | {
      readonly type: 'loaded';
      readonly memory: Memory;
      readonly records: StoredRecords;
      readonly index: StoredIndex | undefined;
    }
  | { readonly type: 'unusable'; readonly reason: string };

const MAGIC = 'skillwright-cache';
const MAX_BYTES = 1024 * 1024 * 1024;
/** A temporary file this old was left by a process that was killed: writing takes well under a second. */
const STALE_MS = 60_000;

/** Reads a cache file. Whatever is wrong with it, the answer is a reason to scan without. */
export function loadCache(file: string, key: CacheKey): CacheLoad {
  const reading = readPrivateFile(file, { maxBytes: MAX_BYTES });
  if (reading.type === 'absent') return { type: 'unusable', reason: 'there was none' };
  if (reading.type === 'failed') return { type: 'unusable', reason: reading.reason };
  const parts = readSections(reading.bytes, { magic: MAGIC, key: formatKey(key) });
  if (parts.type === 'unusable') return parts;
  const [stampBytes, placeBytes, headBytes, diagnosticBytes, indexBytes] = parts.sections;
  if (
    stampBytes === undefined ||
    placeBytes === undefined ||
    headBytes === undefined ||
    diagnosticBytes === undefined ||
    indexBytes === undefined
  ) {
    return { type: 'unusable', reason: 'a part of it is missing' };
  }
  const stamps = new Float64Array(stampBytes.length / Float64Array.BYTES_PER_ELEMENT);
  new Uint8Array(stamps.buffer).set(stampBytes);
  // Key and checksum have shown that these are the bytes this very version wrote: nothing is left to be checked.
  const places: PlaceColumns = JSON.parse(textOf(placeBytes));
  const heads = lazily((): HeadColumns => JSON.parse(textOf(headBytes)));
  const diagnostics = lazily((): DiagnosticColumn => JSON.parse(textOf(diagnosticBytes)));
  const index: StoredIndex | undefined = indexBytes.length === 0 ? undefined : JSON.parse(textOf(indexBytes));
  const records = openRecords(places, { heads, diagnostics, mode: key.mode });
  return { type: 'loaded', memory: openMemory(places, stamps, records), records, index };
}

export interface CacheContent {
  readonly placed: readonly PlacedRecord[];
  readonly index: StoredIndex | undefined;
}

/** Replaces the cache file in one step. Answers with the reason where that cannot be done. */
export function saveCache(
  file: string,
  key: CacheKey,
  { placed, index, now }: CacheContent & { readonly now: number },
): string | undefined {
  try {
    makeFolders(path.dirname(file), 0o700);
    writeFileAtomically(file, writeSections({ magic: MAGIC, key: formatKey(key) }, sectionsOf({ placed, index })));
    removeStaleTemporaries(file, { now, olderThanMs: STALE_MS });
    return undefined;
  } catch (error) {
    if (isSystemError(error)) return `it cannot be written (${error.code})`;
    throw error;
  }
}

/** One after the other: of many skills they would not be small together. */
function* sectionsOf({ placed, index }: CacheContent): Generator<Iterable<Uint8Array>, void> {
  yield [new Uint8Array(stampsOf(placed).buffer)];
  yield toAscii(jsonPieces(toPlaceColumns(placed)));
  yield toAscii(jsonPieces(toHeadColumns(placed)));
  yield toAscii(jsonPieces(toDiagnosticColumn(placed)));
  yield index === undefined ? [] : toAscii(jsonPieces(index));
}

interface LazyColumns {
  readonly heads: () => HeadColumns;
  readonly diagnostics: () => DiagnosticColumn;
  readonly mode: Mode;
}

function openRecords(
  { directories, within, names, files }: PlaceColumns,
  { heads, diagnostics, mode }: LazyColumns,
): StoredRecords {
  const dir = (number: number): string => `${directories[within[number] ?? -1] ?? ''}/${names[number] ?? ''}`;
  const file = (number: number): string => files[number] ?? 'SKILL.md';
  return {
    count: names.length,
    within: (number) => within[number] ?? -1,
    dir,
    record: (number) => ({
      head: headAt(heads(), number, names[number] ?? ''),
      file: file(number),
      digest: digestAt(heads(), number),
    }),
    diagnostics: (number) => diagnosticsAt(diagnostics(), number, { path: `${dir(number)}/${file(number)}`, mode }),
  };
}

function openMemory(
  { directories, within, names, files }: PlaceColumns,
  stamps: Float64Array,
  records: StoredRecords,
): Memory {
  const numbers = directories.map(() => new Map<string, number>());
  for (let number = 0; number < names.length; number += 1)
    numbers[within[number] ?? -1]?.set(names[number] ?? '', number);
  const byPath = new Map(directories.map((directory, number) => [directory, numbers[number]]));
  return {
    count: names.length,
    directory: (directory) => byPath.get(directory),
    name: (number) => names[number] ?? '',
    file: (number) => files[number] ?? 'SKILL.md',
    stamps,
    record: (number): HeadRecord => {
      const at = number * STAMP_FIELDS;
      return {
        size: stamps[at] ?? 0,
        mtimeMs: stamps[at + 1] ?? 0,
        ctimeMs: stamps[at + 2] ?? 0,
        ino: stamps[at + 3] ?? 0,
        dev: stamps[at + 4] ?? 0,
        ...records.record(number),
        diagnostics: records.diagnostics(number),
      };
    },
  };
}

/** Numbers are stored as the processor has them. */
function formatKey({ mode, blockAngleBrackets }: CacheKey): string {
  return [CACHE_FORMAT, mode, blockAngleBrackets ? 'blocked' : 'open', process.arch].join('.');
}

/** JSON in ASCII is decoded without a look at its characters and parsed from one byte each. */
function* toAscii(pieces: Iterable<string>): Generator<Uint8Array, void> {
  for (const piece of pieces) {
    const ascii = piece.replaceAll(
      /[^\x00-\x7f]/g,
      (unit) => String.raw`\u` + unit.charCodeAt(0).toString(16).padStart(4, '0'),
    );
    yield Buffer.from(ascii, 'latin1');
  }
}

function textOf(section: Buffer): string {
  return section.toString('latin1');
}

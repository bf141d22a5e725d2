import { closeSync, openSync, readSync } from 'node:fs';
import path from 'node:path';

import { quietly, tryRealPath } from '#platform';

/** What the dynamic loader reads of an ELF file. */
interface LoaderNeeds {
  /** The loader itself. */
  readonly interpreter: string | undefined;
  readonly libraries: readonly string[];
  /** Where libraries are searched, with `$ORIGIN` for the folder of the file. */
  readonly folders: readonly string[];
}

/** A file, and the path by which the loader opens it. */
export interface LoadedFile {
  readonly source: string;
  readonly target: string;
}

const MAX_LIBRARIES = 500;

/**
 * The loader and the libraries of these programs that are found by the search paths which the files themselves name. Libraries of the
 * system are not among them: the loader finds those by its own list. A hostile file could name a key of the user as its library, so only
 * ELF files count.
 */
export function findSharedLibraries(files: readonly string[]): readonly LoadedFile[] {
  const found = new Map<string, LoadedFile>();
  const waiting: { readonly file: string; readonly needs: LoaderNeeds; readonly inherited: readonly string[] }[] = [];
  const examine = (file: string, inherited: readonly string[]): boolean => {
    const needs = readLoaderNeeds(file);
    if (needs !== undefined) waiting.push({ file, needs, inherited });
    return needs !== undefined;
  };
  const add = (target: string, inherited: readonly string[]): void => {
    const source = found.has(target) ? undefined : tryRealPath(target);
    if (source !== undefined && examine(target, inherited)) found.set(target, { source, target });
  };
  for (const file of files) examine(file, []);
  for (let next = waiting.pop(); next !== undefined && found.size < MAX_LIBRARIES; next = waiting.pop()) {
    const { file, needs, inherited } = next;
    const own = needs.folders
      .map((folder) => folder.replaceAll(/\$(?:ORIGIN|\{ORIGIN\})/g, path.dirname(file)))
      .filter((folder) => path.isAbsolute(folder));
    const folders = [...own, ...inherited];
    if (needs.interpreter !== undefined) add(path.normalize(needs.interpreter), folders);
    for (const name of needs.libraries) {
      const candidates = name.includes('/') ? [name] : folders.map((folder) => path.join(folder, name));
      const library = candidates.find(
        (candidate) => path.isAbsolute(candidate) && tryRealPath(candidate) !== undefined,
      );
      if (library !== undefined) add(path.normalize(library), folders);
    }
  }
  return [...found.values()];
}

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const DT_RPATH = 15;
const DT_RUNPATH = 29;
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const ENTRY_BYTES = 16;
const MAX_TABLE_BYTES = 256 * 1024;
const MAX_TEXT_BYTES = 4096;

/** `undefined` for anything but an ELF file of 64 bits, little-endian, as on x86_64 and aarch64. */
function readLoaderNeeds(file: string): LoaderNeeds | undefined {
  return quietly(() => {
    const descriptor = openSync(file, 'r');
    try {
      return parseElf((offset, length) => {
        const bytes = Buffer.alloc(Number.isSafeInteger(offset) ? Math.min(length, MAX_TABLE_BYTES) : 0);
        if (bytes.length === 0) return bytes;
        return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset));
      });
    } finally {
      closeSync(descriptor);
    }
  }, undefined);
}

type ReadBytes = (offset: number, length: number) => Buffer;

function parseElf(read: ReadBytes): LoaderNeeds | undefined {
  const header = read(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.subarray(0, 6).toString('latin1') !== '\x7fELF\x02\x01') return undefined;
  const table = read(Number(header.readBigUInt64LE(32)), header.readUInt16LE(56) * SEGMENT_BYTES);
  const segments = records(table, SEGMENT_BYTES).map((bytes) => ({
    type: bytes.readUInt32LE(0),
    offset: Number(bytes.readBigUInt64LE(8)),
    address: Number(bytes.readBigUInt64LE(16)),
    bytes: Number(bytes.readBigUInt64LE(32)),
  }));
  const find = (type: number): (typeof segments)[number] | undefined =>
    segments.find((segment) => segment.type === type);
  const interpreter = find(PT_INTERP);
  const dynamic = find(PT_DYNAMIC);
  const entries =
    dynamic === undefined
      ? []
      : records(read(dynamic.offset, dynamic.bytes), ENTRY_BYTES).map((bytes) => ({
          tag: Number(bytes.readBigUInt64LE(0)),
          value: Number(bytes.readBigUInt64LE(8)),
        }));
  const address = entries.find(({ tag }) => tag === DT_STRTAB)?.value ?? 0;
  const loaded = segments.find(
    (segment) => segment.type === PT_LOAD && address >= segment.address && address < segment.address + segment.bytes,
  );
  const strings = loaded === undefined ? undefined : address - loaded.address + loaded.offset;
  const texts = (...tags: readonly number[]): readonly string[] =>
    strings === undefined
      ? []
      : entries.filter(({ tag }) => tags.includes(tag)).map(({ value }) => textAt(read, strings + value));
  return {
    interpreter: interpreter === undefined ? undefined : textAt(read, interpreter.offset),
    libraries: texts(DT_NEEDED),
    folders: texts(DT_RPATH, DT_RUNPATH).flatMap((list) => list.split(':')),
  };
}

function records(table: Buffer, bytes: number): readonly Buffer[] {
  return Array.from({ length: Math.floor(table.length / bytes) }, (_, at) =>
    table.subarray(at * bytes, (at + 1) * bytes),
  );
}

function textAt(read: ReadBytes, offset: number): string {
  const bytes = read(offset, MAX_TEXT_BYTES);
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end === -1 ? 0 : end).toString('utf8');
}

/**
 * Reads tables of a SQLite database and its write-ahead log in place. Node has a SQLite module only from version 22.5 on, and it creates files
 * beside the database of the agent. Reads what the format's description calls table b-trees, in the order of row ids; indexes, views and other
 * encodings than UTF-8 are not read.
 */
import { open, type FileHandle } from 'node:fs/promises';

import { isSystemError, OPEN_FLAGS } from '#platform';
import { readRecord, readVarint, type SqliteValue } from './sqlite-record.ts';

export interface TableReader {
  readonly tables: readonly string[];
  readonly signal: AbortSignal;
  /** Awaited before the next page is read. */
  readonly onPiece: (bytes: number) => Promise<void>;
  readonly onRow: (row: Readonly<Record<string, SqliteValue>>) => void;
}

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const LOG_HEADER = 32;
const FRAME_HEADER = 24;
const INTERIOR = 5;
const LEAF = 13;
/** Larger rows are left out. */
const MAX_ROW_BYTES = 16 * 1024 * 1024;
const DAMAGED = 'is damaged, or changed while it was read';

/** Returns why the file cannot be read as a database, if so. Throws errors of the system. */
export async function readTables(file: string, options: TableReader): Promise<string | undefined> {
  const main = await open(file, OPEN_FLAGS.foreignFile);
  const log = await openLog(`${file}-wal`);
  try {
    const database = await openDatabase(main, log);
    if (database === undefined) return 'is not a SQLite database in UTF-8';
    const roots = new Map<string, { readonly root: number; readonly columns: readonly string[] }>();
    const schema = ['type', 'name', 'table', 'root', 'sql'];
    await walkTable(database, 1, options, (values) => {
      const row = Object.fromEntries(schema.map((name, at) => [name, values[at]]));
      if (row['type'] !== 'table' || typeof row['root'] !== 'number') return;
      roots.set(String(row['name']), { root: row['root'], columns: columnNames(String(row['sql'])) });
    });
    for (const table of options.tables) {
      const found = roots.get(table);
      if (found === undefined) return `has no table ${table}`;
      await walkTable(database, found.root, options, (values) =>
        options.onRow({ ...Object.fromEntries(found.columns.map((name, at) => [name, values[at] ?? null])), table }),
      );
    }
    return undefined;
  } catch (error) {
    // A pointer of a damaged page leads outside of it.
    if (error instanceof RangeError) return DAMAGED;
    throw error;
  } finally {
    await Promise.all([main.close(), log?.close()]);
  }
}

interface Database {
  readonly page: (number: number) => Promise<Buffer>;
  /** Bytes of a page that rows may use. */
  readonly usable: number;
}

async function openLog(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, OPEN_FLAGS.foreignFile);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function openDatabase(main: FileHandle, log: FileHandle | undefined): Promise<Database | undefined> {
  const size = (await main.stat()).size;
  const head = await readAt(main, 0, HEADER_BYTES);
  const frames = log === undefined ? undefined : await readFrames(log);
  // A new database has its first page in the log only.
  const first = frames?.pages.get(1);
  const header =
    first === undefined || log === undefined ? head : await readAt(log, first + FRAME_HEADER, HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  const UTF_8 = 1;
  if (header.readUInt32BE(56) !== UTF_8) return undefined;
  const written = header.readUInt16BE(16);
  const pageSize = written === 1 ? 65_536 : written;
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) return undefined;
  return {
    usable: pageSize - header.readUInt8(20),
    async page(number) {
      const frame = frames?.pages.get(number);
      if (frame !== undefined && log !== undefined) {
        // A checkpoint starts the log again, with another salt.
        const bytes = await readAt(log, frame, FRAME_HEADER + pageSize);
        if (bytes.length === FRAME_HEADER + pageSize && bytes.readBigUInt64BE(8) === frames?.salt)
          return bytes.subarray(FRAME_HEADER);
      }
      const position = (number - 1) * pageSize;
      const bytes = number >= 1 && position < size + pageSize ? await readAt(main, position, pageSize) : undefined;
      if (bytes?.length !== pageSize) throw new RangeError(DAMAGED);
      return bytes;
    },
  };
}

interface Frames {
  readonly salt: bigint;
  /** Where the newest committed frame of a page starts. */
  readonly pages: ReadonlyMap<number, number>;
}

async function readFrames(log: FileHandle): Promise<Frames | undefined> {
  const header = await readAt(log, 0, LOG_HEADER);
  if (header.length < LOG_HEADER || header.readUInt32BE(0) >>> 1 !== 0x37_7f_06_82 >>> 1) return undefined;
  const size = (await log.stat()).size;
  const pageSize = header.readUInt32BE(8);
  const salt = header.readBigUInt64BE(16);
  const pages = new Map<number, number>();
  const pending = new Map<number, number>();
  if (pageSize < 512) return undefined;
  for (let at = LOG_HEADER; at + FRAME_HEADER + pageSize <= size; at += FRAME_HEADER + pageSize) {
    const frame = await readAt(log, at, FRAME_HEADER);
    if (frame.length < FRAME_HEADER || frame.readBigUInt64BE(8) !== salt) break;
    pending.set(frame.readUInt32BE(0), at);
    // A frame with the size of the database ends a transaction.
    if (frame.readUInt32BE(4) === 0) continue;
    for (const [page, place] of pending) pages.set(page, place);
    pending.clear();
  }
  return { salt, pages };
}

type OnValues = (values: readonly SqliteValue[]) => void;

async function walkTable(
  database: Database,
  root: number,
  { signal, onPiece }: TableReader,
  onValues: OnValues,
): Promise<void> {
  const seen = new Set<number>();
  const visit = async (number: number): Promise<void> => {
    signal.throwIfAborted();
    if (seen.has(number)) throw new RangeError(DAMAGED);
    seen.add(number);
    const page = await database.page(number);
    await onPiece(page.length);
    const start = number === 1 ? HEADER_BYTES : 0;
    const kind = page.readUInt8(start);
    const cells = page.readUInt16BE(start + 3);
    const pointers = start + (kind === INTERIOR ? 12 : 8);
    if ((kind !== INTERIOR && kind !== LEAF) || pointers + 2 * cells > page.length) throw new RangeError(DAMAGED);
    for (let index = 0; index < cells; index += 1) {
      const at = page.readUInt16BE(pointers + 2 * index);
      if (at + 4 > page.length) throw new RangeError(DAMAGED);
      if (kind === INTERIOR) await visit(page.readUInt32BE(at));
      else {
        const payload = await readPayload(database, page, at);
        if (payload !== undefined) onValues(readRecord(payload));
      }
    }
    if (kind === INTERIOR) await visit(page.readUInt32BE(start + 8));
  };
  await visit(root);
}

/** The bytes of a row: those in the page, and the rest in a chain of other pages. Undefined for a row that is too large. */
async function readPayload(
  { page: readPage, usable }: Database,
  page: Buffer,
  at: number,
): Promise<Buffer | undefined> {
  const size = readVarint(page, at);
  const start = readVarint(page, size.end).end;
  if (size.value > MAX_ROW_BYTES) return undefined;
  const most = usable - 35;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const fitting = least + ((size.value - least) % (usable - 4));
  const local = size.value <= most ? size.value : fitting <= most ? fitting : least;
  const parts = [page.subarray(start, start + local)];
  let missing = size.value - local;
  for (let next = missing > 0 ? page.readUInt32BE(start + local) : 0; missing > 0;) {
    const more = await readPage(next);
    const length = Math.min(missing, usable - 4);
    parts.push(Buffer.from(more.subarray(4, 4 + length)));
    missing -= length;
    next = more.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

/** The columns of a CREATE TABLE statement. */
function columnNames(sql: string): readonly string[] {
  const body = sql.slice(sql.indexOf('(') + 1, sql.lastIndexOf(')'));
  let depth = 0;
  const parts = [''];
  for (const character of body) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (character === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts
    .map((part) => /^\s*[`"[]?(\w+)/.exec(part)?.[1] ?? '')
    .filter((name) => !/^(?:CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|CHECK)$/i.test(name));
}

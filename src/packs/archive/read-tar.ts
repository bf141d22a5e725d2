import type { ArchiveLimits } from '../../core/archive-limits.ts';
import type { PackRefused } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import type { ByteSource } from './gunzip.ts';
import type { ToldEntry } from './judge-entries.ts';
import { decodeName } from './decode-name.ts';
import { refused, tooMany } from './refused.ts';
import { BLOCK_BYTES, isZero, readTarHeader } from './tar-header.ts';
import type { TarHeader } from './tar-header.ts';
import { readPax } from './tar-pax.ts';
import type { PaxChanges } from './tar-pax.ts';

/** An entry and its bytes, which are to be read before the next entry is asked for, or not at all. */
export interface TarEntry {
  readonly told: ToldEntry;
  readonly content: () => AsyncGenerator<Buffer, void, undefined>;
}

/** Of a long name or an extended header: names are limited to less, and nothing else in them counts. */
const MAX_EXTENSION_BYTES = 64 * 1024;

/** What headers before an entry say of it. */
interface Extensions extends PaxChanges {
  readonly longName?: string;
}

/** Every entry up to the end, after which nothing but zeros may stand. Throws `PackRefused`. */
export async function* readTar(source: ByteSource, limits: ArchiveLimits): AsyncGenerator<TarEntry, void, undefined> {
  let extensions: Extensions = {};
  for (let blocks = 0; ; blocks += 1) {
    const block = await takeWhole(source, BLOCK_BYTES);
    if (isZero(block)) break;
    // Extensions count too; two for each entry is what packers need at most.
    if (blocks >= limits.maxEntries * 3) throw tooMany(limits);
    const header = readTarHeader(block);
    const changes = await readExtension(source, header);
    if (changes !== undefined) {
      extensions = merge(extensions, changes);
      continue;
    }
    const told = tell(header, extensions);
    extensions = {};
    let left = told.bytes;
    async function* content(): AsyncGenerator<Buffer, void, undefined> {
      while (left > 0) {
        const piece = await source.some(left);
        if (piece.length === 0) throw endsEarly();
        left -= piece.length;
        yield piece;
      }
    }
    if (!isTop(told)) yield { told, content };
    // What nobody asked for is passed over.
    if (left > 0) for await (const piece of content()) void piece;
    await takePadding(source, told.bytes);
  }
  if (Object.keys(extensions).length > 0) throw refused('archive/unreadable', 'an extended header belongs to nothing');
  await takeEnd(source);
}

/** Nothing where the header is that of an entry. */
async function readExtension(source: ByteSource, header: TarHeader): Promise<Extensions | undefined> {
  if (!'xgLK'.includes(header.type)) return undefined;
  if (header.bytes > MAX_EXTENSION_BYTES)
    throw refused('archive/name', `an extended header has more than ${String(MAX_EXTENSION_BYTES)} bytes`);
  const data = await takeWhole(source, header.bytes);
  await takePadding(source, header.bytes);
  if (header.type === 'x') return readPax(data);
  if (header.type === 'g') {
    const { path, bytes } = readPax(data);
    if (path !== undefined || bytes !== undefined)
      throw refused('archive/mismatch', 'one name or size is given to all entries');
    return {};
  }
  // The target of a link: the entry after it is refused for what it is.
  if (header.type === 'K') return {};
  return { longName: decodeName(data.at(-1) === 0 ? data.subarray(0, -1) : data) };
}

function merge(before: Extensions, more: Extensions): Extensions {
  const repeated = Object.keys(more).some((key) => key in before);
  const isNamedTwice = (more.path !== undefined || more.longName !== undefined) && nameOf(before) !== undefined;
  if (repeated || isNamedTwice) throw refused('archive/mismatch', 'an entry is given the same property twice');
  return { ...before, ...more };
}

function nameOf({ path, longName }: Extensions): string | undefined {
  return path ?? longName;
}

function tell(header: TarHeader, extensions: Extensions): ToldEntry {
  const written = nameOf(extensions) ?? header.name;
  // Programs that pack the folder they are in put `./` before every name.
  const bare = written.startsWith('./') && written !== './' ? written.slice(2) : written;
  const kind = kindOf(header.type, bare);
  // A reader that does not know the extension would find the next header elsewhere.
  if (extensions.bytes !== undefined && extensions.bytes !== header.bytes)
    throw refused('archive/mismatch', `${quoted(bare)} is given two sizes`);
  const name = kind === 'folder' && !bare.endsWith('/') ? `${bare}/` : bare;
  return { name, kind, mode: header.mode, bytes: header.bytes };
}

/** The folder that was packed, under no name of its own. */
function isTop({ name, kind, bytes }: ToldEntry): boolean {
  return name === './' && kind === 'folder' && bytes === 0;
}

function kindOf(type: string, name: string): ToldEntry['kind'] {
  switch (type) {
    case '\0':
      // Before there were types, a slash said it.
      return name.endsWith('/') ? 'folder' : 'file';
    case '0':
    case '7':
      return 'file';
    case '1':
    case '2':
      return 'link';
    case '5':
      return 'folder';
    default:
      return 'special';
  }
}

async function takeWhole(source: ByteSource, length: number): Promise<Buffer> {
  const bytes = await source.take(length);
  if (bytes.length < length) throw endsEarly();
  return bytes;
}

async function takePadding(source: ByteSource, bytes: number): Promise<void> {
  if (bytes % BLOCK_BYTES !== 0) await takeWhole(source, BLOCK_BYTES - (bytes % BLOCK_BYTES));
}

/** The first of two zero blocks was taken. */
async function takeEnd(source: ByteSource): Promise<void> {
  let rest = await takeWhole(source, BLOCK_BYTES);
  for (; rest.length > 0; rest = await source.some(BLOCK_BYTES * 128))
    if (!isZero(rest)) throw refused('archive/extra-data', 'data stands after the end of the archive');
}

function endsEarly(): PackRefused {
  return refused('archive/unreadable', 'the archive ends too early');
}

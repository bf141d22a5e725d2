/** The tar format as engines write and read it: ustar, with extended headers for what does not fit into it. */

export const BLOCK = 512;

export type TarType = 'file' | 'folder' | 'link' | 'hard-link' | 'other';

export interface TarHeader {
  readonly name: string;
  readonly type: TarType;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  /** Seconds. */
  readonly modified: number;
  /** Of links. */
  readonly target: string;
}

const FLAGS: Readonly<Record<Exclude<TarType, 'other'>, string>> = {
  file: '0',
  'hard-link': '1',
  link: '2',
  folder: '5',
};
const NAME_BYTES = 100;
const LARGEST_OCTAL_SIZE = 0o77_777_777_777;
/** What is written before an entry to say what its own header has no room for. */
const EXTENDED = 'x';
const MAX_EXTENDED_BYTES = 1024 * 1024;

/** The header of an entry, extended where that is needed; the bytes of a file and `padding` follow it. */
export function tarHeader(header: TarHeader & { readonly type: Exclude<TarType, 'other'> }): Buffer {
  const records = [
    ...(fits(header.name) ? [] : [record('path', header.name)]),
    ...(fits(header.target) ? [] : [record('linkpath', header.target)]),
    ...(header.size <= LARGEST_OCTAL_SIZE ? [] : [record('size', String(header.size))]),
  ];
  const own = ustar(header, FLAGS[header.type]);
  if (records.length === 0) return own;
  const text = Buffer.concat(records);
  const before = ustar({ ...header, name: 'PaxHeader', target: '', size: text.length, mode: 0o644 }, EXTENDED);
  return Buffer.concat([before, text, padding(text.length), own]);
}

export function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** What a tar ends with. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= NAME_BYTES && /^[ -~]*$/.test(text);
}

/** `length key=value\n`, where the length counts itself. */
function record(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length += 1;
  return Buffer.from(`${String(length)} ${key}=${value}\n`);
}

function ustar(header: TarHeader, flag: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(
      Math.max(0, Math.floor(value))
        .toString(8)
        .padStart(length - 1, '0')
        .slice(1 - length),
      at,
      'latin1',
    );
  };
  block.write(header.name, 0, NAME_BYTES, 'utf8');
  octal(header.mode & 0o7777, 100, 8);
  octal(header.uid, 108, 8);
  octal(header.gid, 116, 8);
  octal(header.size <= LARGEST_OCTAL_SIZE ? header.size : 0, 124, 12);
  octal(header.modified, 136, 12);
  block.write(' '.repeat(8), 148, 'latin1');
  block.write(flag, 156, 'latin1');
  block.write(header.target, 157, NAME_BYTES, 'utf8');
  block.write('ustar\0', 257, 'latin1');
  block.write('00', 263, 'latin1');
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** A tar that is not one; what came before it is not taken back. */
export class BrokenTar extends Error {
  override readonly name = 'BrokenTar';
}

export interface TarEntry extends TarHeader {
  /** The bytes of a file; has to be read to its end before the next entry. */
  readonly bytes: AsyncIterable<Buffer>;
}

/** The entries of a tar as it comes. Throws `BrokenTar`. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void> {
  const input = new BlockReader(source);
  try {
    yield* entriesOf(input);
  } finally {
    // Whoever stops early must not leave the sender waiting.
    await input.close();
  }
}

async function* entriesOf(input: BlockReader): AsyncGenerator<TarEntry, void> {
  let extended: ReadonlyMap<string, string> = new Map();
  for (;;) {
    const block = await input.block();
    if (block === undefined || block.every((byte) => byte === 0)) return;
    const header = parseHeader(block);
    if (header.flag === EXTENDED || header.flag === 'L' || header.flag === 'K') {
      if (header.size > MAX_EXTENDED_BYTES) throw new BrokenTar('a header is too large');
      const text = await input.whole(header.size);
      extended =
        header.flag === EXTENDED
          ? parseRecords(text)
          : new Map([...extended, [header.flag === 'L' ? 'path' : 'linkpath', cString(text, 0, text.length)]]);
      continue;
    }
    if (header.flag === 'g') {
      await input.skip(header.size);
      continue;
    }
    const size = Number(extended.get('size') ?? header.size);
    if (!Number.isSafeInteger(size) || size < 0) throw new BrokenTar('a size is no number');
    const type = typeOf(header.flag);
    const length = type === 'file' ? size : 0;
    yield {
      ...header,
      type,
      size: length,
      name: extended.get('path') ?? header.name,
      target: extended.get('linkpath') ?? header.target,
      bytes: input.pieces(length),
    };
    extended = new Map();
    await input.finish();
  }
}

function typeOf(flag: string): TarType {
  switch (flag) {
    case '0':
    case '\0':
    case '7':
      return 'file';
    case '1':
      return 'hard-link';
    case '2':
      return 'link';
    case '5':
      return 'folder';
    default:
      return 'other';
  }
}

function parseHeader(block: Buffer): Omit<TarHeader, 'type'> & { readonly flag: string } {
  const number = (at: number, length: number): number => {
    // Larger than octal digits have room for.
    if (((block[at] ?? 0) & 0x80) !== 0) return block.readUIntBE(at + length - 6, 6);
    const text = cString(block, at, length).trim();
    if (!/^[0-7]*$/.test(text)) throw new BrokenTar('a number in a header is none');
    return text === '' ? 0 : Number.parseInt(text, 8);
  };
  let sum = 0;
  for (const [at, byte] of block.entries()) sum += at >= 148 && at < 156 ? 32 : byte;
  if (sum !== number(148, 8)) throw new BrokenTar('the checksum of a header is wrong');
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? cString(block, 345, 155) : '';
  const name = cString(block, 0, NAME_BYTES);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    mode: number(100, 8) & 0o7777,
    uid: number(108, 8),
    gid: number(116, 8),
    size: number(124, 12),
    modified: number(136, 12),
    target: cString(block, 157, NAME_BYTES),
    flag: block.toString('latin1', 156, 157),
  };
}

function cString(block: Buffer, at: number, length: number): string {
  const text = block.subarray(at, at + length);
  const end = text.indexOf(0);
  return text.toString('utf8', 0, end === -1 ? text.length : end);
}

function parseRecords(text: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const space = text.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(text.toString('latin1', at, space));
    if (!Number.isSafeInteger(length) || length <= space - at || at + length > text.length)
      throw new BrokenTar('an extended header is broken');
    const line = text.toString('utf8', space + 1, at + length - 1);
    const equals = line.indexOf('=');
    if (equals > 0) records.set(line.slice(0, equals), line.slice(equals + 1));
    at += length;
  }
  return records;
}

/** Bytes from a source in the sizes that are asked for; holds one chunk. */
class BlockReader {
  readonly #source: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);
  /** Of the file at hand: its bytes, and what fills its last block. */
  #rest = 0;
  #fill = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** Nothing at the end. */
  async block(): Promise<Buffer | undefined> {
    const first = await this.#some(BLOCK);
    if (first === undefined) return undefined;
    return first.length === BLOCK ? first : Buffer.concat([first, await this.#exactly(BLOCK - first.length)]);
  }

  async whole(size: number): Promise<Buffer> {
    const bytes = await this.#exactly(size);
    await this.#exactly(padding(size).length);
    return bytes;
  }

  async skip(size: number): Promise<void> {
    this.#begin(size);
    await this.finish();
  }

  pieces(size: number): AsyncIterable<Buffer> {
    this.#begin(size);
    return this.#pieces();
  }

  /** Passes over what was not read of the file at hand. */
  async finish(): Promise<void> {
    while (this.#rest > 0) await this.#piece();
    await this.#exactly(this.#fill);
    this.#fill = 0;
  }

  #begin(size: number): void {
    this.#rest = size;
    this.#fill = padding(size).length;
  }

  async *#pieces(): AsyncGenerator<Buffer, void> {
    while (this.#rest > 0) yield await this.#piece();
  }

  async #piece(): Promise<Buffer> {
    const piece = await this.#some(this.#rest);
    if (piece === undefined) throw new BrokenTar('it ends in the middle of a file');
    this.#rest -= piece.length;
    return piece;
  }

  async #exactly(size: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let missing = size; missing > 0;) {
      const piece = await this.#some(missing);
      if (piece === undefined) throw new BrokenTar('it ends too early');
      pieces.push(piece);
      missing -= piece.length;
    }
    return Buffer.concat(pieces, size);
  }

  async #some(most: number): Promise<Buffer | undefined> {
    while (this.#chunk.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) return undefined;
      this.#chunk = next.value;
    }
    const piece = this.#chunk.subarray(0, most);
    this.#chunk = this.#chunk.subarray(piece.length);
    return piece;
  }
}

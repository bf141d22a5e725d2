import { gzipSync } from 'node:zlib';

/** One entry of a tar, with everything that a liar can say of it. */
export interface TarPart {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** `0` file, `5` folder, `1` hard link, `2` link, ...; by the name where nothing is said. */
  readonly type?: string;
  readonly mode?: number;
  readonly link?: string;
  /** As told. */
  readonly bytes?: number;
  /** As it stands in the header. */
  readonly size?: Buffer;
  readonly prefix?: string;
  readonly checksum?: number;
  readonly magic?: 'posix' | 'gnu' | 'old';
}

export interface TarShape {
  /** What stands where two blocks of zeros should. */
  readonly end?: Buffer;
}

const BLOCK = 512;

export function makeTar(parts: readonly TarPart[], { end = Buffer.alloc(2 * BLOCK) }: TarShape = {}): Buffer {
  return Buffer.concat([...parts.flatMap(makeEntry), end]);
}

export function makeTarGz(parts: readonly TarPart[], shape: TarShape = {}): Buffer {
  return gzipSync(makeTar(parts, shape));
}

/** Records that change the entry after them; `g` for all after them. */
export function pax(records: readonly (readonly [key: string, value: string])[], type: 'x' | 'g' = 'x'): TarPart {
  const lines = records.map(([key, value]) => paxLine(`${key}=${value}`));
  return { name: 'pax-header', type, content: Buffer.concat(lines) };
}

function paxLine(record: string): Buffer {
  const bytes = Buffer.byteLength(record) + 2;
  let length = bytes + String(bytes).length;
  if (String(length).length > String(bytes).length) length += 1;
  return Buffer.from(`${String(length)} ${record}\n`);
}

/** The long name of the entry after it, as GNU tar writes it. */
export function longName(name: string): TarPart {
  return { name: '././@LongLink', type: 'L', content: `${name}\0`, magic: 'gnu' };
}

function makeEntry(part: TarPart): readonly Buffer[] {
  const content = Buffer.from(part.content ?? '');
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return [makeHeader(part, part.bytes ?? content.length), content, padding];
}

const MAGIC = { posix: 'ustar\x0000', gnu: 'ustar  \0', old: '' } as const;

function makeHeader(part: TarPart, bytes: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const name = Buffer.from(part.name);
  const type = part.type ?? (name.at(-1) === 0x2f ? '5' : '0');
  name.copy(header, 0, 0, 100);
  header.write(octal(part.mode ?? (type === '5' ? 0o755 : 0o644), 7), 100, 'latin1');
  header.write(octal(0, 7), 108, 'latin1');
  header.write(octal(0, 7), 116, 'latin1');
  header.write(octal(bytes, 11), 124, 'latin1');
  part.size?.copy(header, 124, 0, 12);
  header.write(octal(0, 11), 136, 'latin1');
  header.write(type, 156, 'latin1');
  header.write(part.link ?? '', 157);
  header.write(MAGIC[part.magic ?? 'posix'], 257, 'latin1');
  header.write(part.prefix ?? '', 345);
  header.write(' '.repeat(8), 148, 'latin1');
  const sum = part.checksum ?? header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0').slice(-digits);
}

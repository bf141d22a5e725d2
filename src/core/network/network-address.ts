/**
 * Classifies IP addresses: public, local, private, cloud metadata. Access checks use the address that a connection goes to, because names
 * can resolve to anything.
 */

/** Everything except `public` must be granted explicitly. */
export type AddressKind = 'public' | 'private' | 'loopback' | 'link-local' | 'multicast' | 'metadata' | 'reserved';

export interface NetworkAddress {
  /** 4 or 16 bytes. */
  readonly bytes: readonly number[];
  /** Canonical spelling: dotted decimal, or RFC 5952. */
  readonly text: string;
  readonly kind: AddressKind;
}

/** Accepts canonical spellings only: no octal, hexadecimal or short IPv4, no zone, no brackets. */
export function readAddress(text: string): NetworkAddress | undefined {
  const v4 = readV4(text);
  if (v4 !== undefined) return { bytes: v4, text: v4.join('.'), kind: kindOfV4(v4) };
  const v6 = readV6(text);
  return v6 === undefined ? undefined : { bytes: v6, text: writeV6(v6), kind: kindOfV6(v6) };
}

function readV4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part))) return undefined;
  return parts.map(Number);
}

/** No leading zero, because `010` is octal to some parsers. */
const OCTET = /^(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])$/;

const GROUP = /^[0-9a-f]{1,4}$/i;

/** The longest spelling of an IPv6 address. */
const MAX_V6_TEXT = 45;

function readV6(text: string): readonly number[] | undefined {
  if (text.length > MAX_V6_TEXT || !text.includes(':')) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = '', tail] = halves;
  const before = readGroups(head, tail === undefined);
  const after = tail === undefined ? [] : readGroups(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 16 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined;
  return [...before, ...Array.from({ length: missing }, () => 0), ...after];
}

function readGroups(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (GROUP.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
      continue;
    }
    // Only the last group may be an IPv4 address.
    const embedded = isLast && index === groups.length - 1 ? readV4(group) : undefined;
    if (embedded === undefined) return undefined;
    bytes.push(...embedded);
  }
  return bytes.length > 16 ? undefined : bytes;
}

function writeV6(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const write = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (best.start === -1) return write(groups);
  return `${write(groups.slice(0, best.start))}::${write(groups.slice(best.start + best.length))}`;
}

/** Addresses of cloud metadata services, which return credentials. Some are in public ranges. */
const METADATA: ReadonlySet<string> = new Set([
  '169.254.169.254', // AWS, Azure, Google, Oracle and others
  '169.254.170.2', // AWS containers
  '169.254.170.23',
  '100.100.100.200', // Alibaba
  '168.63.129.16', // Azure's host
  '192.0.0.192', // Oracle
  'fd00:ec2::254', // AWS
  'fd00:ec2::23',
  'fd20:ce::254', // Google
]);

type Block = readonly [bytes: readonly number[], bits: number, kind: AddressKind];

const V4_BLOCKS: readonly Block[] = [
  [[0], 8, 'loopback'], // Linux connects 0.0.0.0 to itself
  [[127], 8, 'loopback'],
  [[10], 8, 'private'],
  [[172, 16], 12, 'private'],
  [[192, 168], 16, 'private'],
  [[100, 64], 10, 'private'],
  [[169, 254], 16, 'link-local'],
  [[192, 0, 0], 24, 'reserved'],
  [[192, 0, 2], 24, 'reserved'],
  [[192, 88, 99], 24, 'reserved'],
  [[198, 18], 15, 'reserved'],
  [[198, 51, 100], 24, 'reserved'],
  [[203, 0, 113], 24, 'reserved'],
  [[224], 4, 'multicast'],
  [[255, 255, 255, 255], 32, 'multicast'], // broadcast
  [[240], 4, 'reserved'],
];

const V6_BLOCKS: readonly Block[] = [
  [[0xfc], 7, 'private'],
  [[0xfe, 0x80], 10, 'link-local'],
  [[0xfe, 0xc0], 10, 'private'],
  [[0xff], 8, 'multicast'],
  [[0x00, 0x64, 0xff, 0x9b, 0x00, 0x01], 48, 'private'], // local NAT64: its target is unknown
  [[0x20, 0x01, 0x0d, 0xb8], 32, 'reserved'],
  [[0x20, 0x01, 0x00], 23, 'reserved'], // Teredo, ORCHID and other protocols
  [[0x3f, 0xff, 0x00], 20, 'reserved'],
];

/** IPv6 prefixes that embed an IPv4 address; the embedded address is classified instead. */
const V4_INSIDE: readonly { readonly prefix: readonly number[]; readonly at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], at: 12 }, // mapped
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], at: 12 }, // translated (SIIT)
  { prefix: [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 }, // NAT64
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 }, // compatible, and :: and ::1 after the check below
  { prefix: [0x20, 0x02], at: 2 }, // 6to4
];

function kindOfV4(bytes: readonly number[]): AddressKind {
  if (METADATA.has(bytes.join('.'))) return 'metadata';
  return V4_BLOCKS.find((block) => isIn(bytes, block))?.[2] ?? 'public';
}

function kindOfV6(bytes: readonly number[]): AddressKind {
  if (METADATA.has(writeV6(bytes))) return 'metadata';
  if (bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1) return 'loopback';
  const block = V6_BLOCKS.find((each) => isIn(bytes, each));
  if (block !== undefined) return block[2];
  const inside = V4_INSIDE.find(({ prefix }) => prefix.every((byte, index) => bytes[index] === byte));
  if (inside !== undefined) return kindOfV4(bytes.slice(inside.at, inside.at + 4));
  // Only 2000::/3 is allocated.
  return (bytes[0] ?? 0) >> 5 === 1 ? 'public' : 'reserved';
}

function isIn(bytes: readonly number[], [prefix, bits]: Block): boolean {
  for (let bit = 0; bit < bits; bit += 8) {
    const index = bit >> 3;
    const mask = bits - bit >= 8 ? 0xff : (0xff << (8 - (bits - bit))) & 0xff;
    if (((bytes[index] ?? 0) & mask) !== ((prefix[index] ?? 0) & mask)) return false;
  }
  return true;
}

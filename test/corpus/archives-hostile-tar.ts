import { constants, deflateRawSync, gzipSync } from 'node:zlib';

import type { PackProblem } from '../../src/packs/problems.ts';
import { longName, makeTar, makeTarGz, pax, type TarPart } from './archives-make-tar.ts';
import { SKILL_TEXT, deflatedZeros, type SampleArchive } from './archives-sample.ts';

const SKILL: TarPart = { name: 'sample/SKILL.md', content: SKILL_TEXT };
const evil = (part: Partial<TarPart>): TarPart => ({ name: 'sample/evil.txt', content: 'evil', ...part });

type Row = readonly [attack: number, name: string, code: PackProblem, bytes: () => Buffer];

function named(attack: number, what: string, code: PackProblem, ...names: readonly (string | Buffer)[]): Row {
  return [attack, what, code, () => makeTarGz([SKILL, ...names.map((name) => evil({ name }))])];
}

function parts(attack: number, what: string, code: PackProblem, ...made: readonly Partial<TarPart>[]): Row {
  return [attack, what, code, () => makeTarGz([SKILL, ...made.map(evil)])];
}

function ended(attack: number, what: string, code: PackProblem, end: Buffer): Row {
  return [attack, what, code, () => makeTarGz([SKILL], { end })];
}

const linked = (type: '1' | '2', link: string): TarPart => evil({ type, link, content: '' });

const NAMES: readonly Row[] = [
  named(45, 'parent folder', 'archive/traversal', '../evil.txt'),
  named(46, 'parent folder, deep', 'archive/traversal', 'sample/a/../../../../evil.txt'),
  parts(46, 'parent folder in the prefix', 'archive/traversal', { name: 'evil.txt', prefix: '../..' }),
  parts(46, 'parent folder in an extended header', 'archive/traversal', pax([['path', '../evil.txt']]), {}),
  parts(46, 'parent folder in a long name', 'archive/traversal', longName('../evil.txt'), { magic: 'gnu' }),
  named(47, 'absolute', 'archive/absolute', '/tmp/evil.txt'),
  named(48, 'backslash', 'archive/backslash', 'sample\\evil.txt'),
  named(49, 'drive', 'archive/absolute', 'C:\\evil.txt'),
  named(50, 'share', 'archive/absolute', '\\\\server\\share\\evil.txt'),
  named(54, 'SKILL.md twice', 'archive/duplicate', 'sample/SKILL.md'),
  named(54, 'SKILL.md twice, once after a dot', 'archive/duplicate', './sample/SKILL.md'),
  named(55, 'names that differ in case', 'archive/collision', 'sample/a.md', 'sample/A.md'),
  named(56, 'composed and decomposed', 'archive/collision', 'sample/caf\u00e9.md', 'sample/cafe\u0301.md'),
  named(57, 'NUL in the header', 'archive/name', 'sample/SKILL.md\0.txt'),
  parts(57, 'NUL', 'archive/name', pax([['path', 'sample/SKILL.md\0.txt']]), {}),
  named(58, 'no name', 'archive/name', ''),
  named(58, 'two slashes', 'archive/name', 'sample//evil.txt'),
  named(74, 'device', 'archive/reserved-name', 'sample/aux.md'),
  parts(75, '4,000 characters', 'archive/name', longName(`sample/${'a'.repeat(4000)}`), { magic: 'gnu' }),
  parts(75, '1,500 folders deep', 'archive/too-deep', pax([['path', `${'a/'.repeat(1500)}evil.txt`]]), {}),
  parts(75, 'an extended header of 100 kB', 'archive/name', pax([['comment', 'x'.repeat(100_000)]]), {}),
  named(76, 'change of direction', 'archive/name', 'sample/\u202etxt.live'),
  named(76, 'no UTF-8', 'archive/name', Buffer.from('sample/\xff\xfe.txt', 'latin1')),
  named(77, 'file, then folder', 'archive/conflict', 'sample/evil', 'sample/evil/evil.txt'),
  parts(77, 'file by type, folder by name', 'archive/conflict', { name: 'sample/evil/', type: '0' }),
];

const KINDS: readonly Row[] = [
  parts(51, 'link', 'archive/link', linked('2', '/etc/passwd')),
  parts(
    52,
    'link, and a file through it',
    'archive/link',
    { ...linked('2', '../..'), name: 'sample/out' },
    { name: 'sample/out/evil.txt' },
  ),
  parts(53, 'hard link to outside', 'archive/link', linked('1', '/etc/passwd')),
  parts(53, 'hard link to SKILL.md', 'archive/link', linked('1', 'sample/SKILL.md')),
  parts(
    53,
    'link with a long target',
    'archive/link',
    { ...longName(`../${'x'.repeat(200)}`), type: 'K' },
    linked('2', '../x'),
  ),
  parts(53, 'file with holes, GNU', 'archive/special-file', { type: 'S' }),
  parts(53, 'file with holes, extended header', 'archive/special-file', pax([['GNU.sparse.major', '1']]), {}),
  parts(53, 'unknown type', 'archive/special-file', { type: 'Z' }),
  parts(66, 'setuid', 'archive/mode', { mode: 0o4755 }),
  parts(67, 'device of characters', 'archive/special-file', { type: '3', content: '' }),
  parts(67, 'device of blocks', 'archive/special-file', { type: '4', content: '' }),
  parts(67, 'pipe', 'archive/special-file', { type: '6', content: '' }),
];

const LIES: readonly Row[] = [
  parts(63, 'two sizes', 'archive/mismatch', pax([['size', '1']]), {}),
  parts(
    63,
    'two sizes in one extended header',
    'archive/mismatch',
    pax([
      ['size', '4'],
      ['size', '1'],
    ]),
    {},
  ),
  parts(63, 'one size for all', 'archive/mismatch', pax([['size', '4']], 'g'), {}),
  parts(64, 'size beyond everything', 'archive/unreadable', {
    size: Buffer.from([0x80, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]),
  }),
  parts(64, 'size below zero', 'archive/unreadable', { size: Buffer.alloc(12, 0xff) }),
  parts(64, 'size that is no number', 'archive/unreadable', { size: Buffer.from('evil-number!') }),
  parts(64, 'size beyond the file', 'archive/unreadable', { bytes: 100_000 }),
  parts(68, 'two long names', 'archive/mismatch', pax([['path', 'sample/a']]), longName('sample/b'), {}),
  parts(68, 'extended header that belongs to nothing', 'archive/unreadable', pax([['path', 'sample/a']])),
  parts(
    68,
    'extended header that is none',
    'archive/unreadable',
    { name: 'pax', type: 'x', content: '99 path=evil\n' },
    {},
  ),
  parts(69, 'wrong checksum of a header', 'archive/unreadable', { checksum: 1 }),
  [69, 'wrong checksum of all', 'archive/checksum', () => changed(makeTarGz([SKILL]), -8)],
  ended(72, 'entries after the end', 'archive/extra-data', Buffer.concat([Buffer.alloc(1024), makeTar([evil({})])])),
  ended(
    72,
    'bytes after one empty block',
    'archive/extra-data',
    Buffer.concat([Buffer.alloc(512), makeTar([evil({})])]),
  ),
  [72, 'bytes after it', 'archive/extra-data', () => Buffer.concat([makeTarGz([SKILL]), Buffer.from('<html>')])],
  [72, 'zeros after it', 'archive/extra-data', () => Buffer.concat([makeTarGz([SKILL]), Buffer.alloc(100)])],
  ended(82, 'no end', 'archive/unreadable', Buffer.alloc(0)),
  ended(82, 'half an end', 'archive/unreadable', Buffer.alloc(512)),
  [82, 'first half', 'archive/unreadable', () => makeTarGz([SKILL]).subarray(0, 60)],
  [82, 'no tar inside', 'archive/unreadable', () => gzipSync('evil'.repeat(1000))],
];

const BOMBS: readonly Row[] = [
  [59, '1 GiB of zeros', 'archive/bomb', () => bomb(2 ** 30)],
  [59, '1 GiB of zeros after the end', 'archive/bomb', () => bomb(0)],
  [62, '100,001 entries', 'archive/too-many', manyEntries],
];

export const HOSTILE_TARS: readonly SampleArchive[] = [...NAMES, ...KINDS, ...LIES, ...BOMBS].map(
  ([attack, name, code, bytes]) => ({ name: `tar.gz: ${name}`, format: 'tar.gz', attack, code, bytes }),
);

function changed(bytes: Buffer, place: number): Buffer {
  const at = bytes.length + place;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
}

/** A header, and zeros that come from nearly nothing. */
function bomb(bytes: number): Buffer {
  const flush = { level: 9, finishFlush: constants.Z_FULL_FLUSH } as const;
  const header = makeTar(bytes === 0 ? [SKILL] : [SKILL, evil({ bytes, content: '' })], { end: Buffer.alloc(0) });
  const zeros = deflatedZeros(1024, deflateRawSync(Buffer.alloc(1024 * 1024), flush));
  const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  return Buffer.concat([gzipHeader, deflateRawSync(header, flush), zeros, Buffer.alloc(8)]);
}

function manyEntries(): Buffer {
  const count = 100_001;
  const block = makeTar([{ name: 'a/000000' }], { end: Buffer.alloc(0) });
  const all = Buffer.concat([...Array.from({ length: count }, () => block), Buffer.alloc(1024)]);
  const sum = Number.parseInt(block.toString('latin1', 148, 154), 8);
  for (let place = 0; place < count; place += 1) {
    const digits = String(place).padStart(6, '0');
    const more = [...digits].reduce((total, digit) => total + Number(digit), 0);
    all.write(digits, place * 512 + 2, 'latin1');
    all.write((sum + more).toString(8).padStart(6, '0'), place * 512 + 148, 'latin1');
  }
  return gzipSync(all, { level: 1 });
}

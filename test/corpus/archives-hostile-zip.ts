import { constants, deflateRawSync } from 'node:zlib';

import type { PackProblem } from '../../src/packs/problems.ts';
import {
  makeEnd,
  makeEntry,
  makeZip,
  unicodePath,
  wideField,
  type ZipPart,
  type ZipShape,
} from './archives-make-zip.ts';
import { SKILL_TEXT, deflatedZeros, type SampleArchive } from './archives-sample.ts';

const SKILL: ZipPart = { name: 'sample/SKILL.md', content: SKILL_TEXT };
const evil = (part: Partial<ZipPart>): ZipPart => ({ name: 'sample/evil.txt', content: 'evil', ...part });

type Row = readonly [attack: number, name: string, code: PackProblem, bytes: () => Buffer];

/** A good skill, and an entry that is not. */
function named(attack: number, what: string, code: PackProblem, ...names: readonly (string | Buffer)[]): Row {
  return [attack, what, code, () => makeZip([SKILL, ...names.map((name) => evil({ name }))])];
}

function parts(attack: number, what: string, code: PackProblem, ...made: readonly Partial<ZipPart>[]): Row {
  return [attack, what, code, () => makeZip([SKILL, ...made.map(evil)])];
}

function shaped(attack: number, what: string, code: PackProblem, shape: ZipShape): Row {
  return [attack, what, code, () => makeZip([SKILL], shape)];
}

const NAMES: readonly Row[] = [
  named(45, 'parent folder', 'archive/traversal', '../evil.txt'),
  named(45, 'nothing but two dots', 'archive/traversal', '..'),
  named(46, 'parent folder, deep', 'archive/traversal', 'sample/a/../../../../evil.txt'),
  named(46, 'parent folder at the end', 'archive/traversal', 'sample/..'),
  named(47, 'absolute', 'archive/absolute', '/tmp/evil.txt'),
  named(47, 'home folder', 'archive/absolute', '~/evil.txt'),
  named(48, 'backslash', 'archive/backslash', 'sample\\evil.txt'),
  named(48, 'parent folder by backslash', 'archive/traversal', 'sample\\..\\..\\evil.txt'),
  named(49, 'drive, backslash', 'archive/absolute', 'C:\\evil.txt'),
  named(49, 'drive, slash', 'archive/absolute', 'C:/evil.txt'),
  named(49, 'drive, relative', 'archive/absolute', 'c:evil.txt'),
  named(50, 'share', 'archive/absolute', '\\\\server\\share\\evil.txt'),
  named(50, 'share by slashes', 'archive/absolute', '//server/share/evil.txt'),
  named(54, 'SKILL.md twice', 'archive/duplicate', 'sample/SKILL.md'),
  named(55, 'names that differ in case', 'archive/collision', 'sample/a.md', 'sample/A.md'),
  named(55, 'folders that differ in case', 'archive/collision', 'sample/refs/a.md', 'sample/Refs/b.md'),
  named(55, 'SKILL.md and skill.md', 'archive/collision', 'sample/skill.md'),
  named(55, 'sharp s', 'archive/collision', 'sample/straße.md', 'sample/STRASSE.md'),
  named(56, 'composed and decomposed', 'archive/collision', 'sample/caf\u00e9.md', 'sample/cafe\u0301.md'),
  named(56, 'compatible letters', 'archive/collision', 'sample/ﬁle.md', 'sample/file.md'),
  named(57, 'NUL', 'archive/name', 'sample/SKILL.md\0.txt'),
  named(58, 'no name', 'archive/name', ''),
  named(58, 'a dot', 'archive/name', '.'),
  named(58, 'a dot inside', 'archive/name', 'sample/./evil.txt'),
  named(58, 'two slashes', 'archive/name', 'sample//evil.txt'),
  named(74, 'device', 'archive/reserved-name', 'sample/CON'),
  named(74, 'device with an ending', 'archive/reserved-name', 'sample/nul.tar.gz'),
  named(74, 'port', 'archive/reserved-name', 'sample/com1.txt'),
  named(74, 'port by a superscript', 'archive/reserved-name', 'sample/LPT².md'),
  named(74, 'dot at the end', 'archive/reserved-name', 'sample/SKILL.md.'),
  named(74, 'space at the end', 'archive/reserved-name', 'sample/evil '),
  named(74, 'second stream', 'archive/reserved-name', 'sample/SKILL.md:evil'),
  named(74, 'question mark', 'archive/reserved-name', 'sample/evil?.md'),
  named(75, '4,000 characters', 'archive/name', `sample/${'a'.repeat(4000)}`),
  named(75, 'one part of 300 bytes', 'archive/name', `sample/${'a'.repeat(300)}`),
  named(75, '1,500 folders deep', 'archive/too-deep', `${'a/'.repeat(1500)}evil.txt`),
  named(76, 'terminal sequence', 'archive/name', 'sample/\u001b[2Jevil.txt'),
  named(76, 'line end', 'archive/name', 'sample/evil\n.txt'),
  named(76, 'change of direction', 'archive/name', 'sample/\u202etxt.live'),
  named(76, 'zero width', 'archive/name', 'sample/SKILL\u200b.md'),
  named(76, 'no UTF-8', 'archive/name', Buffer.from('sample/\xff\xfe.txt', 'latin1')),
  named(77, 'file, then folder', 'archive/conflict', 'sample/evil', 'sample/evil/evil.txt'),
  named(77, 'folder, then file', 'archive/conflict', 'sample/evil/evil.txt', 'sample/evil'),
  parts(77, 'folder with content', 'archive/conflict', { name: 'sample/evil/', method: 8 }),
  parts(77, 'file by name, folder by mode', 'archive/conflict', { mode: 0o040755, content: '' }),
];

const MODES: readonly Row[] = [
  parts(51, 'link', 'archive/link', { mode: 0o120777, content: '/etc/passwd', isStored: true }),
  parts(51, 'link that says it is from DOS', 'archive/link', { mode: 0o120777, madeBy: 20, content: '../../evil' }),
  parts(51, 'link of Windows', 'archive/link', { dos: 0x400 }),
  parts(
    52,
    'link, and a file through it',
    'archive/link',
    { name: 'sample/out', mode: 0o120777, content: '../..' },
    { name: 'sample/out/evil.txt' },
  ),
  parts(66, 'setuid', 'archive/mode', { mode: 0o104755 }),
  parts(66, 'setgid', 'archive/mode', { mode: 0o102755 }),
  parts(66, 'sticky', 'archive/mode', { mode: 0o101644 }),
  parts(67, 'device of characters', 'archive/special-file', { mode: 0o020666 }),
  parts(67, 'device of blocks', 'archive/special-file', { mode: 0o060666 }),
  parts(67, 'pipe', 'archive/special-file', { mode: 0o010644 }),
  parts(67, 'socket', 'archive/special-file', { mode: 0o140644 }),
  parts(80, 'SKILL.md is a link', 'archive/link', { name: 'other/SKILL.md', mode: 0o120777, content: '../evil' }),
];

const LIES: readonly Row[] = [
  parts(63, 'says 10 bytes, is 2 MiB', 'archive/bomb', { content: Buffer.alloc(2 * 1024 * 1024), bytes: 10 }),
  parts(63, 'says 2 MiB, is 10 bytes', 'archive/checksum', { packed: deflateRawSync('x'.repeat(10)), bytes: 1000 }),
  parts(63, 'stored, with two sizes', 'archive/mismatch', { isStored: true, bytes: 3 }),
  parts(63, 'packed bytes with a tail', 'archive/extra-data', {
    packed: Buffer.concat([deflateRawSync('evil'), Buffer.from('tail')]),
  }),
  parts(64, '64-bit size beyond everything', 'archive/zip64', { isWide: true, bytes: 2 ** 60 }),
  parts(64, '64-bit size beyond the file', 'archive/zip64', { isWide: true, packedBytes: 2 ** 40 }),
  parts(64, '64-bit sizes twice', 'archive/zip64', { isWide: true, extra: wideField([1, 1]) }),
  shaped(64, '64-bit end elsewhere', 'archive/zip64', { end64: { recordAt: 2 ** 50 } }),
  shaped(64, 'two counts', 'archive/zip64', { end64: { count: 2 } }),
  shaped(64, 'two places of the table', 'archive/zip64', { end64: { start: 0 } }),
  parts(68, 'two names', 'archive/mismatch', { local: { name: 'sample/good.txt' } }),
  parts(68, 'two names of different length', 'archive/mismatch', { local: { name: '../evil.txt' } }),
  parts(68, 'two methods', 'archive/mismatch', { local: { method: 0 } }),
  parts(68, 'two sizes', 'archive/mismatch', { local: { bytes: 3 } }),
  parts(68, 'two checksums', 'archive/mismatch', { local: { crc: 1 } }),
  parts(68, 'encrypted in one header only', 'archive/mismatch', { local: { flags: 1 } }),
  parts(68, 'no local header', 'archive/mismatch', { local: { signature: 0x04034b51 } }),
  parts(68, 'other sizes after the bytes', 'archive/mismatch', { descriptor: 'wrong' }),
  parts(68, 'sizes to follow that do not', 'archive/mismatch', { flags: 0x08 }),
  shaped(68, 'fewer entries than the table has', 'archive/mismatch', { count: 0 }),
  shaped(68, 'more entries than the table has', 'archive/mismatch', { count: 2 }),
  parts(69, 'wrong checksum', 'archive/checksum', { crc: 0x12345678 }),
  parts(69, 'wrong checksum, stored', 'archive/checksum', { crc: 0x12345678, isStored: true }),
  parts(69, 'not deflated', 'archive/checksum', { packed: Buffer.from('\xff\xff\xff\xff', 'latin1') }),
  parts(70, 'encrypted', 'archive/encrypted', { flags: 0x01 }),
  parts(70, 'strongly encrypted', 'archive/encrypted', { flags: 0x41 }),
  parts(70, 'strongly encrypted, says only half', 'archive/encrypted', { flags: 0x40 }),
  parts(71, 'LZMA', 'archive/method', { method: 14 }),
  parts(71, 'deflate64', 'archive/method', { method: 9 }),
  parts(71, 'AES', 'archive/method', { method: 99 }),
  parts(78, 'second name', 'archive/mismatch', { extra: unicodePath('sample/evil.txt', '../evil.txt') }),
  parts(78, 'second name in the local header', 'archive/mismatch', {
    local: { extra: unicodePath('sample/evil.txt', 'sample/SKILL.md') },
  }),
];

const SHAPES: readonly Row[] = [
  shaped(72, 'a script before it', 'archive/extra-data', { prefix: Buffer.from('#!/bin/sh\necho evil\nexit\n') }),
  shaped(72, 'a script before it, offsets as without', 'archive/extra-data', {
    prefix: Buffer.from('#!/bin/sh\necho evil\nexit\n'),
    areOffsetsMoved: false,
  }),
  shaped(72, 'bytes after it', 'archive/extra-data', { suffix: Buffer.from('<html>evil</html>') }),
  shaped(72, 'bytes before its end', 'archive/extra-data', { beforeEnd: Buffer.from('evil') }),
  parts(72, 'bytes between files', 'archive/extra-data', { gap: Buffer.from('hidden') }),
  parts(72, 'bytes after sizes that follow', 'archive/extra-data', {
    descriptor: 'signed',
    gap: Buffer.from('hidden'),
  }),
  parts(72, 'bytes in a folder', 'archive/extra-data', {
    name: 'sample/evil/',
    method: 8,
    bytes: 0,
    packed: Buffer.from('hidden'),
  }),
  shaped(73, 'a second end in the comment', 'archive/mismatch', { comment: makeEnd(1, 0, 60) }),
  [
    73,
    'two archives, one after the other',
    'archive/extra-data',
    () => Buffer.concat([makeZip([SKILL]), makeZip([SKILL])]),
  ],
  [73, 'an end within a file that reaches to the end', 'archive/mismatch', endWithinFile],
  shaped(73, 'one of several disks', 'archive/unreadable', { disk: 1 }),
  [82, 'first half', 'archive/unreadable', () => half(makeZip([SKILL]))],
  [82, 'nothing', 'archive/unreadable', () => Buffer.alloc(0)],
  [
    82,
    'without its last byte',
    'archive/unreadable',
    () => makeZip([SKILL], { comment: Buffer.from('x') }).subarray(0, -1),
  ],
];

const BOMBS: readonly Row[] = [
  [59, '1 GiB of zeros', 'archive/bomb', gibibyte],
  [59, '1 GiB of zeros that says 10 bytes', 'archive/bomb', () => gibibyte(10)],
  [60, 'one local header for many', 'archive/overlap', sharedHeader],
  [61, 'each file quotes the next', 'archive/overlap', quotedHeaders],
  [61, 'a file within another', 'archive/overlap', innerFile],
  parts(61, 'a file that reaches into the table', 'archive/overlap', { packedBytes: 100 }),
  [62, '100,001 entries', 'archive/too-many', manyEntries],
];

export const HOSTILE_ZIPS: readonly SampleArchive[] = [...NAMES, ...MODES, ...LIES, ...SHAPES, ...BOMBS].map(
  ([attack, name, code, bytes]) => ({ name: `zip: ${name}`, format: 'zip', attack, code, bytes }),
);

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length >> 1);
}

/** Whoever looks for the first end that fits finds another table of contents than whoever looks for the last. */
function endWithinFile(): Buffer {
  const outer = (content: Buffer): Buffer => makeZip([{ name: 'sample/data.bin', content, isStored: true }]);
  const fake = makeEnd(0, 0, 0);
  const after = outer(fake).length - 30 - 'sample/data.bin'.length - fake.length;
  fake.writeUInt16LE(after, 20);
  return outer(fake);
}

function gibibyte(bytes = 2 ** 30): Buffer {
  const oneMebibyte = deflateRawSync(Buffer.alloc(1024 * 1024), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  return makeZip([SKILL, evil({ packed: deflatedZeros(1024, oneMebibyte), bytes })]);
}

function sharedHeader(): Buffer {
  const content = Buffer.alloc(1024 * 1024);
  const first = makeEntry({ name: 'a/0000', content }, 0);
  const central = Array.from(
    { length: 4096 },
    (_, place) =>
      makeEntry(
        {
          name: `a/${String(place).padStart(4, '0')}`,
          packed: Buffer.alloc(0),
          bytes: content.length,
          packedBytes: first.local.length - 36,
        },
        0,
      ).central,
  );
  const directory = Buffer.concat(central);
  return Buffer.concat([first.local, directory, makeEnd(central.length, first.local.length, directory.length)]);
}

/** The bytes of each file hold, as plain text, the headers of all files after it, and then the bytes of the last. */
function quotedHeaders(): Buffer {
  const count = 250;
  let content: Buffer = Buffer.alloc(1024 * 1024);
  let packed: Buffer = deflateRawSync(content);
  const headers: Buffer[] = [];
  const made: ZipPart[] = [];
  for (let place = count - 1; place >= 0; place -= 1) {
    const part: ZipPart = { name: `a/${String(place)}`, packed, bytes: content.length, crc: 0 };
    const { local } = makeEntry(part, 0);
    const header = local.subarray(0, local.length - packed.length);
    made.unshift(part);
    headers.unshift(header);
    const quote = Buffer.from([
      0,
      header.length & 0xff,
      header.length >> 8,
      ~header.length & 0xff,
      (~header.length >> 8) & 0xff,
    ]);
    packed = Buffer.concat([quote, header, packed]);
    content = Buffer.concat([header, content.subarray(0, 1024 * 1024 - header.length)]);
  }
  const file = packed.subarray(5);
  let at = 0;
  const central = made.map((part, place) => {
    const line = makeEntry(part, at).central;
    at += (headers[place]?.length ?? 0) + 5;
    return line;
  });
  const directory = Buffer.concat(central);
  return Buffer.concat([file, directory, makeEnd(count, file.length, directory.length)]);
}

/** Small enough not to claim more than there is: the bytes between are those of a file that no table names. */
function innerFile(): Buffer {
  const [outer, inner, unnamed] = ['outer', 'inner', 'other'].map((name) =>
    makeEntry({ name: `a/${name}`, content: name.repeat(40), isStored: true }, 0),
  );
  if (outer === undefined || inner === undefined || unnamed === undefined) throw new TypeError('three were made');
  const whole = Buffer.concat([outer.local, unnamed.local, unnamed.local]);
  inner.central.writeUInt32LE(60, 42);
  const directory = Buffer.concat([outer.central, inner.central]);
  return Buffer.concat([whole, directory, makeEnd(2, whole.length, directory.length)]);
}

function manyEntries(): Buffer {
  const count = 100_001;
  const { local, central } = makeEntry({ name: 'a/000000', isStored: true }, 0);
  const locals = Buffer.concat(Array.from({ length: count }, () => local));
  const directory = Buffer.concat(Array.from({ length: count }, () => central));
  for (let place = 0; place < count; place += 1) {
    const digits = String(place).padStart(6, '0');
    locals.write(digits, place * local.length + 32, 'latin1');
    directory.write(digits, place * central.length + 48, 'latin1');
    directory.writeUInt32LE(place * local.length, place * central.length + 42);
  }
  return Buffer.concat([locals, directory, makeEnd(count, locals.length, directory.length, { end64: {} })]);
}

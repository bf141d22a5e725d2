import { expect, test } from 'vitest';

import { readSections, writeSections } from '../../../src/platform/fs/checksummed-file.ts';

const LABEL = { magic: 'a-cache', key: 'f'.repeat(64) };
const PARTS = [Buffer.from('one'), Buffer.alloc(0), Buffer.from('three\n')];
const FILE = Buffer.concat([
  ...writeSections(
    LABEL,
    PARTS.map((part) => [part.subarray(0, 2), part.subarray(2)]),
  ),
]);

test('sections come back as they were', () => {
  expect(readSections(FILE, LABEL)).toEqual({ type: 'read', sections: PARTS });
});

test('every cut and every changed byte is noticed', () => {
  for (let length = 0; length < FILE.length; length += 1)
    expect(readSections(FILE.subarray(0, length), LABEL).type).toBe('unusable');
  for (let at = 0; at < FILE.length; at += 1) {
    const edited = Buffer.from(FILE);
    edited[at] = (edited[at] ?? 0) ^ 1;
    expect(readSections(edited, LABEL).type, `byte ${String(at)}`).toBe('unusable');
  }
  expect(readSections(Buffer.concat([FILE, Buffer.from('x')]), LABEL).type).toBe('unusable');
});

test('a file of another version is not taken apart', () => {
  expect(readSections(FILE, { ...LABEL, key: '0'.repeat(64) })).toEqual({
    type: 'unusable',
    reason: 'it is of another version or other options',
  });
});

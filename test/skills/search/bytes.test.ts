import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { buildSearchIndex, readSearchIndex } from '../../../src/skills/search/search-index.ts';
import { CATALOG } from './fixture.ts';
import { runs } from '../../property-runs.ts';

const QUERIES = ['kuberntes', 'merge pdf files', '写小红书', '数据库', 'cold email', 'postage', '議事録', ''];
const deepCatalog = CATALOG.map((document, position) => ({
  ...document,
  body: `Body ${String(position)} about postage and 邮费.`,
}));

describe('an index as bytes', () => {
  test.each([
    ['of names and descriptions', CATALOG],
    ['with bodies', deepCatalog],
    ['of nothing', []],
    ['of documents without words', [{ name: '', description: '...' }]],
  ])('%s gives the same answers when read back', (_, documents) => {
    const built = buildSearchIndex(documents);
    const read = readSearchIndex(built.toBytes());
    expect([read?.size, read?.deep]).toEqual([built.size, built.deep]);
    for (const query of QUERIES) expect(read?.search(query, 50)).toEqual(built.search(query, 50));
    expect(read?.toBytes()).toEqual(built.toBytes());
  });

  test('it is read from any place in a larger buffer', () => {
    const built = buildSearchIndex(CATALOG);
    const bytes = built.toBytes();
    for (const offset of [0, 1, 2, 3, 4]) {
      const buffer = Buffer.alloc(bytes.length + 8);
      buffer.set(bytes, offset);
      expect(readSearchIndex(buffer.subarray(offset, offset + bytes.length))?.search('merge pdf')).toEqual(
        built.search('merge pdf'),
      );
    }
  });

  test('the same documents give the same bytes', () => {
    expect(buildSearchIndex(CATALOG).toBytes()).toEqual(buildSearchIndex(CATALOG).toBytes());
  });

  test('when these bytes change, FORMAT_VERSION in src/skills/search/index-bytes.ts has to change with them', () => {
    // Kept indexes hold stems and word edges. Without a new version an old one would be searched with words it never saw.
    const hash = createHash('sha256').update(buildSearchIndex(deepCatalog).toBytes()).digest('hex');
    expect({ version: buildSearchIndex([]).toBytes()[4], hash }).toMatchSnapshot();
  });
});

describe('damaged bytes', () => {
  const bytes = buildSearchIndex(deepCatalog).toBytes();

  test('no part of an index is an index', () => {
    for (let length = 0; length < bytes.length; length += length < 128 ? 1 : 37) {
      expect(readSearchIndex(bytes.subarray(0, length))).toBeUndefined();
    }
    expect(readSearchIndex(new Uint8Array([...bytes, 0, 0, 0, 0]))).toBeUndefined();
  });

  test('one wrong bit anywhere is noticed', () => {
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const damaged = bytes.slice();
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(readSearchIndex(damaged)).toBeUndefined();
      }),
      { numRuns: runs(500) },
    );
  });

  test('other files are not indexes', () => {
    expect(readSearchIndex(new Uint8Array())).toBeUndefined();
    expect(readSearchIndex(new TextEncoder().encode('{"version":1}'.repeat(40)))).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (other) => {
        expect(readSearchIndex(other)).toBeUndefined();
      }),
    );
  });
});

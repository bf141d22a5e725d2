import { closeSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { FileHasher, readPieces } from '../../../src/platform/fs/tree-file.ts';
import { findTreeRefusal } from '../../../src/platform/fs/tree-walk.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { scratch } from '../../skills/registry/support.ts';

test('a file is read whole, and refused if it is longer or shorter than expected', () => {
  const file = path.join(scratch(), 'x');
  const outcomes: Record<string, string> = {};
  for (const text of ['', 'a', 'abcde']) {
    writeFileSync(file, text);
    const descriptor = openSync(file, 'r');
    onTestFinished(() => closeSync(descriptor));
    for (const size of [0, 1, 4, 5, 6, 63]) {
      let outcome: string;
      try {
        outcome = '';
        readPieces('x', { descriptor, size, buffer: Buffer.alloc(64, '!') }, (bytes) => {
          outcome += bytes.toString();
        });
      } catch (error) {
        outcome = findTreeRefusal(error)?.problem ?? String(error);
      }
      outcomes[`${text}, ${String(size)}`] = outcome;
    }
  }
  const expected = (text: string): readonly (readonly [string, string])[] =>
    [0, 1, 4, 5, 6, 63].map((size) => [`${text}, ${String(size)}`, size === text.length ? text : 'changed']);
  expect(outcomes).toEqual(Object.fromEntries(['', 'a', 'abcde'].flatMap(expected)));
});

test('files that are hashed together get their own hashes, whatever fits into the buffer', () => {
  const directory = scratch();
  const hasher = new FileHasher(Buffer.alloc(64));
  const texts = ['', 'a', 'b'.repeat(40), 'c'.repeat(40), 'd'.repeat(63), 'e'.repeat(64), 'f'.repeat(1000), 'g'];
  const hashes: string[] = [];
  for (const [index, text] of texts.entries()) {
    const file = path.join(directory, String(index));
    writeFileSync(file, text);
    const descriptor = openSync(file, 'r');
    hasher.add('x', { descriptor, size: text.length }, (hash) => {
      hashes[index] = hash;
    });
    for (const size of [text.length - 1, text.length + 1].filter((wrong) => wrong >= 0))
      expect(() => hasher.add('x', { descriptor, size }, () => expect.unreachable())).toThrow(
        expect.objectContaining({ raised: expect.objectContaining({ code: 'tree/changed', path: 'x' }) }),
      );
    closeSync(descriptor);
  }
  hasher.finish();
  expect(hashes).toEqual(texts.map((text) => sha256(text)));
});

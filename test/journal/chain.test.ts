import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { FIRST_HASH, isLinked, linkLine, splitLine } from '../../src/journal/journal-lines.ts';

describe('a line', () => {
  test('ends with SHA-256 over the hash before, a line end and the line without its hash', () => {
    const json = '{"seq":1,"event":{"type":"note","message":"naïve"}}';
    const hash = createHash('sha256').update(`${FIRST_HASH}\n${json}`).digest('hex');
    const linked = linkLine(FIRST_HASH, json);
    expect(linked.hash).toBe(hash);
    expect(linked.line).toBe(`{"seq":1,"event":{"type":"note","message":"naïve"},"hash":"${hash}"}\n`);
  });

  test('is taken apart by bytes into what was hashed and the hash', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, previous) => {
        const json = JSON.stringify({ value });
        const { line, hash } = linkLine(previous, json);
        const split = splitLine(Buffer.from(line).subarray(0, -1));
        expect(split && { json: split.json.toString(), hash: split.hash }).toEqual({ json, hash });
        expect(split !== undefined && isLinked(previous, split)).toBe(true);
        expect(split !== undefined && isLinked(`${previous}x`, split)).toBe(false);
      }),
    );
  });

  test('that does not end as a line must is none', () => {
    const { line } = linkLine(FIRST_HASH, '{"seq":1}');
    const text = line.trimEnd();
    for (const wrong of ['', '}', text.slice(1, -1), text.slice(-75), text.replace('hash', 'hush'), `${text} `])
      expect(splitLine(Buffer.from(wrong))).toBeUndefined();
  });
});

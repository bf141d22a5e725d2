import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { lineBuffer } from '../../../src/sandbox/interaction/line-buffer.ts';
import { terminalText } from '../../../src/sandbox/interaction/terminal-text.ts';

function shown(...chunks: readonly (string | Uint8Array)[]): string {
  const text = terminalText();
  const kept = lineBuffer({ lines: 1000, characters: 1_000_000 });
  for (const chunk of chunks) kept.append(text.take(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  kept.append(text.end());
  return kept.read(1000).text;
}

describe('what a program writes', () => {
  test.each([
    ['colours', '\x1b[1;31mred\x1b[0m and \x1b(B\x1b[mplain', 'red and plain'],
    ['a title and a link', '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b', 'ab'],
    ['a sequence that never ends', 'a\x1b[31', 'a'],
    ['line ends of terminals', 'a\r\nb\r\r\nc\n', 'a\nb\nc\n'],
    ['progress', '10%\r50%\r100%\ndone\n', '100%\ndone\n'],
    ['a return at the end', 'kept\r', 'kept'],
    ['invisible and direction-changing characters', 'a\u200bb\u202ec\0d', 'abcd'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb'],
    ['half a character at the end', Buffer.from('é').subarray(0, 1), '\ufffd'],
  ])('%s', (_, given, expected) => {
    expect(shown(given)).toBe(expected);
  });

  test('in whatever pieces it comes, it is the same', () => {
    const piece = fc.constantFrom(
      'héllo',
      '😀',
      '\x1b[31m',
      '\x1b]0;t\x07',
      '\r\n',
      '\n',
      '\x1b(B',
      'x',
      '中文',
      '\r\r\n',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
        (pieces, sizes) => {
          const bytes = Buffer.from(pieces.join(''));
          const chunks: Uint8Array[] = [];
          for (let at = 0; at < bytes.length;) {
            const size = sizes.next().value ?? 1;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          expect(shown(...chunks)).toBe(shown(bytes));
        },
      ),
    );
  });

  test('a quarter of a megabyte of returns or escapes takes linear time', () => {
    for (const unit of ['\r', '\x1b', '\x1b[', '\x1b]', '\x1b ', '1\r']) {
      expect(shown(`${unit.repeat(250_000 / unit.length)}\nx\n`).endsWith('\nx\n')).toBe(true);
    }
  });
});

describe('kept lines', () => {
  test('are read once and in order, including the unfinished line', () => {
    const kept = lineBuffer({ lines: 10, characters: 1000 });
    kept.append('one\ntwo\nNa');
    expect(kept.read(2)).toEqual({ text: 'one\ntwo\n', offset: 0, nextOffset: 2, remaining: 1 });
    expect(kept.read(2)).toEqual({ text: 'Na', offset: 2, nextOffset: 2, remaining: 0 });
    kept.append('me: ');
    kept.append('bob\nthree');
    expect(kept.read(9)).toEqual({ text: 'me: bob\nthree', offset: 2, nextOffset: 3, remaining: 0 });
    expect(kept.read(9)).toEqual({ text: '', offset: 3, nextOffset: 3, remaining: 0 });
    expect(kept.last(2)).toEqual(['two', 'Name: bob', 'three']);
  });

  test('lines dropped before they were read are reported', () => {
    const kept = lineBuffer({ lines: 3, characters: 1000 });
    kept.append('1\n2\n');
    kept.read(1);
    kept.append('3\n4\n5\n6\n7');
    expect(kept.read(9)).toEqual({
      text: '[2 lines were not kept]\n4\n5\n6\n7',
      offset: 3,
      nextOffset: 6,
      remaining: 0,
    });
  });

  test('what was seen is not written over, what was not is', () => {
    const kept = lineBuffer({ lines: 10, characters: 1000 });
    kept.append('10%');
    expect(kept.read(9).text).toBe('10%');
    kept.append('\r20%\r30%');
    expect(kept.read(9).text).toBe('\n30%');
  });

  test('one line without end is kept in bounds', () => {
    const kept = lineBuffer({ lines: 100, characters: 20_000 });
    for (let count = 0; count < 1000; count += 1) kept.append('😀'.repeat(500));
    const text = Array.from({ length: 10 }, () => kept.read(100).text).join('');
    expect(text.length).toBeLessThan(30_000);
    expect(text).toMatch(/^\[\d+ lines were not kept\]\n(?:😀)+$/u);
  });

  test('a flood costs the bound and not the flood', () => {
    const kept = lineBuffer({ lines: 20_000, characters: 4 * 1024 * 1024 });
    for (let count = 0; count < 200; count += 1) kept.append('y\n'.repeat(1000));
    const part = kept.read(1);
    expect(part.text).toBe(`[${String(200_000 - 20_000)} lines were not kept]\ny\n`);
    expect(part.remaining).toBe(19_999);
  });

  test('whatever is written and read, nothing is repeated and nothing lost unsaid', () => {
    const step = fc.oneof(
      fc.record({ write: fc.stringMatching(/^[ab\n]{0,12}$/) }),
      fc.record({ read: fc.integer({ min: 1, max: 3 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const kept = lineBuffer({ lines: 1000, characters: 100_000 });
        let written = '';
        let read = '';
        for (const each of steps) {
          if ('write' in each) {
            kept.append(each.write);
            written += each.write;
          } else read += kept.read(each.read).text;
        }
        expect(read + kept.read(1000).text).toBe(written);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openLetterMachine } from '../../../src/packs/scan/aho-corasick.ts';

/** By text where it ends, as the machine sees it. */
function byMachine(texts: readonly string[], text: string): readonly (readonly number[])[] {
  const { endings, openPass } = openLetterMachine(texts);
  const pass = openPass();
  // What an earlier text left is not seen in a later one.
  pass(`${text} ${texts.join(' ')}`);
  const { seen, last, at, before } = pass(text);
  const found: number[][] = texts.map(() => []);
  for (const ending of seen)
    for (let link = last[ending] ?? 0; link !== 0; link = before[link] ?? 0)
      for (const number of endings[ending] ?? []) found[number]?.push(at[link] ?? -1);
  return found.map((places) => places.toSorted((a, b) => a - b));
}

function bySearch(texts: readonly string[], text: string): readonly (readonly number[])[] {
  return texts.map((wanted) => {
    const found: number[] = [];
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1))
      found.push(at + wanted.length - 1);
    return found;
  });
}

describe('many texts sought at once', () => {
  test('each is seen wherever it stands, also inside another, at the start and at the end', () => {
    const texts = ['she', 'he', 'hers', 'e', 'shells'];
    expect(byMachine(texts, 'she sells hers, shells')).toEqual(bySearch(texts, 'she sells hers, shells'));
    expect(byMachine(texts, '')).toEqual([[], [], [], [], []]);
    expect(byMachine(['a'], 'a')).toEqual([[0]]);
  });

  test('so are any texts in any other, and what is not ASCII is no letter of one', () => {
    const few = fc.constantFrom('a', 'b', 'c', ' ');
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: few, minLength: 1, maxLength: 5 }), { maxLength: 12 }),
        fc.string({
          unit: fc.oneof(
            { weight: 3, arbitrary: few },
            fc.constantFrom('\n', '\n', '\u00e1', '\u4e2d', '\ud83d\ude00', '\ud83d', '\0', 'A'),
          ),
          maxLength: 80,
        }),
        (texts, text) => {
          expect(byMachine(texts, text)).toEqual(bySearch(texts, text));
        },
      ),
    );
  });

  test('more of them than it can tell apart are not taken', () => {
    const texts = Array.from({ length: 20_000 }, (_, number) => `${number.toString(36)}xxxxxx`);
    expect(() => openLetterMachine(texts)).toThrow(RangeError);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openAhoCorasick } from '../../../src/packs/scan/aho-corasick.ts';

/** The end positions of each literal. */
function byAutomaton(literals: readonly string[], text: string): readonly (readonly number[])[] {
  const found = openAhoCorasick(literals)(text);
  return literals.map((_, index) => found.get(index) ?? []);
}

function byIndexOf(texts: readonly string[], text: string): readonly (readonly number[])[] {
  return texts.map((wanted) => {
    const found: number[] = [];
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1))
      found.push(at + wanted.length - 1);
    return found;
  });
}

describe('openAhoCorasick', () => {
  test('finds every occurrence, also inside another literal, at the start and at the end', () => {
    const texts = ['she', 'he', 'hers', 'e', 'shells'];
    expect(byAutomaton(texts, 'she sells hers, shells')).toEqual(byIndexOf(texts, 'she sells hers, shells'));
    expect(byAutomaton(texts, '')).toEqual([[], [], [], [], []]);
    expect(byAutomaton(['a'], 'a')).toEqual([[0]]);
  });

  test('agrees with indexOf for any literals and any text, with and without non-ASCII characters', () => {
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
          expect(byAutomaton(texts, text)).toEqual(byIndexOf(texts, text));
        },
      ),
    );
  });

  test('throws a RangeError for more states than the table can hold', () => {
    const texts = Array.from({ length: 20_000 }, (_, number) => `${number.toString(36)}xxxxxx`);
    expect(() => openAhoCorasick(texts)).toThrow(RangeError);
  });
});

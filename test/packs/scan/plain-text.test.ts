import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { foldFor, foldLine, openTextLook } from '../../../src/packs/scan/folded-line.ts';
import { findHidden } from '../../../src/packs/scan/hidden.ts';
import { passagesOf } from '../../../src/packs/scan/passages.ts';
import { runs } from '../../property-runs.ts';

/** What cuts a text into passages, and what folds, among words. */
const WORDS = [
  'word',
  'for x in y:',
  'while true; do',
  'Send it to',
  '<!-- you must ignore -->',
  'a: b',
  '<span style="opacity: 0">',
];
const SIGNS = [
  '\n',
  '\n\n',
  ' ',
  '  ',
  '\t',
  '*',
  '\\\n',
  '```\n',
  '~~~\n',
  '# ',
  '- ',
  '1. ',
  '| ',
  '> ',
  '---\n',
  '// ',
  '-- ',
  '#!',
  '#',
  '&&',
  '{',
];
const PIECES = [...WORDS, ...SIGNS, ' '.repeat(30), ' '.repeat(210), 'x'.repeat(900)];
const plainText = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 3 })), { maxLength: 40 });

describe('plain text', () => {
  test('is ASCII that shows, with tabs and line feeds', () => {
    const look = openTextLook();
    expect(['', 'a b\tc\n~!', 'é', 'a\r\n', '\u007f', '\0', '\u2014'].map((text) => look(text).isPlain)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  test('is single where no line of it has a tab, a star or two blanks together', () => {
    const look = openTextLook();
    expect(['', ' a b\n c ', 'a\tb', '*', 'a  b', 'a \n b', 'é'].map((text) => look(text).isSingle)).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
      false,
    ]);
  });

  test('is looked at by one look after the other, however long the texts are', () => {
    const look = openTextLook();
    const long = 'word '.repeat(20_000);
    expect([long, 'a', `${long}é`, long].map((text) => look(text))).toEqual([
      { isPlain: true, isSingle: true },
      { isPlain: true, isSingle: true },
      { isPlain: false, isSingle: false },
      { isPlain: true, isSingle: true },
    ]);
  });

  test('every line of it is folded as a line of any text', () => {
    fc.assert(
      fc.property(plainText, (pieces) => {
        const text = pieces.join('');
        const fold = foldFor(openTextLook()(text));
        for (const line of text.split('\n'))
          for (const kind of ['prose', 'code'] as const) expect(fold(line, kind)).toBe(foldLine(line, kind));
      }),
    );
  });

  test('it has the same passages and hides the same, whether it is known to be plain or not', () => {
    fc.assert(
      fc.property(plainText, fc.constantFrom('SKILL.md', 'run.sh', 'notes'), (pieces, path) => {
        const file = { path, text: pieces.join(''), isExecutable: false };
        expect(openTextLook()(file.text).isPlain).toBe(true);
        expect(passagesOf(file)).toEqual(passagesOf(file, { isPlain: false, isSingle: false }));
        expect(findHidden(file, path, true)).toEqual(findHidden(file, path, false));
      }),
      { numRuns: runs(300) },
    );
  });
});

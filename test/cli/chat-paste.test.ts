import fc from 'fast-check';
import { expect, test } from 'vitest';

import { toLine, toMessage, openPasteFilter } from '../../src/cli/agent/paste-filter.ts';

const [START, END] = ['\u001B[200~', '\u001B[201~'];

/** What the editor gets, for keys that come in pieces. */
function typed(...pieces: readonly string[]): string {
  const filter = openPasteFilter();
  return pieces.map((piece) => filter(piece)).join('');
}

test.each([
  ['typed keys pass', ['h', 'i', '\r'], 'hi\r'],
  ['keys that move the cursor pass', ['\u001B[A', '\u001B[2~'], '\u001B[A\u001B[2~'],
  ['a marked paste is one line and is not sent', [`${START}a\nb\r\nc\r${END}`], 'a␤b␤c␤'],
  ['a paste whose marks come in two', ['\u001B[20', '0~a\nb\u001B', '[201~\r'], 'a␤b\r'],
  ['lines that come at once without marks are one message', ['a\nb\n'], 'a␤b\r'],
  ['keys in a paste do nothing', [`${START}a\u0003\u001B[A\tb\u0004${END}`], 'a[A␉b'],
  ['Ctrl-C ends a paste whose end never comes', [`${START}a`, '\u0003', '\r'], 'a\u0003\r'],
  ['Ctrl-Z does nothing', ['a\u001A'], 'a'],
])('%s', (_, pieces, line) => {
  expect(typed(...pieces)).toBe(line);
});

test('any text that is pasted in any pieces is the message, but for keys', () => {
  const character = fc.constantFrom('a', 'é', '😀', ' ', '\n', '\t', '/', '~', '[', '2');
  fc.assert(
    fc.property(fc.array(character), fc.array(fc.nat({ max: 60 }), { maxLength: 4 }), (characters, cuts) => {
      const text = characters.join('');
      const sent = `${START}${text}${END}`;
      const at = [0, ...cuts.map((cut) => Math.min(cut, sent.length)).sort((a, b) => a - b), sent.length];
      const pieces = at.slice(1).map((end, place) => sent.slice(at[place], end));
      // The first characters of the first mark come together: the escape key alone is a key.
      if (/^\u001B\[?$/.test(pieces.find((piece) => piece !== '') ?? '')) return;
      expect(toMessage(typed(...pieces))).toBe(text);
      expect(toMessage(toLine(text))).toBe(text);
    }),
  );
});

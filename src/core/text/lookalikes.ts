/**
 * Folds letters that look alike: every letter becomes the Latin letter it resembles. The table covers Cyrillic, Greek and a few other scripts;
 * it is not Unicode's full confusables list.
 */

/** A letter, then the characters that look like it, as escapes because they are indistinguishable in print. */
const DRAWN_ALIKE: readonly (readonly [letter: string, others: string])[] = [
  ['a', '\u0430\u03b1\u0251'],
  ['b', '\u044c\u0185'],
  ['c', '\u0441\u03f2\u1d04'],
  ['d', '\u0501\u0257'],
  ['e', '\u0435\u04bd\u0454\u03b5'],
  ['f', '\u03dd\u0192'],
  ['g', '\u0261\u0581'],
  ['h', '\u04bb\u0570'],
  ['i', '\u0456\u0131\u03b9\u0269'],
  ['j', '\u0458\u03f3'],
  ['k', '\u043a\u03ba'],
  ['l', '\u04cf\u217c|1'],
  ['m', '\u043c'],
  ['n', '\u043f\u0578\u03b7'],
  ['o', '\u043e\u03bf\u05850'],
  ['p', '\u0440\u03c1'],
  ['q', '\u051b\u0566'],
  ['r', '\u0433\u1d26'],
  ['s', '\u0455\ua731'],
  ['t', '\u0442\u03c4'],
  ['u', '\u03c5\u057d\u028b'],
  ['v', '\u03bd\u0475'],
  ['w', '\u051d\u0461\u03c9'],
  ['x', '\u0445\u03c7\u00d7'],
  ['y', '\u0443\u03b3\u04af'],
  ['z', '\u1d22'],
  ['3', '\u0437\u021d'],
  ['-', '_.\u2010\u2011\u2012\u2013\u2014\u2015\u2212'],
];
const SKELETON: ReadonlyMap<string, string> = new Map(
  DRAWN_ALIKE.flatMap(([letter, others]) => Array.from(others).map((other) => [other, letter] as const)),
);
const MARKS = /\p{M}+/gu;

/** In lower case, without accents, which are easy to overlook. */
export function foldLookalikes(text: string): string {
  const letters = Array.from(text.toLowerCase().normalize('NFD').replaceAll(MARKS, ''));
  return letters.map((letter) => SKELETON.get(letter) ?? letter).join('');
}

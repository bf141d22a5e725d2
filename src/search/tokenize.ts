import { stem } from './stem.ts';

/**
 * A run of one kind of text. `word`: letters and digits, including inner joiners (`node.js`, `one-pager`). `spaceless`: Chinese,
 * Japanese or Korean text of one script, without spaces between words. `break`: punctuation that ends a clause.
 */
export interface Run {
  readonly type: 'word' | 'spaceless' | 'break';
  readonly text: string;
}

/** Longer words are hashes, keys or encoded data, which users do not search for and which would bloat the vocabulary. */
const MAX_WORD_LENGTH = 40;

const SPACELESS_SCRIPTS = String.raw`\p{Script=Han}々\p{Script=Katakana}ー\p{Script=Hiragana}\p{Script=Hangul}`;
const LETTERS = String.raw`[[\p{L}\p{N}]--[${SPACELESS_SCRIPTS}]]+`;

/** Groups: 1 a spaceless run of one script; 2 a word with its joiners, or `c++`, `c#`; else the end of a clause. */
const RUN_PATTERN = new RegExp(
  [
    String.raw`([\p{Script=Han}々]+|[\p{Script=Katakana}ー]+|\p{Script=Hiragana}+|\p{Script=Hangul}+)`,
    String.raw`(${LETTERS}(?:[\-_.'’\&]${LETTERS})*(?:\+\+|#)?)`,
    String.raw`[.,;:!?\(\)\[\]\{\}"“”「」『』。、《》【】\|\n—→]`,
  ].join('|'),
  'gv',
);

/** The same for ASCII text, which is most of it. The Unicode pattern takes a millisecond to compile. */
const ASCII_RUN_PATTERN = /([A-Za-z0-9]+(?:[-_.'&][A-Za-z0-9]+)*(?:\+\+|#)?)|[.,;:!?()[\]{}"|\n]/g;
const ASCII = /^[\0-\x7f]*$/;

/** Splits a text into runs. Full-width letters and accents are normalized: `ＰＤＦ` is `PDF` and `café` is `cafe`. */
export function scanRuns(text: string): readonly Run[] {
  const runs: Run[] = [];
  const folded = foldLetters(text);
  if (ASCII.test(folded)) {
    for (const [run, word] of folded.matchAll(ASCII_RUN_PATTERN))
      runs.push({ type: word === undefined ? 'break' : 'word', text: run });
    return runs;
  }
  for (const [run, spaceless, word] of folded.matchAll(RUN_PATTERN)) {
    runs.push({ type: spaceless !== undefined ? 'spaceless' : word !== undefined ? 'word' : 'break', text: run });
  }
  return runs;
}

/** `Go` in the middle of a sentence is the programming language, the only one with a stop word as its name. */
const GO_LANGUAGE = /(?<=[\p{L},(/`] ?)Go(?![\p{L}\p{N}])/gu;

function foldLetters(original: string): string {
  const text = original.includes('Go') ? original.replaceAll(GO_LANGUAGE, 'Golang') : original;
  if (ASCII.test(text)) return text;
  // Only marks of European letters; Japanese voicing marks change the letter.
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]+/g, '')
    .normalize('NFKC');
}

/** The words inside a run: `one-pager` has two, `parseJsonFile` three and itself, and `data.xlsx` includes its file type. */
export function wordsOf(run: string): readonly string[] {
  if (run.length <= MAX_WORD_LENGTH && /^[a-z]+$/.test(run)) return [run];
  const words: string[] = [];
  for (const joined of run.split(/[-_.'’&]+/)) {
    if (joined.length > MAX_WORD_LENGTH || joined === '') continue;
    const whole = joined.toLowerCase();
    words.push(whole);
    // `GitHub` is one word; only camel case as in code (lower-case start or many capitals) is split.
    const humps = joined.split(/(?<=[a-z\d])(?=[A-Z])/);
    if (humps.length > 2 || (humps.length === 2 && /^[a-z]{2}/.test(joined))) {
      words.push(...humps.map((hump) => hump.toLowerCase()));
    }
  }
  return words;
}

/** The terms of a run without spaces: every pair of adjacent characters, or a single character. */
export function pairsOf(run: string): readonly string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
}

/** The term under which a word is indexed. */
export function termOf(word: string): string {
  return stem(word);
}

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
const RUN = [
  String.raw`([\p{Script=Han}々]+|[\p{Script=Katakana}ー]+|\p{Script=Hiragana}+|\p{Script=Hangul}+)`,
  String.raw`(${LETTERS}(?:[\-_.'’\&]${LETTERS})*(?:\+\+|#)?)`,
  String.raw`[.,;:!?\(\)\[\]\{\}"“”「」『』。、《》【】\|\n—→]`,
].join('|');
let runPattern: RegExp | undefined;

/** The same for ASCII text, which is most of it. The Unicode pattern takes a millisecond to compile, so it is compiled on first use. */
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
  runPattern ??= new RegExp(RUN, 'gv');
  for (const [run, spaceless, word] of folded.matchAll(runPattern)) {
    runs.push({ type: spaceless !== undefined ? 'spaceless' : word !== undefined ? 'word' : 'break', text: run });
  }
  return runs;
}

function foldLetters(original: string): string {
  const text = original.includes('Go') ? nameGo(original) : original;
  if (ASCII.test(text)) return text;
  // Only marks of European letters; Japanese voicing marks change the letter.
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]+/g, '')
    .normalize('NFKC');
}

/** `Go` in the middle of a sentence is the programming language, the only one with a stop word as its name. */
function nameGo(text: string): string {
  return text.replaceAll(/(?<=[\p{L},(/`] ?)Go(?![\p{L}\p{N}])/gu, 'Golang');
}

/** The words inside a run: `one-pager` has two, `parseJsonFile` three and itself, and `data.xlsx` includes its file type. */
export function splitWords(run: string): readonly string[] {
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
export function pairCharacters(run: string): readonly string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
}

/** The term under which a word is indexed. */
export function toTerm(word: string): string {
  return stem(word);
}

/**
 * Porter's stemmer (1980): maps `deploying`, `deployed` and `deploys` to one term. English only; words of other alphabets never reach
 * it. It performed better than no stemming and than removing plurals only.
 */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  return stripE(stripLong(stripSuffixes(stripDerived(finalY(stripPast(stripPlural(word)))))));
}

/** Porter's measure: the number of vowel runs followed by a consonant run. */
function measure(base: string): number {
  let count = 0;
  let afterVowel = false;
  for (let index = 0; index < base.length; index += 1) {
    const vowel = isVowel(base, index);
    if (!vowel && afterVowel) count += 1;
    afterVowel = vowel;
  }
  return count;
}

function isVowel(word: string, index: number): boolean {
  const letter = word.charAt(index);
  if (letter === 'y') return index > 0 && !isVowel(word, index - 1);
  return letter === 'a' || letter === 'e' || letter === 'i' || letter === 'o' || letter === 'u';
}

function hasVowel(base: string): boolean {
  for (let index = 0; index < base.length; index += 1) {
    if (isVowel(base, index)) return true;
  }
  return false;
}

function endsInDoubleConsonant(word: string): boolean {
  const last = word.length - 1;
  return last > 0 && word[last] === word[last - 1] && !isVowel(word, last);
}

/** Ends with consonant, vowel, consonant, as in `hop`: the stem then gets its `e` back. */
function endsInShortSyllable(word: string): boolean {
  const last = word.length - 1;
  return (
    last >= 2 && !isVowel(word, last) && isVowel(word, last - 1) && !isVowel(word, last - 2) && !/[wxy]$/.test(word)
  );
}

function stripPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  if (word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1);
  return word;
}

function stripPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0;
  const base = word.slice(0, word.length - ending);
  if (ending === 0 || !hasVowel(base)) return word;
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (endsInDoubleConsonant(base) && !/[lsz]$/.test(base)) return base.slice(0, -1);
  if (measure(base) === 1 && endsInShortSyllable(base)) return `${base}e`;
  return base;
}

function finalY(word: string): string {
  return word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

const DERIVED: readonly (readonly [suffix: string, replacement: string])[] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ousli', 'ous'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['ator', 'ate'],
  ['logi', 'log'],
  ['eli', 'e'],
];

const SHORTENED: readonly (readonly [suffix: string, replacement: string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];

const REMOVED = 'ement ance ence able ible ment ant ent ism ate iti ous ive ize al er ic ou'.split(' ');

function stripDerived(word: string): string {
  return /[ilmnrs]$/.test(word) ? replaceFirst(word, DERIVED) : word;
}

function stripSuffixes(word: string): string {
  return /[eils]$/.test(word) ? replaceFirst(word, SHORTENED) : word;
}

function replaceFirst(word: string, table: readonly (readonly [string, string])[]): string {
  for (const [suffix, replacement] of table) {
    if (!word.endsWith(suffix)) continue;
    const base = word.slice(0, -suffix.length);
    return measure(base) > 0 ? base + replacement : word;
  }
  return word;
}

function stripLong(word: string): string {
  if (/[st]ion$/.test(word)) return measure(word.slice(0, -3)) > 1 ? word.slice(0, -3) : word;
  for (const suffix of REMOVED) {
    if (!word.endsWith(suffix)) continue;
    const base = word.slice(0, -suffix.length);
    return measure(base) > 1 ? base : word;
  }
  return word;
}

function stripE(word: string): string {
  let base = word;
  if (base.endsWith('e')) {
    const cut = base.slice(0, -1);
    const size = measure(cut);
    if (size > 1 || (size === 1 && !endsInShortSyllable(cut))) base = cut;
  }
  return base.endsWith('ll') && measure(base) > 1 ? base.slice(0, -1) : base;
}

/**
 * Porter's stemmer (1980): maps `deploying`, `deployed` and `deploys` to one term. English only; words of other alphabets never reach
 * it. It performed better than no stemming and than removing plurals only (docs/search.md).
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

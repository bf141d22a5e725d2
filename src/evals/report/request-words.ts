/** The words that carry a request, without what changes nothing about it: courtesy, punctuation, lookalike letters, names of files, numbers. */
import { foldLookalikes } from '#core';

export interface RequestWords {
  readonly exact: string;
  /** Names of files are replaced by their extension, and numbers by one sign. */
  readonly general: readonly string[];
}

const WORD = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|[^\P{L}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+|\p{N}+/gu;
const LETTERS = /[^\P{L}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+/gu;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;
/**
 * The extension is kept: a request about another kind of file is another request. Other letters may be words before the name, unless it
 * stands apart. A match starts only where a name can, so that a long word is read once.
 */
const FILE_NAME =
  /(?:(?<=[\s"'“‘「《`])[\p{L}\p{N}_./~-]*[\p{L}\p{N}_-]|(?<![a-z\d_./~-])[a-z\d_./~-]*[a-z\d_-])\.([a-z][a-z\d]{0,5})(?![a-z\d_])/gu;
/** Of words with one space between them. */
const COURTESY =
  /(?<= )(?:please|pls|kindly|(?:can|could|would|will) you|(?:would|do) you mind|i (?:(?:would |d )?like|want|need)(?: you)? to|help me(?: to)?|for me|hi|hello|hey|thanks|thank you|just|a|an|the)(?= )/g;
const CHINESE_COURTESY =
  /请问|烦请|麻烦[你您]?|请[你您]?|[你您]?(?:能不能|能否|可不可以|可否|可以)|帮忙|帮我们?|帮一下|一下|谢谢[你您]?|[你您]好|[吗吧呢]/gu;
const NEGATION = /^(?:no|not|t|never|without|except|nor|neither|不|没|别|无|非|未)$/;

export function readRequestWords(request: string): RequestWords {
  const text = request
    .normalize('NFKC')
    .replaceAll(INVISIBLE, '')
    .replaceAll(LETTERS, (letters) => foldLookalikes(letters));
  const exact = readWords(text).join(' ');
  const general = readWords(text.replaceAll(FILE_NAME, ' $1 ')).map((word) => (/^\p{N}/u.test(word) ? '#' : word));
  // A request without words is compared as it is.
  return { exact: exact === '' ? request : exact, general: general.length === 0 ? [request] : general };
}

function readWords(text: string): readonly string[] {
  const all = text.match(WORD) ?? [];
  const spoken = text.replaceAll(CHINESE_COURTESY, '').match(WORD) ?? [];
  const carrying = ` ${spoken.join(' ')} `.replaceAll(COURTESY, '').match(WORD) ?? [];
  return carrying.length === 0 ? all : carrying;
}

/** Words, and pairs of neighbours, in common of all of both: the second keeps apart what has the same words in another order. */
const NEAR_WORDS = 0.9;
const NEAR_PAIRS = 0.5;
/** Words in common of requests that have the same answer: a name, a synonym or a remark more. */
const SIMILAR_WORDS = 0.6;

/** Whether two requests with the same expectations ask the same. */
export function isNearRequest(
  { general: a }: RequestWords,
  { general: b }: RequestWords,
  haveSameAnswer = false,
): boolean {
  if (countNegations(a) !== countNegations(b)) return false;
  const share = shareOf(a, b);
  if (share < NEAR_WORDS) return haveSameAnswer && share >= SIMILAR_WORDS;
  if (haveSameAnswer) return true;
  return a.length < 2 || b.length < 2 || shareOf(listPairs(a), listPairs(b)) >= NEAR_PAIRS;
}

/** From 0, no word in common, to 1. */
export function requestSimilarity({ general: a }: RequestWords, { general: b }: RequestWords): number {
  return shareOf(a, b);
}

function countNegations(words: readonly string[]): number {
  return words.filter((word) => NEGATION.test(word)).length;
}

function listPairs(words: readonly string[]): readonly string[] {
  return words.slice(1).map((word, place) => `${words[place] ?? ''} ${word}`);
}

/** The Dice coefficient of two bags. */
function shareOf(a: readonly string[], b: readonly string[]): number {
  if (Math.min(a.length, b.length) < Math.max(a.length, b.length) * (NEAR_PAIRS / (2 - NEAR_PAIRS))) return 0;
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of b) {
    const count = left.get(word) ?? 0;
    if (count > 0) common += 1;
    left.set(word, count - 1);
  }
  return (2 * common) / (a.length + b.length);
}

/**
 * Detects names that look like the name of an installed skill. Two names look alike if their skeletons are equal, in which every letter is
 * replaced by the Latin letter it resembles.
 */
import { codePointAt, compareText, editDistance, foldLookalikes, quoted } from '#core';
import { groupBy } from '../group-by.ts';
import { packRefusal, type PackRefusal } from '../problems.ts';

/** Pairs of letters that look like one letter. */
const PAIRS: readonly (readonly [RegExp, string])[] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
];
const MAX_NAME = 200;
const ODD = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u;
const ASCII = /^[\0-\x7f]*$/;
const LATIN = /\p{Script=Latin}/u;

/** The skeletons of a name. `I` may resemble `l` or `i`, so there can be two. */
export function listSkeletons(name: string): readonly string[] {
  const cut = name.slice(0, MAX_NAME).normalize('NFKC');
  const written = [cut, cut.replaceAll('I', 'l')].map((spelling) => toSkeleton(spelling));
  return [...new Set(written)];
}

function toSkeleton(name: string): string {
  return PAIRS.reduce((text, [pair, letter]) => text.replaceAll(pair, letter), foldLookalikes(name));
}

export interface NameSimilarity {
  /** Installed names that look the same, sorted, without the name itself. */
  readonly same: readonly string[];
  /** Installed names with an edit distance of one. Often a coincidence. */
  readonly near: readonly string[];
  /** The name mixes Latin with another script inside a word. */
  readonly isMixed: boolean;
}

/** Short names are often similar by chance. */
const LEAST_NEAR = 6;

/** Compares names with the installed ones through an index, so that thousands of names stay fast. */
export function openNameComparison(installed: readonly string[]): (name: string) => NameSimilarity {
  const names = [...new Set(installed)].sort(compareText);
  const bySkeleton = indexBy(names, listSkeletons);
  const byShortened = indexBy(names.filter(isLongEnough), shortened);
  const found = (index: ReturnType<typeof indexBy>, keys: readonly string[], name: string): readonly string[] =>
    [...new Set(keys.flatMap((key) => index.get(key) ?? []).map((one) => one.name))]
      .filter((other) => other !== name)
      .toSorted(compareText);
  return (name) => {
    if (names.length === 0) return { same: [], near: [], isMixed: isMixedScript(name) };
    const same = found(bySkeleton, listSkeletons(name), name);
    const near = isLongEnough(name)
      ? found(byShortened, shortened(name), name).filter(
          (other) => !same.includes(other) && editDistance(name, other, 1) === 1,
        )
      : [];
    return { same, near, isMixed: isMixedScript(name) };
  };
}

function indexBy(names: readonly string[], toKeys: (name: string) => readonly string[]) {
  const keyed = names.flatMap((name) => toKeys(name).map((key) => ({ key, name })));
  return groupBy(keyed, ({ key }) => key);
}

function isLongEnough(name: string): boolean {
  return name.length >= LEAST_NEAR && name.length <= MAX_NAME;
}

/** The name and its variants with one letter removed. Names with an edit distance of one share a variant. */
function shortened(name: string): readonly string[] {
  const without = Array.from({ length: name.length }, (_, at) => name.slice(0, at) + name.slice(at + 1));
  return [...new Set([name, ...without])];
}

/** Digits and hyphens belong to every script. */
function isMixedScript(name: string): boolean {
  if (ASCII.test(name)) return false;
  return name
    .slice(0, MAX_NAME)
    .normalize('NFKC')
    .split(/[-_\s]/)
    .some((word) => LATIN.test(word) && ODD.test(word) && !EAST_ASIAN.test(word));
}

/** Words such as `3D模型` are common. */
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

export interface NameCheck {
  /** Stops an install until the user confirms the name. */
  readonly refusal?: PackRefusal;
  /** Notes for the user, in lower case. */
  readonly notes: readonly string[];
}

export function openNameCheck(installed: readonly string[]): (name: string) => NameCheck {
  const similarityOf = openNameComparison(installed);
  return (name) => checkName(name, similarityOf(name));
}

function checkName(name: string, { same, near, isMixed }: NameSimilarity): NameCheck {
  const notes = [
    ...(isMixed ? [`the name ${quoted(name)} mixes letters of different scripts`] : []),
    ...near
      .slice(0, 3)
      .map((other) => `the name ${quoted(name)} is one letter away from ${quoted(other)}, which is installed`),
  ];
  const [first] = same;
  if (first === undefined) return { notes };
  const message = `the name ${spelled(name)} looks like ${spelled(first)}, which is installed`;
  return { refusal: packRefusal('install/homoglyph', message), notes };
}

/** Quotes a name and adds the code points of its non-ASCII letters, because the difference is invisible. */
function spelled(name: string): string {
  const odd = [...new Set(Array.from(name.slice(0, MAX_NAME)).filter((letter) => letter > '~'))].slice(0, 5);
  if (odd.length === 0) return quoted(name);
  const codes = odd.map((letter) => `U+${codePointAt(letter, 0).toString(16).toUpperCase().padStart(4, '0')}`);
  return `${quoted(name)} (${codes.join(', ')})`;
}

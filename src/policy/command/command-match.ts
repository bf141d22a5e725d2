/**
 * How deny and ask rules match: every command of the line, programs by name in any folder, version and letter case, options at any position, and
 * everything that programs which run programs show. What cannot be known is `unclear`.
 */

import { baseName, type CommandWord, type SimpleCommand } from './command-words.ts';
import { isPartOf, matchesStars, type CommandPattern, type PatternWord } from './command-pattern.ts';
import type { CommandLine } from './command-words.ts';

/** `unclear`: cannot be determined. A person is asked. */
export type Match = 'yes' | 'no' | 'unclear';

export function matchesLine(pattern: CommandPattern, line: CommandLine): Match {
  if (pattern.words.length === 0) return 'yes';
  return line.type === 'unclear'
    ? 'unclear'
    : strongest(line.commands.map((command) => matchCommand(pattern, command)));
}

function strongest(matches: readonly Match[]): Match {
  if (matches.includes('yes')) return 'yes';
  return matches.includes('unclear') ? 'unclear' : 'no';
}

function matchCommand(pattern: CommandPattern, command: SimpleCommand): Match {
  const { words, inner, mentions, hides } = command;
  if (matchesWords(pattern, words, isFixedAs)) return 'yes';
  const isUnclear = hides !== undefined || matchesWords(pattern, words, mayBe);
  return strongest([
    isUnclear ? 'unclear' : 'no',
    ...[...inner, ...mentions].map((each) => matchCommand(pattern, each)),
  ]);
}

type IsWord = (word: CommandWord, wanted: PatternWord) => boolean;

const isFixedAs: IsWord = ({ kind, text }, wanted) => kind === 'fixed' && matchesStars(wanted, text);

/** Whether a word can become what is wanted. */
const mayBe: IsWord = (word, wanted) =>
  isFixedAs(word, wanted) ||
  (word.kind !== 'fixed' && (wanted.length > 1 || matchesStars(word.pieces, wanted[0] ?? '')));

function matchesWords(pattern: CommandPattern, words: readonly CommandWord[], is: IsWord): boolean {
  const [program, ...wanted] = pattern.words;
  const [given, ...rest] = words;
  if (program === undefined || given?.kind !== 'fixed' || !isNamed(program, given.text)) return false;
  const names = wanted.filter((word) => !isOption(word));
  return (
    wanted.filter(isOption).every((option) => hasOption(option, rest, is)) &&
    followsInOrder(pattern, names, rest, is) &&
    hasRoom(pattern, names.length, rest)
  );
}

function isNamed(program: PatternWord, text: string): boolean {
  const given = text.toLowerCase();
  const name = baseName(given);
  const lower = program.map((piece) => piece.toLowerCase());
  const wanted = lower.length === 1 ? [baseName(lower[0] ?? '')] : lower;
  return matchesStars(wanted, name) || matchesStars(lower, given) || matchesStars(wanted.map(bare), bare(name));
}

/** Without the version: `python3.12` is `python`. */
function bare(name: string): string {
  return name === '.' ? 'source' : name.replace(/(?<=[a-z+])-?\d[\d.]*$/, '');
}

function isOption(word: PatternWord): boolean {
  return word[0]?.startsWith('-') === true;
}

/** `-rf` also matches `-r -f`, and `--force` also matches `--forc` and `--force=x`. */
function hasOption(option: PatternWord, words: readonly CommandWord[], is: IsWord): boolean {
  if (words.some((word) => is(word, option))) return true;
  if (is === mayBe && words.some(({ isSplit, kind }) => isSplit && kind === 'computed')) return true;
  const [wanted = ''] = option;
  if (option.length > 1) return false;
  if (wanted.startsWith('--'))
    return words.some(({ text }) => /^--[^=]/.test(text) && wanted.startsWith(text.replace(/=.*$/s, '')));
  const clusters = words.filter(({ text }) => /^-[^-]/.test(text));
  return Array.from(wanted.slice(1)).every((letter) => clusters.some(({ text }) => text.includes(letter)));
}

/** The names occur in order; options may come between them, each with a value. */
function followsInOrder(
  { rest: after }: CommandPattern,
  names: readonly PatternWord[],
  words: readonly CommandWord[],
  is: IsWord,
): boolean {
  let next = 0;
  let isAfterOption = false;
  for (const word of words) {
    const name = names[next];
    if (name === undefined) return true;
    if (is === mayBe && word.isSplit) return true;
    const isLast = after === 'any' && next === names.length - 1;
    if (is(word, name) || (isLast && isPartOf(name, word.text))) next += 1;
    else if (!word.text.startsWith('-') && !isAfterOption) return false;
    isAfterOption = word.text.startsWith('-');
  }
  return next === names.length;
}

function hasRoom({ rest }: CommandPattern, names: number, words: readonly CommandWord[]): boolean {
  if (rest === 'any' || words.some(({ kind }) => kind !== 'fixed')) return true;
  const given = words.filter(({ text }) => !text.startsWith('-')).length;
  return rest === 'none' ? given <= names : words.length > names;
}

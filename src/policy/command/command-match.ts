/**
 * How deny and ask rules match: every command of the line, programs by name in any folder, version and letter case, options at any position, and
 * everything that programs which run programs show. What cannot be known is `unclear`.
 */

import { baseName, type CommandWord, type SimpleCommand, type CommandLine } from './command-words.ts';
import { isPartOf, matchesStars, type CommandPattern, type PatternWord } from './command-pattern.ts';

/** `unclear`: cannot be determined. A person is asked. */
export type Match = 'yes' | 'no' | 'unclear';

export function matchesLine(pattern: CommandPattern, line: CommandLine): Match {
  if (pattern.words.length === 0) return 'yes';
  const matches = line.commands.map((command) => matchCommand(pattern, command));
  return strongest(line.type === 'unclear' ? [...matches, 'unclear'] : matches);
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

type IsWord = (word: CommandWord, expected: PatternWord) => boolean;

const isFixedAs: IsWord = ({ kind, text }, expected) => kind === 'fixed' && matchesStars(expected, text);

/** Whether a word can become the expected one. */
const mayBe: IsWord = (word, expected) =>
  isFixedAs(word, expected) ||
  (word.kind !== 'fixed' && (expected.length > 1 || matchesStars(word.pieces, expected[0] ?? '')));

function matchesWords(pattern: CommandPattern, words: readonly CommandWord[], is: IsWord): boolean {
  const [program, ...others] = pattern.words;
  const [first, ...rest] = words;
  if (program === undefined || first?.kind !== 'fixed' || !isNamed(program, first.text)) return false;
  const names = others.filter((word) => !isOption(word));
  return (
    others.filter(isOption).every((option) => hasOption(option, rest, is)) &&
    followsInOrder(pattern, names, rest, is) &&
    hasRoom(pattern, names.length, rest)
  );
}

function isNamed(program: PatternWord, text: string): boolean {
  const path = text.toLowerCase();
  const name = baseName(path);
  const lower = program.map((piece) => piece.toLowerCase());
  const base = lower.length === 1 ? [baseName(lower[0] ?? '')] : lower;
  return matchesStars(base, name) || matchesStars(lower, path) || matchesStars(base.map(bare), bare(name));
}

/** Without the version and the ending of Windows: `python3.12` and `python.exe` are `python`. */
function bare(name: string): string {
  return name === '.'
    ? 'source'
    : name.replace(/(?<=\w)\.(?:exe|com|cmd|bat)$/, '').replace(/(?<=[a-z+])-?\d[\d.]*$/, '');
}

function isOption(word: PatternWord): boolean {
  return word[0]?.startsWith('-') === true;
}

/** `-rf` also matches `-r -f`, and `--force` also matches `--forc` and `--force=x`. */
function hasOption(option: PatternWord, words: readonly CommandWord[], is: IsWord): boolean {
  if (words.some((word) => is(word, option))) return true;
  if (is === mayBe && words.some(({ isSplit, kind }) => isSplit && kind === 'computed')) return true;
  const [flag = ''] = option;
  if (option.length > 1) return false;
  if (flag.startsWith('--'))
    return words.some(({ text }) => /^--[^=]/.test(text) && flag.startsWith(text.replace(/=.*$/s, '')));
  const clusters = words.filter(({ text }) => /^-[^-]/.test(text));
  return Array.from(flag.slice(1)).every((letter) => clusters.some(({ text }) => text.includes(letter)));
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

/** `git push *` also means `git push` alone. */
function hasRoom({ rest }: CommandPattern, names: number, words: readonly CommandWord[]): boolean {
  if (rest !== 'none' || words.some(({ kind }) => kind !== 'fixed')) return true;
  return words.filter(({ text }) => !text.startsWith('-')).length <= names;
}

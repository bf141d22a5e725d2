/**
 * Command rules in the usual agent syntax:
 *
 *     git status            exactly these words
 *     git add:*             these words, followed by any; `npm run test:*` also means `npm run test:unit`
 *     git add *             these words, followed by one or more
 *     cat docs/*.md         a star inside a word matches any characters of that word
 *     *                     every command
 *
 * An allow rule grants the program with everything that it can do inside the sandbox. Deny and ask rules are matched in `command-match.ts`.
 */

import { baseName, systemName, type CommandWord, type SimpleCommand, type CommandLine } from './command-words.ts';
import { findHidden, quoted } from '#core';

/** The text between stars; a single piece is a word without stars. */
export type PatternWord = readonly string[];

export interface CommandPattern {
  readonly text: string;
  /** The program and the words after it; empty if every command matches. */
  readonly words: readonly PatternWord[];
  /** How many more words may follow. */
  readonly rest: 'none' | 'some' | 'any';
}

export interface CommandPatternProblem {
  readonly problem: string;
}

const MAX_PATTERN = 1000;

export function readCommandPattern(text: string): CommandPattern | CommandPatternProblem {
  if (text.length > MAX_PATTERN) return { problem: `a command pattern is longer than ${MAX_PATTERN} characters` };
  if (/[\n\r]/.test(text) || findHidden(text) !== undefined) {
    return { problem: `${quoted(text)} contains line ends or invisible characters` };
  }
  const trimmed = text.trim();
  const isOpen = trimmed.endsWith(':*');
  const words = splitPattern(isOpen ? trimmed.slice(0, -2) : trimmed);
  if ('problem' in words) return { problem: `${quoted(text)} ${words.problem}` };
  const isSome = !isOpen && isAnyWord(words.at(-1));
  const rest = isOpen ? 'any' : isSome ? 'some' : 'none';
  const own = isSome ? words.slice(0, -1) : words;
  return own.length === 0 ? { text, words: [], rest: 'any' } : { text, words: own, rest };
}

/** A quoted part, an escaped character, stars, blanks, or plain text. */
const PIECE = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|(\*+)|([ \t]+)|([^'"\\* \t]+)/gy;

function splitPattern(text: string): readonly PatternWord[] | CommandPatternProblem {
  const words: string[][] = [];
  let word: string[] | undefined;
  let end = 0;
  for (const match of text.matchAll(PIECE)) {
    const [whole, single, double, escaped, stars, blanks, plain] = match;
    end = match.index + whole.length;
    if (blanks !== undefined) {
      word = undefined;
      continue;
    }
    if (plain !== undefined && /[;&|<>()`$]/.test(plain))
      return { problem: 'contains shell operators; one simple command was expected' };
    if (word === undefined) words.push((word = ['']));
    if (stars === undefined) {
      word.push((word.pop() ?? '') + (single ?? double?.replaceAll(/\\([$`"\\])/g, '$1') ?? escaped ?? plain ?? ''));
    } else word.push('');
  }
  return end === text.length ? words : { problem: 'has an unclosed quote or a trailing backslash' };
}

function isAnyWord(word: PatternWord | undefined): boolean {
  return word !== undefined && word.length > 1 && word.every((piece) => piece === '');
}

/** Circumstances in which a rule covers less. */
export interface CoverOptions {
  /** The line starts in another folder, so that relative paths mean other files than the rule intended. */
  readonly isElsewhere?: boolean;
  /** Files that the line writes: a rule does not mean what is in them then. */
  readonly targets?: readonly CommandWord[];
  /** Nothing isolates the program: only rules that spell out the whole command count. */
  readonly isUnisolated?: boolean;
}

/** The first command that no allow rule covers, at any depth. Builtins need no rule. */
export function firstUncovered(
  patterns: readonly CommandPattern[],
  commands: readonly SimpleCommand[],
  options: CoverOptions = {},
): SimpleCommand | undefined {
  for (const command of commands) {
    const missed = uncoveredIn(patterns, command, options);
    if (missed !== undefined) return missed;
  }
  return undefined;
}

function uncoveredIn(
  patterns: readonly CommandPattern[],
  command: SimpleCommand,
  options: CoverOptions,
): SimpleCommand | undefined {
  if (patterns.some((pattern) => spellsOut(pattern, command) && isUsable(pattern, command, options))) return undefined;
  if (options.isUnisolated === true || command.hides !== undefined) return command;
  const missed = firstUncovered(patterns, command.inner, options);
  if (missed !== undefined) return missed;
  // A wrapper is decided by the programs that it runs.
  const isOwn = command.role !== 'program' || patterns.some((pattern) => coversProgram(pattern, command, options));
  return isOwn ? undefined : command;
}

/** Whether an allow rule names a command, apart from the commands that it runs. */
export function coversProgram(pattern: CommandPattern, command: SimpleCommand, options: CoverOptions = {}): boolean {
  return fitsWords(pattern, command.words) && isUsable(pattern, command, options);
}

/** A path in a rule means the file in the folder where the line starts, as it was before. */
function isUsable(
  pattern: CommandPattern,
  { isMoved, words }: SimpleCommand,
  { isElsewhere, targets = [] }: CoverOptions,
): boolean {
  const isRelative = pattern.words.map((word, at) => isRelativePath(word, at, pattern));
  if ((isMoved || isElsewhere === true) && isRelative.includes(true)) return false;
  const named = words.filter((_, at) => isRelative[at] === true || pattern.words[at]?.join('*').includes('/') === true);
  return !targets.some((target) => named.some((word) => mayBeIn(target, word)));
}

/** Programs that run a file of the current folder, whatever its name. */
const INTERPRETERS = /^(?:(?:ba|da|k|z)?sh|source|\.|python[\d.]*|node|ruby|perl|php|lua)$/;

/** Whether a word looks like a relative path: it contains a slash or a dot and is not absolute, or an interpreter runs it. */
function isRelativePath(word: PatternWord, at: number, { words: [program = []] }: CommandPattern): boolean {
  const text = word.join('*');
  if (at > 0 && /^[^/-]/.test(text) && INTERPRETERS.test(program.join('*'))) return true;
  return /^[^/-].*[/.]|^\./.test(text);
}

/** Whether a redirection may write the file that a word names, or a file of that folder, by whatever path. */
function mayBeIn(target: CommandWord, { text, kind, pieces }: CommandWord): boolean {
  const file = tidyPath(text);
  const name = baseName(file);
  const start = target.pieces.findLastIndex((piece) => piece.includes('/'));
  const last = target.kind === 'fixed' ? [target.text] : target.pieces;
  const names = start === -1 ? last : [baseName(last[start] ?? ''), ...last.slice(start + 1)];
  if (target.kind === 'pattern' || kind === 'computed') return true;
  if (
    matchesStars(
      names.map((piece) => piece.toLowerCase()),
      name.toLowerCase(),
    )
  )
    return true;
  const written = tidyPath(target.text);
  return kind === 'fixed' ? `/${written}/`.includes(`/${file}/`) : matchesStars(pieces.map(tidyPath), written);
}

/** Without `.` and empty parts. */
function tidyPath(text: string): string {
  return text
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/** Whether the rule has exactly the words of the command. */
function spellsOut({ words, rest }: CommandPattern, { words: own }: SimpleCommand): boolean {
  return (
    rest === 'none' &&
    words.length === own.length &&
    own.every(({ kind, text }, index) => {
      const word = words[index];
      return kind === 'fixed' && word?.length === 1 && word[0] === (index === 0 ? (systemName(text) ?? text) : text);
    })
  );
}

function fitsWords({ words, rest }: CommandPattern, command: readonly CommandWord[]): boolean {
  const more = command.length - words.length;
  if (more < 0 || (rest === 'none' && more > 0) || (rest === 'some' && more === 0)) return false;
  return words.every((word, index) => {
    const own = command[index];
    if (own === undefined) return false;
    if (index === 0) return isProgram(word, own);
    const isLast = index === words.length - 1;
    if (word.length > 1) return fitsStars(word, own, isLast);
    return own.kind === 'fixed' && (own.text === word[0] || (isLast && rest === 'any' && isPartOf(word, own.text)));
  });
}

/** `test:unit` is one of the scripts that `npm run test:*` means. */
export function isPartOf(word: PatternWord, text: string): boolean {
  return word.length === 1 && word[0] !== '' && text.startsWith(`${word[0] ?? ''}:`);
}

/** A name means the system program; a path means exactly that path. */
function isProgram(word: PatternWord, { text, kind }: CommandWord): boolean {
  if (kind !== 'fixed') return false;
  if (word.some((piece) => piece.includes('/'))) return !hasParent(text) && matchesStars(word, text);
  const name = systemName(text);
  return name !== undefined && (matchesStars(word, name) || (word.length === 1 && isVersionOf(name, word[0] ?? '')));
}

/** Programs whose name is often followed by a version. */
const VERSIONED =
  /^(?:python|pip|pypy|pytest|node|nodejs|ruby|perl|php|lua|gcc|g\+\+|clang|clang\+\+|java|go|ghc|llvm-config)[\d.]*$/;
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['.', 'source'],
  ['nodejs', 'node'],
]);

/** `python` means `python3` and `python3.12` too. */
function isVersionOf(name: string, named: string): boolean {
  if (OTHER_NAMES.get(name) === named) return true;
  return VERSIONED.test(named) && name.startsWith(named) && /^[-.]?\d[\d.]*$/.test(name.slice(named.length));
}

/** Words that expand to several, or leave the folder that the rule names, do not match a star. */
function fitsStars(word: PatternWord, { text, kind }: CommandWord, isLast: boolean): boolean {
  if (isAnyWord(word)) return true;
  if (kind === 'computed' || !matchesStars(word, text) || hasParent(text)) return false;
  return kind === 'fixed' || (isLast && !/[{[~]|(?:^|\/)\.[^/]*[*?]/.test(text));
}

function hasParent(text: string): boolean {
  return /(?:^|[/\\=:,])\.\.(?:$|[/\\=:,])/.test(text);
}

/** Whether the pieces occur in order, the first at the start and the last at the end. */
export function matchesStars(word: PatternWord, text: string): boolean {
  const [first = '', ...others] = word;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const middle = text.slice(first.length, text.length - last.length);
  let from = 0;
  return others.every((piece) => {
    const at = middle.indexOf(piece, from);
    from = at + piece.length;
    return at !== -1;
  });
}

/** Names of the programs that a line runs, in order; empty if the line is unclear. */
export function listPrograms(line: CommandLine): readonly string[] {
  const programs: string[] = [];
  if (line.type === 'commands') addPrograms(line.commands, programs);
  return programs;
}

function addPrograms(commands: readonly SimpleCommand[], programs: string[]): void {
  for (const { words, inner } of commands) {
    const text = words[0]?.text ?? '';
    const program = systemName(text) ?? text;
    if (!programs.includes(program)) programs.push(program);
    addPrograms(inner, programs);
  }
}

/** Whether the programs of a line are known: nothing in it is hidden. */
export function isTransparent(line: CommandLine): boolean {
  const isShown = ({ hides, inner }: SimpleCommand): boolean => hides === undefined && inner.every(isShown);
  return line.type === 'commands' && line.commands.every(isShown);
}

/**
 * Command rules in the usual agent syntax:
 *
 *     git status            exactly these words
 *     git add:*             these words, followed by any
 *     git add *             these words, followed by one or more
 *     cat docs/*.md         a star inside a word matches any characters of that word
 *     *                     every command
 *
 * Allow rules match strictly: the program must be a system program, and hazardous words (`command-hazards.ts`) must be spelled out in the
 * rule. Deny and ask rules are matched in `command-meaning.ts`.
 */

import { MAX_DEPTH } from './command-hazard.ts';
import type { Hazard } from './command-hazard.ts';
import { hazardsOf, programName } from './command-hazards.ts';
import type { CommandLine, CommandWord, SimpleCommand } from '../../core/command.ts';
import { insideWrapper } from './command-wrappers.ts';
import { hiddenCharacters, quoted } from '../../core/text/text.ts';

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
  if (/[\n\r]/.test(text) || hiddenCharacters(text) !== undefined) {
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

export function isCommandPattern(read: CommandPattern | CommandPatternProblem): read is CommandPattern {
  return !('problem' in read);
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

/** Whether an allow rule covers a command. Strict: uncertain cases are not covered. */
export function coversCommand(pattern: CommandPattern, command: SimpleCommand): boolean {
  return covers(pattern, command, 0);
}

function covers(pattern: CommandPattern, command: SimpleCommand, depth: number): boolean {
  if (pattern.words.length === 0) return true;
  if (fitsWords(pattern, command) && hazardsOf(command).every((hazard) => isSpelledOut(pattern, hazard))) return true;
  const program = command.words[0];
  if (depth >= MAX_DEPTH || program === undefined || systemName(program.text) === undefined) return false;
  const inside = insideWrapper(programName(command), command);
  return inside?.type === 'command' && covers(pattern, inside.command, depth + 1);
}

/**
 * The first command that no allow rule covers. After `cd`, or if the line starts in another folder, relative paths mean other files than
 * the rule intended; then only rules without relative paths count.
 */
export function firstUncovered(
  patterns: readonly CommandPattern[],
  commands: readonly SimpleCommand[],
  { isElsewhere = false }: { readonly isElsewhere?: boolean } = {},
): SimpleCommand | undefined {
  const fixed = patterns.filter((pattern) => !hasRelativePath(pattern));
  let counting = isElsewhere ? fixed : patterns;
  for (const command of commands) {
    if (!counting.some((pattern) => coversCommand(pattern, command))) return command;
    if (programsIn(command, 0).includes('cd')) counting = fixed;
  }
  return undefined;
}

/** Whether a word looks like a relative path: it contains a slash or a dot and is not absolute. */
function hasRelativePath({ words }: CommandPattern): boolean {
  return words.some((word) => /^[^/-].*[/.]|^\./.test(word.join('*')));
}

/** Explains why `coversCommand` fails although the words match. */
export function hazardOf(command: SimpleCommand): string | undefined {
  const hazards = hazardsOf(command);
  // A hidden program is a better explanation than a wrapper.
  return (hazards.find(({ runs }) => runs === 'hidden') ?? hazards[0])?.reason;
}

function isSpelledOut({ words, rest }: CommandPattern, { at, needs }: Hazard): boolean {
  const isLiteral = (word: PatternWord | undefined) => word?.length === 1;
  if (needs === 'all') return rest === 'none' && words.every(isLiteral);
  if (needs === 'program' && words.length === 1 && isLiteral(words[0])) return true;
  return isLiteral(words[at]);
}

function fitsWords({ words, rest }: CommandPattern, { words: given }: SimpleCommand): boolean {
  const more = given.length - words.length;
  if (more < 0 || (rest === 'none' && more > 0) || (rest === 'some' && more === 0)) return false;
  return words.every((word, index) => {
    const own = given[index];
    if (own === undefined) return false;
    if (index === 0) return isProgram(word, own);
    return word.length === 1
      ? own.glob === 'none' && own.text === word[0]
      : fitsStars(word, own, index === words.length - 1);
  });
}

/** A name means the system program; a path means exactly that path. */
function isProgram(word: PatternWord, { text }: CommandWord): boolean {
  if (word.some((piece) => piece.includes('/'))) return !hasParent(text) && matchesStars(word, text);
  const name = systemName(text);
  return name !== undefined && matchesStars(word, name);
}

const SYSTEM_FOLDER = /^\/(?:usr\/local\/bin|usr\/bin|bin|usr\/sbin|sbin)\/(?=[^/]+$)/;

/** The name of a program found on the search path or in a system folder; undefined for other programs. */
function systemName(text: string): string | undefined {
  const name = text.replace(SYSTEM_FOLDER, '');
  return name.includes('/') ? undefined : name;
}

/** Words that expand to several, or leave the folder that the rule names, do not match a star. */
function fitsStars(word: PatternWord, { text, glob }: CommandWord, isLast: boolean): boolean {
  if (!matchesStars(word, text)) return false;
  if (glob === 'none') return isAnyWord(word) || !hasParent(text);
  return isLast && !hasParent(text) && !/[{[~]|(?:^|\/)\.[^/]*[*?]/.test(text);
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
export function programsOf(line: CommandLine): readonly string[] {
  return line.type === 'unclear' ? [] : [...new Set(line.commands.flatMap((command) => programsIn(command, 0)))];
}

function programsIn(command: SimpleCommand, depth: number): readonly string[] {
  const program = command.words[0]?.text ?? '';
  const name = systemName(program) ?? program;
  const inside = depth < MAX_DEPTH ? insideWrapper(programName(command), command) : undefined;
  return inside?.type === 'command' ? [name, ...programsIn(inside.command, depth + 1)] : [name];
}

/** The text that is being read, and what its parts have in common. */
import { problemError } from '#core';
import { ANY, textLevel, weaker, type CommandWord, type Level, type WordValue } from './command-words.ts';
import type { LineFacts } from './line-facts.ts';

/** Gets what is read, in the order of the text. */
export interface LineHandler {
  /** A command starts here; the result takes its words, once they are known. */
  startCommand(): (words: readonly CommandWord[], stdin: string | undefined) => void;
  /** A redirection writes a file. */
  onWrite(target: string): void;
  /** A function is defined for everything after it. */
  onFunction(name: string): void;
  /** Commands before this place may run again after it. */
  onRepeat(): void;
}

export interface Source {
  readonly text: string;
  readonly facts: LineFacts;
  readonly handler: LineHandler;
  at: number;
  depth: number;
  /** Here-documents whose bodies follow the next line end. */
  pending: HereDocument[];
  /** Commands whose here-documents have not been read. */
  waiting: (() => void)[];
  /** Reads commands up to a closing bracket; returns the words of the only command, if there is one. */
  readList(source: Source): readonly CommandWord[] | undefined;
  /** Reads commands from another text, such as that between backticks. */
  readText(text: string): readonly CommandWord[] | undefined;
}

interface HereDocument {
  readonly end: string;
  readonly isQuoted: boolean;
  readonly isIndented: boolean;
  readonly onBody: (body: string) => void;
}

/** Constructs in constructs: quotes, brackets, commands. */
export const MAX_DEPTH = 64;

/** Leaves the reading of the line. */
export function notUnderstood(what: string): never {
  throw problemError({ code: UNCLEAR, message: what, hint: 'put it into a script' });
}

export const UNCLEAR = 'command/unclear';

/** A word that is being read. */
export interface WordBuilder {
  text: string;
  kind: CommandWord['kind'];
  readonly pieces: string[];
  isSplit: boolean;
  /** What follows an expansion that is not read: the pieces stay as they are. */
  isOpaque: boolean;
  level: Level;
  readonly from: Set<string>;
}

export function newWord(): WordBuilder {
  return { text: '', kind: 'fixed', pieces: [''], isSplit: false, isOpaque: false, level: 'number', from: new Set() };
}

export function addText(word: WordBuilder, text: string): void {
  word.text += text;
  if (!word.isOpaque) word.pieces.push((word.pieces.pop() ?? '') + text);
  word.level = weaker(word.level, textLevel(text));
}

export interface Unknown {
  readonly kind: 'pattern' | 'computed';
  readonly isSplit: boolean;
  readonly value?: WordValue;
}

export function addUnknown(word: WordBuilder, text: string, { kind, isSplit, value = ANY }: Unknown): void {
  word.text += text;
  if (!word.isOpaque) word.pieces.push('');
  word.isSplit ||= isSplit;
  if (word.kind !== 'computed') word.kind = kind;
  word.level = weaker(word.level, value.level);
  for (const name of value.from) word.from.add(name);
}

export function builtValue({ level, from }: WordBuilder): WordValue {
  return { level, from: [...from] };
}

/** Runs a reader one level deeper. */
export function nest<T>(source: Source, read: () => T): T {
  source.depth += 1;
  if (source.depth > MAX_DEPTH) notUnderstood('it nests too deeply');
  const result = read();
  source.depth -= 1;
  return result;
}

/** The text that a pattern with the flag `y` matches here. */
export function take(source: Source, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = source.at;
  const found = pattern.exec(source.text) ?? undefined;
  if (found !== undefined) source.at += found[0].length;
  return found;
}

/** The sign at `start`, which was read or is read now. */
export function addTaken(source: Source, word: WordBuilder, start: number): void {
  source.at = start + 1;
  addText(word, source.text[start] ?? '');
}

/** Converts words of the parsed shell line: what is fixed, and what the shell computes. */
import type { Word, WordPart } from 'unbash';

/** Values of variables that only the runtime sets. */
export type Variables = ReadonlyMap<string, string>;

export const NO_VARIABLES: Variables = new Map();

export function commandWord(word: Word, variables: Variables): CommandWord {
  const { parts } = word;
  if (parts === undefined) return word.text.startsWith('~') ? tilde(word) : fixedWord(word.value);
  const isHome = word.text.startsWith('~');
  const read: Reading = {
    pieces: isHome ? ['', ''] : [''],
    text: '',
    kind: isHome ? 'pattern' : 'fixed',
    isSplit: false,
  };
  for (const part of parts) readPart(part, read, { variables, isQuoted: false });
  return { text: read.text, kind: read.kind, pieces: read.pieces, isSplit: read.isSplit };
}

export function fixedWord(text: string): CommandWord {
  return { text, kind: 'fixed', pieces: [text], isSplit: false };
}

export function computedWord(text: string, pieces: readonly string[] = ['', '']): CommandWord {
  return { text, kind: 'computed', pieces, isSplit: false };
}

function tilde({ value }: Word): CommandWord {
  return { text: value, kind: 'pattern', pieces: ['', value.replace(/^~[^/]*/, '')], isSplit: false };
}

interface Reading {
  readonly pieces: string[];
  text: string;
  kind: CommandWord['kind'];
  isSplit: boolean;
}

interface PartContext {
  readonly variables: Variables;
  readonly isQuoted: boolean;
}

function readPart(part: WordPart, read: Reading, { variables, isQuoted }: PartContext): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      addFixed(read, part.value);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const inner of part.parts) readPart(inner, read, { variables, isQuoted: true });
      return;
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      addUnknown(read, part.text, { kind: hasExpansion(part) ? 'computed' : 'pattern', isSplit: true });
      return;
    case 'SimpleExpansion':
    case 'ParameterExpansion': {
      const value = expandPart(part, variables);
      // Unquoted values are split at blanks and expanded as patterns.
      if (value !== undefined && (isQuoted || STAYS_ONE_WORD.test(value))) addFixed(read, value);
      else addUnknown(read, part.text, { kind: 'computed', isSplit: !isQuoted || SEVERAL.test(part.text) });
      return;
    }
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      addUnknown(read, part.text, { kind: 'computed', isSplit: !isQuoted });
  }
}

/** `"$@"` and `"${list[@]}"` are several words in quotes too. */
const SEVERAL = /^\$\{?@|\[@\]/;
const STAYS_ONE_WORD = /^[^\s*?[\]\\]+$/;

function expandPart(part: WordPart, variables: Variables): string | undefined {
  if (part.type === 'SimpleExpansion') return variables.get(part.text.slice(1));
  if (part.type !== 'ParameterExpansion') return undefined;
  const isPlain = part.prefix === undefined && part.index === undefined && part.operation === undefined;
  return isPlain ? variables.get(part.parameter) : undefined;
}

function hasExpansion({ parts }: { readonly parts?: readonly WordPart[] | undefined }): boolean {
  return (parts ?? []).some(({ type }) => type !== 'Literal' && type !== 'SingleQuoted' && type !== 'Glob');
}

function addFixed(read: Reading, text: string): void {
  read.text += text;
  read.pieces.push((read.pieces.pop() ?? '') + text);
}

function addUnknown(
  read: Reading,
  text: string,
  { kind, isSplit }: { readonly kind: 'pattern' | 'computed'; readonly isSplit: boolean },
): void {
  read.text += text;
  read.pieces.push('');
  read.isSplit ||= isSplit;
  if (read.kind !== 'computed') read.kind = kind;
}

/** One word of a command, as far as it is known before the shell runs. */
export interface CommandWord {
  /** Quotes and backslashes are removed; computed parts stay as written. */
  readonly text: string;
  /** `pattern`: the shell replaces it by file names or several words. `computed`: it contains a variable or a substitution. */
  readonly kind: 'fixed' | 'pattern' | 'computed';
  /** The fixed text between computed parts; a fixed word is one piece. */
  readonly pieces: readonly string[];
  /** It may become several words, or none. */
  readonly isSplit: boolean;
}

export interface SimpleCommand {
  /** The first word is the program. */
  readonly words: readonly CommandWord[];
  /** `shell`: a builtin without effects of its own, or a function of the line. `wrapper`: it only runs `inner`. */
  readonly role: 'program' | 'shell' | 'wrapper';
  /** Commands that it runs and that the line shows: `find -exec`, `sh -c`. */
  readonly inner: readonly SimpleCommand[];
  /** Further command lines in its words, for rules that deny or ask: `docker exec box rm x`. */
  readonly mentions: readonly SimpleCommand[];
  /** Why it may run a program that the line does not show. */
  readonly hides?: string;
  /** A `cd` may have run before it, so that relative paths mean other files. */
  readonly isMoved: boolean;
  /** The line changes `PATH`, so that the name may mean another program than a rule intended. */
  readonly isRenamed?: boolean;
}

export interface Unclear {
  readonly type: 'unclear';
  /** What was found, as a clause for a person. */
  readonly reason: string;
}

/** A shell line as the commands that it may run, or the reason why it cannot be read. */
export type CommandLine =
  | {
      readonly type: 'commands';
      readonly commands: readonly SimpleCommand[];
      /** Files that redirections write. */
      readonly writes: readonly string[];
      /** Variables that the line sets for its programs. */
      readonly variables: readonly string[];
    }
  | Unclear;

const SYSTEM_FOLDER = /^\/(?:usr\/local\/bin|usr\/bin|bin|usr\/sbin|sbin)\/(?=[^/]+$)/;

/** The name of a program found on the search path or in a system folder; undefined for other programs. */
export function systemName(text: string): string | undefined {
  const name = text.replace(SYSTEM_FOLDER, '');
  return name.includes('/') ? undefined : name;
}

export function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

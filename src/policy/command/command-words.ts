/** Words and commands of a shell line, as far as they are known before the shell runs. */

/** One word of a command. */
export interface CommandWord {
  /** Quotes and backslashes are removed; computed parts stay as written. */
  readonly text: string;
  /** `pattern`: the shell replaces it by file names or several words. `computed`: it contains a variable or a substitution. */
  readonly kind: 'fixed' | 'pattern' | 'computed';
  /** The fixed text between computed parts; a fixed word is one piece. */
  readonly pieces: readonly string[];
  /** It may become several words, or none. */
  readonly isSplit: boolean;
  /** What the word can become, for the places where the shell evaluates text. */
  readonly value: WordValue;
}

/** `number`: arithmetic evaluates nothing in it. `plain`: one word, no option, without brackets. `any`: everything else. */
export type Level = 'number' | 'plain' | 'any';

export interface WordValue {
  readonly level: Level;
  /** Variables whose values it contains, which may make it less. */
  readonly from: readonly string[];
}

export const ANY: WordValue = { level: 'any', from: [] };
export const NUMBER: WordValue = { level: 'number', from: [] };

const LEVELS: readonly Level[] = ['any', 'plain', 'number'];

export function isAtLeast(level: Level, expected: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(expected);
}

export function weaker(a: Level, b: Level): Level {
  return isAtLeast(a, b) ? b : a;
}

export function joinValues(values: readonly WordValue[]): WordValue {
  return {
    level: values.map(({ level }) => level).reduce(weaker, 'number'),
    from: [...new Set(values.flatMap(({ from }) => from))],
  };
}

export function textLevel(text: string): Level {
  if (/^(?:[-+]?\d)?[\d\s.:#]*$/.test(text)) return 'number';
  return /^[\w./:@%+,=][\w./:@%+,=-]*$/.test(text) ? 'plain' : 'any';
}

export function fixedWord(text: string): CommandWord {
  return { text, kind: 'fixed', pieces: [text], isSplit: false, value: { level: textLevel(text), from: [] } };
}

export function computedWord(text: string, pieces: readonly string[] = ['', '']): CommandWord {
  return { text, kind: 'computed', pieces, isSplit: false, value: ANY };
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
  /** It may run in another folder than the line, so that relative paths mean other files. */
  readonly isMoved: boolean;
}

/** The command in another folder than that of the line. */
export function moved(command: SimpleCommand): SimpleCommand {
  return { ...command, isMoved: true, inner: command.inner.map(moved) };
}

/** A shell line as the commands that it may run. */
export type CommandLine =
  | {
      readonly type: 'commands';
      readonly commands: readonly SimpleCommand[];
      /** Files that redirections write. */
      readonly writes: readonly string[];
      /** Files that redirections write, also those of inner lines. */
      readonly targets?: readonly CommandWord[];
      /** Redirections read files. */
      readonly readsFiles?: boolean;
      /** Variables that the line sets for its programs. */
      readonly variables: readonly string[];
    }
  | {
      readonly type: 'unclear';
      /** What was found, as a clause for a person. */
      readonly reason: string;
      /** Those that were read, for rules that deny. */
      readonly commands: readonly SimpleCommand[];
    };

const SYSTEM_FOLDER = /^\/(?:usr\/local\/bin|usr\/bin|bin|usr\/sbin|sbin)\/(?=[^/]+$)/;

/** The name of a program found on the search path or in a system folder; undefined for other programs. */
export function systemName(text: string): string | undefined {
  const name = text.replace(SYSTEM_FOLDER, '');
  return name.includes('/') ? undefined : name;
}

export function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

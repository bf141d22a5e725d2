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

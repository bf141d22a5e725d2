/** One word of a command as the shell will see it, as far as that can be known. */
export interface CommandWord {
  /** Quotes and backslashes are removed. */
  readonly text: string;
  /**
   * The shell replaces a part of it by file names or by several words: `*`, `?`, `[..]`, `{a,b}`, `~`. `start`: the expansion may
   * start with anything, including a dash.
   */
  readonly glob: 'none' | 'inside' | 'start';
}

export interface SimpleCommand {
  /** The first word is the program. */
  readonly words: readonly CommandWord[];
}

export interface Unclear {
  readonly type: 'unclear';
  /** What was found and what to write instead, as a sentence for a person. */
  readonly reason: string;
}

/** A shell line as the commands it will run, or the reason why that cannot be known. */
export type CommandLine = { readonly type: 'commands'; readonly commands: readonly SimpleCommand[] } | Unclear;

/** One word of a command as the shell will see it, as far as that can be known. */
export interface CommandWord {
  /** Quotes and backslashes taken away. */
  readonly text: string;
  /** The shell replaces a part of it by names of files. `start`: what it becomes may start with anything, also with a dash. */
  readonly glob: 'none' | 'inside' | 'start';
}

export interface SimpleCommand {
  /** The first is the program. */
  readonly words: readonly CommandWord[];
}

export type CommandLine =
  | { readonly type: 'commands'; readonly commands: readonly SimpleCommand[] }
  | { readonly type: 'unclear'; readonly reason: string };

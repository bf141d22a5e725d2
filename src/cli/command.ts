import type { Terminal } from './terminal/terminal.ts';

/** A flag as it is parsed, explained and completed. */
export interface Flag {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  /** May be given more than once. */
  readonly multiple?: boolean;
  /** What its value is called in the help. */
  readonly value?: string;
  /** The values it takes, where they are few. */
  readonly choices?: readonly string[];
  /** The value is a file or a folder: shells complete it. */
  readonly path?: boolean;
  readonly about: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/** Given to every command. */
export const GLOBAL_FLAGS = {
  json: { type: 'boolean', about: 'print one JSON value instead of text' },
  root: {
    type: 'string',
    multiple: true,
    value: 'DIR',
    path: true,
    about: 'look for skills in DIR first; may be repeated',
  },
  'only-root': { type: 'boolean', about: 'look in the folders of --root and nowhere else' },
  source: { type: 'string', value: 'NAME', about: 'only skills of this source (project, user, builtin, ...)' },
  cwd: { type: 'string', short: 'C', value: 'DIR', path: true, about: 'work as if started in DIR' },
  config: { type: 'string', value: 'FILE', path: true, about: 'read FILE instead of the project’s .agent/config.json' },
  set: {
    type: 'string',
    multiple: true,
    value: 'KEY=VALUE',
    about: 'a setting above all files and variables, such as catalog.budget_tokens=2000; may be repeated',
  },
  'no-cache': { type: 'boolean', about: 'neither read nor write the index cache' },
  color: {
    type: 'string',
    value: 'WHEN',
    choices: ['auto', 'always', 'never'],
    about: 'colours: auto, always or never',
  },
  quiet: { type: 'boolean', short: 'q', about: 'no progress and no remarks on stderr' },
  help: { type: 'boolean', short: 'h', about: 'show help' },
  version: { type: 'boolean', short: 'V', about: 'print the version' },
} as const satisfies Flags;

type FlagValue<F extends Flag> = F extends { readonly type: 'boolean' }
  ? boolean
  : F extends { readonly multiple: true }
    ? readonly string[]
    : string;

/** Flags as a command receives them: absent ones are not there. */
export type FlagValues<F extends Flags> = { readonly [K in keyof F]?: FlagValue<F[K]> };

export interface Invocation<F extends Flags> {
  readonly flags: FlagValues<F & typeof GLOBAL_FLAGS>;
  readonly positionals: readonly string[];
  /** All of the command line behind the program's name, as it was given. */
  readonly words: readonly string[];
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** All commands, for the one that describes them to a shell. */
  readonly commands: readonly CommandName[];
}

/** A command by name, before it is loaded. */
export interface CommandName {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  /** Imports the command; nothing of a command is loaded before it is named. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** What every invocation has, whatever the command. */
export interface GlobalInvocation extends Omit<Invocation<Flags>, 'flags'> {
  readonly flags: FlagValues<typeof GLOBAL_FLAGS>;
}

/** What a command says about itself, and what it does: parse, call the library, print. Gives the exit status. */
export interface Command<F extends Flags = Flags> {
  readonly usage: string;
  /** A paragraph or two below the usage. */
  readonly details: string;
  readonly flags: F;
  readonly examples: readonly (readonly [command: string, about: string])[];
  /** How many words it takes, least and most. */
  readonly positionals: readonly [least: number, most: number];
  run(invocation: Invocation<F>): Promise<number>;
}

/** Ties the types of a command's flags to what its `run` receives. */
export function defineCommand<const F extends Flags>(command: Command<F>): Command<F> {
  return command;
}

import type { Surroundings } from '#core';
import type { Terminal } from './terminal/terminal.ts';

/** A flag as the parser, the help and the shell completion need it. */
export interface Flag {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  /** The flag may be repeated. */
  readonly multiple?: boolean;
  /** With `multiple`: one value may list several, separated by commas. For names and ids, never for paths and texts. */
  readonly commas?: boolean;
  /** Placeholder of the value in the help. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** What shells offer for the value: these words, or what `completion --names KIND` prints. Other values are allowed. */
  readonly offers?: readonly string[] | NameKind;
  /** The value is a file or a folder: it must not be empty, and shells complete it. */
  readonly path?: boolean;
  /** The value where none follows. */
  readonly bare?: string;
  /** Left out of the program's help; a command's own help shows every flag. */
  readonly rare?: boolean;
  /** Its name in earlier versions, accepted with a warning for one minor version. */
  readonly formerly?: string;
  /** Accepted and not shown in help, completion and docs: a flag of an earlier version. */
  readonly hidden?: boolean;
  readonly about: string;
}

/** Kinds of names that `completion` looks up on this machine. */
export const NAME_KINDS = ['skills', 'sources', 'agents', 'runs'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export type Flags = Readonly<Record<string, Flag>>;

type FlagExtras = Omit<Flag, 'type' | 'value' | 'path' | 'about'>;

/** A flag without a value. */
export function toggle(about: string, more: FlagExtras = {}): Flag & { readonly type: 'boolean' } {
  return { type: 'boolean', about, ...more };
}

export type Option = Flag & { readonly type: 'string' };

/** A flag with a value. The placeholders DIR, FILE, FOLDER and PATH stand for paths. */
export function option(value: string, about: string): Option;
export function option<const M extends FlagExtras>(value: string, about: string, more: M): Omit<Option, keyof M> & M;
export function option(value: string, about: string, more: FlagExtras = {}): Flag {
  return { type: 'string', value, path: /^(?:DIR|FILE|FOLDER|PATH)/.test(value), about, ...more };
}

/** A flag that takes several names or ids: repeated, or separated by commas. */
export function list<const M extends FlagExtras>(
  value: string,
  about: string,
  more?: M,
): Omit<Option, keyof M> & M & { readonly multiple: true };
export function list(value: string, about: string, more: FlagExtras = {}): Flag {
  return option(value, `${about}; separate several by commas`, { ...more, multiple: true, commas: true });
}

/** The flags that help, completion and docs show. */
export function shownFlags(flags: Flags): readonly (readonly [name: string, flag: Flag])[] {
  return Object.entries(flags).filter(([, { hidden }]) => hidden !== true);
}

/** Flags of every command that choose skills and settings. */
export const SETTING_FLAGS = {
  root: option('DIR', 'search DIR for skills before all other roots; may be repeated', { multiple: true }),
  'only-root': toggle('search only the folders given with --root', { rare: true }),
  source: option('NAME', 'use only skills of this source (project, user, builtin, ...)', {
    rare: true,
    offers: 'sources',
  }),
  cwd: option('DIR', 'run as if started in DIR', { short: 'C' }),
  config: option('FILE', 'read FILE instead of .agent/config.json of the project', { rare: true }),
  set: option(
    'KEY=VALUE',
    'override a setting from config files and the environment, e.g. catalog.budget_tokens=2000; may be repeated',
    { multiple: true, rare: true },
  ),
  'no-cache': toggle('do not read or write the index cache', { rare: true }),
} as const satisfies Flags;

/** Flags that every command takes. */
export const GLOBAL_FLAGS = {
  json: toggle('print one JSON value instead of text'),
  ...SETTING_FLAGS,
  color: option('WHEN', 'color the output: auto, always or never (default: auto)', {
    choices: ['auto', 'always', 'never'],
    rare: true,
  }),
  plain: toggle('draw nothing again: no status line, no streaming, no line editing; for screen readers', {
    rare: true,
  }),
  quiet: toggle('print no progress and no remarks on stderr', { short: 'q' }),
  help: toggle('show help', { short: 'h' }),
  version: toggle('print the version', { short: 'V' }),
} as const satisfies Flags;

type FlagValue<F extends Flag> = F extends { readonly type: 'boolean' }
  ? boolean
  : F extends { readonly multiple: true }
    ? readonly string[]
    : F extends { readonly choices: readonly (infer C)[] }
      ? C
      : string;

/** Flags as a command receives them. A flag that was not given is absent. */
export type FlagValues<F extends Flags> = { readonly [K in keyof F]?: FlagValue<F[K]> };

export interface Invocation<F extends Flags> {
  readonly flags: FlagValues<F & typeof GLOBAL_FLAGS>;
  readonly positionals: readonly string[];
  /** The command line after the program's name, unparsed. */
  readonly words: readonly string[];
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** The folder that `--cwd` names or the current one, the home folder and the environment. */
  readonly surroundings: Surroundings;
  /** Every command; `completion` describes them to a shell. */
  readonly commands: readonly CommandEntry[];
}

/** What the user wants to do: the sections of the help. */
export type Task = 'use' | 'write' | 'install' | 'check' | 'govern';

/** A command before it is loaded. */
export interface CommandEntry {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly task: Task;
  readonly summary: string;
  /** Imports the command. Commands are separate bundles, loaded when the user names them. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** The part of an invocation that is the same for every command. */
export interface GlobalInvocation extends Omit<Invocation<Flags>, 'flags'> {
  readonly flags: FlagValues<typeof GLOBAL_FLAGS>;
}

/** A command: its help, its flags, and a `run` that calls the library, prints, and returns the exit code. */
export interface Command<F extends Flags = Flags> {
  readonly usage: string;
  /** Paragraphs below the usage, one line each; the help wraps them. */
  readonly details: string;
  readonly flags: F;
  readonly examples: readonly (readonly [command: string, about: string])[];
  /** How many positional arguments the command takes. */
  readonly positionals: readonly [min: number, max: number];
  run(invocation: Invocation<F>): Promise<number>;
}

/** Infers the types of a command's flags for its `run`. */
export function defineCommand<const F extends Flags>(command: Command<F>): Command<F> {
  return command;
}

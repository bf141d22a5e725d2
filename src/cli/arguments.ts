import { parseArgs } from 'node:util';

import { nearest, printable, quoted, type Config, type SkillError } from '#core';
import { GLOBAL_FLAGS, type Flag, type FlagValues, type Flags } from './command.ts';
import { usageError } from './exit.ts';

export interface ParsedArguments<F extends Flags> {
  readonly flags: FlagValues<F & typeof GLOBAL_FLAGS>;
  readonly positionals: readonly string[];
  /** For the user, about flags with another name by now. */
  readonly warnings?: readonly string[];
}

/** Parses the words after a command's name. An unknown or malformed flag is an error that suggests the probable one. */
export function parseArguments<F extends Flags>(
  words: readonly string[],
  flags: F,
  command: string,
): ParsedArguments<F> {
  const known: Flags = { ...GLOBAL_FLAGS, ...flags };
  const renamed = new Map(
    Object.entries(flags).flatMap(([name, { formerly }]) =>
      formerly === undefined ? [] : [[formerly, name] as const],
    ),
  );
  const all = renamed.size === 0 ? known : withFormer(known, renamed);
  const warnings: string[] = [];
  const { tokens, positionals } = words.length === 0 ? NO_WORDS : readWords(words, all);
  const values: Record<string, boolean | string | readonly string[]> = {};
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name: typed, value, inlineValue } = token;
    const name = renamed.get(typed) ?? typed;
    if (name !== typed) warnings.push(`--${typed} is --${name} now; the old name works until the next minor version`);
    const written = printable(token.rawName);
    const flag = Object.hasOwn(known, name) ? known[name] : undefined;
    if (flag === undefined) throw unknownFlag(name, written, known, command);
    const before = values[name];
    if (before !== undefined && flag.type === 'string' && flag.multiple !== true)
      throw usageError(`${written} is given more than once`, 'give it once');
    const isInline = inlineValue === true;
    const parts = flag.commas === true && value !== undefined ? value.split(',').map((part) => part.trim()) : [value];
    for (const one of parts) validateValue(flag, { written, value: one, isInline, command });
    values[name] =
      flag.multiple === true
        ? [...(Array.isArray(before) ? before : []), ...parts.map((one) => one ?? '')]
        : (value ?? true);
  }
  // The loop above checked each value against the type of its flag.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const given = values as FlagValues<F & typeof GLOBAL_FLAGS>;
  return { flags: given, positionals, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** With the flags under their earlier names, which have no short form of their own. */
function withFormer(known: Flags, renamed: ReadonlyMap<string, string>): Flags {
  const former = [...renamed].flatMap(([old, name]): readonly (readonly [string, Flag])[] => {
    const flag = known[name];
    return flag === undefined ? [] : [[old, { ...flag, short: undefined }]];
  });
  return { ...known, ...Object.fromEntries(former) };
}

/** Node loads its parser on first use, and a command without words does not need it. */
const NO_WORDS = { tokens: [], positionals: [] };

function readWords(words: readonly string[], known: Flags) {
  const options = parserOptions(known);
  // Lenient, because the errors of strict mode suggest nothing; the caller validates every token.
  const args = words.map((word, at) => {
    const { bare } = (Object.hasOwn(known, word.slice(2)) ? known[word.slice(2)] : undefined) ?? {};
    const isBare = bare !== undefined && word.startsWith('--') && (words[at + 1] ?? '-').startsWith('-');
    return isBare ? `${word}=${bare}` : word;
  });
  return parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
}

function parserOptions(flags: Flags): NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short === undefined ? {} : { short }) },
    ]),
  );
}

interface WrittenFlag {
  /** `--root` or `-C`, as the user typed it, without the value. */
  readonly written: string;
  readonly value: string | undefined;
  /** The value is in the same word: `--root=DIR` or `-Cdir`. */
  readonly isInline: boolean;
  readonly command: string;
}

function validateValue(
  { type, path, choices, commas }: Flag,
  { written, value, isInline, command }: WrittenFlag,
): void {
  if (type === 'boolean') {
    if (value !== undefined) throw usageError(`${written} takes no value`, helpHint(command));
    return;
  }
  if (value === undefined) throw usageError(`${written} needs a value`, helpHint(command));
  // `--root --json` is a forgotten value; `--root=--json` is deliberate.
  if (!isInline && value.startsWith('--'))
    throw usageError(`${written} needs a value`, `write ${written}=VALUE if the value starts with a dash`);
  if (commas === true && value === '')
    throw usageError(`${written} has an empty value`, 'separate values by single commas');
  // An empty path would resolve to the current folder: `--in "$FILE"` with an unset FILE would share the whole project.
  if (path === true && value === '')
    throw usageError(`${written} needs a value, got an empty path`, 'write . for the current folder');
  if (choices !== undefined && !choices.includes(value)) {
    const [near] = nearest(value, choices, 1);
    const guess = near === undefined ? '' : `; did you mean ${near}?`;
    throw usageError(`${written} must be one of ${choices.join(', ')}`, `got ${quoted(value, 200)}${guess}`);
  }
}

/** Parses the value of a flag that takes a whole number. */
export function wholeNumber(
  value: string | undefined,
  flag: string,
  bounds: { readonly least: number; readonly most: number },
): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= bounds.least && number <= bounds.most) return number;
  throw usageError(
    `${flag} must be a whole number from ${bounds.least} to ${bounds.most}`,
    `got ${quoted(value, 200)}`,
  );
}

/** Parses the values of `--set`. The configuration schema is loaded only when there are some. */
export async function parseSettings(options: readonly string[] | undefined): Promise<Config | undefined> {
  if (options === undefined) return undefined;
  const { readOptions } = await import('./config-options.ts');
  return readOptions(options);
}

function unknownFlag(name: string, written: string, known: Flags, command: string): SkillError {
  const [guess] = nearest(name, Object.keys(known), 1);
  return usageError(
    `unknown flag ${written} for skillwright ${command}`,
    guess === undefined ? helpHint(command) : `did you mean --${guess}?`,
  );
}

function helpHint(command: string): string {
  return `see skillwright ${command} --help`;
}

import { nearest } from '../core/nearest.ts';
import { printable } from '../core/text/text.ts';
import { GLOBAL_FLAGS } from './command.ts';
import type { FlagValues, Flags } from './command.ts';
import { UsageError } from './exit.ts';
import { readWords } from './read-words.ts';

export interface ParsedArguments<F extends Flags> {
  readonly flags: FlagValues<F & typeof GLOBAL_FLAGS>;
  readonly positionals: readonly string[];
}

/** Parses the words behind a command's name. Unknown and malformed flags are errors that say what was probably meant. */
export function parseArguments<F extends Flags>(
  words: readonly string[],
  flags: F,
  command: string,
): ParsedArguments<F> {
  const known: Flags = { ...GLOBAL_FLAGS, ...flags };
  const { options, positionals } = readWords(words, known);
  const values: Record<string, boolean | string | readonly string[]> = {};
  const given = new Set<string>();
  for (const token of options) {
    const flag = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
    const written = printable(token.written);
    if (flag === undefined) throw unknownFlag(token.name, written, known, command);
    if (flag.type === 'string' && token.value === undefined)
      throw new UsageError(`${written} needs a value`, helpHint(command));
    // `--root --json` is a forgotten value; `--root=--json` is meant.
    if (flag.type === 'string' && !token.isInline && token.value?.startsWith('--') === true) {
      throw new UsageError(`${written} needs a value`, `write ${written}=VALUE if the value starts with a dash`);
    }
    // Nothing would be the folder one is in: `--in "$FILE"` without a FILE gives no script the whole project.
    if (flag.path === true && token.value === '')
      throw new UsageError(`${written} needs a value`, 'it is empty; the folder you are in is .');
    if (flag.type === 'boolean' && token.value !== undefined)
      throw new UsageError(`${written} takes no value`, helpHint(command));
    if (flag.multiple !== true && flag.type === 'string' && given.has(token.name))
      throw new UsageError(`${written} is given twice`, 'give it once');
    if (flag.choices !== undefined && !flag.choices.includes(token.value ?? '')) {
      throw new UsageError(
        `${written} must be ${flag.choices.join(', ')}`,
        `it is ${JSON.stringify(printable(token.value ?? ''))}`,
      );
    }
    given.add(token.name);
    const before = values[token.name];
    const value = token.value ?? true;
    values[token.name] = flag.multiple === true ? [...(Array.isArray(before) ? before : []), value] : value;
  }
  // Every flag that was given has been looked at above: its value is of the type that it says.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { flags: values as FlagValues<F & typeof GLOBAL_FLAGS>, positionals };
}

/** A flag whose value is a whole number. */
export function wholeNumber(
  value: string | undefined,
  flag: string,
  bounds: { readonly least: number; readonly most: number },
): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= bounds.least && number <= bounds.most) return number;
  throw new UsageError(
    `${flag} must be a whole number from ${bounds.least} to ${bounds.most}`,
    `it is ${JSON.stringify(printable(value))}`,
  );
}

function unknownFlag(name: string, written: string, known: Flags, command: string): UsageError {
  const [guess] = nearest(name, Object.keys(known), 1);
  return new UsageError(
    `${written} is no flag of skillwright ${command}`,
    guess === undefined ? helpHint(command) : `did you mean --${guess}?`,
  );
}

function helpHint(command: string): string {
  return `see skillwright ${command} --help`;
}

/** All spellings of program options. */

import type { CommandWord } from '../../core/command.ts';

/** The options of a rule, grouped by spelling. */
export interface Spelling {
  readonly letters: string;
  readonly long: readonly string[];
  readonly single: readonly string[];
  readonly subcommands: readonly string[];
}

export function namesIn(list: string): readonly string[] {
  return list.trim().split(/\s+/);
}

/** `isWordy`: the program has no combined letters, so `-cpuprofile` does not contain `-o`. */
export function sortOptions(list = '', isWordy = false): Spelling {
  const options = list === '' ? [] : namesIn(list);
  const isLetter = (option: string) => !isWordy && /^-[^-]$/.test(option);
  return {
    letters: options.flatMap((option) => (isLetter(option) ? [option.slice(1)] : [])).join(''),
    long: options.flatMap((option) => (option.startsWith('--') ? [option.slice(2)] : [])),
    single: options.flatMap((option) => (/^-[^-]/.test(option) && !isLetter(option) ? [option.slice(1)] : [])),
    subcommands: options.filter((option) => !option.startsWith('-')),
  };
}

/** Whether the shell may expand the word to an option. */
export function mayBecomeOption({ text, glob }: CommandWord): boolean {
  return glob === 'start' || (glob === 'inside' && text.startsWith('-'));
}

export function hasOptions({ letters, long, single }: Spelling): boolean {
  return letters !== '' || long.length + single.length > 0;
}

/** Whether a word is, or may expand to, one of these options. `valued`: letters after which the rest of the word is a value. */
export function isOptionOf(spelling: Spelling, word: CommandWord, valued = ''): boolean {
  const { letters, long, single } = spelling;
  const { text } = word;
  if (mayBecomeOption(word)) return hasOptions(spelling);
  if (!text.startsWith('-') || text === '-' || text === '--') return false;
  const name = text.replace(/^--?/, '').replace(/[=:].*$/s, '');
  if (single.some((option) => option === name || (name.length > MIN_CUT && option.startsWith(name)))) return true;
  if (text.startsWith('--')) return long.some((option) => option.startsWith(name) || isFamily(option, name));
  for (const letter of text.slice(1)) {
    if (letters.includes(letter)) return true;
    if (valued.includes(letter)) return false;
  }
  return false;
}

/** Single-dash words are rarely abbreviated, and short ones are other options. */
const MIN_CUT = 3;

/** Whether a word is, or may expand to, one of the subcommands. */
export function isSubcommandOf({ subcommands }: Spelling, { text, glob }: CommandWord): boolean {
  return subcommands.includes(text) || (glob !== 'none' && subcommands.length > 0);
}

/** `expand-` matches every option with this prefix. */
function isFamily(option: string, name: string): boolean {
  return option.endsWith('-') && name.startsWith(option);
}

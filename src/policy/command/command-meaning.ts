/**
 * How deny and ask rules match. They match generously: programs by name in any folder, options at any position, and through programs that
 * run programs as far as visible. Anything else is `unclear`.
 */

import { gitSubcommandAt } from './command-git.ts';
import { NAMES_WHAT_RUNS, RUNNERS } from './command-hazard-table.ts';
import { FIND_RUNS, MAX_DEPTH, mayBe } from './command-hazard.ts';
import { hazardsOf, isLoader, programName } from './command-hazards.ts';
import { readCommandLine } from './command-line.ts';
import type { CommandLine, CommandWord, SimpleCommand } from '../../core/command.ts';
import { matchesStars } from './command-pattern.ts';
import type { CommandPattern, PatternWord } from './command-pattern.ts';
import { insideWrapper } from './command-wrappers.ts';

export type Meaning = 'yes' | 'no' | 'unclear';

/** Whether a deny or ask rule matches a line. `unclear` counts as a match and lets the message explain why. */
export function meansLine(pattern: CommandPattern, line: CommandLine): Meaning {
  return pattern.words.length === 0 ? 'yes' : lineMeaning(pattern, line, 0);
}

function lineMeaning(pattern: CommandPattern, line: CommandLine, depth: number): Meaning {
  if (line.type === 'unclear') return 'unclear';
  return strongest(line.commands.map((command) => commandMeaning(pattern, command, depth)));
}

function strongest(meanings: readonly Meaning[]): Meaning {
  if (meanings.includes('yes')) return 'yes';
  return meanings.includes('unclear') ? 'unclear' : 'no';
}

function commandMeaning(pattern: CommandPattern, command: SimpleCommand, depth: number): Meaning {
  if (fitsLoosely(pattern, command.words)) return 'yes';
  if (depth >= MAX_DEPTH) return 'unclear';
  const program = programName(command);
  const inside = insideWrapper(program, command);
  if (inside?.type === 'command') return commandMeaning(pattern, inside.command, depth + 1);
  if (inside?.type === 'nothing') return 'no';
  if (inside?.type === 'unknown') return orUnclear(suffixMeaning(pattern, command, depth));
  if (POSIX_SHELLS.has(program)) return shellMeaning(pattern, command, depth);
  if (program === 'find') return findMeaning(pattern, command, depth);
  if (READS_ORDERS.has(program)) return orUnclear(suffixMeaning(pattern, command, depth));
  if (RUNNERS.has(program) || isLoader(program) || NAMES_WHAT_RUNS.has(program)) {
    return suffixMeaning(pattern, command, depth);
  }
  return hazardMeaning(pattern, command, depth);
}

const POSIX_SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'rbash']);
/** Programs that can take commands from stdin. */
const READS_ORDERS: ReadonlySet<string> = new Set([
  'parallel',
  'at',
  'batch',
  'crontab',
  'expect',
  'gdb',
  'ed',
  'dc',
  'm4',
]);

function orUnclear(meaning: Meaning): Meaning {
  return meaning === 'yes' ? 'yes' : 'unclear';
}

/** `docker exec box rm -rf /` shows what it runs; `git -c core.pager=..` does not. */
function hazardMeaning(pattern: CommandPattern, command: SimpleCommand, depth: number): Meaning {
  const running = hazardsOf(command).filter(({ runs }) => runs !== 'nothing');
  if (running.length === 0) return 'no';
  const meaning = suffixMeaning(pattern, command, depth);
  return running.some(({ runs }) => runs === 'hidden') ? orUnclear(meaning) : meaning;
}

/** Every word may be the program that is run, and every word with blanks a shell line. */
function suffixMeaning(pattern: CommandPattern, { words }: SimpleCommand, depth: number): Meaning {
  return strongest(
    words.slice(1).map(({ text }, index): Meaning => {
      if (fitsLoosely(pattern, words.slice(index + 1))) return 'yes';
      return /\s/.test(text) ? lineMeaning(pattern, readCommandLine(text), depth + 1) : 'no';
    }),
  );
}

function shellMeaning(pattern: CommandPattern, command: SimpleCommand, depth: number): Meaning {
  const { words } = command;
  const at = words.findIndex(({ text }, index) => index > 0 && !/^-[euxlf]+$/.test(text));
  if (!/^-[euxlf]*c$/.test(words[at]?.text ?? '')) return hazardMeaning(pattern, command, depth);
  const script = words[at + 1];
  if (script === undefined || script.glob !== 'none' || script.text.startsWith('-')) return 'unclear';
  return lineMeaning(pattern, readCommandLine(script.text), depth + 1);
}

function findMeaning(pattern: CommandPattern, { words }: SimpleCommand, depth: number): Meaning {
  const meanings: Meaning[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? NO_WORD;
    if (!FIND_RUNS.some((name) => mayBe(word, name))) continue;
    // Everything up to the terminator belongs to this command, even if it looks like a second one.
    const end = words.findIndex(({ text }, index) => index > at && (text === ';' || text === '+'));
    const inner = words.slice(at + 1, end === -1 ? words.length : end).map(filled);
    const isKnown = word.glob === 'none' && inner[0]?.glob === 'none';
    meanings.push(isKnown ? commandMeaning(pattern, { words: inner }, depth + 1) : 'unclear');
    at += inner.length;
  }
  return strongest(meanings);
}

const NO_WORD: CommandWord = { text: '', glob: 'none' };

/** File names replace the braces. */
function filled(word: CommandWord): CommandWord {
  const place = word.text.indexOf('{}');
  return place === -1 ? word : { text: word.text, glob: place === 0 ? 'start' : 'inside' };
}

function fitsLoosely(pattern: CommandPattern, words: readonly CommandWord[]): boolean {
  const [program, ...wanted] = pattern.words;
  const given = words[0];
  if (program === undefined || given === undefined || !isNamed(program, given.text)) return false;
  const rest = words.slice(baseName(given.text) === 'git' ? (gitSubcommandAt(words) ?? 1) : 1);
  // Options before the git subcommand count if the rule has options.
  const hasOptions = wanted.filter(isOption).every((option) => isOptionMeant(option, words));
  const names = wanted.filter((word) => !isOption(word));
  return hasOptions && followsInOrder(names, rest) && hasRoom(pattern, names.length, rest);
}

function isNamed(program: PatternWord, text: string): boolean {
  const wanted = program.length === 1 ? [baseName(program[0] ?? '')] : program;
  return matchesStars(wanted, baseName(text)) || matchesStars(program, text);
}

function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}

function isOption(word: PatternWord): boolean {
  return word[0]?.startsWith('-') === true;
}

/** `-rf` also matches `-r -f`, and `--force` also matches `--forc` and `--force=x`. */
function isOptionMeant(option: PatternWord, words: readonly CommandWord[]): boolean {
  const [wanted = ''] = option;
  if (option.length > 1) return words.some((word) => matchesStars(option, word.text) || word.glob === 'start');
  if (words.some((word) => mayBe(word, wanted))) return true;
  if (wanted.startsWith('--')) {
    return words.some(({ text }) => /^--[^=]/.test(text) && wanted.startsWith(text.replace(/=.*$/s, '')));
  }
  const clusters = words.filter(({ text }) => /^-[^-]/.test(text));
  return Array.from(wanted.slice(1)).every((letter) => clusters.some(({ text }) => text.includes(letter)));
}

/** The names occur in order; options may come between them, each with a value. */
function followsInOrder(names: readonly PatternWord[], words: readonly CommandWord[]): boolean {
  let next = 0;
  let isAfterOption = false;
  for (const word of words) {
    const name = names[next];
    if (name === undefined) return true;
    if (mayBeName(name, word)) next += 1;
    else if (!word.text.startsWith('-') && !isAfterOption) return false;
    isAfterOption = word.text.startsWith('-');
  }
  return next === names.length;
}

function mayBeName(name: PatternWord, word: CommandWord): boolean {
  return name.length === 1 ? mayBe(word, name[0] ?? '') : word.glob !== 'none' || matchesStars(name, word.text);
}

function hasRoom({ rest }: CommandPattern, names: number, words: readonly CommandWord[]): boolean {
  if (rest === 'any' || words.some(({ glob }) => glob !== 'none')) return true;
  const given = words.filter(({ text }) => !text.startsWith('-')).length;
  return rest === 'none' ? given <= names : words.length > names;
}

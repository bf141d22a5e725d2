/** Variables that lines set, and values that the shell evaluates. */
import { printable } from '#core';
import { ANY, isAtLeast, joinValues, type CommandWord, type Level, type WordValue } from './command-words.ts';

/** What the lines that belong together set and evaluate, in whatever order they run. */
export interface LineFacts {
  /** Variables that only the runtime sets, with their values. */
  readonly known: ReadonlyMap<string, string>;
  /** `isQuiet`: programs do not see the variable. */
  set(name: string, value: WordValue, isQuiet?: boolean): void;
  /** `unset` makes the name of a function mean a program again. */
  unset(): void;
  /** A function may take the place of a program, somewhere in the line. */
  define(name: string): void;
  /** The shell evaluates a value, which is harmless only from this level on. */
  need(level: Level, value: WordValue): void;
  noteText(text: string): void;
  /** A redirection writes a file. */
  noteWrite(target: CommandWord): void;
  listTargets(): readonly CommandWord[];
  /** A redirection reads a file. */
  noteInput(): void;
  readsFiles(): boolean;
  /** Why the line is unclear, if it is. */
  findProblem(): string | undefined;
  /** It changes something that was taken as known. */
  isChanged(): boolean;
  listVariables(): readonly string[];
}

/** Variables and tables with which the shell chooses programs, or whose text it runs. */
const CHOOSING =
  /^(?:PATH|ENV|BASH.*|SHELLOPTS|EXECIGNORE|POSIXLY_CORRECT|PROMPT_COMMAND|PS\d|FCEDIT|TEXTDOMAIN.*|.*\W.*|)$/s;
/** Variables of the shell that evaluate what they are set to. */
const INTEGERS = /^(?:HISTCMD|OPTIND|S?RANDOM|SECONDS)$/;
const LOCALES = ['LANG', 'LC_ALL', 'LC_CTYPE'];

export function openFacts(known: ReadonlyMap<string, string>): LineFacts {
  const values = new Map<string, WordValue[]>();
  const needs: (readonly [Level, WordValue])[] = [];
  const visible = new Set<string>();
  let isUnset = false;
  let isDefined = false;
  let isForeign = false;
  let isReading = false;
  const targets: CommandWord[] = [];
  let problem: string | undefined;
  return {
    known,
    set(name, value, isQuiet = false) {
      if (CHOOSING.test(name)) problem ??= `it sets ${printable(name)}, which may change the programs that names mean`;
      if (INTEGERS.test(name)) this.need('number', value);
      const listed = values.get(name);
      if (listed === undefined) values.set(name, [value]);
      else listed.push(value);
      if (!isQuiet || /[A-Z]/.test(name)) visible.add(name);
    },
    need(level, value) {
      if (!isAtLeast(value.level, level)) problem ??= 'what it runs depends on text that is not known';
      if (value.from.length > 0) needs.push([level, value]);
    },
    noteText: (text) => (isForeign ||= /[^\0-\x7f]/.test(text)),
    noteWrite: (target) => targets.push(target),
    listTargets: () => targets,
    noteInput: () => (isReading = true),
    readsFiles: () => isReading,
    unset: () => (isUnset = true),
    define(name) {
      isDefined = true;
      values.set(`${name}()`, [ANY]);
    },
    findProblem() {
      if (problem !== undefined) return problem;
      // In some character sets the second byte of a character is a backslash or a bar.
      if (isForeign && LOCALES.some((name) => values.has(name))) return 'it chooses the character set of its own text';
      const levels = findLevels(values);
      const isKnown = (name: string, level: Level): boolean => isAtLeast(levels.get(name) ?? 'number', level);
      const unknown = needs.flatMap(([level, { from }]) => from.find((name) => !isKnown(name, level)) ?? []).at(0);
      return unknown && `what it runs depends on the value of ${unknown}, which is not known`;
    },
    isChanged: () => (isUnset && isDefined) || [...known.keys()].some((name) => values.has(name)),
    listVariables: () => [...visible],
  };
}

/** How much is known of each variable, given everything that the line sets it to. */
function findLevels(values: ReadonlyMap<string, readonly WordValue[]>): ReadonlyMap<string, Level> {
  const levels = new Map<string, Level>();
  const users = new Map<string, string[]>();
  const changed: string[] = [];
  for (const [name, list] of values) {
    const { level, from } = joinValues(list);
    levels.set(name, level);
    if (level !== 'number') changed.push(name);
    for (const each of from) {
      const listed = users.get(each);
      if (listed === undefined) users.set(each, [name]);
      else listed.push(name);
    }
  }
  for (let name = changed.pop(); name !== undefined; name = changed.pop()) {
    const level = levels.get(name) ?? 'number';
    for (const user of users.get(name) ?? []) {
      if (isAtLeast(level, levels.get(user) ?? 'number')) continue;
      levels.set(user, level);
      changed.push(user);
    }
  }
  return levels;
}

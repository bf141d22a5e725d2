/**
 * Reads a shell line into every command that it may run: in lists, pipelines, loops, functions, substitutions and here-documents, and behind
 * programs that run other command lines. A line that can change which program a name means, or that makes the shell evaluate text which is
 * not known, is unclear.
 */
import { printable, toProblem, type Problem } from '#core';
import {
  ANY,
  isAtLeast,
  joinValues,
  textLevel,
  type CommandLine,
  type Level,
  type SimpleCommand,
  type WordValue,
} from './command-words.ts';
import { simpleCommand } from './command-wrappers.ts';
import { readShell } from './shell-grammar.ts';
import { notUnderstood, UNCLEAR, type LineFacts } from './shell-words.ts';

const MAX_LENGTH = 128 * 1024;
const MAX_COMMANDS = 2_000;
/** Maximum nesting of lines in lines: `sh -c "sh -c …"`. */
const MAX_DEPTH = 8;

export interface LineContext {
  /** Variables that only the runtime sets; the value of any other variable is unknown. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export function readCommandLine(text: string, { variables = {}, env = {} }: LineContext = {}): CommandLine {
  const known = new Map(Object.entries(variables));
  const { line, isChanged } = readWhole(text, env, { known, hasFunctions: true });
  // What the line changes counts as unknown from its start.
  return isChanged ? readWhole(text, env, { known: new Map(), hasFunctions: false }).line : line;
}

interface ReadOptions {
  readonly known: ReadonlyMap<string, string>;
  readonly hasFunctions: boolean;
}

function readWhole(
  text: string,
  env: Readonly<Record<string, string>>,
  options: ReadOptions,
): { readonly line: CommandLine; readonly isChanged: boolean } {
  const facts = openFacts(options);
  const slots: Slots = [];
  const line = orUnclear(slots, () => {
    for (const [name, value] of Object.entries(env)) facts.set(name, { level: textLevel(value), from: [] });
    const { writes } = readLine(text, facts, { depth: 0, slots });
    facts.check();
    return { type: 'commands', commands: listCommands(slots), writes, variables: facts.listVariables() };
  });
  return { line, isChanged: facts.isChanged() };
}

type Slots = { command?: SimpleCommand }[];

function listCommands(slots: Slots): readonly SimpleCommand[] {
  return slots.flatMap(({ command }) => command ?? []);
}

function orUnclear(slots: Slots, read: () => CommandLine): CommandLine {
  try {
    return read();
  } catch (error) {
    const { message } = toProblem(error, (problem): problem is Problem => problem.code === UNCLEAR);
    return { type: 'unclear', reason: message, commands: listCommands(slots) };
  }
}

interface LineReading {
  readonly depth: number;
  readonly slots: Slots;
}

const MOVING: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);

function readLine(text: string, facts: Facts, { depth, slots }: LineReading): { readonly writes: readonly string[] } {
  if (depth > MAX_DEPTH) notUnderstood('it nests command lines too deeply');
  if (text.length > MAX_LENGTH) notUnderstood('it is longer than 128 KiB; put it into a script');
  // Bash drops NUL, and an unpaired surrogate is not the character that is read here.
  if (/\0|\p{Cs}/u.test(text)) notUnderstood('it contains characters that have no encoding');
  facts.noteText(text);
  const functions = new Set<string>();
  const writes: string[] = [];
  let movesAt = Number.POSITIVE_INFINITY;
  let repeats = false;
  readShell(text, facts, {
    startCommand() {
      const place = slots.length;
      const slot: Slots[number] = {};
      slots.push(slot);
      if (place >= MAX_COMMANDS) notUnderstood('it has too many commands; put them into a script');
      return (words, stdin) => {
        if (words.length === 0) return;
        const isFunction = functions.has(words[0]?.text ?? '');
        slot.command = simpleCommand(words, {
          depth,
          stdin,
          facts,
          isFunction,
          readLine: (inner) => readInner(inner, facts, depth + 1),
          readMentioned: (inner) => readInner(inner, openFacts({ known: new Map(), hasFunctions: true }), depth + 1),
        });
        if (isMoving(slot.command)) movesAt = Math.min(movesAt, place);
      };
    },
    onWrite: (target) => writes.push(target),
    onFunction: (name) => facts.addFunction(name, functions),
    onRepeat: () => (repeats = true),
  });
  for (const [place, slot] of slots.entries()) {
    const isMoved = place > movesAt || (repeats && Number.isFinite(movesAt));
    if (isMoved && slot.command !== undefined) slot.command = moved(slot.command);
  }
  return { writes };
}

/** A line in a word of a command. Its variables are those of the whole line. */
function readInner(text: string, facts: Facts, depth: number): CommandLine {
  const slots: Slots = [];
  return orUnclear(slots, () => {
    const { writes } = readLine(text, { ...facts, known: new Map() }, { depth, slots });
    return { type: 'commands', commands: listCommands(slots), writes, variables: [] };
  });
}

function isMoving({ words, inner }: SimpleCommand): boolean {
  return MOVING.has(words[0]?.text ?? '') || inner.some(isMoving);
}

function moved(command: SimpleCommand): SimpleCommand {
  return { ...command, isMoved: true, inner: command.inner.map(moved) };
}

/** Variables and tables with which the shell chooses programs, or whose text it runs. */
const CHOOSING =
  /^(?:PATH|ENV|BASH.*|SHELLOPTS|EXECIGNORE|POSIXLY_CORRECT|PROMPT_COMMAND|PS\d|FCEDIT|TEXTDOMAIN.*|.*\W.*|)$/s;
const LOCALES = ['LANG', 'LC_ALL', 'LC_CTYPE'];

export interface Facts extends LineFacts {
  noteText(text: string): void;
  /** `unset` makes the name of a function mean a program again. */
  unset(): void;
  addFunction(name: string, functions: Set<string>): void;
  /** Leaves the reading if a value that the shell evaluates is not known well enough. */
  check(): void;
  isChanged(): boolean;
  listVariables(): readonly string[];
}

function openFacts({ known, hasFunctions }: ReadOptions): Facts {
  const values = new Map<string, WordValue[]>();
  const needs: (readonly [Level, WordValue])[] = [];
  const visible = new Set<string>();
  let isUnset = false;
  let isDefined = false;
  let isForeign = false;
  let problem: string | undefined;
  return {
    known,
    set(name, value, isQuiet = false) {
      if (CHOOSING.test(name)) problem ??= `it sets ${printable(name)}, which may change the programs that names mean`;
      const listed = values.get(name);
      if (listed === undefined) values.set(name, [value]);
      else listed.push(value);
      if (!isQuiet || /[A-Z]/.test(name)) visible.add(name);
    },
    need(level, value) {
      if (!isAtLeast(value.level, level)) problem ??= 'the shell may evaluate text that is not known';
      if (value.from.length > 0) needs.push([level, value]);
    },
    noteText: (text) => (isForeign ||= /[^\0-\x7f]/.test(text)),
    unset: () => (isUnset = true),
    define(name) {
      isDefined = true;
      values.set(`${name}()`, [ANY]);
    },
    addFunction(name, functions) {
      if (hasFunctions) functions.add(name);
    },
    check() {
      if (problem !== undefined) notUnderstood(problem);
      // In some character sets the second byte of a character is a backslash or a bar.
      if (isForeign && LOCALES.some((name) => values.has(name)))
        notUnderstood('it chooses the character set of its own text');
      const levels = findLevels(values);
      for (const [level, { from }] of needs) {
        const name = from.find((each) => !isAtLeast(levels.get(each) ?? 'number', level));
        if (name !== undefined)
          notUnderstood(`the shell evaluates the value of ${name}, which is not known to be a number`);
      }
    },
    isChanged: () => (isUnset && isDefined && hasFunctions) || [...known.keys()].some((name) => values.has(name)),
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

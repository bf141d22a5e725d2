/**
 * Reads a shell line into every command that it may run: in lists, pipelines, loops, functions, substitutions and here-documents, and behind
 * programs that run other command lines. A line that can change which program a name means, or that makes the shell evaluate text which is
 * not known, is unclear.
 */
import { toProblem, type Problem } from '#core';
import { moved, textLevel, type CommandLine, type SimpleCommand } from './command-words.ts';
import { simpleCommand } from './command-wrappers.ts';
import { readShell } from './shell-grammar.ts';
import { openFacts, type LineFacts } from './line-facts.ts';
import { notUnderstood, UNCLEAR } from './shell-source.ts';

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
  const facts = openFacts(new Map(Object.entries(variables)));
  const line = readWhole(text, env, facts, true);
  // What the line changes counts as unknown from its start.
  return facts.isChanged() ? readWhole(text, env, openFacts(new Map()), false) : line;
}

function readWhole(text: string, env: LineContext['env'] = {}, facts: LineFacts, hasFunctions: boolean): CommandLine {
  const slots: Slots = [];
  return orUnclear(slots, () => {
    for (const [name, value] of Object.entries(env)) facts.set(name, { level: textLevel(value), from: [] });
    const { writes } = readLine(text, facts, { depth: 0, slots, hasFunctions });
    const problem = facts.findProblem();
    if (problem !== undefined) notUnderstood(problem);
    const commands = listCommands(slots);
    return {
      type: 'commands',
      commands,
      writes,
      targets: facts.listTargets(),
      variables: facts.listVariables(),
      readsFiles: facts.readsFiles(),
    };
  });
}

type Slots = { command?: SimpleCommand }[];

function listCommands(slots: Slots): readonly SimpleCommand[] {
  return slots.map(({ command }) => command).filter((command) => command !== undefined);
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
  /** Functions of the line take the place of programs. */
  readonly hasFunctions: boolean;
  readonly isPosix?: boolean;
}

const MOVING: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);

function readLine(
  text: string,
  facts: LineFacts,
  { depth, slots, hasFunctions, isPosix = false }: LineReading,
): { readonly writes: readonly string[] } {
  if (depth > MAX_DEPTH) notUnderstood('it nests command lines too deeply');
  if (text.length > MAX_LENGTH) notUnderstood('it is longer than 128 KiB; put it into a script');
  // Bash drops NUL, and an unpaired surrogate is not the character that is read here.
  if (/\0|\p{Cs}/u.test(text)) notUnderstood('it contains characters that have no encoding');
  facts.noteText(text);
  /** With their number: a command that waits for its here-document does not see later ones. */
  const functions = new Map<string, number>();
  const writes: string[] = [];
  let movesAt = Number.POSITIVE_INFINITY;
  let repeats = false;
  readShell(text, facts, {
    startCommand() {
      const place = slots.length;
      const slot: Slots[number] = {};
      const defined = functions.size;
      slots.push(slot);
      if (place >= MAX_COMMANDS) notUnderstood('it has too many commands; put them into a script');
      return (words, stdin) => {
        if (words.length === 0) return;
        const isFunction = hasFunctions && (functions.get(words[0]?.text ?? '') ?? defined) < defined;
        slot.command = simpleCommand(words, {
          depth,
          stdin,
          facts,
          isFunction,
          isPosix,
          readLine: (inner, isInner) =>
            readInner(inner, { ...facts, known: new Map() }, { depth: depth + 1, hasFunctions, isPosix: isInner }),
          readMentioned: (inner) => readInner(inner, openFacts(new Map()), { depth: depth + 1, hasFunctions }),
        });
        if (isMoving(slot.command)) movesAt = Math.min(movesAt, place);
      };
    },
    onWrite: (target) => writes.push(target),
    onFunction: (name) => functions.set(name, functions.get(name) ?? functions.size),
    onRepeat: () => (repeats = true),
  });
  if (Number.isFinite(movesAt))
    for (const [place, slot] of slots.entries())
      if (slot.command !== undefined && (place > movesAt || repeats || isDeferred(slot.command)))
        slot.command = moved(slot.command);
  return { writes };
}

/** A line in a word of a command. Its variables are those of the whole line. */
function readInner(text: string, facts: LineFacts, options: Omit<LineReading, 'slots'>): CommandLine {
  const slots: Slots = [];
  return orUnclear(slots, () => {
    const { writes } = readLine(text, facts, { ...options, slots });
    return { type: 'commands', commands: listCommands(slots), writes, variables: [] };
  });
}

function isMoving({ words, inner }: SimpleCommand): boolean {
  return MOVING.has(words[0]?.text ?? '') || inner.some(isMoving);
}

/** What `trap` runs comes at the end, or at any time. */
function isDeferred({ words, inner }: SimpleCommand): boolean {
  return words[0]?.text === 'trap' || inner.some(isDeferred);
}

import { errorOutcome, isSkillError, nearest, quoted } from '#core';
import { isDirectory } from '#platform';
import { readSurroundings } from '#runtime';
import { VERSION } from '../version.ts';
import { parseArguments, parseSettings } from './arguments.ts';
import { GLOBAL_FLAGS, toggle, type Command, type CommandEntry, type Flag } from './command.ts';
import { COMMANDS, findCommand } from './commands.ts';
import { EXIT, isUsageError, usageError } from './exit.ts';
import { openTerminal, reportProblem, reportWarning, type Streams, type Terminal } from './terminal/terminal.ts';

export interface Program {
  /** The command line after the program's name. */
  readonly words: readonly string[];
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Runs one command line and returns its exit code. */
export async function main({ words, streams, env, signal }: Program): Promise<number> {
  // What follows -- is for a script.
  const own = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined);
  const terminal = openTerminal({
    streams,
    // As a terminal that cannot move its cursor.
    env: own.includes('--plain') ? { ...env, TERM: 'dumb' } : env,
    color: parseColor(own),
    quiet: own.includes('--quiet') || own.includes('-q'),
    json: own.includes('--json'),
  });
  try {
    return await dispatch(words, terminal, signal);
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    return report(error, terminal);
  }
}

async function dispatch(words: readonly string[], terminal: Terminal, signal: AbortSignal): Promise<number> {
  const at = commandIndex(words);
  const [first, ...others] = at === -1 ? [undefined] : [words[at], ...words.slice(0, at), ...words.slice(at + 1)];
  if (first === undefined || first === 'help') return help(first === undefined ? words : others, terminal);

  const entry = requireCommand(first);
  const { command } = await entry.load();
  const parsed = parseArguments(others, command.flags, entry.name);
  const scope = scopeWords(parsed.flags.source, entry.name, command);
  for (const warning of parsed.warnings ?? []) reportWarning(terminal, warning);
  const { flags, positionals } =
    scope.length === 0 ? parsed : parseArguments([...others, ...scope], command.flags, entry.name);
  if (flags.version === true) return printVersion(terminal);
  if (flags.help === true) return help([entry.name], terminal);
  const surroundings = readSurroundings({ cwd: flags.cwd });
  if (flags.cwd !== undefined && !isDirectory(surroundings.cwd))
    throw usageError(`--cwd is not a folder: ${quoted(flags.cwd, 200)}`, 'name an existing folder that you may enter');
  await parseSettings(flags.set);
  checkCount(positionals.length, command);
  return command.run({ flags, positionals, words, terminal, signal, surroundings, commands: COMMANDS });
}

/** Commands that use no index of skills. */
const WITHOUT_SKILLS: ReadonlySet<string> = new Set([
  'new',
  'trust',
  'config',
  'approvals',
  'demo',
  'sign',
  'site',
  'source',
  'keys',
  'completion',
  'docs',
  'fleet',
  'activate',
]);

/** For commands that change a root, --source is --scope. An error where a source means nothing. */
function scopeWords(source: string | undefined, name: string, { flags, usage }: Command): readonly string[] {
  if (source === undefined) return [];
  const { choices } = flags['scope'] ?? {};
  if (choices?.includes(source) === true) return ['--scope', source];
  if (choices !== undefined)
    throw usageError(
      `--source ${quoted(source)} has no root that ${name} can use`,
      `use ${choices.join(' or ')}; skills of other sources are not installed`,
    );
  if (!WITHOUT_SKILLS.has(name)) return [];
  throw usageError(`${name} has no use for --source`, `usage: skillwright ${usage}`);
}

function checkCount(count: number, { positionals: [min, max], usage }: Command): void {
  if (count >= min && count <= max) return;
  const problem =
    count < min
      ? `missing argument: expected at least ${String(min)}, got ${String(count)}`
      : `too many arguments: expected at most ${String(max)}, got ${String(count)}`;
  throw usageError(problem, `usage: skillwright ${usage}`);
}

/** The position of the first word that is neither a flag nor its value: global flags may come before the command. */
function commandIndex(words: readonly string[]): number {
  const takesValue = (word: string): boolean =>
    Object.entries<Flag>(GLOBAL_FLAGS).some(
      ([name, { type, short }]) => type === 'string' && (word === `--${name}` || word === `-${short ?? ''}`),
    );
  return words.findIndex((word, place) => !word.startsWith('-') && !takesValue(words[place - 1] ?? ''));
}

function requireCommand(name: string): CommandEntry {
  const entry = findCommand(name);
  if (entry !== undefined) return entry;
  const names = COMMANDS.flatMap((command) => [command.name, ...command.aliases]);
  const [guess] = nearest(name, names, 1);
  throw usageError(
    `unknown command ${quoted(name, 200)}`,
    guess === undefined ? 'see skillwright --help' : `did you mean ${guess}?`,
  );
}

const HELP_FLAGS = { all: toggle('describe every command and every global flag') } as const;

async function help(words: readonly string[], terminal: Terminal): Promise<number> {
  const { commandHelp, programHelp } = await import('./help.ts');
  const { flags, positionals } = parseArguments(words, HELP_FLAGS, 'help');
  if (flags.version === true) return printVersion(terminal);
  const [name] = positionals;
  if (name === undefined) {
    terminal.out(programHelp(terminal, { isWhole: flags.all === true }));
    return EXIT.done;
  }
  const entry = requireCommand(name);
  const { command } = await entry.load();
  terminal.out(commandHelp(entry, command, terminal));
  return EXIT.done;
}

function printVersion(terminal: Terminal): number {
  terminal.out(VERSION);
  return EXIT.done;
}

/** Reads `--color` before the other flags are parsed, because parse errors are colored too. */
function parseColor(words: readonly string[]): 'auto' | 'always' | 'never' {
  const at = words.findIndex((word) => word === '--color' || word.startsWith('--color='));
  const value = words[at]?.includes('=') === true ? words[at].slice('--color='.length) : words[at + 1];
  return at !== -1 && (value === 'always' || value === 'never') ? value : 'auto';
}

/** Prints an expected error, with --json also as the one JSON value. Rethrows a bug, so that its stack is shown. */
function report(error: unknown, terminal: Terminal): number {
  if (!isSkillError(error)) throw error;
  const { code, message, hint } = error;
  const isUsage = isUsageError(error);
  terminal.printJson({ error: { code, message, hint, data: isUsage ? undefined : error.data } });
  reportProblem(terminal, { message, hint });
  return isUsage ? EXIT.usage : errorOutcome(code).exit;
}

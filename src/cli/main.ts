import path from 'node:path';

import { isSkillError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { printable } from '../core/text/text.ts';
import { isDirectory } from '../platform/fs/paths.ts';
import { VERSION } from '../version.ts';
import { parseArguments } from './arguments.ts';
import { GLOBAL_FLAGS } from './command.ts';
import type { Flag } from './command.ts';
import { COMMANDS, findCommand } from './commands.ts';
import { EXIT, UsageError } from './exit.ts';
import { settingsOf } from './settings.ts';
import { openTerminal } from './terminal/terminal.ts';
import type { Streams, Terminal } from './terminal/terminal.ts';

export interface Program {
  /** Behind the program's name. */
  readonly words: readonly string[];
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Nothing here can do it: no sandbox, no model. */
const IMPOSSIBLE: ReadonlySet<string> = new Set(['executor/unavailable', 'model/unavailable']);

/** Runs one command line and gives its exit status. */
export async function main({ words, streams, env, signal }: Program): Promise<number> {
  const terminal = openTerminal({
    streams,
    env,
    color: colorOf(words),
    quiet: words.includes('--quiet') || words.includes('-q'),
  });
  try {
    return await dispatch(words, terminal, signal);
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    return report(error, terminal, words.includes('--json'));
  }
}

async function dispatch(words: readonly string[], terminal: Terminal, signal: AbortSignal): Promise<number> {
  const at = commandPlace(words);
  const [first, ...others] = at === -1 ? [undefined] : [words[at], ...words.slice(0, at), ...words.slice(at + 1)];
  if (first === undefined || first === 'help') return help(first === undefined ? words : others, terminal);

  const entry = findCommand(first);
  if (entry === undefined) {
    const [guess] = nearest(
      first,
      COMMANDS.flatMap(({ name, aliases }) => [name, ...aliases]),
      1,
    );
    throw new UsageError(
      `there is no command ${JSON.stringify(printable(first))}`,
      guess === undefined ? 'see skillwright --help' : `did you mean ${guess}?`,
    );
  }
  const { command } = await entry.load();
  const { flags, positionals } = parseArguments(others, command.flags, entry.name);
  if (flags.version === true) return printVersion(terminal);
  if (flags.help === true) return help([entry.name], terminal);
  if (flags.cwd !== undefined && !isDirectory(path.resolve(flags.cwd)))
    throw new UsageError(
      `--cwd is no folder: ${JSON.stringify(printable(flags.cwd))}`,
      'name a folder that is there and can be entered',
    );
  await settingsOf(flags.set);
  const [least, most] = command.positionals;
  if (positionals.length < least || positionals.length > most) {
    throw new UsageError(
      positionals.length < least ? 'something is missing' : 'there is something too much',
      `usage: skillwright ${command.usage}`,
    );
  }
  return command.run({ flags, positionals, words, terminal, signal, commands: COMMANDS });
}

/** The first word that is neither a flag nor the value of one: flags may stand before the command. */
function commandPlace(words: readonly string[]): number {
  const takesValue = (word: string): boolean =>
    Object.entries<Flag>(GLOBAL_FLAGS).some(
      ([name, { type, short }]) => type === 'string' && (word === `--${name}` || word === `-${short ?? ''}`),
    );
  return words.findIndex((word, place) => !word.startsWith('-') && !takesValue(words[place - 1] ?? ''));
}

async function help(words: readonly string[], terminal: Terminal): Promise<number> {
  const { commandHelp, programHelp } = await import('./help.ts');
  const { flags, positionals } = parseArguments(words, {}, '');
  if (flags.version === true) return printVersion(terminal);
  const [name] = positionals;
  if (name === undefined) {
    terminal.out(programHelp(terminal));
    return EXIT.done;
  }
  const entry = findCommand(name);
  if (entry === undefined)
    throw new UsageError(`there is no command ${JSON.stringify(printable(name))}`, 'see skillwright --help');
  const { command } = await entry.load();
  terminal.out(commandHelp(entry.name, command, terminal));
  return EXIT.done;
}

function printVersion(terminal: Terminal): number {
  terminal.out(VERSION);
  return EXIT.done;
}

/** `--color` is needed before the rest is parsed: errors of parsing are coloured too. */
function colorOf(words: readonly string[]): 'auto' | 'always' | 'never' {
  const at = words.findIndex((word) => word === '--color' || word.startsWith('--color='));
  const value = words[at]?.includes('=') === true ? words[at].slice('--color='.length) : words[at + 1];
  return at !== -1 && (value === 'always' || value === 'never') ? value : 'auto';
}

/** Errors that are no bugs, as text with a hint or, with --json, as the one JSON value. A bug flies on with its stack. */
function report(error: unknown, terminal: Terminal, isJson: boolean): number {
  const known =
    error instanceof UsageError
      ? { code: 'usage', message: error.message, hint: error.hint }
      : isSkillError(error)
        ? error
        : undefined;
  if (known === undefined) throw error;
  const { code, message, hint } = known;
  if (isJson)
    terminal.out(
      JSON.stringify(
        { schema: 1, error: { code, message, hint, ...(isSkillError(error) ? { data: error.data } : {}) } },
        undefined,
        2,
      ),
    );
  terminal.err(`${terminal.style('red', 'error')}: ${message}\n${terminal.style('dim', `hint: ${hint}`)}`);
  if (error instanceof UsageError) return EXIT.usage;
  if (code === 'policy/refused') return EXIT.refused;
  return IMPOSSIBLE.has(code) ? EXIT.impossible : EXIT.failed;
}

import { VERSION } from '../version.ts';
import { padText, textWidth } from '#platform';
import {
  GLOBAL_FLAGS,
  shownFlags,
  type Command,
  type CommandEntry,
  type Flag,
  type Flags,
  type Task,
} from './command.ts';
import { COMMANDS } from './commands.ts';
import type { Terminal } from './terminal/terminal.ts';
import { wrapWords } from './terminal/wrap.ts';

const MOST_USED = ['demo', 'list', 'search', 'run', 'chat', 'new', 'check', 'install', 'eval', 'doctor'];

const TASKS: Readonly<Record<Task, string>> = {
  use: 'Use skills',
  write: 'Write skills',
  install: 'Install skills',
  check: 'Check',
  govern: 'Govern',
};

/** The help of the program. With `isWhole` it describes every command and every global flag. */
export function programHelp(terminal: Terminal, { isWhole }: { readonly isWhole: boolean }): string {
  const { style } = terminal;
  const flags = Object.entries<Flag>(GLOBAL_FLAGS).filter(([, { rare }]) => isWhole || rare !== true);
  return [
    `${style('bold', 'skillwright')} ${VERSION}: the runtime for Agent Skills`,
    '',
    `${style('bold', 'Usage')}  skillwright <command> [flags]`,
    ...(isWhole ? allCommands(terminal) : shortCommands(terminal)),
    '',
    style('bold', 'Global flags'),
    ...flagLines(Object.fromEntries(flags), terminal),
    '',
    wrapped(
      'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused, 4 not possible here, 5 invalid evaluation, 130 interrupted.',
      terminal,
    ),
    wrapped(
      `skillwright <command> --help describes a command${isWhole ? '' : '; skillwright help --all lists every command and flag'}.`,
      terminal,
    ),
  ].join('\n');
}

function shortCommands(terminal: Terminal): readonly string[] {
  const { style } = terminal;
  const used = MOST_USED.flatMap((name) => COMMANDS.filter((command) => command.name === name));
  const column = Math.max(...Object.values(TASKS).map(textWidth)) + 4;
  return [
    '',
    style('bold', 'Most used'),
    ...summaryLines(used, terminal),
    '',
    style('bold', 'All commands'),
    ...byTask().map(([title, commands]) => {
      const names = commands.map(({ name }) => name).join(' ');
      const line = wrapWords(names, { width: terminal.width, indent: column, column });
      return `  ${style('cyan', padText(title, column - 2))}${line}`;
    }),
  ];
}

function allCommands(terminal: Terminal): readonly string[] {
  return byTask().flatMap(([title, commands]) => [
    '',
    terminal.style('bold', title),
    ...summaryLines(commands, terminal),
  ]);
}

function byTask(): readonly (readonly [title: string, commands: readonly CommandEntry[]])[] {
  return Object.entries(TASKS).map(([task, title]) => [title, COMMANDS.filter((command) => command.task === task)]);
}

function summaryLines(commands: readonly CommandEntry[], terminal: Terminal): readonly string[] {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  return columns(rows, terminal, (name) => terminal.style('cyan', name));
}

/** The help of one command. */
export function commandHelp({ name, aliases }: CommandEntry, command: Command, terminal: Terminal): string {
  const { style } = terminal;
  const usages = command.usage.split(' | ').map((usage) => `skillwright ${usage}`);
  const indent = 7;
  return [
    ...usages.map((usage, place) => {
      const start = place === 0 ? `${style('bold', 'Usage')}  ` : ' '.repeat(indent);
      return start + wrapWords(usage, { width: terminal.width, indent: indent + 2, column: indent });
    }),
    ...(aliases.length === 0 ? [] : [`${style('bold', 'Alias')}  ${aliases.join(', ')}`]),
    '',
    wrapped(command.details, terminal),
    ...(Object.keys(command.flags).length === 0
      ? []
      : ['', style('bold', `Flags of ${name}`), ...flagLines(command.flags, terminal)]),
    '',
    style('bold', 'Global flags'),
    ...flagLines(GLOBAL_FLAGS, terminal),
    '',
    style('bold', 'Examples'),
    // Commands keep their line, so that they can be copied.
    ...command.examples.flatMap(([line, about]) => [
      ...wrapWords(about, { width: terminal.width - 4 })
        .split('\n')
        .map((part) => `  ${style('dim', `# ${part}`)}`),
      `  ${line}`,
    ]),
  ].join('\n');
}

function flagLines(flags: Flags, terminal: Terminal): readonly string[] {
  return columns(
    shownFlags(flags).map(([name, flag]) => [flagName(name, flag), flag.about]),
    terminal,
  );
}

function flagName(name: string, { short, value }: Flag): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

/** Two columns, the second wrapped. A first cell that is too wide gets a line of its own. */
function columns(
  rows: readonly (readonly [first: string, second: string])[],
  { width }: Terminal,
  style: (text: string) => string = (text) => text,
): readonly string[] {
  const most = Math.max(12, Math.floor(width / 3));
  const first = Math.max(...rows.map(([text]) => textWidth(text)).filter((columnsOfText) => columnsOfText <= most), 0);
  const indent = first + 4;
  return rows.map(([name, about]) => {
    const text = wrapWords(about, { width, indent, column: indent });
    const start = `  ${style(padText(name, first))}`;
    return textWidth(name) <= first ? `${start}  ${text}` : `${start}\n${' '.repeat(indent)}${text}`;
  });
}

function wrapped(text: string, { width }: Terminal): string {
  return wrapWords(text, { width });
}

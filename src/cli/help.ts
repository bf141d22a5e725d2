import { VERSION } from '../version.ts';
import { GLOBAL_FLAGS } from './command.ts';
import type { Command, Flag, Flags } from './command.ts';
import { COMMANDS } from './commands.ts';
import type { Terminal } from './terminal/terminal.ts';

/** The help of the whole program. */
export function programHelp({ style }: Terminal): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    `${style('bold', 'skillwright')} ${VERSION}: find, read, check and search Agent Skills`,
    '',
    `${style('bold', 'Usage')}  skillwright <command> [flags]`,
    '',
    style('bold', 'Commands'),
    ...COMMANDS.map(({ name, summary }) => `  ${style('cyan', name.padEnd(width))}  ${summary}`),
    '',
    style('bold', 'Flags of every command'),
    ...flagLines(GLOBAL_FLAGS),
    '',
    style('bold', 'Start here'),
    '  skillwright list                   what is there, and what is wrong with it',
    '  skillwright search "fill a form"   which skill is for this',
    '  skillwright new my-skill           a skill of your own',
    '',
    'Exit status: 0 done, 1 failed, 2 wrong usage, 3 refused, 4 not possible here, 130 interrupted.',
    'skillwright <command> --help says more.',
  ].join('\n');
}

/** The help of one command. */
export function commandHelp(name: string, command: Command, { style }: Terminal): string {
  const width = Math.max(0, ...command.examples.map(([line]) => line.length));
  const aliases = COMMANDS.find((entry) => entry.name === name)?.aliases ?? [];
  return [
    `${style('bold', 'Usage')}  skillwright ${command.usage}${aliases.length === 0 ? '' : `   (also: ${aliases.join(', ')})`}`,
    '',
    command.details,
    ...(Object.keys(command.flags).length === 0 ? [] : ['', style('bold', 'Flags'), ...flagLines(command.flags)]),
    '',
    style('bold', 'Flags of every command'),
    ...flagLines(GLOBAL_FLAGS),
    '',
    style('bold', 'Examples'),
    ...command.examples.map(([line, about]) => `  ${line.padEnd(width)}   ${style('dim', about)}`),
  ].join('\n');
}

function flagLines(flags: Flags): readonly string[] {
  const written = Object.entries(flags).map(([name, flag]) => ({ name: flagName(name, flag), about: flag.about }));
  const width = Math.max(...written.map(({ name }) => name.length));
  return written.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
}

function flagName(name: string, { short, value }: Flag): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

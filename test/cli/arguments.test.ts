import { describe, expect, test } from 'vitest';

import { parseArguments } from '../../src/cli/arguments.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { Flags } from '../../src/cli/command.ts';
import { isSkillError } from '../../src/core/errors.ts';
import { isUsageError } from '../../src/cli/exit.ts';

const FLAGS = {
  limit: { type: 'string', short: 'n', about: '' },
  all: { type: 'boolean', short: 'a', about: '' },
  in: { type: 'string', multiple: true, path: true, about: '' },
  format: { type: 'string', choices: ['text', 'sarif'], about: '' },
} as const satisfies Flags;

const parse = (...words: readonly string[]): unknown => parseArguments(words, FLAGS, 'list');

test('an earlier name of a flag counts as the flag, with a warning', () => {
  const flags = { out: { type: 'string', short: 'o', formerly: 'output', about: '' } } as const satisfies Flags;
  const warnings = ['--output is --out now; the old name works until the next minor version'];
  expect([
    parseArguments(['--output', 'a', 'b'], flags, 'pack'),
    parseArguments(['--output=a'], flags, 'pack'),
    parseArguments(['-o', 'a'], flags, 'pack'),
  ]).toEqual([
    { flags: { out: 'a' }, positionals: ['b'], warnings },
    { flags: { out: 'a' }, positionals: [], warnings },
    { flags: { out: 'a' }, positionals: [] },
  ]);
  expect(() => parseArguments(['--output', 'a', '--out', 'b'], flags, 'pack')).toThrow('given more than once');
});

test('no command has two names for where its result goes', async () => {
  const commands = await Promise.all(
    COMMANDS.map(async ({ name, load }) => [name, (await load()).command.flags] as const),
  );
  const others = ['output', 'dir', 'dest', 'destination', 'target'];
  expect(
    commands.flatMap(([name, flags]) => others.filter((flag) => flag in flags).map((flag) => [name, flag])),
  ).toEqual([]);
});

function problem(...words: readonly string[]): string {
  try {
    parse(...words);
  } catch (error) {
    if (isSkillError(error) && isUsageError(error)) return `${error.message}: ${error.hint}`;
    throw error;
  }
  throw new Error('expected a usage error');
}

describe('parseArguments', () => {
  test('reads long, short, inline, combined and repeated flags', () => {
    expect(parse('x', '--limit', '5', '-qa', '--in=a', '--in', 'b', 'y')).toEqual({
      flags: { limit: '5', quiet: true, all: true, in: ['a', 'b'] },
      positionals: ['x', 'y'],
    });
    expect(parse('-n5', '-C', 'dir')).toEqual({ flags: { limit: '5', cwd: 'dir' }, positionals: [] });
    expect(parse('-an', '5')).toEqual({ flags: { all: true, limit: '5' }, positionals: [] });
    expect(parse('-', '--root=--json')).toEqual({ flags: { root: ['--json'] }, positionals: ['-'] });
  });

  test('takes every word after -- as a positional', () => {
    expect(parse('a', '--', '--json', '-a')).toEqual({ flags: {}, positionals: ['a', '--json', '-a'] });
  });

  test('accepts a repeated boolean flag', () => {
    expect(parse('--all', '-a')).toEqual({ flags: { all: true }, positionals: [] });
  });

  test.each([
    [['--limti', '5'], 'unknown flag --limti for skillwright list: did you mean --limit?'],
    [['-z'], 'unknown flag -z for skillwright list: see skillwright list --help'],
    [['--constructor'], 'unknown flag --constructor for skillwright list: see skillwright list --help'],
    [['--limit'], '--limit needs a value: see skillwright list --help'],
    [['--root', '--json'], '--root needs a value: write --root=VALUE if the value starts with a dash'],
    [['--in='], '--in needs a value, got an empty path: write . for the current folder'],
    [['--all=yes'], '--all takes no value: see skillwright list --help'],
    [['--limit', '1', '-n', '2'], '-n is given more than once: give it once'],
    [['--format', 'yaml'], '--format must be one of text, sarif: got "yaml"'],
    [['--format', 'sarf'], '--format must be one of text, sarif: got "sarf"; did you mean sarif?'],
  ])('rejects %j', (words, message) => {
    expect(problem(...words)).toBe(message);
  });
});

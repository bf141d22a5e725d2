import { parseArgs } from 'node:util';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Flags } from '../../src/cli/command.ts';
import { readWords } from '../../src/cli/read-words.ts';

const FLAGS = {
  json: { type: 'boolean', about: '' },
  root: { type: 'string', multiple: true, about: '' },
  cwd: { type: 'string', short: 'C', about: '' },
  quiet: { type: 'boolean', short: 'q', about: '' },
  all: { type: 'boolean', short: 'a', about: '' },
  limit: { type: 'string', short: 'n', about: '' },
} as const satisfies Flags;

/** The same by Node's own parser, which is the measure. */
function byNode(words: readonly string[]): ReturnType<typeof readWords> {
  const options = Object.fromEntries(
    Object.entries<Flags[string]>(FLAGS).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short === undefined ? {} : { short }), ...(multiple === true ? { multiple } : {}) },
    ]),
  );
  const { tokens, positionals } = parseArgs({
    args: [...words],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return {
    options: tokens.flatMap((token) =>
      token.kind === 'option'
        ? [{ name: token.name, written: token.rawName, value: token.value, isInline: token.inlineValue ?? false }]
        : [],
    ),
    positionals,
  };
}

const word = fc.oneof(
  fc.constantFrom(
    '--',
    '-',
    '',
    '--json',
    '--root',
    '--root=',
    '--root=a=b',
    '--=',
    '--=x',
    '--==',
    '--json=1',
    '--cwd',
    'x',
  ),
  fc.constantFrom('-C', '-Cx', '-qC', '-qCx', '-qa', '-q=', '-C=', '-zq', '-n5', '-aqn', '---', '---x=y', '--toString'),
  fc.string({ unit: fc.constantFrom('-', '=', 'C', 'q', 'n', 'z', 'root', '\u{1F600}'), maxLength: 6 }),
);

test('words are told apart as by util.parseArgs', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      expect(readWords(words, FLAGS)).toEqual(byNode(words));
    }),
    { numRuns: 3000 },
  );
});

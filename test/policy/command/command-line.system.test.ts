import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import type { SimpleCommand } from '../../../src/core/command.ts';

/** Signs that mean something to a shell, names of programs that write down what they were given, and names of files. */
const TOKENS = [
  ['p', 'q', 'r', ' p ', '; q ', '&& r ', ' | q ', '|| p ', ' ', ' ', ' ', '\t', 'a', '-x', 'b.md'],
  [
    '"',
    "'",
    '\\',
    '$',
    '`',
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    '*',
    '?',
    '~',
    '!',
    '#',
    ';',
    '&',
    '|',
    '<',
    '>',
    '=',
    ',',
    ':',
    '.',
    '/',
  ],
  [
    '""',
    "''",
    '"a b"',
    "'$X'",
    '\\"',
    "\\'",
    '\\ ',
    '\\\\',
    '$X',
    '${X}',
    '$HOME',
    '"$HOME"',
    '${HOME}',
    "$'",
    '$"',
    '${',
    '"$',
  ],
  [
    '{}',
    '{a,b}',
    '{a$,b}',
    '{,$',
    '$HOME{',
    '{1..2}',
    'X=',
    'X=1 ',
    '2>&1',
    '>/dev/null',
    '2>/dev/null',
    '&>/dev/null',
    ' >&2',
    '>>',
    '<<<',
    '|&',
    ';;',
    '1',
    '2',
  ],
  [
    '^',
    '%',
    '@',
    '+',
    '-',
    'é',
    '中',
    '*.md',
    './*',
    '~/',
    '=~',
    'if ',
    'time ',
    '! ',
    '\\\\"',
    '$(q)',
    '`q`',
    '<(q)',
    '-*',
    '?x',
  ],
].flat();

describe('against a real bash', () => {
  const bash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find(
    (path) => spawnSync(path, ['-c', 'exit 0']).status === 0,
  );
  let root = '';
  let runs = 0;

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'command-line-'));
    for (const folder of ['bin', 'log', 'home', 'cwd']) mkdirSync(join(root, folder));
    for (const name of ['p', 'q', 'r']) {
      const file = join(root, 'bin', name);
      writeFileSync(file, `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" >"$LOG/$$"\n`);
      chmodSync(file, 0o755);
    }
    for (const name of ['a', '-x', 'p q', 'b.md', '-y.md']) writeFileSync(join(root, 'cwd', name), '');
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** What the recording programs were given, one entry for each time one of them ran. */
  function received(text: string): readonly (readonly string[])[] {
    // A program in the background may outlive its line: each line has a folder of its own.
    runs += 1;
    const log = join(root, 'log', String(runs));
    mkdirSync(log);
    spawnSync(bash ?? '', ['-c', text], {
      cwd: join(root, 'cwd'),
      env: { PATH: join(root, 'bin'), HOME: join(root, 'home'), LOG: log, X: '; q x', LANG: 'C.UTF-8' },
      timeout: 20_000,
    });
    const records = readdirSync(log).map((name) => readFileSync(join(log, name), 'utf8').split('\0').slice(0, -1));
    return records.filter((given) => given.length > 0);
  }

  function check(text: string): void {
    const line = readCommandLine(text, { HOME: join(root, 'home') });
    if (line.type === 'unclear') return;
    const files = readdirSync(join(root, 'cwd'));
    const given = received(text);
    for (const words of given) {
      const isExpected = line.commands.some((command) => isReceived(command, words));
      expect(isExpected, `${JSON.stringify(text)} gave ${JSON.stringify(words)}`).toBe(true);
    }
    const recorded = line.commands.filter(({ words }) => ['p', 'q', 'r'].includes(words[0]?.text ?? ''));
    if (recorded.length === line.commands.length && !/\|\||!|&\s*(?:#|$)/.test(text))
      expect(given).toHaveLength(recorded.length);
    expect(readdirSync(join(root, 'cwd')), text).toEqual(files);
  }

  it.skipIf(bash === undefined)(
    'programs get the words that were read, and no other program runs',
    { timeout: 120_000 },
    () => {
      const line = fc
        .array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 9 })
        .map((tokens) => `p ${tokens.join('')}`);
      fc.assert(fc.property(line, check), { numRuns: 400 });
    },
  );

  it.skipIf(bash === undefined)('quoted words arrive as they were read', { timeout: 120_000 }, () => {
    const quotedToken = fc.constantFrom(...TOKENS.filter((token) => !/["'`()<>&|;#]/.test(token)));
    const word = fc
      .tuple(fc.constantFrom('"', "'", ''), fc.array(quotedToken, { maxLength: 4 }))
      .map(([quote, tokens]) => `${quote}${tokens.join('')}${quote}`);
    const line = fc.array(word, { minLength: 1, maxLength: 4 }).map((all) => `p ${all.join(' ')}`);
    fc.assert(fc.property(line, check), { numRuns: 200 });
  });
});

/** Words that become others may be any number of words; those that cannot start with a dash do not. */
function isReceived({ words }: SimpleCommand, given: readonly string[]): boolean {
  const fits = (index: number, at: number): boolean => {
    const word = words[index];
    if (word === undefined) return at === given.length;
    if (word.glob === 'none') return given[at] === word.text && fits(index + 1, at + 1);
    // `{,}` is two empty words, and unquoted empty words are none.
    if (fits(index + 1, at)) return true;
    for (let end = at; end < given.length; end += 1) {
      const isDashed = given[end]?.startsWith('-') === true;
      if (isDashed && word.glob === 'inside' && !word.text.startsWith('-')) return false;
      if (fits(index + 1, end + 1)) return true;
    }
    return false;
  };
  return fits(0, 0);
}

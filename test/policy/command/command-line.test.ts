import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import type { CommandWord, SimpleCommand } from '../../../src/core/command.ts';

const VARIABLES = { HOME: '/home/skill', SKILL_DIR: '/w/skills/pdf', ODD: 'two words', STAR: '*', EMPTY: '' };

/** Programs and words of a line that must be clear. */
function words(text: string): readonly (readonly string[])[] {
  const line = readCommandLine(text, VARIABLES);
  if (line.type === 'unclear') throw new Error(`${text}: ${line.reason}`);
  return line.commands.map((command) => command.words.map((word) => word.text));
}

function reason(text: string): string {
  const line = readCommandLine(text, VARIABLES);
  return line.type === 'unclear' ? line.reason : `clear: ${JSON.stringify(line.commands)}`;
}

describe('a line that is understood', () => {
  it.each<[string, readonly (readonly string[])[]]>([
    ['git status', [['git', 'status']]],
    ['  git\tstatus  ', [['git', 'status']]],
    [`a 'b c' "d e" f\\ g`, [['a', 'b c', 'd e', 'f g']]],
    [`g'i't "st"atus`, [['git', 'status']]],
    [`a "" ''`, [['a', '', '']]],
    [`a "b\\"c\\\\d\\ne\\$f"`, [['a', 'b"c\\d\\ne$f']]],
    [`a 'it'\\''s'`, [['a', "it's"]]],
    ['a && b || c; d | e', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['a&&b||c;d|e', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['a &', [['a']]],
    ['a;', [['a']]],
    ['! a | b', [['a'], ['b']]],
    ['a 2>&1 | b >/dev/null 2> /dev/null </dev/null', [['a'], ['b']]],
    ['a &>/dev/null', [['a']]],
    ['2>/dev/null a b', [['a', 'b']]],
    ['a2>/dev/null', [['a2']]],
    ['a "2">/dev/null', [['a', '2']]],
    ['a # and why', [['a']]],
    ['a b#c', [['a', 'b#c']]],
    [`grep 'x$' "y$" z$`, [['grep', 'x$', 'y$', 'z$']]],
    ['a $HOME/x "${ODD}" ${SKILL_DIR}/y', [['a', '/home/skill/x', 'two words', '/w/skills/pdf/y']]],
    [
      '[ -f x ] && test 1 != 2',
      [
        ['[', '-f', 'x', ']'],
        ['test', '1', '!=', '2'],
      ],
    ],
    ['find . ! -name x', [['find', '.', '!', '-name', 'x']]],
    ['a "Done!" \'!x\'', [['a', 'Done!', '!x']]],
    ['a 标题 "中文" x=y', [['a', '标题', '中文', 'x=y']]],
    ['cd x && ./y', [['cd', 'x'], ['./y']]],
    ['command -v git', [['command', '-v', 'git']]],
  ])('%s', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it.each<[string, readonly CommandWord[]]>([
    ['*.md', [{ text: '*.md', glob: 'start' }]],
    ['./*.md', [{ text: './*.md', glob: 'inside' }]],
    ["''*", [{ text: '*', glob: 'start' }]],
    [
      '\'*\' \\* "?"',
      [
        { text: '*', glob: 'none' },
        { text: '*', glob: 'none' },
        { text: '?', glob: 'none' },
      ],
    ],
    [
      '{a,-x} a{b,c} {1..3}',
      [
        { text: '{a,-x}', glob: 'start' },
        { text: 'a{b,c}', glob: 'inside' },
        { text: '{1..3}', glob: 'start' },
      ],
    ],
    [
      '{} {a',
      [
        { text: '{}', glob: 'none' },
        { text: '{a', glob: 'start' },
      ],
    ],
    [
      '~/x a=~/y a~b',
      [
        { text: '~/x', glob: 'inside' },
        { text: 'a=~/y', glob: 'inside' },
        { text: 'a~b', glob: 'none' },
      ],
    ],
    ['[ab]c', [{ text: '[ab]c', glob: 'start' }]],
  ])('says which words become names of files: %s', (text, expected) => {
    const line = readCommandLine(`p ${text}`);
    expect(line).toEqual({ type: 'commands', commands: [{ words: [{ text: 'p', glob: 'none' }, ...expected] }] });
  });
});

describe('a line that is not understood', () => {
  it.each<[string, string]>([
    ['a $(b)', 'runs first'],
    ['a "$(b)"', 'runs first'],
    ['a `b`', 'runs first'],
    ['a "`b`"', 'runs first'],
    ['a <(b)', 'redirection'],
    ['a > b', 'redirection'],
    ['a 2>b', 'redirection'],
    ['a >&b', 'redirection'],
    ['a >&3', 'redirection'],
    ['a 12>/dev/null', 'redirection'],
    ['a {x}>/dev/null', 'redirection'],
    ['a >/dev/null/x', 'redirection'],
    ['a >/dev/null"x"', 'redirection'],
    ['a < b', 'redirection'],
    ['a << b', 'redirection'],
    ['a <<< b', 'redirection'],
    ['a |& b', '|& joins'],
    ['a & b', '& in the middle'],
    ['X=1 a', 'sets a variable'],
    ['X=1', 'sets a variable'],
    ['X+=1 a', 'sets a variable'],
    ['X[0]=1 a', 'sets a variable'],
    ['a; PATH=. b', 'sets a variable'],
    ['>/dev/null X=1 a', 'sets a variable'],
    ['a\nb', 'more than one line'],
    ['a\rb', 'more than one line'],
    ['a\u2028b', 'more than one line'],
    ['a\0b', 'invisible characters'],
    ['a\u001bb', 'invisible characters'],
    ['a \u202eb', 'invisible characters'],
    ['a\u200bb', 'invisible characters'],
    ['a \ud800', 'invisible characters'],
    ['a\u00a0b', 'blank'],
    ['a\u3000b', 'blank'],
    ['(a)', '( )'],
    ['a() { b; }', '( )'],
    ['{ a; }', 'shell syntax'],
    ['if a; then b; fi', 'shell syntax'],
    ['a; for x in y; do z; done', 'shell syntax'],
    ['time a', 'shell syntax'],
    ['[[ a ]]', 'shell syntax'],
    ['a=(b)', '( )'],
    ['a !b', 'earlier command'],
    ["a $'b'", 'its own encoding'],
    ['a $"b"', 'its own encoding'],
    ['a $((1))', 'runs first'],
    ['a $[1]', 'the shell evaluates'],
    ['a $1', 'the shell evaluates'],
    ['a "$@"', 'the shell evaluates'],
    ['a $?', 'the shell evaluates'],
    ['a ${HOME:-b}', 'the shell evaluates'],
    ['a $HOME{b,c}', 'form other variables'],
    ['a {b,$HOME}c', 'form other variables'],
    ['a {b$,c}X', 'form other variables'],
    ['a {b,"$HOME"}c', 'form other variables'],
    ['a ${HOME@P}', 'the shell evaluates'],
    ['a $OTHER', '$OTHER is unknown'],
    ['a $constructor', '$constructor is unknown'],
    ['a $ODD', 'double quotes'],
    ['a $STAR', 'double quotes'],
    ['a $EMPTY', 'double quotes'],
    ['$HOME/a', 'name of the program is computed'],
    ['"$HOME"/a', 'name of the program is computed'],
    ['/bin/l? x', 'name of the program is computed'],
    ['{a,b}', 'name of the program is computed'],
    ['~/a', 'name of the program is computed'],
    ['"" a', 'name of the program is empty'],
    ['a ?(b)', '( )'],
    ["a 'b", 'never closed'],
    ['a "b', 'never closed'],
    ['a \\', 'ends with a backslash'],
    ['a 中\\;b', 'backslash follows'],
    ['a "中\\" ; b; "', 'backslash follows'],
    ['', 'missing'],
    ['# only', 'missing'],
    ['a &&', 'missing'],
    ['a |', 'missing'],
    ['a; 2>&1', 'missing'],
    ['a & >/dev/null', '& in the middle'],
    ['!', 'missing'],
    ['; a', 'no command before ;'],
    ['a ; ; b', 'no command before ;'],
    ['a ;; b', 'belongs to a case'],
    ['a | ! b', 'whole pipeline'],
    ['eval a', 'eval evaluates text'],
    ['. ./a', '. evaluates text'],
    ['a && source b', 'source evaluates text'],
    ['\\eval a', 'eval evaluates text'],
    ['command eval a', 'eval evaluates text'],
    ['command -p -- exec a', 'exec evaluates text'],
    ['export A=b', 'export evaluates text'],
    ["printf -v 'a[b]' c", 'uses a variable name'],
    ["test -v 'a[$(b)]'", 'uses a variable name'],
    ["[ -v 'a[$(b)]' ]", 'uses a variable name'],
    [`a ${'x'.repeat(17_000)}`, 'longer than 16 KiB'],
    ['a;'.repeat(101), 'more than 100 commands'],
  ])('%j', (text, expected) => {
    expect(reason(text)).toContain(expected);
  });

  it('is read in one pass however long it is', () => {
    for (const piece of ['"', "'", '\\', '{', '$', '!', '>', ' a', '[', "''", '""', '~:']) {
      const text = `p ${piece.repeat(Math.floor(16_000 / piece.length))}`;
      expect(['commands', 'unclear']).toContain(readCommandLine(text).type);
    }
  });
});

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
      fc.assert(fc.property(line, check), { numRuns: 1500 });
    },
  );

  it.skipIf(bash === undefined)('quoted words arrive as they were read', { timeout: 120_000 }, () => {
    const quotedToken = fc.constantFrom(...TOKENS.filter((token) => !/["'`()<>&|;#]/.test(token)));
    const word = fc
      .tuple(fc.constantFrom('"', "'", ''), fc.array(quotedToken, { maxLength: 4 }))
      .map(([quote, tokens]) => `${quote}${tokens.join('')}${quote}`);
    const line = fc.array(word, { minLength: 1, maxLength: 4 }).map((all) => `p ${all.join(' ')}`);
    fc.assert(fc.property(line, check), { numRuns: 800 });
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

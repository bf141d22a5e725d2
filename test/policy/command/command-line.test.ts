import { describe, expect, it } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import type { CommandWord } from '../../../src/core/command.ts';

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

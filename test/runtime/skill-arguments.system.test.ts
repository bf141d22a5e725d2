import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { expandArguments, parseInvocation, splitArguments } from '../../src/runtime/invoke.ts';

const MEGA = 1_000_000;

describe('arguments as a person types them', () => {
  it.each([
    ['', []],
    ['  \t\n ', []],
    ['one two', ['one', 'two']],
    ['"hello world" second', ['hello world', 'second']],
    ['\'a b\'c"d e"', ['a bcd e']],
    ['\'\' ""', ['', '']],
    ['a\\ b c', ['a b', 'c']],
    ['"a \\"b\\" \\n"', ['a "b" \\n']],
    ["'a \\' b", ['a \\', 'b']],
    ['"never closed  x', ['never closed  x']],
    ["it's fine", ['its fine']],
    ['end\\', ['end\\']],
    [
      'a && b | c > d; $(rm -rf /) `x` $HOME * ~',
      ['a', '&&', 'b', '|', 'c', '>', 'd;', '$(rm', '-rf', '/)', '`x`', '$HOME', '*', '~'],
    ],
    ['指标　定义', ['指标', '定义']],
  ])('%j are %j', (text, words) => {
    expect(splitArguments(text)).toEqual(words);
  });

  test('words in single quotes come out as they went in', () => {
    fc.assert(
      fc.property(fc.array(fc.string().map((word) => word.replaceAll("'", ''))), (words) => {
        expect(splitArguments(words.map((word) => `'${word}'`).join(' '))).toEqual(words);
      }),
    );
  });

  it.each(['a', ' ', '"', "'", '\\', 'a ', '"a" '])('a megabyte of %j is split', (piece) => {
    expect(splitArguments(piece.repeat(MEGA / piece.length)).join('').length).toBeLessThanOrEqual(MEGA);
  });
});

describe('placeholders', () => {
  const expand = (body: string, text: string, names?: readonly string[]): string =>
    expandArguments(body, names === undefined ? { text } : { text, names }).text;

  it.each([
    ['Fix $ARGUMENTS now', '12 "on main"', 'Fix 12 "on main" now'],
    ['$ARGUMENTS[0] and $ARGUMENTS[1]', 'a "b c"', 'a and b c'],
    ['$1 then $2', 'a b', 'a then b'],
    ['$0 then $1', 'a b', 'a then b'],
    ['$1 after $ARGUMENTS[0]', 'a b', 'b after a'],
    ['$1 after \\$0', 'a b', 'a after $0'],
    ['$10$1', '1 2 3 4 5 6 7 8 9 ten', 'ten1'],
    ['$1abc $1.50 ($1)', 'x', 'xabc x.50 (x)'],
    ['\\$1 \\\\$1 \\\\\\$1', 'x', '$1 \\x \\$1'],
    ['\\$ARGUMENTS $ARGUMENTS', 'x', '$ARGUMENTS x'],
    ['$1$1', 'x', 'xx'],
    ['$ARGUMENTS', '  ', '  '],
    ['$ARGUMENTS[x]', 'a', 'a[x]'],
  ])('%j with %j becomes %j', (body, text, expanded) => {
    expect(expandArguments(body, { text })).toEqual({ text: expanded, unfilled: [] });
  });

  it.each([
    ['$issue on ${branch}', 'fix "the bug"', 'fix on the bug'],
    ['$issue号 $issues $issue_x $issue-x', '7 b', '7号 $issues $issue_x 7-x'],
    ['${issue $ {issue} ${ issue }', '7', '${issue $ {issue} ${ issue }\n\nARGUMENTS: 7'],
    ['\\$issue \\${issue} $issue', '7', '$issue ${issue} 7'],
    ['$issue is $1', '7', '7 is 7'],
  ])('%j with the names issue and branch and %j becomes %j', (body, text, expanded) => {
    expect(expand(body, text, ['issue', 'branch'])).toBe(expanded);
  });

  test('the longest declared name wins, and what is no name keeps its place', () => {
    expect(expand('$branch-name $branch $ARGUMENTS', 'a b', ['branch', 'branch-name'])).toBe('b a a b');
    expect(expand('$second $-', 'a b', ['-', 'second'])).toBe('b $-');
    expect(expand('$ARGUMENTS', 'a b', ['ARGUMENTS'])).toBe('a b');
    expect(expand('$指标值', 'gmv', ['指标'])).toBe('gmv值');
  });

  test('what was not given stays as written and is named', () => {
    expect(expandArguments('$1 $2 $ARGUMENTS $2', { text: 'a' })).toEqual({ text: 'a $2 a $2', unfilled: ['$2'] });
    expect(expandArguments('$ARGUMENTS[0] $ARGUMENTS[7] $who', { text: 'a', names: ['x', 'who'] })).toEqual({
      text: 'a $ARGUMENTS[7] $who',
      unfilled: ['$ARGUMENTS[7]', '$who'],
    });
    expect(expandArguments('[$ARGUMENTS] $1', { text: '' })).toEqual({ text: '[] $1', unfilled: ['$1'] });
  });

  it.each([
    '$HOME $PATH $(date) ${HOME} $$ $',
    'costs $100 or $007',
    '\\$HOME stays',
    '$ARGUMENTSX $arguments',
    '${1}',
  ])('%j has none, so arguments follow as a paragraph', (body) => {
    expect(expandArguments(`${body}\n`, { text: 'a  b ' })).toEqual({
      text: `${body}\n\nARGUMENTS: a  b`,
      unfilled: [],
    });
    expect(expandArguments(body, { text: ' ' })).toEqual({ text: body, unfilled: [] });
  });

  test('arguments are never lost: a price is no use of them', () => {
    expect(expandArguments('It costs $5.', { text: 'x' })).toEqual({
      text: 'It costs $5.\n\nARGUMENTS: x',
      unfilled: ['$5'],
    });
    expect(expand('', 'x')).toBe('ARGUMENTS: x');
  });

  it.each(['$ARGUMENTS', '$1 $2', '\\$1', '$&', "$'", '$`', '$<x>', '${issue}', '\\\\'])(
    'the argument %j is put in as it is and not read again',
    (text) => {
      expect(expand('<$ARGUMENTS>', text)).toBe(`<${text}>`);
      expect(expand('<$1>', `'${text.replaceAll("'", '')}'`)).toBe(`<${text.replaceAll("'", '')}>`);
    },
  );

  test('control and invisible characters in arguments are taken out', () => {
    expect(expand('<$ARGUMENTS|$1>', '\x1b[31ma\u200b\u202eb\0')).toBe('<ab|ab>');
  });

  test('a body without a dollar is kept, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const body = text.replaceAll('$', '');
        expect(expandArguments(body, { text: '' })).toEqual({ text: body, unfilled: [] });
      }),
    );
  });

  test('escaped placeholders come out as text', () => {
    const piece = fc.constantFrom('$1', '$0', '$ARGUMENTS', '$ARGUMENTS[0]', '$name', '${name}', 'x', ' ');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const body = pieces.join(' ');
        const escaped = body.replaceAll('$', '\\$');
        expect(expandArguments(escaped, { text: '', names: ['name'] }).text).toBe(body);
      }),
    );
  });

  it.each(['$', '\\', '\\$', '$1', '$name', '${', '$ARGUMENTS', '$ARGUMENTS['])('a megabyte of %j is read', (piece) => {
    const body = piece.repeat(MEGA / piece.length);
    const names = Array.from({ length: 200 }, (_, index) => `name${index}`);
    expect(expandArguments(body, { text: 'x', names }).text.length).toBeLessThanOrEqual(MEGA + 20);
  });

  test('many placeholders do not multiply a long argument without end', () => {
    const { text, unfilled } = expandArguments('$ARGUMENTS '.repeat(10_000), { text: 'x'.repeat(MEGA) });
    expect(text.length).toBeLessThan(3 * MEGA);
    expect(unfilled).toEqual(['$ARGUMENTS']);
  });
});

describe('a call of a skill', () => {
  it.each([
    ['/review', 'review', ''],
    ['  /Review-PR 12 --fast ', 'Review-PR', '12 --fast'],
    ['/a\nline one\n\nline two\n', 'a', 'line one\n\nline two'],
    ['/project/deploy to prod', 'project/deploy', 'to prod'],
    ['/plugin:name x', 'plugin:name', 'x'],
    ['/数据分析 本月', '数据分析', '本月'],
    ['/my_skill.v2 /etc/passwd', 'my_skill.v2', '/etc/passwd'],
    ['/etc', 'etc', ''],
    ['/acme/gpt-4.1 x', 'acme/gpt-4.1', 'x'],
  ])('%j calls %j with %j', (message, name, given) => {
    expect(parseInvocation(message)).toEqual({ name, arguments: given });
  });

  it.each([
    '',
    '/',
    '/ name',
    '//x',
    '// comment',
    'see /review',
    '/etc/passwd file',
    '/Users/me',
    '/usr/local/bin/node',
    '/a/b/c',
    '/src/index.ts is broken',
    '/a:b:c',
    '/-x',
    '/../x',
    '/a/',
    '/a/../b',
    '/*',
    '/re(view)',
    '/a\u200bb',
    '\\review',
    `/${'a'.repeat(201)}`,
    `/${'a/'.repeat(500_000)}`,
  ])('%j is none', (message) => {
    expect(parseInvocation(message)).toBeUndefined();
  });
});

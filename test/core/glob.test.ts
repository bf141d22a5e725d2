import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { compileGlob, normaliseGlob } from '../../src/core/glob.ts';
import { verifies } from '../conformance/verifies.ts';
import { runs } from '../property-runs.ts';
import { isProblem } from '../../src/core/problem.ts';

/** One row a pattern: what it matches and what it does not. */
const CASES: readonly (readonly [pattern: string, matched: readonly string[], missed: readonly string[]])[] = [
  [
    'out/*.txt',
    ['out/a.txt', 'out/ü.txt', 'out/𝒳.txt'],
    ['out/.txt', 'out/b/a.txt', 'out/a.txt2', 'work/a.txt', 'OUT/a.txt'],
  ],
  ['out/**', ['out/a', 'out/a/b', 'out/a/b/c.txt'], ['out', 'outer/a', 'out/.a', 'out/a/.b', 'out/.a/b']],
  ['out/**/x', ['out/x', 'out/a/x', 'out/a/b/x'], ['out/ax', 'out/a/.b/x', 'x', 'out/x/y']],
  ['**/x', ['x', 'a/x', 'a/b/x'], ['.a/x', 'ax', 'x/a']],
  ['**', ['x', 'a/x'], ['.x', 'a/.x']],
  ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c', 'a/b/b/c/c'], ['a/c', 'a/b', 'a/b/c/d']],
  ['a**b', ['ab', 'axxb'], ['a/b', 'ax/xb']],
  ['***', ['x', 'a/x'], []],
  ['?', ['x', 'ü', '𝒳'], ['', 'xy', '.', '/']],
  ['[abc]x', ['ax', 'cx'], ['dx', 'x', '[abc]x']],
  ['[!a-c]', ['d', '-'], ['a', 'c', '.', '/']],
  ['[^a]', ['b'], ['a']],
  ['[]a]', [']', 'a'], ['[]a]']],
  ['[a-]', ['a', '-'], ['b']],
  ['a[/]b', [], ['a/b']],
  ['[.]x', [], ['.x']],
  ['[ab', ['[ab'], ['a']],
  ['{a,b}/c', ['a/c', 'b/c'], ['c', '{a,b}/c']],
  ['{a,b{c,d}}', ['a', 'bc', 'bd'], ['b', 'ab']],
  ['{a/b,c}/*.md', ['a/b/x.md', 'c/x.md'], ['a/x.md']],
  ['{**,x}/b', ['b', 'q/b', 'q/r/b', 'x/b'], ['q/r']],
  ['out{,/sub}/x', ['out/x', 'out/sub/x'], ['out/sub']],
  ['{a', ['{a'], ['a']],
  ['a}', ['a}'], ['a']],
  ['{a}', ['{a}'], ['a']],
  ['a,b', ['a,b'], ['a']],
  ['.*', ['.a'], ['a']],
  ['{.a,b}*', ['.ab', 'bc'], ['.b']],
  ['a.b', ['a.b'], ['axb']],
  ['(a|b)+$^', ['(a|b)+$^'], ['a']],
];

describe('a pattern', () => {
  verifies('EXEC-5', 'stars, questions, sets and braces match as shells have them', () => {
    const judged = CASES.map(([pattern, matched, missed]) => {
      const glob = compileGlob(pattern);
      const isMatched = (path: string): boolean => glob.matches(path);
      return [
        pattern,
        [...matched, ...missed].filter(isMatched),
        [...matched, ...missed].filter((path) => !isMatched(path)),
      ];
    });
    expect(judged).toEqual(CASES);
  });

  test('knows the folder that all it matches lies in', () => {
    const patterns = [
      'out/**',
      'out/a/b*.txt',
      'out/x.txt',
      '*.txt',
      '{a,b}/c',
      'a/{b,c}/d',
      'a/[b]/c',
      'out',
      'a/b/**/c',
    ];
    expect(patterns.map((pattern) => compileGlob(pattern).prefix)).toEqual([
      'out',
      'out/a',
      'out',
      '',
      '',
      'a',
      'a',
      '',
      'a/b',
    ]);
  });

  test('knows which folders are worth a look', () => {
    const glob = compileGlob('out/{a,b*}/**/x');
    const folders = ['', 'out', 'out/a', 'out/bcd', 'out/a/q/r', 'out/c', 'work', 'out/ab', 'out/a/.q', 'ou'];
    expect(folders.filter((folder) => glob.reaches(folder))).toEqual(['', 'out', 'out/a', 'out/bcd', 'out/a/q/r']);
    expect(compileGlob('out/*').reaches('out/a')).toBe(false);
    expect(compileGlob('out/x').reaches('out/x')).toBe(false);
  });

  test('reads a path once, however it is built to make a matcher run away', () => {
    const long = 'a'.repeat(4000);
    const runaways = [
      `${'a*'.repeat(200)}b`,
      `${'*a'.repeat(200)}b`,
      `${'{a,aa}'.repeat(150)}b`,
      `${'{a*,*a,{a,b}*}'.repeat(60)}b`,
      `${'**/'.repeat(200)}b`,
      `${'{**/,*/}'.repeat(100)}b`,
      '{'.repeat(1000),
      '['.repeat(1000),
      '}'.repeat(1000),
    ];
    const paths = [long, 'a/'.repeat(500) + 'a'];
    expect(runaways.flatMap((pattern) => paths.filter((path) => compileGlob(pattern).matches(path)))).toEqual([]);
  });
});

/** The obvious matcher: alternatives written out, then every possibility tried. */
type Piece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'set'; readonly text: string; readonly members: string; readonly isNegated: boolean }
  | { readonly type: 'any' | 'star' | 'folders' }
  | { readonly type: 'group'; readonly alternatives: readonly (readonly Piece[])[] };

function written(pieces: readonly Piece[]): string {
  const one = (piece: Piece): string => {
    if (piece.type === 'text' || piece.type === 'set') return piece.text;
    if (piece.type === 'group') return `{${piece.alternatives.map(written).join(',')}}`;
    return { any: '?', star: '*', folders: '**' }[piece.type];
  };
  return pieces.map(one).join('');
}

function expanded(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const [first, ...rest] = pieces;
  if (first === undefined) return [[]];
  const heads = first.type === 'group' ? first.alternatives.flatMap(expanded) : [[first]];
  return heads.flatMap((head) => expanded(rest).map((tail) => [...head, ...tail]));
}

function slowMatch(pieces: readonly Piece[], path: string, at = 0): boolean {
  const [piece, ...rest] = pieces;
  if (piece === undefined) return at === path.length;
  const character = path[at];
  const isNameStart = at === 0 || path[at - 1] === '/';
  const isTaken = character !== undefined && character !== '/' && !(isNameStart && character === '.');
  switch (piece.type) {
    case 'text': {
      return path.startsWith(piece.text, at) && slowMatch(rest, path, at + piece.text.length);
    }
    case 'any': {
      return isTaken && slowMatch(rest, path, at + 1);
    }
    case 'set': {
      return isTaken && piece.members.includes(character) !== piece.isNegated && slowMatch(rest, path, at + 1);
    }
    case 'star': {
      if (isNameStart && character === '.') return false;
      return slowMatch(rest, path, at) || (isTaken && slowMatch(pieces, path, at + 1));
    }
    case 'folders': {
      return slowMatch([{ type: 'star' }, ...rest], path, at) || (isNameStart && slowFolders(rest, path, at));
    }
    default: {
      throw new Error('groups are written out before');
    }
  }
}

function slowFolders(rest: readonly Piece[], path: string, at: number): boolean {
  const [next, ...later] = rest;
  if (next?.type === 'text' && next.text === '/' && slowMatch(later, path, at)) return true;
  const ends = Array.from(path.slice(at), (_, offset) => at + offset + 1);
  return ends.some((end) => {
    const isNameEnd = end === path.length || path[end] === '/';
    return isNameEnd && !/(?:^|\/)\./.test(path.slice(at, end)) && slowMatch(rest, path, end);
  });
}

const text = fc
  .constantFrom('a', 'b', '.', '/', 'ab')
  .chain((word) => fc.constant(Array.from(word, (letter): Piece => ({ type: 'text', text: letter }))));
const sign: fc.Arbitrary<readonly Piece[]> = fc.constantFrom<readonly Piece[]>(
  [{ type: 'any' }],
  [{ type: 'star' }],
  [{ type: 'folders' }],
  [{ type: 'folders' }, { type: 'text', text: '/' }],
  [{ type: 'set', text: '[ab]', members: 'ab', isNegated: false }],
  [{ type: 'set', text: '[!a]', members: 'a', isNegated: true }],
);
const pieces: fc.Arbitrary<readonly Piece[]> = fc.letrec<{ list: readonly Piece[] }>((tie) => ({
  list: fc
    .array(
      fc.oneof(
        { maxDepth: 2 },
        { weight: 3, arbitrary: text },
        { weight: 2, arbitrary: sign },
        {
          weight: 1,
          arbitrary: fc
            .array(tie('list'), { minLength: 2, maxLength: 3 })
            .map((alternatives): readonly Piece[] => [{ type: 'group', alternatives }]),
        },
      ),
      { maxLength: 5 },
    )
    // Stars written side by side are read as one sign.
    .map((lists) => lists.flat().filter((piece, place, all) => !(isStars(piece) && isStars(all[place - 1])))),
})).list;

function isStars(piece: Piece | undefined): boolean {
  return piece?.type === 'star' || piece?.type === 'folders';
}

const name = fc
  .array(fc.constantFrom('a', 'b', '.', 'c'), { minLength: 1, maxLength: 3 })
  .map((letters) => letters.join(''));
const somePath = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));

test('patterns of every make match what the obvious matcher matches, and nothing is missed by pruning', () => {
  let matches = 0;
  fc.assert(
    fc.property(pieces, fc.array(somePath, { minLength: 4, maxLength: 12 }), (list, paths) => {
      const alternatives = expanded(list).slice(0, 500);
      if (alternatives.length === 500) return;
      const glob = compileGlob(written(list));
      const expected = paths.filter((path) => alternatives.some((alternative) => slowMatch(alternative, path)));
      matches += expected.length;
      expect(paths.filter((path) => glob.matches(path))).toEqual(expected);
      for (const path of expected) {
        const folders = path.split('/').map((_, count, parts) => parts.slice(0, count).join('/'));
        expect(folders.filter((folder) => !glob.reaches(folder))).toEqual([]);
        expect(glob.prefix === '' || path.startsWith(`${glob.prefix}/`)).toBe(true);
      }
    }),
    { numRuns: runs(3000) },
  );
  expect(matches).toBeGreaterThan(runs(3000) / 15);
});

describe('a pattern in the words of a program', () => {
  verifies('EXEC-5', 'becomes relative to the workspace', () => {
    const texts = {
      '$OUTPUT_DIR/**': 'out/**',
      '${WORK_DIR}/x': 'work/x',
      '$WORKSPACE_DIR/out/x': 'out/x',
      '${SKILLS_DIR}/a/x': 'skills/a/x',
      '$RUN_DIR/stdout': 'runs/1/stdout',
      '$SKILL_DIR/out/*.md': 'out/*.md',
      '$SKILL_DIR/inputs/*': 'work/inputs/*',
      'out/*.txt': 'out/*.txt',
      './out//a/./b': 'out/a/b',
      'inputs/x': 'work/inputs/x',
      '/workspace/out/x': 'out/x',
      'workspace://out/x': 'out/x',
      out: 'out/**',
      'out/': 'out/**',
      'out/sub/': 'out/sub/**',
      $OUTPUT_DIR: 'out/**',
      'skills/pdf/work/x': 'work/x',
      'out/a..b': 'out/a..b',
      'out/{a,b}.txt': 'out/{a,b}.txt',
    };
    const places = { runDir: 'runs/1', skillDir: 'skills/pdf' };
    const read = Object.keys(texts).map((pattern) => {
      const reading = normaliseGlob(pattern, places);
      return [pattern, !isProblem(reading) ? reading : reading.code];
    });
    expect(Object.fromEntries(read)).toEqual(texts);
    expect(normaliseGlob('/srv/w/1/out/x', { root: '/srv/w/1' })).toEqual('out/x');
  });

  verifies('EXEC-5', 'is refused where it leaves the workspace', () => {
    const texts = {
      '': 'path/empty',
      '  ': 'path/empty',
      '.': 'path/empty',
      '/workspace': 'path/empty',
      '../x': 'path/parent',
      'out/../../x': 'path/parent',
      'out/{..,a}/x': 'path/parent',
      '$OUTPUT_DIR/../..': 'path/parent',
      '/workspace/../etc/passwd': 'path/parent',
      '/etc/passwd': 'path/absolute',
      '/workspacer/x': 'path/absolute',
      '~/x': 'path/absolute',
      'file:///etc/passwd': 'path/absolute',
      'c:/x': 'path/absolute',
      '$HOME/x': 'path/absolute',
      '${PATH}/x': 'path/absolute',
      '$OUTPUT_DIRx/y': 'path/absolute',
      '$RUN_DIR/x': 'path/absolute',
      'out\\x': 'path/backslash',
      'out/\u001b[31m': 'path/control-character',
      'out/\u202ex': 'path/control-character',
      [`out/${'x'.repeat(1100)}`]: 'path/too-long',
    };
    const read = Object.keys(texts).map((pattern) => {
      const reading = normaliseGlob(pattern);
      return [pattern, !isProblem(reading) ? reading : reading.code];
    });
    expect(Object.fromEntries(read)).toEqual(texts);
  });
});

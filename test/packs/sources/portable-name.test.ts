import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { findOmission } from '../../../src/packs/sources/skill-folders.ts';
import { collisionKey } from '../../../src/core/path.ts';
import { openPathValidator, portableNameProblem } from '../../../src/packs/sources/portable-name.ts';
import { isRefusal, orRefusal } from '../../../src/packs/problems.ts';
import { findHidden } from '../../../src/core/text/text.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';
import { ARCHIVE_LIMITS } from '../../../src/core/config/config.ts';

const code = (name: string): string | undefined => portableNameProblem(name)?.code;

test.each([
  'SKILL.md',
  'demo/SKILL.md',
  '.config/x',
  'a b/c.txt',
  'references/数据.md',
  'console/nulls.txt',
  'com10/x',
  '__proto__',
  'constructor',
  '..a/b..c',
  'caf\u00e9.md',
  'a b/c-d_e.f',
  'auxiliary',
  '👩‍💻.md',
  'x~',
  '~$a.docx',
  'a%20b',
  `${'a/'.repeat(32)}a`,
])('%s can be written everywhere', (name) => {
  expect(portableNameProblem(name)).toBeUndefined();
});

test.each([
  ['', 'archive/name'],
  ['..', 'archive/traversal'],
  ['a/../b', 'archive/traversal'],
  ['../../etc/passwd', 'archive/traversal'],
  ['/etc/passwd', 'archive/absolute'],
  ['C:/Windows', 'archive/absolute'],
  ['c:x', 'archive/absolute'],
  ['a\\b', 'archive/backslash'],
  ['a\\..\\b', 'archive/traversal'],
  ['\\\\server\\share', 'archive/absolute'],
  ['~', 'archive/absolute'],
  ['~/x', 'archive/absolute'],
  ['a//b', 'archive/name'],
  ['./a', 'archive/name'],
  ['a/', 'archive/name'],
  ['a\0b', 'archive/name'],
  ['a\nb', 'archive/name'],
  ['a\u202eb', 'archive/name'],
  ['a\u200bb', 'archive/name'],
  ['a\ud800b', 'archive/name'],
  ['con', 'archive/reserved-name'],
  ['docs/NUL.txt', 'archive/reserved-name'],
  ['com1 .log', 'archive/reserved-name'],
  ['COM¹', 'archive/reserved-name'],
  ['CONIN$', 'archive/reserved-name'],
  ['a.', 'archive/reserved-name'],
  ['a /b', 'archive/reserved-name'],
  ['a/ b', 'archive/reserved-name'],
  ['file:stream', 'archive/reserved-name'],
  ['what?', 'archive/reserved-name'],
  ['x'.repeat(256), 'archive/name'],
  ['\u00e9'.repeat(128), 'archive/name'],
  ['ab/'.repeat(20) + 'x'.repeat(1000), 'archive/name'],
  [`${'a/'.repeat(33)}a`, 'archive/too-deep'],
])('%j cannot: %s', (name, expected) => {
  expect(code(name)).toBe(expected);
});

test('the message names the path and shows what would act on a screen', () => {
  expect(portableNameProblem('a\u001b[2Jb')).toEqual({
    type: 'refused',
    code: 'archive/name',
    message: '"a\\x1b[2Jb" has an invisible character',
    hint: expect.any(String),
  });
  expect(portableNameProblem('docs/con')).toMatchObject({ path: 'docs/con' });
});

describe('names that are one file somewhere', () => {
  test.each([
    ['SKILL.md', 'skill.MD'],
    ['caf\u00e9', 'cafe\u0301'],
    ['stra\u00dfe', 'STRASSE'],
    ['\ufb01le', 'file'],
    ['K', '\u212a'],
    ['a.txt', 'a.txt. .'],
    ['dir./x', 'DIR/x'],
  ])('%s and %s have one key', (a, b) => {
    expect(collisionKey(a)).toBe(collisionKey(b));
  });

  test('the key of a key is itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(collisionKey(collisionKey(name))).toBe(collisionKey(name));
      }),
    );
  });

  test('ASCII names that differ in more than case have two', () => {
    const name = fc.stringMatching(/^[a-z0-9_-]{1,12}$/);
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(collisionKey(a) === collisionKey(b)).toBe(a === b);
      }),
    );
  });

  test('has one key, however it is composed and in whatever case', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'aBéÉßﬁΣςİıǄǅÅK/.', 'e\u0301', 'SS', '\u212b', '\u212a'),
      maxLength: 6,
    });
    fc.assert(
      fc.property(text, (name) => {
        const key = collisionKey(name);
        const composed = ['NFC', 'NFD', 'NFKC'].map((form) => name.normalize(form));
        const others = [...composed, name.toUpperCase(), name.toLowerCase()];
        expect(others.map(collisionKey)).toEqual(others.map(() => key));
      }),
    );
  });
});

/** What comes of a list of names: the code of the first that is refused, else all as they are written. A slash at the end: a folder. */
function judged(...paths: readonly string[]): string | readonly string[] {
  const judge = openPathValidator(ARCHIVE_LIMITS);
  const taken: string[] = [];
  for (const each of paths) {
    const isFolder = each.endsWith('/') && each !== '/';
    const usable = orRefusal(() => judge.check(isFolder ? each.slice(0, -1) : each, isFolder ? 'folder' : 'file'));
    if (isRefusal(usable)) return usable.code;
    taken.push(usable);
  }
  return taken;
}

describe('a path validator', () => {
  test('accepts names and normalizes them', () => {
    const plain = ['SKILL.md', 'scripts/run.sh', 'scripts/lib/a.py', '数据/é.md', 'a b.txt', '.gitignore'];
    expect(judged('scripts/', ...plain)).toEqual(['scripts', ...plain]);
    expect(judged('cafe\u0301/e\u0301.md', 'cafe\u0301/b.md')).toEqual(['caf\u00e9/\u00e9.md', 'caf\u00e9/b.md']);
    expect(judged('a', 'ab', 'a.b', 'A2/x', 'a3/x', 'A2/')).toEqual(['a', 'ab', 'a.b', 'A2/x', 'a3/x', 'A2']);
  });

  verifies('PACK-5', 'are refused where two of them are one somewhere', () => {
    const cases: readonly (readonly [code: string, ...names: readonly string[]])[] = [
      ['archive/duplicate', 'a', 'a'],
      ['archive/duplicate', 'a/', 'a/'],
      ['archive/collision', 'a', 'A'],
      ['archive/collision', 'Read.md', 'README/x', 'read.MD'],
      ['archive/collision', 'é', 'e\u0301'],
      ['archive/collision', 'ﬁle', 'file'],
      ['archive/collision', 'straße', 'STRASSE'],
      ['archive/collision', 'Dir/x', 'dir/y'],
      ['archive/conflict', 'a', 'a/b'],
      ['archive/conflict', 'a/b', 'a'],
      ['archive/conflict', 'a/', 'a'],
    ];
    expect(cases.map(([, ...names]) => [judged(...names), ...names])).toEqual(cases);
  });

  test('counts names, including implicit folders', () => {
    const judge = openPathValidator({ ...ARCHIVE_LIMITS, maxEntries: 4 });
    expect(['a/b/c', 'a/b/d'].map((each) => judge.check(each, 'file'))).toEqual(['a/b/c', 'a/b/d']);
    expect(orRefusal(() => judge.check('a/b/e', 'file'))).toMatchObject({ code: 'archive/too-many' });
  });

  test('that are left out meet nothing but the same name, and are judged and counted', () => {
    const ends = (maxEntries: number, paths: readonly string[]): unknown => {
      const judge = openPathValidator({ ...ARCHIVE_LIMITS, maxEntries });
      return paths.map((each) => {
        const leftOut = findOmission(each, 'file');
        const end = orRefusal(() =>
          leftOut === undefined ? judge.check(each, 'file') : judge.checkLeftOut(each, leftOut),
        );
        return [each, isRefusal(end) ? end.code : 'usable'];
      });
    };
    const expected = [
      ['.git/A/x', 'usable'],
      ['.git/a', 'usable'],
      ['.git/a', 'usable'],
      ['.git/con', 'archive/reserved-name'],
      ['.git/../x', 'archive/traversal'],
      ['b/.Env', 'usable'],
      ['b/.env', 'usable'],
      ['B/x', 'archive/collision'],
      ['.GIT', 'usable'],
      ['.GIT/a', 'archive/conflict'],
      ['.GITIGNORE', 'usable'],
      ['.gitignore', 'usable'],
      ['.gitignore/a', 'archive/conflict'],
      ['.Gitkeep', 'usable'],
      ['.gitkeep/a', 'usable'],
      ['.gitkeep', 'archive/conflict'],
    ] as const;
    expect(
      ends(
        100,
        expected.map(([path]) => path),
      ),
    ).toEqual(expected);
    expect(ends(2, ['.git/a', '.git/a', '.git/a'])).toEqual([
      ['.git/a', 'usable'],
      ['.git/a', 'usable'],
      ['.git/a', 'archive/too-many'],
    ]);
  });

  test('that are taken stay where they are put on every system, show, and are as many files as names', () => {
    const part = fc.oneof(
      fc.constantFrom('..', '.', '', '\\', ':', 'C:', 'a', 'A', 'CON', ' ', '\0', '~', '\u202e', 'é', 'e\u0301', 'x.'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 4 }), (names) => {
        const taken = judged(...names.filter((each) => !each.endsWith('/')));
        if (typeof taken === 'string') return;
        const strays = taken.filter(
          (each) =>
            path.posix.join('/root', each) !== `/root/${each}` ||
            path.win32.resolve('C:\\root', each) !== `C:\\root\\${each.replaceAll('/', '\\')}` ||
            findHidden(each) !== undefined ||
            each.normalize('NFC') !== each,
        );
        expect(strays).toEqual([]);
        expect(new Set(taken.map((each) => each.toLowerCase())).size).toBe(taken.length);
      }),
      { numRuns: runs(500) },
    );
  });
});

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { toRelativePath, type RelativePath } from '../../../src/core/path.ts';
import { openConfined, type ConfinedDirectory } from '../../../src/platform/fs/confined-directory.ts';
import type { Confinement } from '../../../src/platform/fs/directory-handle.ts';
import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';
import { isProblem } from '../../../src/core/problem.ts';

const LIMITS = { maxBytes: 100_000 };
const ALL = { maxFiles: 100, maxDepth: 12 };

function relative(text: string): RelativePath {
  const reading = toRelativePath(text);
  if (isProblem(reading)) throw new Error(reading.message);
  return reading;
}

function confined(directory: string, confinement: Confinement): ConfinedDirectory {
  const opening = openConfined(directory, { confinement });
  if (opening.type === 'failed') throw new Error(opening.code);
  onTestFinished(() => opening.directory.close());
  return opening.directory;
}

function outcome(directory: ConfinedDirectory, file: string): string {
  const read = directory.read(relative(file), LIMITS);
  const found = directory.resolve(relative(file));
  // Both judge alike, but that the size matters only to who reads.
  if (read.type === 'failed' && read.code !== 'file/too-large') expect(found).toEqual(read);
  return read.type === 'read' ? read.bytes.toString() : read.code;
}

/** A folder with everything in it that a path can meet, and a secret beside it. */
function maze(): { readonly base: string; readonly root: string } {
  const base = scratch();
  const root = path.join(base, 'a');
  mkdirSync(path.join(root, 'sub/deep'), { recursive: true });
  mkdirSync(path.join(base, 'ab'));
  writeFileSync(path.join(base, 'secret'), 'SECRET');
  writeFileSync(path.join(base, 'ab/secret'), 'SECRET');
  writeFileSync(path.join(root, 'plain'), 'plain');
  writeFileSync(path.join(root, 'empty'), '');
  writeFileSync(path.join(root, 'sub/inner'), 'inner');
  writeFileSync(path.join(root, 'sub/deep/leaf'), 'leaf');
  writeFileSync(path.join(root, 'large'), 'x'.repeat(LIMITS.maxBytes + 1));
  writeFileSync(path.join(root, 'sparse'), '');
  truncateSync(path.join(root, 'sparse'), 2 ** 40);
  linkSync(path.join(base, 'secret'), path.join(root, 'hard'));
  execFileSync('mkfifo', [path.join(root, 'pipe')]);
  const links = {
    'to-plain': 'plain',
    'to-inner': './sub//inner',
    'to-sub': 'sub',
    'sub/up': '../plain',
    'sub/deep/upward': '../../sub/./inner',
    chain: 'chain-2',
    'chain-2': 'sub/up',
    'absolute-inside': path.join(root, 'sub/inner'),
    'to-itself': '.',
    'to-missing': 'nothing',
    'to-file-as-folder': 'plain/',
    loop: 'loop-2',
    'loop-2': 'loop',
    outside: '../secret',
    'outside-absolute': path.join(base, 'secret'),
    'outside-folder': '..',
    'outside-proc': '/proc/self/root/etc/passwd',
    'outside-device': '/dev/null',
    'outside-prefix': `${root}b/secret`,
    'outside-dots': `${root}/../secret`,
    'outside-chain': 'sub/out',
    'sub/out': '../../secret',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
  return { base, root };
}

const OUTCOMES = {
  plain: 'plain',
  empty: '',
  'sub/inner': 'inner',
  'sub/deep/leaf': 'leaf',
  'to-plain': 'plain',
  'to-inner': 'inner',
  'to-sub/inner': 'inner',
  'to-sub/up': 'plain',
  'to-sub/deep/upward': 'inner',
  chain: 'plain',
  'absolute-inside': 'inner',
  'to-itself/to-itself/plain': 'plain',
  'to-itself': 'file/directory',
  sub: 'file/directory',
  'to-sub': 'file/directory',
  nothing: 'file/missing',
  'nothing/at/all': 'file/missing',
  'plain/below': 'file/missing',
  'pipe/below': 'file/missing',
  'to-missing': 'file/missing',
  'to-file-as-folder': 'file/missing',
  'proc/self/root': 'file/missing',
  pipe: 'file/not-regular',
  large: 'file/too-large',
  sparse: 'file/too-large',
  hard: 'path/hard-link',
  loop: 'path/link-loop',
  'loop/below': 'path/link-loop',
  outside: 'path/link-outside',
  'outside-absolute': 'path/link-outside',
  'outside-folder/secret': 'path/link-outside',
  'outside-proc': 'path/link-outside',
  'outside-device': 'path/link-outside',
  'outside-prefix': 'path/link-outside',
  'outside-dots': 'path/link-outside',
  'outside-chain': 'path/link-outside',
};

describe.each(['descriptors', 'paths'] as const)('a folder confined by %s', (confinement) => {
  test('reads files inside and nothing outside', () => {
    const directory = confined(maze().root, confinement);
    const outcomes = Object.keys(OUTCOMES).map((file) => [file, outcome(directory, file)]);
    expect(Object.fromEntries(outcomes)).toEqual(OUTCOMES);
  });

  test('may itself be a link', () => {
    const { base, root } = maze();
    symlinkSync(root, path.join(base, 'entrance'));
    const directory = confined(path.join(base, 'entrance'), confinement);
    expect(['plain', 'absolute-inside', 'outside'].map((file) => outcome(directory, file))).toEqual([
      'plain',
      'inner',
      'path/link-outside',
    ]);
  });

  test('reports skill/gone if it is missing or not a directory', () => {
    const { base, root } = maze();
    symlinkSync('circle', path.join(base, 'circle'));
    const places = [
      path.join(base, 'none'),
      path.join(root, 'plain'),
      path.join(root, 'pipe'),
      path.join(base, 'circle'),
    ];
    expect(places.map((place) => openConfined(place, { confinement }))).toEqual(
      places.map(() => ({ type: 'failed', code: 'skill/gone' })),
    );
  });

  test('reads a hard-linked file only with allowHardLinks', () => {
    const directory = confined(maze().root, confinement);
    expect(directory.read(relative('hard'), { ...LIMITS, allowHardLinks: true })).toEqual({
      type: 'read',
      bytes: Buffer.from('SECRET'),
      isExecutable: false,
    });
  });

  test('reports size and exec bit without reading the file', () => {
    const { root } = maze();
    chmodSync(path.join(root, 'plain'), 0o755);
    const directory = confined(root, confinement);
    expect([directory.resolve(relative('to-plain')), directory.resolve(relative('sparse'))]).toEqual([
      { type: 'found', bytes: 5, isExecutable: true },
      { type: 'found', bytes: 2 ** 40, isExecutable: false },
    ]);
  });

  test('lists files by name and size, follows no link, and skips .git and node_modules', () => {
    const root = scratch();
    for (const folder of ['sub/deep', '.git', 'node_modules/x'])
      mkdirSync(path.join(root, folder), { recursive: true });
    for (const file of ['b', 'sub/a', 'sub/deep/c', '.git/config', 'node_modules/x/y'])
      writeFileSync(path.join(root, file), 'abc');
    chmodSync(path.join(root, 'b'), 0o755);
    symlinkSync('..', path.join(root, 'up'));
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    expect(confined(root, confinement).list(ALL)).toEqual({
      files: [
        { path: 'b', bytes: 3, type: 'file', isExecutable: true, isPublic: true },
        { path: 'pipe', bytes: 0, type: 'other', isExecutable: false, isPublic: false },
        { path: 'sub/a', bytes: 3, type: 'file', isExecutable: false, isPublic: true },
        { path: 'sub/deep/c', bytes: 3, type: 'file', isExecutable: false, isPublic: true },
        { path: 'up', bytes: 2, type: 'link', isExecutable: false, isPublic: false },
      ],
      misnamed: [],
      problems: [],
      isCut: false,
    });
  });

  test('sets isCut for more files, deeper folders or names that are not valid paths', () => {
    const names = (root: string, limits: typeof ALL): unknown => {
      const { files, misnamed, problems, isCut } = confined(root, confinement).list(limits);
      return [
        files.map(({ path: file }) => file),
        isCut,
        ...misnamed,
        ...problems.map(({ path: at, problem }) => `${at}: ${problem}`),
      ];
    };
    const many = scratch();
    for (const file of ['c', 'a', 'b']) writeFileSync(path.join(many, file), '');
    expect(names(many, { ...ALL, maxFiles: 2 })).toEqual([['a', 'b'], true, ': too-many']);
    expect(names(many, { ...ALL, maxFiles: 3 })).toEqual([['a', 'b', 'c'], false]);

    const deep = scratch();
    mkdirSync(path.join(deep, '1/2'), { recursive: true });
    for (const file of ['1/x', '1/2/y']) writeFileSync(path.join(deep, file), '');
    expect(names(deep, { ...ALL, maxDepth: 1 })).toEqual([['1/x'], true, '1/2: too-deep']);
    expect(names(deep, { ...ALL, maxDepth: 2 })).toEqual([['1/2/y', '1/x'], false]);

    for (const odd of ['back\\slash', 'line\nfeed', 'bidi\u202E', '%2e%2e', Buffer.from([0x61, 0xff])]) {
      const folder = scratch();
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(odd)]), '');
      writeFileSync(path.join(folder, 'x'), '');
      // A name that is not UTF-8 has no spelling.
      expect(names(folder, ALL)).toEqual([['x'], true, typeof odd === 'string' ? odd : ': name']);
    }

    const empty = scratch();
    for (let count = 0; count < 50; count += 1) mkdirSync(path.join(empty, String(count)));
    expect(names(empty, { ...ALL, maxFiles: 10 })).toEqual([[], true, ': too-many']);
  });

  test('closes every descriptor, also on failures', needs('linux'), () => {
    const { root } = maze();
    const files = Object.keys(OUTCOMES).map(relative);
    const before = readdirSync('/proc/self/fd').length;
    for (let count = 0; count < 10_000;) {
      const opening = openConfined(root, { confinement });
      if (opening.type === 'failed') throw new Error(opening.code);
      for (const file of files) {
        opening.directory.read(file, { maxBytes: 1000 });
        count += 1;
      }
      if (count % 1000 < files.length) opening.directory.list(ALL);
      opening.directory.close();
    }
    expect(readdirSync('/proc/self/fd')).toHaveLength(before);
  });

  // Root may read everything.
  test('says what the system does not let it read', needs('an ordinary user'), () => {
    const { root } = maze();
    chmodSync(path.join(root, 'plain'), 0o000);
    expect(confined(root, confinement).read(relative('plain'), LIMITS)).toEqual({
      type: 'failed',
      code: 'file/unreadable',
      detail: 'EACCES',
    });
  });

  test('cannot be used once it is closed', () => {
    const directory = confined(maze().root, confinement);
    directory.close();
    expect(() => directory.read(relative('plain'), LIMITS)).toThrow('the folder was closed');
  });
});

describe('by descriptors', needs('linux'), () => {
  test('it stays the opened directory when its path leads elsewhere', () => {
    const { base, root } = maze();
    const directory = confined(root, 'descriptors');
    renameSync(root, path.join(base, 'moved'));
    symlinkSync(path.join(base, 'ab'), root);
    expect([outcome(directory, 'plain'), outcome(directory, 'secret')]).toEqual(['plain', 'file/missing']);
    rmSync(path.join(base, 'moved'), { recursive: true });
    expect(outcome(directory, 'plain')).toBe('file/missing');
  });

  test('at most eight links are followed, and the depth is limited', () => {
    const root = scratch();
    writeFileSync(path.join(root, '0'), 'end');
    for (let count = 1; count <= 9; count += 1) symlinkSync(String(count - 1), path.join(root, String(count)));
    mkdirSync(path.join(root, 'd/'.repeat(70)), { recursive: true });
    const directory = confined(root, 'descriptors');
    expect(['8', '9', `${'d/'.repeat(70)}x`].map((file) => outcome(directory, file))).toEqual([
      'end',
      'path/link-loop',
      'path/too-long',
    ]);
  });

  test('a link that leaves the directory and returns is refused', () => {
    const { root } = maze();
    symlinkSync('../a/plain', path.join(root, 'round'));
    expect(outcome(confined(root, 'descriptors'), 'round')).toBe('path/link-outside');
  });
});

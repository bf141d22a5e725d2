import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  digestName,
  digestOfEntries,
  openTreeDigests,
  readTreeDigest,
  type DigestEntry,
} from '../../../src/platform/fs/tree-digest.ts';
import { TREE_LIMITS } from '../../../src/platform/fs/tree-walk.ts';
import { scratch, settle } from '../../skills/registry/support.ts';
import { EVERY_KIND, plant } from './tree-support.ts';
import { runs } from '../../property-runs.ts';
import { needs } from '../../needs.ts';

async function digestOf(root: string): Promise<string> {
  const read = await readTreeDigest(root);
  return read.type === 'digest' ? read.digest : `${read.problem} ${read.path}`;
}

describe('the digest of a tree', () => {
  test('is equal for equal trees with different times, owners and other permission bits', async () => {
    const base = scratch();
    const first = plant(path.join(base, 'a'), EVERY_KIND);
    const second = plant(path.join(base, 'b'), Object.fromEntries(Object.entries(EVERY_KIND).toReversed()));
    utimesSync(path.join(second, 'SKILL.md'), 1, 1);
    chmodSync(path.join(second, 'SKILL.md'), 0o600);
    expect(await digestOf(second)).toBe(await digestOf(first));
    expect(await digestOf(first)).toMatch(/^sha256-tree:[0-9a-f]{64}$/);
  });

  test('has a fixed value for a known tree', async () => {
    const root = plant(path.join(scratch(), 'a'), {
      'SKILL.md': 'hello\n',
      'scripts/x.sh': { program: 'exit 0\n' },
      none: { folder: true },
      link: { link: 'scripts/x.sh' },
    });
    expect(await digestOf(root)).toMatchInlineSnapshot(
      `"sha256-tree:df4a2d7e80b587611493ff84efc5dadbc21b2e2337ff2b9afa5f162d695ae096"`,
    );
  });

  test('changes with one byte, exec bit, name, empty folder or link target', async () => {
    const root = plant(path.join(scratch(), 'a'), EVERY_KIND);
    const seen = [await digestOf(root)];
    const changes = [
      () => appendFileSync(path.join(root, 'empty.txt'), 'x'),
      () => chmodSync(path.join(root, 'empty.txt'), 0o755),
      () => renameSync(path.join(root, 'empty.txt'), path.join(root, 'Empty.txt')),
      () => mkdirSync(path.join(root, 'more')),
      () => {
        rmSync(path.join(root, 'latest.md'));
        symlinkSync('SKILL.md', path.join(root, 'latest.md'));
      },
      () => rmSync(path.join(root, '.hidden/.dot')),
      () => renameSync(path.join(root, '.hidden'), path.join(root, '.secret')),
    ];
    for (const change of changes) {
      change();
      seen.push(await digestOf(root));
    }
    expect(new Set(seen).size).toBe(changes.length + 1);
    expect(seen.every((digest) => digest.startsWith('sha256-tree:'))).toBe(true);
  });

  test('excludes .git folders and files, and includes node_modules', async () => {
    const root = plant(path.join(scratch(), 'a'), { 'SKILL.md': 'x' });
    const before = await digestOf(root);
    plant(root, { '.git/HEAD': 'ref' });
    expect(await digestOf(root)).toBe(before);
    plant(root, { 'node_modules/x/index.js': '1' });
    const withModules = await digestOf(root);
    expect(withModules).not.toBe(before);
    plant(root, { 'node_modules/x/.git': 'gitdir: elsewhere' });
    expect(await digestOf(root)).toBe(withModules);
  });

  test('differs for entry lists that differ only in where their parts are split', () => {
    const entry: fc.Arbitrary<DigestEntry> = fc.record({
      kind: fc.constantFrom('file', 'program', 'folder', 'link'),
      path: fc.string({ unit: fc.constantFrom('a', 'b', '/', '\n', '\0', 'f'), maxLength: 4 }),
      content: fc.uint8Array({ maxLength: 3, max: 4 }),
    });
    const list = fc.uniqueArray(entry, { selector: ({ path }) => path, maxLength: 4 });
    const spelled = (entries: readonly DigestEntry[]): string =>
      JSON.stringify(
        entries
          .map(({ kind, path, content }) => [path, kind, [...content]])
          .toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)),
      );
    fc.assert(
      fc.property(list, list, (a, b) => {
        expect(digestOfEntries(a) === digestOfEntries(b)).toBe(spelled(a) === spelled(b));
      }),
      { numRuns: runs(2_000) },
    );
    const bytes = (text: string): Uint8Array => Buffer.from(text);
    expect(digestOfEntries([{ kind: 'link', path: 'ab', content: bytes('c') }])).not.toBe(
      digestOfEntries([{ kind: 'link', path: 'a', content: bytes('bc') }]),
    );
  });

  test('sorts paths by bytes, also for characters outside of the basic plane', () => {
    const [low, high] = ['\uFF5E', '\u{1F600}'].map((path): DigestEntry => ({
      kind: 'file',
      path,
      content: new Uint8Array(32),
    }));
    if (low === undefined || high === undefined) throw new Error('unreachable');
    expect(digestOfEntries([low, high])).toBe(digestOfEntries([high, low]));
  });

  test('gives a folder name, and rejects text that is not a digest', () => {
    expect(digestName(`sha256-tree:${'a'.repeat(64)}`)).toBe('a'.repeat(64));
    for (const wrong of ['', '..', 'sha256-tree:../../x', `sha256:${'a'.repeat(64)}`, `sha256-tree:${'A'.repeat(64)}`])
      expect(() => digestName(wrong)).toThrow(TypeError);
  });
});

describe('a tree that is refused', () => {
  const cases: Readonly<Record<string, readonly [make: (root: string) => void, outcome: string]>> = {
    'a link out by ..': [(root) => symlinkSync('../../etc/passwd', path.join(root, 'x')), 'link-outside x'],
    'an absolute link': [(root) => symlinkSync('/etc/passwd', path.join(root, 'x')), 'link-outside x'],
    'an absolute link to itself': [
      (root) => symlinkSync(path.join(root, 'SKILL.md'), path.join(root, 'x')),
      'link-outside x',
    ],
    'a link out by way of another link': [
      (root) => {
        mkdirSync(path.join(root, 'deep/er'), { recursive: true });
        mkdirSync(path.join(root, 'top'));
        symlinkSync('../../top', path.join(root, 'deep/er/d'));
        symlinkSync('d/../../y', path.join(root, 'deep/er/x'));
      },
      'link-outside deep/er/x',
    ],
    'a link through what is not there': [(root) => symlinkSync('no/../../x', path.join(root, 'x')), 'link-outside x'],
    'links that never end': [
      (root) => {
        symlinkSync('b', path.join(root, 'a'));
        symlinkSync('a', path.join(root, 'b'));
      },
      'link-outside a',
    ],
    'a pipe': [(root) => execFileSync('mkfifo', [path.join(root, 'x')]), 'not-regular x'],
    'a file with a name outside': [
      (root) => {
        writeFileSync(path.join(root, '../secret'), 'secret');
        linkSync(path.join(root, '../secret'), path.join(root, 'x'));
      },
      'hard-link x',
    ],
    'a name that is not UTF-8': [
      (root) => writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff])]), ''),
      'name ',
    ],
    'more than 64 folders deep': [
      (root) => mkdirSync(path.join(root, ...Array.from({ length: 70 }, () => 'd')), { recursive: true }),
      `too-deep ${Array.from({ length: 64 }, () => 'd').join('/')}`,
    ],
    'more than 512 MB, sparse': [
      (root) => {
        writeFileSync(path.join(root, 'x'), '');
        truncateSync(path.join(root, 'x'), 600 * 1024 * 1024);
      },
      'too-large ',
    ],
    'no folder': [(root) => rmSync(root, { recursive: true }), 'gone '],
  };
  for (const [title, [make, outcome]] of Object.entries(cases))
    test(`is one with ${title}`, needs('linux'), async () => {
      const root = plant(path.join(scratch(), 'skill'), { 'SKILL.md': 'x' });
      make(root);
      expect(await digestOf(root)).toBe(outcome);
    });

  test('more entries than the limit, 20,000 by default', async () => {
    const root = plant(path.join(scratch(), 'skill'), { 'a/b': 'x', 'c/d': 'x' });
    const read = async (maxEntries: number): Promise<string> =>
      (await readTreeDigest(root, { limits: { ...TREE_LIMITS, maxEntries } })).type;
    expect([await read(3), await read(4), TREE_LIMITS.maxEntries]).toEqual(['refused', 'digest', 20_000]);
  });

  test('a socket', async () => {
    const root = plant(path.join(scratch(), 'skill'), { 'SKILL.md': 'x' });
    const server = createServer().listen(path.join(root, 'x'));
    await new Promise((resolve) => {
      server.once('listening', resolve);
    });
    expect(await digestOf(root)).toBe('not-regular x');
    server.close();
  });

  test('inner links, broken links and hard links inside the tree are allowed', async () => {
    const root = plant(path.join(scratch(), 'skill'), {
      'a/b/c.md': 'x',
      up: { link: 'a/b/../b/c.md' },
      'a/b/down': { link: '../../up' },
      broken: { link: 'a/none.md' },
    });
    linkSync(path.join(root, 'a/b/c.md'), path.join(root, 'second'));
    expect(await digestOf(root)).toMatch(/^sha256-tree:/);
  });
});

describe('digests that are remembered', () => {
  test('are returned without reading while the fingerprint is unchanged', async () => {
    const base = scratch();
    const root = plant(path.join(base, 'a'), EVERY_KIND);
    const file = path.join(base, 'digests.json');
    await settle();
    const digests = openTreeDigests({ file });
    expect(digests.known(root)).toBeUndefined();
    const first = await digests.of(root);
    const digest = first.type === 'digest' ? first.digest : '';
    // Another process finds them too.
    const others = openTreeDigests({ file });
    expect([digests.known(root), others.known(root), digest]).toEqual([digest, digest, await digestOf(root)]);

    const skill = path.join(root, 'SKILL.md');
    const text = readFileSync(skill, 'utf8');
    writeFileSync(skill, text.replace('every', 'EVERY'));
    expect([digests.known(root), others.known(root)]).toEqual([undefined, undefined]);
    expect((await digests.of(root)).type).toBe('digest');
  });

  test('are not returned after any change, although the tree was looked at before', async () => {
    const files = { 'SKILL.md': 'x', 'a/one.md': 'one', 'a/two.md': 'two', 'a/b/three.md': 'three' };
    const changes: readonly ((root: string) => void)[] = [
      (root) => writeFileSync(path.join(root, 'a/b/three.md'), 'THREE'),
      (root) => writeFileSync(path.join(root, 'a/b/four.md'), 'four'),
      (root) => rmSync(path.join(root, 'a/two.md')),
      (root) => renameSync(path.join(root, 'a/two.md'), path.join(root, 'a/2.md')),
      (root) => chmodSync(path.join(root, 'a/one.md'), 0o755),
      (root) => {
        renameSync(path.join(root, 'a'), `${root}.a`);
        symlinkSync(`${root}.a`, path.join(root, 'a'));
      },
      (root) => {
        renameSync(root, `${root}.old`);
        plant(root, files);
      },
      (root) => rmSync(root, { recursive: true }),
    ];
    const base = scratch();
    const trees = changes.map((change, place) => ({ change, root: plant(path.join(base, String(place)), files) }));
    await settle();
    const digests = openTreeDigests();
    const digest = await digestOf(trees[0]?.root ?? '');
    for (const { change, root } of trees) {
      await digests.of(root);
      expect([digests.known(root), digests.known(root)]).toEqual([digest, digest]);
      change(root);
      expect(digests.known(root)).toBeUndefined();
    }
  });

  test('of two processes are merged in the cache file', async () => {
    const base = scratch();
    const [one = '', two = ''] = ['one', 'two'].map((name) => plant(path.join(base, name), { 'SKILL.md': name }));
    const file = path.join(base, 'digests.json');
    await settle();
    const [first, second] = [openTreeDigests({ file }), openTreeDigests({ file })];
    await first.of(one);
    await second.of(two);
    const third = openTreeDigests({ file });
    expect([third.known(one), third.known(two)]).toEqual([await digestOf(one), await digestOf(two)]);
  });

  test('are limited to a thousand; the oldest are dropped', async () => {
    const base = scratch();
    const root = plant(path.join(base, 'a'), { 'SKILL.md': 'x' });
    const file = path.join(base, 'digests.json');
    await settle();
    const digest = await digestOf(root);
    const others = Array.from({ length: 1_000 }, (_, place) => ({
      root: `/${String(place)}`,
      digest,
      fingerprint: 'y',
    }));
    writeFileSync(file, JSON.stringify(others));
    await openTreeDigests({ file }).of(root);
    expect(openTreeDigests({ file }).known(root)).toBe(digest);
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    expect(kept).toEqual([...others.slice(1), { root, digest, fingerprint: kept.at(-1).fingerprint }]);
  });

  test('are not remembered for files that changed within the last clock tick', async () => {
    const root = plant(path.join(scratch(), 'a'), { 'SKILL.md': 'x' });
    // The clock of the file system is at most a tick behind: written now is too fresh.
    const digests = openTreeDigests();
    const ahead = Date.now() / 1000 + 60;
    utimesSync(path.join(root, 'SKILL.md'), ahead, ahead);
    expect((await digests.of(root)).type).toBe('digest');
    expect(digests.known(root)).toBeUndefined();
  });

  test('ignore a truncated or foreign cache file', async () => {
    const base = scratch();
    const file = path.join(base, 'digests.json');
    const root = plant(path.join(base, 'a'), { 'SKILL.md': 'x' });
    for (const text of [
      '',
      '[{"root":',
      '{}',
      `[{"root":"${root}","digest":"x","fingerprint":"y"}]`,
      '[null, 1, "x"]',
    ]) {
      writeFileSync(file, text);
      expect(openTreeDigests({ file }).known(root)).toBeUndefined();
    }
    rmSync(file);
    symlinkSync('/etc/passwd', file);
    expect(openTreeDigests({ file }).known(root)).toBeUndefined();
  });

  test('a tree that is written continuously is refused or read consistently', async () => {
    const root = plant(path.join(scratch(), 'a'), EVERY_KIND);
    let round = 0;
    const timer = setInterval(() => writeFileSync(path.join(root, 'SKILL.md'), String((round += 1))), 0);
    for (let number = 0; number < 64; number += 1) plant(root, { [`more/${String(number)}`]: 'x' });
    const outcomes = new Set<string>();
    for (let count = 0; count < 40; count += 1) {
      const read = await readTreeDigest(root);
      outcomes.add(read.type === 'digest' ? 'digest' : read.problem);
    }
    clearInterval(timer);
    expect([...outcomes].filter((outcome) => outcome !== 'changed' && outcome !== 'digest')).toEqual([]);
    expect((await readTreeDigest(root)).type).toBe('digest');
  });
});

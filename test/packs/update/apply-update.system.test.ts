import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';

import type { LockedFile } from '../../../src/packs/lock/lock-file.ts';
import { planUpdate, type FileTable, type UpdateMode } from '../../../src/packs/update/update-plan.ts';
import { buildUpdate, type BuildUpdateRequest } from '../../../src/packs/update/apply-update.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { walkTree } from '../../../src/platform/fs/tree-file.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';

let folder = '';
beforeEach(() => {
  folder = scratch();
});

/** Contents by path; a path that ends with `!` is executable, one that ends with `/` is an empty folder. */
type Tree = Readonly<Record<string, string | Buffer>>;

function write(name: string, tree: Tree): string {
  const to = path.join(folder, name);
  mkdirSync(to, { recursive: true });
  for (const [key, content] of Object.entries(tree)) {
    const file = path.join(to, key.replace('!', ''));
    mkdirSync(key.endsWith('/') ? file : path.dirname(file), { recursive: true });
    if (!key.endsWith('/')) writeFileSync(file, content, { mode: key.endsWith('!') ? 0o755 : 0o644 });
  }
  return to;
}

function read(from: string): Tree {
  const tree: Record<string, string> = {};
  for (const { type, path: at, stats } of walkTree(from))
    if (type === 'file') tree[(stats.mode & 0o111) === 0 ? at : `${at}!`] = readFileSync(path.join(from, at), 'utf8');
  return tree;
}

const table = (tree: Tree): FileTable =>
  Object.fromEntries(
    Object.entries(tree)
      .filter(([key]) => !key.endsWith('/'))
      .map(([key, content]): [string, LockedFile] => [
        key.replace('!', ''),
        {
          sha256: sha256(content),
          bytes: Buffer.byteLength(content),
          ...(key.endsWith('!') ? { executable: true as const } : {}),
        },
      ]),
  );

interface World {
  readonly base?: Tree;
  readonly local: Tree;
  readonly incoming: Tree;
  readonly mode: UpdateMode;
}

function request(
  { base = {}, local, incoming, mode }: World,
  rest: Partial<BuildUpdateRequest> = {},
): BuildUpdateRequest {
  return {
    plan: planUpdate({ base: table(base), local: table(local), incoming: table(incoming), mode }),
    local: write('local', local),
    incoming: write('incoming', incoming),
    base: (at) => {
      const content = base[at] ?? base[`${at}!`];
      return content === undefined ? undefined : Buffer.from(content);
    },
    to: path.join(folder, 'to'),
    ...rest,
  };
}

const WORLD = {
  base: { 'SKILL.md': '1\n2\n3\n4\n', 'old.md': 'o', 'same.md': 's', 'gone.md': 'g', 'scripts/run.sh': 'r' },
  local: { 'SKILL.md': 'one\n2\n3\n4\n', 'old.md': 'o', 'same.md': 'S', 'mine/notes.md': 'm', 'scripts/run.sh!': 'r' },
  incoming: {
    'SKILL.md': '1\n2\n3\nfour\n',
    'same.md': 's',
    'gone.md': 'g',
    'new.md': 'n',
    'scripts/run.sh': 'R',
    'assets/': '',
  },
} as const;

describe('buildUpdate', () => {
  verifies('PACK-6', 'merge combines local edits and the new version in a separate folder', async () => {
    const input = request({ ...WORLD, mode: 'merge' });
    const result = {
      'SKILL.md': 'one\n2\n3\nfour\n',
      'same.md': 'S',
      'new.md': 'n',
      'mine/notes.md': 'm',
      'scripts/run.sh!': 'R',
    };
    expect(await buildUpdate(input)).toEqual({ type: 'built', files: table(result) });
    expect([input.plan.toMerge, input.plan.kept]).toEqual([['SKILL.md'], ['gone.md', 'mine/notes.md', 'same.md']]);
    expect(read(input.to)).toEqual(result);
    expect(existsSync(path.join(input.to, 'assets'))).toBe(true);
    expect(read(input.local)).toEqual(WORLD.local);
  });

  test('keeps local edits over several updates, because the lock stores the new version and not the merge', async () => {
    const first = request({ ...WORLD, mode: 'merge' });
    await buildUpdate(first);
    const { 'assets/': _, ...base } = WORLD.incoming;
    const local = read(first.to);
    const incoming = { ...base, 'SKILL.md': '1\n2\n3\nfour\nfive\n', 'scripts/run.sh': 'R2' };
    for (const old of [first.local, first.incoming]) rmSync(old, { recursive: true });
    const second = request({ base, local, incoming, mode: 'merge' }, { to: path.join(folder, 'second') });
    expect(await buildUpdate(second)).toMatchObject({ type: 'built' });
    expect(read(second.to)).toEqual({
      'SKILL.md': 'one\n2\n3\nfour\nfive\n',
      'same.md': 'S',
      'new.md': 'n',
      'mine/notes.md': 'm',
      'scripts/run.sh!': 'R2',
    });
  });

  test('keep keeps edited files, force installs the new version with its empty folders', async () => {
    const kept = request({ ...WORLD, mode: 'keep' });
    await buildUpdate(kept);
    expect(read(kept.to)).toEqual({
      'SKILL.md': 'one\n2\n3\n4\n',
      'same.md': 'S',
      'new.md': 'n',
      'mine/notes.md': 'm',
      'scripts/run.sh!': 'r',
    });
    const forced = request({ ...WORLD, mode: 'force' }, { to: path.join(folder, 'forced') });
    expect(await buildUpdate(forced)).toMatchObject({ type: 'built' });
    expect(forced.plan.kept).toEqual([]);
    const { 'assets/': _, ...files } = WORLD.incoming;
    expect(read(forced.to)).toEqual(files);
    expect(statSync(path.join(forced.to, 'assets')).isDirectory()).toBe(true);
  });

  test('builds nothing for a refused plan', async () => {
    const input = request({ ...WORLD, mode: 'refuse' });
    expect(await buildUpdate(input)).toMatchObject({ type: 'refused', code: 'install/edited' });
    expect(existsSync(input.to)).toBe(false);
  });

  test.each([
    [
      'lines',
      { base: { a: '1\n' }, local: { a: '2\n' }, incoming: { a: '3\n' } },
      '"a" has conflicting changes here and in the new version (first conflict at local line 1)',
    ],
    [
      'binary',
      { base: { a: '1\n' }, local: { a: '2\n\0' }, incoming: { a: '3\n' } },
      '"a" was changed here and in the new version, and is not a text file',
    ],
    [
      'binary',
      { base: { a: '1\n' }, local: { a: Buffer.from([0xff, 0x0a]) }, incoming: { a: '3\n' } },
      '"a" was changed here and in the new version, and is not a text file',
    ],
    [
      'binary',
      { base: { a: 'x\0' }, local: { a: 'x\n' }, incoming: { a: 'y\n' } },
      '"a" was changed here and in the new version, and is not a text file',
    ],
    [
      'too-large',
      { base: { a: '1\n' }, local: { a: `${'2'.repeat(5_000_000)}\n` }, incoming: { a: '3\n' } },
      '"a" was changed here and in the new version, and is too large to merge (limit: 4194304 bytes)',
    ],
  ] as const)('reports a conflict (%s) with its position', async (reason, world, message) => {
    const built = await buildUpdate(request({ ...world, mode: 'merge' }));
    expect(built).toMatchObject({
      type: 'refused',
      code: 'install/conflict',
      path: 'a',
      message,
      conflicts: [{ path: 'a', reason }],
    });
  });

  test('reports a conflict if the base is missing or does not match the lock', async () => {
    const world = {
      base: { a: '1\n2\n3\n' },
      local: { a: 'x\n2\n3\n' },
      incoming: { a: '1\n2\ny\n' },
      mode: 'merge',
    } as const;
    for (const [place, base] of [undefined, () => undefined, () => Buffer.from('1\n2\nother\n')].entries()) {
      const { base: _, ...input } = request(world, { to: path.join(folder, `to-${String(place)}`) });
      expect(await buildUpdate({ ...input, base })).toMatchObject({
        code: 'install/conflict',
        message: '"a" was changed here and in the new version, and the installed original is no longer available',
        conflicts: [{ path: 'a', reason: 'base-unknown' }],
      });
    }
  });

  test.each([
    ['an edited local file', (input: BuildUpdateRequest) => writeFileSync(path.join(input.local, 'old.md'), 'edited')],
    ['a new local file', (input: BuildUpdateRequest) => writeFileSync(path.join(input.local, 'late.md'), 'x')],
    ['a deleted local file', (input: BuildUpdateRequest) => rmSync(path.join(input.local, 'old.md'))],
    [
      'a changed executable bit of a local file',
      (input: BuildUpdateRequest) => chmodSync(path.join(input.local, 'old.md'), 0o755),
    ],
    [
      'an edited file of the new version',
      (input: BuildUpdateRequest) => writeFileSync(path.join(input.incoming, 'new.md'), 'N'),
    ],
    [
      'an added file of the new version',
      (input: BuildUpdateRequest) => writeFileSync(path.join(input.incoming, 'late.md'), 'N'),
    ],
    ['a deleted file of the new version', (input: BuildUpdateRequest) => rmSync(path.join(input.incoming, 'new.md'))],
  ])('is refused after %s between planning and building', async (_, act) => {
    const input = request({ ...WORLD, mode: 'merge' });
    act(input);
    expect(await buildUpdate(input)).toMatchObject({ type: 'refused', code: 'source/changed' });
  });

  test('neither follows nor copies links, and refuses to drop them silently', async () => {
    const input = request({ ...WORLD, mode: 'keep' });
    symlinkSync('/etc/passwd', path.join(input.local, 'link'));
    expect(await buildUpdate(input)).toMatchObject({ code: 'install/edited', path: 'link' });
    const forced = request({ ...WORLD, mode: 'force' }, { to: path.join(folder, 'forced') });
    expect(await buildUpdate(forced)).toMatchObject({ type: 'built' });
    symlinkSync('/etc/passwd', path.join(forced.incoming, 'link'));
    expect(await buildUpdate({ ...forced, to: path.join(folder, 'again') })).toMatchObject({ code: 'archive/link' });
  });

  test('reports a conflict between a kept file and an empty folder of the new version', async () => {
    const input = request({ local: { notes: 'mine' }, incoming: { 'SKILL.md': 's', 'notes/': '' }, mode: 'keep' });
    expect(await buildUpdate(input)).toMatchObject({ code: 'install/conflict', path: 'notes' });
  });

  test('refuses a target that exists or cannot be written', async () => {
    const input = request({ ...WORLD, mode: 'merge' });
    mkdirSync(input.to);
    expect(await buildUpdate(input)).toMatchObject({ code: 'install/unwritable' });
    expect(await buildUpdate({ ...input, to: path.join(folder, 'no', 'such') })).toMatchObject({
      code: 'install/unwritable',
      message: 'the update cannot be built (ENOENT)',
    });
    expect(await buildUpdate({ ...input, to: path.join(folder, 'x'), local: path.join(folder, 'none') })).toMatchObject(
      {
        code: 'source/changed',
      },
    );
  });

  test('stops when the signal aborts', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${String(at)}`, 'x']));
    const input = request({ local: {}, incoming: many, mode: 'merge' }, { signal: AbortSignal.abort() });
    await expect(buildUpdate(input)).rejects.toThrow(/abort/i);
  });

  test('reports exactly what it built and loses no local edit, for all inputs', async () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'mine', 'theirs'), { maxLength: 4 })
      .map((all) => all.map((line) => `${line}\n`).join(''));
    const tree = fc.dictionary(fc.constantFrom('SKILL.md', 'a/b.md', 'c.sh!', 'd'), text, { maxKeys: 4 });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(tree, tree, tree, fc.constantFrom('merge', 'keep'), async (base, local, incoming, mode) => {
        rmSync(folder, { recursive: true, force: true });
        const input = request({ base, local, incoming, mode }, { to: path.join(folder, `to-${String((count += 1))}`) });
        const built = await buildUpdate(input);
        if (built.type === 'refused') return;
        const result = read(input.to);
        expect(built.files).toEqual(table(result));
        for (const [key, content] of Object.entries(local))
          if (content !== base[key] && content !== incoming[key] && !input.plan.toMerge.includes(key.replace('!', '')))
            expect(result[key]).toBe(content);
      }),
      { numRuns: 30 },
    );
  });
});

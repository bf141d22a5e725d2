import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { lockFileText, readLock } from '../../../src/packs/lock/lock-file.ts';
import { restoreSkill, rollbackSkill } from '../../../src/packs/change-root.ts';
import { withRoot } from '../../../src/packs/root/open-root.ts';
import { presentFiles } from '../../../src/packs/root/present-files.ts';
import { ownerName, thisProcess } from '../../../src/platform/fs/lock-owner.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { bringBack, committed, install, leftovers, lockOf, skillFiles, staged, treeOf, writeFiles } from './support.ts';

describe('installing', () => {
  test('puts all skills of a change and the lock in place, and leaves nothing behind', async () => {
    const root = path.join(scratch(), 'new', 'root');
    const end = await install(root, { alpha: '1', beta: '2' });
    expect(readdirSync(root).toSorted()).toEqual(['.skillwright', 'alpha', 'beta', 'skills.lock.json']);
    const lock = readLock(root);
    expect(lock).toEqual(end.lock);
    expect(lock).toEqual({
      schema: 1,
      skills: new Map([
        ['alpha', lockOf('alpha', path.join(root, 'alpha'), '1')],
        ['beta', lockOf('beta', path.join(root, 'beta'), '2')],
      ]),
    });
    expect(readFileSync(path.join(root, '.skillwright/.gitignore'), 'utf8')).toBe('*\n');
    expect(leftovers(root)).toEqual([]);
  });

  test('refuses a root that is not there, unless it may be made', async () => {
    const root = path.join(scratch(), 'none');
    expect(await withRoot(root, {}, () => Promise.resolve('opened'))).toMatchObject({ code: 'install/root' });
    expect(existsSync(root)).toBe(false);
  });

  test('through a link to a root works in the real one', async () => {
    const folder = scratch();
    mkdirSync(path.join(folder, 'real'));
    symlinkSync('real', path.join(folder, 'link'));
    await install(path.join(folder, 'link'), { alpha: '1' });
    expect(existsSync(path.join(folder, 'real/alpha/SKILL.md'))).toBe(true);
  });

  test('refuses a skill that is installed, and touches nothing', async () => {
    const root = scratch();
    await install(root, { alpha: '1' });
    const before = treeOf(root);
    const end = await withRoot(root, {}, (open) =>
      open.commit([staged(open, 'beta'), staged(open, 'alpha', { version: '2' })]),
    );
    expect(end).toMatchObject({ type: 'refused', code: 'install/exists', path: path.join(root, 'alpha') });
    expect(treeOf(root)).toEqual(before);
    expect(leftovers(root)).toEqual([]);
  });

  test('refuses folders, files and links that it did not make, and keeps them where told to go on', async () => {
    const root = scratch();
    writeFiles(path.join(root, 'folder'), { 'mine.txt': 'my work' });
    writeFileSync(path.join(root, 'file'), 'my file');
    symlinkSync('/etc', path.join(root, 'link'));
    const before = treeOf(root);
    for (const name of ['folder', 'file', 'link'])
      expect(await withRoot(root, {}, (open) => open.commit([staged(open, name)]))).toMatchObject({
        code: 'install/foreign',
      });
    expect(treeOf(root)).toEqual(before);
    const end = await install(root, { folder: '1', file: '1', link: '1' }, 'replace');
    expect(end.kept.map(({ part, name, lock }) => `${part} ${name} ${lock?.name ?? 'not locked'}`).toSorted()).toEqual([
      'trash file not locked',
      'trash folder not locked',
      'trash link not locked',
    ]);
    const folder = end.kept.find(({ name }) => name === 'folder');
    expect(treeOf(folder?.path ?? '')).toEqual({ 'mine.txt': '644 my work' });
    expect(existsSync('/etc/passwd')).toBe(true);
  });

  test('with a backup says where the folder is now, outside of what is scanned', async () => {
    const root = scratch();
    writeFiles(path.join(root, 'alpha'), { 'mine.txt': 'my work' });
    const end = await install(root, { alpha: '1' }, 'backup');
    expect(end.kept).toHaveLength(1);
    const [kept] = end.kept;
    expect(kept).toMatchObject({ part: 'backups', name: 'alpha' });
    expect(kept?.path.startsWith(path.join(root, '.skillwright/backups/'))).toBe(true);
    expect(treeOf(kept?.path ?? '')).toEqual({ 'mine.txt': '644 my work' });
  });

  test('refuses names that some systems take for an installed one', async () => {
    const root = scratch();
    mkdirSync(path.join(root, 'Alpha'));
    const refused = { type: 'refused', code: 'install/case' };
    expect(await withRoot(root, {}, (open) => open.commit([staged(open, 'alpha')]))).toMatchObject(refused);
    const twice = await withRoot(root, {}, (open) => open.commit([staged(open, 'beta'), staged(open, 'beta')]));
    expect(twice).toMatchObject(refused);
    expect(await withRoot(root, {}, (open) => open.commit([staged(open, '../out')]))).toMatchObject({
      code: 'pack/name',
    });
    expect(readdirSync(root).toSorted()).toEqual(['.skillwright', 'Alpha']);
  });

  test('takes only what was staged here', async () => {
    const folder = scratch();
    writeFiles(path.join(folder, 'alpha'), skillFiles('alpha', '1'));
    const change = { ...lockedPut(path.join(folder, 'alpha')) };
    await expect(
      withRoot(path.join(folder, 'root'), { create: true }, (open) => open.commit([change])),
    ).rejects.toThrow(/is not inside a folder that staging\(\) returned/);
  });
});

describe('between inspection and commit', () => {
  const tampered: readonly (readonly [string, (from: string) => void])[] = [
    ['a file was written to', (from) => writeFileSync(path.join(from, 'SKILL.md'), 'other')],
    ['a file was added', (from) => writeFileSync(path.join(from, 'more.md'), 'other')],
    ['a file was removed', (from) => rmSync(path.join(from, 'SKILL.md'))],
    ['an empty folder was added', (from) => mkdirSync(path.join(from, 'empty'))],
    [
      'a file became a link',
      (from) => (rmSync(path.join(from, 'SKILL.md')), symlinkSync('/etc/passwd', path.join(from, 'SKILL.md'))),
    ],
    ['a repository was added', (from) => mkdirSync(path.join(from, '.git'))],
    ['it was exchanged for a link', (from) => (renameSync(from, `${from}-moved`), symlinkSync(`${from}-moved`, from))],
    ['it was taken away', (from) => rmSync(from, { recursive: true })],
  ];

  for (const [what, tamper] of tampered)
    for (const way of ['hashes', 'looks'])
      verifies('PACK-2', `${what}: refused by ${way}, and the root is as before`, async () => {
        const root = scratch();
        const end = await withRoot(root, {}, (open) => {
          const change = staged(open, 'alpha');
          const tree = presentFiles(change.from);
          if (tree.type !== 'present') throw new Error(tree.message);
          tamper(change.from);
          return open.commit([{ ...change, ...(way === 'looks' ? { looks: tree.looks } : {}) }]);
        });
        expect(end).toMatchObject({ type: 'refused', code: 'source/changed' });
        expect(treeOf(root)).toEqual({});
        expect(leftovers(root)).toEqual([]);
      });

  test('a folder that still looks the same is taken without a second reading', async () => {
    const root = scratch();
    const end = await withRoot(root, {}, (open) => {
      const change = staged(open, 'alpha');
      const tree = presentFiles(change.from);
      return open.commit([{ ...change, ...(tree.type === 'present' ? { looks: tree.looks } : {}) }]);
    });
    expect(end).toMatchObject({ type: 'committed' });
  });

  test('a root that was exchanged for a link is refused, and nothing is written behind the link', async () => {
    const folder = scratch();
    const root = path.join(folder, 'root');
    mkdirSync(path.join(folder, 'elsewhere'));
    const end = await withRoot(root, { create: true }, (open) => {
      const change = staged(open, 'alpha');
      return open.commit([change], {
        onProgress: ({ phase }) => {
          if (phase !== 'write') return;
          renameSync(root, path.join(folder, 'moved'));
          symlinkSync(path.join(folder, 'elsewhere'), root);
        },
      });
    });
    expect(end).toMatchObject({ type: 'refused', code: 'install/root' });
    expect(treeOf(path.join(folder, 'elsewhere'))).toEqual({});
    expect(treeOf(path.join(folder, 'moved'))).toEqual({});
    expect(leftovers(path.join(folder, 'moved'))).toEqual([]);
  });
});

describe('updating and rolling back', () => {
  verifies('PACK-3', 'an update keeps the version before, and a rollback brings it back, to and fro', async () => {
    const root = scratch();
    await install(root, { alpha: '1', other: '1' });
    const first = treeOf(root);
    const updated = await install(root, { alpha: '2' }, 'replace');
    const second = treeOf(root);
    expect(updated.kept.map(({ part, name, lock }) => [part, name, lock?.version])).toEqual([
      ['previous', 'alpha', '1'],
    ]);
    expect(second).not.toEqual(first);
    for (const state of [first, second, first]) {
      committed(await bringBack(root, 'previous', 'alpha'));
      expect(treeOf(root)).toEqual(state);
    }
    expect(
      await withRoot(root, {}, (open) =>
        Promise.resolve(open.backups('previous', 'alpha').map(({ lock }) => lock?.version)),
      ),
    ).toEqual(['2']);
  });

  test('local edits come back as they were', async () => {
    const root = scratch();
    await install(root, { alpha: '1' });
    writeFileSync(path.join(root, 'alpha/SKILL.md'), 'edited');
    const edited = treeOf(root);
    await install(root, { alpha: '2' }, 'replace');
    committed(await bringBack(root, 'previous', 'alpha'));
    expect(treeOf(root)).toEqual(edited);
  });

  test('five versions are kept, and those that go are told', async () => {
    const root = scratch();
    await install(root, { alpha: '0', beta: '0' });
    const pruned: unknown[] = [];
    for (const version of ['1', '2', '3', '4', '5', '6', '7'])
      pruned.push(...(await install(root, { alpha: version }, 'replace')).pruned.map(({ lock }) => lock?.version));
    expect(pruned).toEqual(['0', '1']);
    const kept = await withRoot(root, {}, (open) =>
      Promise.resolve(open.backups('previous', 'alpha').map(({ lock }) => lock?.version)),
    );
    expect(kept).toEqual(['6', '5', '4', '3', '2']);
  });

  test('there is nothing to roll back to without a version before', async () => {
    const root = scratch();
    await install(root, { alpha: '1' });
    const options = { settings: { root }, name: 'alpha', confirm: async () => true };
    expect(await rollbackSkill(options)).toMatchObject({ code: 'install/trash' });
    await install(root, { alpha: '2' }, 'replace');
    committed(await withRoot(root, {}, (open) => open.commit([{ type: 'remove', name: 'alpha', to: 'trash' }])));
    expect(await rollbackSkill(options)).toMatchObject({ code: 'install/not-installed' });
  });
});

describe('removing', () => {
  verifies('PACK-3', 'a removed skill lies in the trash and comes back with its entry', async () => {
    const root = scratch();
    await install(root, { alpha: '1', beta: '1' });
    writeFileSync(path.join(root, 'alpha/mine.txt'), 'added here');
    const before = treeOf(root);
    const end = await withRoot(root, {}, (open) => open.commit([{ type: 'remove', name: 'alpha', to: 'trash' }]));
    expect(committed(end).lock.skills.has('alpha')).toBe(false);
    expect(readdirSync(root).toSorted()).toEqual(['.skillwright', 'beta', 'skills.lock.json']);
    committed(await bringBack(root, 'trash', 'alpha'));
    expect(treeOf(root)).toEqual(before);
    expect(await withRoot(root, {}, (open) => Promise.resolve(open.backups('trash')))).toEqual([]);
    expect(readdirSync(path.join(root, '.skillwright/trash'))).toEqual([]);
  });

  test('the newest of that name comes back, or the one that is named', async () => {
    const root = scratch();
    for (const version of ['1', '2']) {
      await install(root, { alpha: version });
      committed(await withRoot(root, {}, (open) => open.commit([{ type: 'remove', name: 'alpha', to: 'trash' }])));
    }
    const trash = await withRoot(root, {}, (open) => Promise.resolve([...open.backups('trash')]));
    if (!Array.isArray(trash)) throw new Error(trash.message);
    expect(trash.map(({ lock }) => lock?.version)).toEqual(['2', '1']);
    const id = trash[1]?.id ?? '';
    const end = committed(await bringBack(root, 'trash', 'alpha', id));
    expect(end.lock.skills.get('alpha')?.version).toBe('1');
    expect(await bringBack(root, 'trash', 'alpha')).toMatchObject({ code: 'install/exists' });
    const none = { settings: { root }, name: 'none', confirm: async () => true };
    expect(await restoreSkill(none)).toMatchObject({ code: 'install/trash' });
  });

  test('for good leaves nothing; the trash goes only when told to', async () => {
    const root = scratch();
    await install(root, { alpha: '1', beta: '1' });
    committed(
      await withRoot(root, {}, (open) =>
        open.commit([
          { type: 'remove', name: 'alpha', to: 'nowhere' },
          { type: 'remove', name: 'beta', to: 'trash' },
        ]),
      ),
    );
    expect(leftovers(root)).toEqual([]);
    expect(await withRoot(root, {}, (open) => Promise.resolve(open.backups('trash')))).toMatchObject([
      { name: 'beta' },
    ]);
    await withRoot(root, {}, (open) => open.emptyTrash());
    expect(treeOf(root)).toEqual({ 'skills.lock.json': `644 ${lockFileText({ schema: 1, skills: new Map() })}` });
  });

  test('what is not installed is refused; a folder that is gone already only leaves the lock', async () => {
    const root = scratch();
    await install(root, { alpha: '1' });
    mkdirSync(path.join(root, 'mine'));
    const remove = (name: string) => withRoot(root, {}, (open) => open.commit([{ type: 'remove', name, to: 'trash' }]));
    expect(await remove('none')).toMatchObject({ code: 'install/not-installed' });
    expect(await remove('mine')).toMatchObject({ code: 'install/foreign' });
    rmSync(path.join(root, 'alpha'), { recursive: true });
    expect(committed(await remove('alpha')).lock.skills.size).toBe(0);
  });
});

describe('a root in use', () => {
  test('is waited for, and who uses it is told', async () => {
    const root = scratch();
    const end = await withRoot(root, {}, () => withRoot(root, { timeoutMs: 30 }, () => Promise.resolve('opened')));
    expect(end).toMatchObject({
      code: 'install/busy',
      message: expect.stringContaining(`process ${String(process.pid)} `),
    });
  });

  test('by a process that died is taken over', async () => {
    const root = scratch();
    await install(root, { alpha: '1' });
    const dead = ownerName({ ...thisProcess(), pid: 4_000_000, start: '1' });
    writeFileSync(path.join(root, '.skillwright/lock'), `${dead}.0`, { mode: 0o600 });
    expect(await withRoot(root, { timeoutMs: 60_000 }, () => Promise.resolve('opened'))).toBe('opened');
  });

  test('whose lock somebody took away is not changed', async () => {
    const root = scratch();
    const end = await withRoot(root, {}, (open) => {
      const change = staged(open, 'alpha');
      rmSync(path.join(root, '.skillwright/lock'));
      return open.commit([change]);
    });
    expect(end).toMatchObject({ code: 'install/busy' });
    expect(treeOf(root)).toEqual({});
  });

  test('waiting ends when told to', async () => {
    const root = scratch();
    await withRoot(root, {}, async () => {
      const signal = AbortSignal.timeout(20);
      await expect(withRoot(root, { signal }, () => Promise.resolve('opened'))).rejects.toThrow(/abort/);
    });
    expect(await withRoot(root, {}, () => Promise.resolve('opened'))).toBe('opened');
  });

  test('is given back when the work throws, with nothing left of it', async () => {
    const root = scratch();
    const failing = withRoot(root, {}, (open) => {
      staged(open, 'alpha');
      return Promise.reject(new Error('no'));
    });
    await expect(failing).rejects.toThrow('no');
    expect(leftovers(root)).toEqual([]);
  });
});

describe('a root that is not ours', () => {
  for (const part of ['.skillwright', '.skillwright/staging', '.skillwright/trash'])
    test(`is refused where ${part} is a link`, async () => {
      const folder = scratch();
      const root = path.join(folder, 'root');
      mkdirSync(path.dirname(path.join(root, part)), { recursive: true });
      mkdirSync(path.join(folder, 'elsewhere'));
      symlinkSync(path.join(folder, 'elsewhere'), path.join(root, part));
      expect(await withRoot(root, {}, () => Promise.resolve('opened'))).toMatchObject({ code: 'install/root' });
      expect(readdirSync(path.join(folder, 'elsewhere'))).toEqual([]);
    });

  test('is refused where its lock cannot be read', async () => {
    const root = scratch();
    writeFileSync(path.join(root, 'skills.lock.json'), '<<<<<<< ours\n{}\n');
    expect(await withRoot(root, {}, () => Promise.resolve('opened'))).toMatchObject({ code: 'lock/invalid' });
    expect(readFileSync(path.join(root, 'skills.lock.json'), 'utf8')).toBe('<<<<<<< ours\n{}\n');
  });
});

function lockedPut(from: string): Parameters<Parameters<Parameters<typeof withRoot>[2]>[0]['commit']>[0][number] {
  return { type: 'put', name: 'alpha', from, lock: lockOf('alpha', from), existing: 'refuse' };
}

import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { needsRecovery, withRoot, type WithRootOptions } from '../../../src/packs/root/open-root.ts';
import type { Recovered } from '../../../src/packs/root/recover.ts';
import { scratch } from '../../skills/registry/support.ts';
import { install, leftovers, lockOf, staged, treeOf } from './support.ts';

const recoverRoot = (root: string, options: WithRootOptions) =>
  withRoot(root, options, () => Promise.resolve({ type: 'recovered' }));

/** Ends a commit in the middle, as a bug does; what is left is what a kill leaves. */
class Killed extends Error {}

/** A root with alpha at 1, in which an update of alpha to 2 and an install of beta ended right behind a step. */
async function interrupted(after: string): Promise<string> {
  const root = scratch();
  await install(root, { alpha: '1' });
  const work = withRoot(root, {}, (open) =>
    open.commit([staged(open, 'alpha', { version: '2', existing: 'replace' }), staged(open, 'beta')], {
      onStep: (what) => {
        if (what === after) throw new Killed();
      },
    }),
  );
  await expect(work).rejects.toThrow(Killed);
  expect(needsRecovery(root)).toBe(true);
  return root;
}

const staging = (root: string): string => path.join(root, '.skillwright/staging');

async function recovered(root: string): Promise<readonly Recovered[]> {
  const told: Recovered[] = [];
  expect(await recoverRoot(root, { onRecovered: (what) => told.push(what) })).toMatchObject({ type: 'recovered' });
  expect(needsRecovery(root)).toBe(false);
  expect(leftovers(root)).toEqual([]);
  // At rest: a second time there is nothing to do.
  const again: Recovered[] = [];
  await recoverRoot(root, { onRecovered: (what) => again.push(what) });
  expect(again).toEqual([]);
  return told;
}

describe('when folders were moved by hand after a crash', () => {
  test('a deleted new version keeps the old one, and the other steps are completed', async () => {
    const root = await interrupted('journal written');
    const before = treeOf(path.join(root, 'alpha'));
    for (const work of readdirSync(staging(root)))
      rmSync(path.join(staging(root), work, '1'), { recursive: true, force: true });
    const [told] = await recovered(root);
    expect(told).toMatchObject({ type: 'finished', names: ['alpha', 'beta'] });
    expect(told?.message).toContain('the new "alpha" was deleted from the staging folder');
    expect(treeOf(path.join(root, 'alpha'))).toEqual(before);
    expect(await versions(root)).toEqual({ alpha: '1', beta: '1.0.0' });
  });

  test('a deleted staging folder keeps the old state', async () => {
    const root = await interrupted('journal written');
    const before = treeOf(root);
    rmSync(staging(root), { recursive: true });
    await recovered(root);
    expect(treeOf(root)).toEqual(before);
    expect(await versions(root)).toEqual({ alpha: '1' });
  });

  test('the previous version is restored if the new one was deleted', async () => {
    const root = await interrupted('journal written');
    const before = treeOf(path.join(root, 'alpha'));
    const [kept = ''] = readdirSync(path.join(root, '.skillwright/previous'));
    renameSync(path.join(root, 'alpha'), path.join(root, '.skillwright/previous', kept, 'alpha'));
    rmSync(staging(root), { recursive: true });
    const [told] = await recovered(root);
    expect(told?.message).toContain('the previous version was restored');
    expect(treeOf(path.join(root, 'alpha'))).toEqual(before);
  });

  test('a folder that was created at the target is moved to the trash', async () => {
    const root = await interrupted('journal written');
    mkdirSync(path.join(root, 'beta'));
    writeFileSync(path.join(root, 'beta/mine.txt'), 'my work');
    const [told] = await recovered(root);
    expect(told?.message).toContain('another process created "beta" in the meantime; it was moved to');
    expect(await versions(root)).toEqual({ alpha: '2', beta: '1.0.0' });
    const trash = await withRoot(root, {}, (open) =>
      Promise.resolve(open.backups('trash').map(({ path: at }) => treeOf(at))),
    );
    expect(trash).toEqual([{ 'mine.txt': '644 my work' }]);
  });

  test('a lock that cannot be read is left alone, and the change is finished once it can', async () => {
    const root = await interrupted('journal written');
    const lock = path.join(root, 'skills.lock.json');
    renameSync(lock, `${lock}.mine`);
    writeFileSync(lock, '<<<<<<< HEAD\n');
    expect(await recoverRoot(root, {})).toMatchObject({ type: 'refused', code: 'lock/invalid' });
    expect(needsRecovery(root)).toBe(true);
    renameSync(`${lock}.mine`, lock);
    await recovered(root);
    expect(await versions(root)).toEqual({ alpha: '2', beta: '1.0.0' });
  });
});

describe('an untrusted journal', () => {
  const put = { type: 'put', name: 'alpha', from: 'staging/x/alpha', identity: '1:1' };
  const hostile: readonly (readonly [string, unknown])[] = [
    ['text', 'nonsense'],
    ['no steps', { schema: 1 }],
    ['a name that is a path', { schema: 1, steps: [{ ...put, name: '../../etc' }] }],
    ['a place outside', { schema: 1, steps: [{ ...put, from: 'staging/../../../etc' }] }],
    ['a place that is not ours', { schema: 1, steps: [{ ...put, from: 'lock/x' }] }],
    ['an absolute place', { schema: 1, steps: [{ ...put, from: '/etc' }] }],
    ['a whole part', { schema: 1, steps: [{ type: 'remove', name: 'alpha', to: 'trash' }] }],
    ['an act that there is not', { schema: 1, steps: [{ ...put, type: 'run' }] }],
    ['an entry that is none', { schema: 1, steps: [{ ...put, lock: {} }] }],
  ];
  for (const [what, journal] of hostile)
    test(`with ${what} is set aside, and the root is as it was`, async () => {
      const root = await rootWithJournal(typeof journal === 'string' ? journal : JSON.stringify(journal));
      const before = treeOf(root);
      const told: Recovered[] = [];
      expect(await recoverRoot(root, { onRecovered: (one) => told.push(one) })).toMatchObject({ type: 'recovered' });
      expect(told.map(({ type }) => type)).toEqual(['set-aside']);
      expect(needsRecovery(root)).toBe(false);
      expect(treeOf(root)).toEqual(before);
    });

  test('of a newer version is left for that version', async () => {
    const root = await rootWithJournal('{"schema":3,"steps":[]}');
    expect(await recoverRoot(root, {})).toMatchObject({ code: 'lock/newer' });
    expect(needsRecovery(root)).toBe(true);
  });

  test('does not lead through a link', async () => {
    const outside = scratch();
    mkdirSync(path.join(outside, 'alpha'));
    const root = await rootWithJournal(JSON.stringify({ schema: 1, steps: [put] }));
    symlinkSync(outside, path.join(staging(root), 'x'));
    expect(await recoverRoot(root, {})).toMatchObject({ code: 'install/root' });
    expect(readdirSync(outside)).toEqual(['alpha']);
  });

  test('whatever is in it, brings the root to rest or is refused, and keeps what is installed', async () => {
    const root = await rootWithJournal('{}');
    const before = treeOf(root);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (text) => {
        writeFileSync(path.join(root, '.skillwright/transaction.json'), text, { mode: 0o600 });
        const end = await recoverRoot(root, {});
        expect(['recovered', 'refused']).toContain(end.type);
        expect(treeOf(root)).toEqual(before);
        rmSync(path.join(root, '.skillwright/transaction.json'), { force: true });
      }),
      { numRuns: 25 },
    );
  });
});

async function rootWithJournal(text: string): Promise<string> {
  const root = scratch();
  await install(root, { alpha: '1' });
  writeFileSync(path.join(root, '.skillwright/transaction.json'), text, { mode: 0o600 });
  return root;
}

/** Versions by the lock, and each entry is what stands there. */
async function versions(root: string): Promise<Readonly<Record<string, string | undefined>> | undefined> {
  const found = await withRoot(root, {}, ({ lock }) => Promise.resolve([...lock.skills.values()]));
  if (!Array.isArray(found)) throw new Error(found.message);
  for (const skill of found) expect(lockOf(skill.name, path.join(root, skill.name), skill.version)).toEqual(skill);
  return Object.fromEntries(found.map(({ name, version }) => [name, version]));
}

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { startBackgroundSync, type BackgroundSync } from '../../../src/packs/root/sync.ts';
import { withRoot } from '../../../src/packs/root/open-root.ts';
import { scratch } from '../../skills/registry/support.ts';
import { committed, leftovers, lockOf, staged } from './support.ts';

const MANY = 1_000;

describe('what goes to the disk while it is looked at', () => {
  test('a few files are not begun with; of many the end can be waited for, more than once', async () => {
    const within = scratch();
    expect(startBackgroundSync({ count: 1, within })).toBeUndefined();
    const backgroundSync = startBackgroundSync({ count: MANY, within });
    const hasProgram = process.platform === 'linux' && existsSync('/usr/bin/sync');
    expect([await backgroundSync?.isDone(), await backgroundSync?.isDone()]).toEqual([hasProgram, hasProgram]);
  });

  test('one that is dropped is not done, and nothing is thrown', async () => {
    const backgroundSync = startBackgroundSync({ count: MANY, within: scratch() });
    backgroundSync?.drop();
    expect(await backgroundSync?.isDone()).toBe(false);
  });

  test('a commit waits for it, and puts the same in place whether it came to its end or not', async () => {
    for (const end of ['waited for', 'dropped'] as const) {
      const root = scratch();
      const done = await withRoot(root, {}, async (open) => {
        const changes = [staged(open, 'alpha'), staged(open, 'beta')];
        const backgroundSync = open.startSync(MANY);
        if (end === 'dropped') backgroundSync?.drop();
        return open.commit(changes, backgroundSync === undefined ? {} : { backgroundSync });
      });
      expect(committed(done).lock.skills).toEqual(
        new Map(['alpha', 'beta'].map((name) => [name, lockOf(name, path.join(root, name))])),
      );
      expect(leftovers(root)).toEqual([]);
    }
  });

  test('it is not asked about what was staged later, nor is one of somebody else', async () => {
    const asked: string[] = [];
    const watched = (name: string): BackgroundSync => ({
      isDone: async () => {
        asked.push(name);
        return true;
      },
      drop: () => undefined,
    });
    const root = scratch();
    const done = await withRoot(root, {}, async (open) => {
      const first = staged(open, 'alpha');
      open.startSync(MANY);
      const late = staged(open, 'beta');
      return open.commit([first, late], { backgroundSync: watched('foreign') });
    });
    committed(done);
    expect(asked).toEqual([]);
    expect(readdirSync(root).toSorted()).toEqual(['.skillwright', 'alpha', 'beta', 'skills.lock.json']);
  });

  test('a root that is closed without a commit does not wait for it', async () => {
    const root = scratch();
    const backgroundSync = await withRoot(root, {}, async (open) => {
      staged(open, 'alpha');
      return { begun: open.startSync(MANY) };
    });
    expect('begun' in backgroundSync ? await backgroundSync.begun?.isDone() : undefined).toBe(false);
    expect(leftovers(root)).toEqual([]);
  });
});

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { beginSync } from '../../../src/packs/root/sync.ts';
import type { Settling } from '../../../src/packs/root/sync.ts';
import { withRoot } from '../../../src/packs/root/open-root.ts';
import { scratch } from '../../registry/support.ts';
import { committed, leftovers, lockOf, staged } from './support.ts';

const MANY = 1_000;

describe('what goes to the disk while it is looked at', () => {
  test('a few files are not begun with; of many the end can be waited for, more than once', async () => {
    const within = scratch();
    expect(beginSync({ count: 1, within })).toBeUndefined();
    const settling = beginSync({ count: MANY, within });
    const hasProgram = process.platform === 'linux' && existsSync('/usr/bin/sync');
    expect([await settling?.isDone(), await settling?.isDone()]).toEqual([hasProgram, hasProgram]);
  });

  test('one that is dropped is not done, and nothing is thrown', async () => {
    const settling = beginSync({ count: MANY, within: scratch() });
    settling?.drop();
    expect(await settling?.isDone()).toBe(false);
  });

  test('a commit waits for it, and puts the same in place whether it came to its end or not', async () => {
    for (const end of ['waited for', 'dropped'] as const) {
      const root = scratch();
      const done = await withRoot(root, {}, async (open) => {
        const changes = [staged(open, 'alpha'), staged(open, 'beta')];
        const settling = open.settle(MANY);
        if (end === 'dropped') settling?.drop();
        return open.commit(changes, settling === undefined ? {} : { settling });
      });
      expect(committed(done).lock.skills).toEqual(
        new Map(['alpha', 'beta'].map((name) => [name, lockOf(name, path.join(root, name))])),
      );
      expect(leftovers(root)).toEqual([]);
    }
  });

  test('it is not asked about what was staged later, nor is one of somebody else', async () => {
    const asked: string[] = [];
    const watched = (name: string): Settling => ({
      isDone: async () => {
        asked.push(name);
        return true;
      },
      drop: () => undefined,
    });
    const root = scratch();
    const done = await withRoot(root, {}, async (open) => {
      const first = staged(open, 'alpha');
      open.settle(MANY);
      const late = staged(open, 'beta');
      return open.commit([first, late], { settling: watched('foreign') });
    });
    committed(done);
    expect(asked).toEqual([]);
    expect(readdirSync(root).toSorted()).toEqual(['.skillwright', 'alpha', 'beta', 'skills.lock.json']);
  });

  test('a root that is closed without a commit does not wait for it', async () => {
    const root = scratch();
    const settling = await withRoot(root, {}, async (open) => {
      staged(open, 'alpha');
      return { begun: open.settle(MANY) };
    });
    expect('begun' in settling ? await settling.begun?.isDone() : undefined).toBe(false);
    expect(leftovers(root)).toEqual([]);
  });
});

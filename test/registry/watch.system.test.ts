import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openRegistry } from '../../src/registry/registry.ts';
import type { RegistryChange } from '../../src/registry/registry.ts';
import { verifies } from '../conformance/verifies.ts';
import { built, rootsOf, runModule, scratch, settle, writeSkill } from './support.ts';

interface Watched {
  readonly root: string;
  /** The next change, as names. */
  readonly next: () => Promise<Readonly<Record<'added' | 'changed' | 'removed', readonly string[]>>>;
  readonly changes: readonly RegistryChange[];
  readonly stop: () => void;
}

async function watched(prepare: (root: string) => void, pollMs?: number): Promise<Watched> {
  const root = path.join(scratch(), 'skills');
  prepare(root);
  await settle();
  const registry = await openRegistry({ roots: rootsOf(['t', root]) });
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const changes: RegistryChange[] = [];
  let taken = 0;
  let wake: (() => void) | undefined;
  const listener = (change: RegistryChange): void => {
    changes.push(change);
    wake?.();
  };
  registry.watch(listener, { signal: controller.signal, debounceMs: 30, ...(pollMs === undefined ? {} : { pollMs }) });
  // The look that a watch begins with.
  await settle(120);
  return {
    root,
    changes,
    stop: () => controller.abort(),
    next: async () => {
      if (changes.length === taken) {
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error('no change was seen within 20 seconds')), 20_000);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const change = changes[taken];
      taken += 1;
      if (change === undefined) throw new Error('no change');
      const names = (entries: RegistryChange['added']): readonly string[] =>
        entries.map(({ name, description }) => `${name}: ${description}`);
      return { added: names(change.added), changed: names(change.changed), removed: names(change.removed) };
    },
  };
}

describe('a watch', () => {
  verifies(
    ['REG-8'],
    'tells of a skill that is added, edited and removed, each in one call that names it',
    async () => {
      const { root, next, changes } = await watched((root) =>
        writeSkill(path.join(root, 'old'), { description: 'Old.' }),
      );
      writeSkill(path.join(root, 'new'), { description: 'New.' });
      expect(await next()).toEqual({ added: ['new: New.'], changed: [], removed: [] });
      writeSkill(path.join(root, 'old'), { description: 'Edited.' });
      expect(await next()).toEqual({ added: [], changed: ['old: Edited.'], removed: [] });
      rmSync(path.join(root, 'new'), { recursive: true });
      expect(await next()).toEqual({ added: [], changed: [], removed: ['new: New.'] });
      await settle(300);
      expect(changes).toHaveLength(3);
      expect(changes.at(-1)?.index.skills.map(({ name }) => name)).toEqual(['old']);
    },
  );

  test('says nothing of what does not change the index', async () => {
    const { root, changes } = await watched((root) => writeSkill(path.join(root, 'old')));
    writeFileSync(path.join(root, 'old', 'notes.txt'), 'x');
    writeSkill(path.join(root, 'old'), { body: '# Another body\n' });
    mkdirSync(path.join(root, 'empty'));
    await settle(400);
    expect(changes).toEqual([]);
  });

  test('sees a skill whose folder was there, empty, long before', async () => {
    const { root, next } = await watched((root) => mkdirSync(path.join(root, 'group'), { recursive: true }));
    mkdirSync(path.join(root, 'group', 'late'));
    await settle(200);
    writeSkill(path.join(root, 'group', 'late'), { description: 'Late.' });
    expect(await next()).toEqual({ added: ['late: Late.'], changed: [], removed: [] });
  });

  test('sees a root that is made later', async () => {
    const { root, next } = await watched(() => undefined, 50);
    writeSkill(path.join(root, 'first'), { description: 'First.' });
    expect(await next()).toEqual({ added: ['first: First.'], changed: [], removed: [] });
  });

  test('joins many edits into few looks, and ends with the signal', async () => {
    const { root, changes, stop } = await watched((root) => writeSkill(path.join(root, 'old')));
    for (let number = 0; number < 50; number += 1) writeSkill(path.join(root, `s${String(number)}`));
    await expect.poll(() => changes.flatMap(({ added }) => added)).toHaveLength(50);
    expect(changes.length).toBeLessThan(5);
    stop();
    const before = changes.length;
    writeSkill(path.join(root, 'after'));
    await settle(200);
    expect(changes).toHaveLength(before);
  });

  test('keeps no process alive once it has ended', () => {
    const root = scratch();
    writeSkill(path.join(root, 'a'));
    const text = `
      const { openRegistry } = await import(process.argv[1]);
      const registry = await openRegistry({ roots: [{ source: 't', path: process.argv[2], priority: 1, explicit: true }] });
      const controller = new AbortController();
      registry.watch(() => {}, { signal: controller.signal });
      setTimeout(() => controller.abort(), 200);
      process.on('exit', () => console.log('ended'));`;
    expect(runModule(text, [built('registry/registry.js'), root])).toBe('ended\n');
  });
});

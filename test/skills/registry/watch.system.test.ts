import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openRegistry, type RegistryChange } from '../../../src/skills/registry/registry.ts';
import { verifies } from '../../conformance/verifies.ts';
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
  registry.watch(listener, { signal: controller.signal, debounceMs: 30, pollMs });
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

  describe('without polling', () => {
    const HOURS_MS = 10_000_000;
    const swap = (from: string, to: string): void => {
      renameSync(to, `${to}.before`);
      renameSync(from, to);
      rmSync(`${to}.before`, { recursive: true });
    };
    const write = (folder: string, description: string): void => void writeSkill(folder, { description });
    /** A slow machine may see a replaced folder as gone first. */
    const seen = async (next: Watched['next'], wanted: string): Promise<void> => {
      for (;;) {
        const { added, changed } = await next();
        if ([...added, ...changed].includes(wanted)) return;
      }
    };

    test('sees edits in a skill folder that was replaced by a rename, or removed and made again', async () => {
      const { root, next } = await watched((root) => write(path.join(root, 'old'), 'One.'), HOURS_MS);
      const [skill, other] = [path.join(root, 'old'), path.join(scratch(), 'old')];
      write(other, 'Two.');
      swap(other, skill);
      await seen(next, 'old: Two.');
      await settle(200);
      write(skill, 'Three.');
      await seen(next, 'old: Three.');
      rmSync(skill, { recursive: true });
      write(skill, 'Four.');
      await seen(next, 'old: Four.');
      await settle(200);
      write(skill, 'Five.');
      await seen(next, 'old: Five.');
    });

    test('sees edits in a root that was replaced by a rename', async () => {
      const { root, next } = await watched((root) => write(path.join(root, 'old'), 'One.'), HOURS_MS);
      const other = path.join(scratch(), 'skills');
      write(path.join(other, 'old'), 'Two.');
      swap(other, root);
      await seen(next, 'old: Two.');
      await settle(200);
      write(path.join(root, 'old'), 'Three.');
      await seen(next, 'old: Three.');
      write(path.join(root, 'new'), 'New.');
      await seen(next, 'new: New.');
    });

    test('sees a SKILL.md that an editor replaces by a rename, again and again', async () => {
      const { root, next } = await watched((root) => write(path.join(root, 'old'), 'One.'), HOURS_MS);
      for (const description of ['Two.', 'Three.']) {
        const other = path.join(scratch(), 'old');
        write(other, description);
        renameSync(path.join(other, 'SKILL.md'), path.join(root, 'old/SKILL.md'));
        await seen(next, `old: ${description}`);
      }
    });

    test('sees edits behind a link whose folder, or which itself, was replaced', async () => {
      const places = [scratch(), scratch(), scratch()].map((folder) => path.join(folder, 'old'));
      const [first = '', second = '', third = ''] = places;
      write(first, 'One.');
      const { root, next } = await watched((root) => {
        mkdirSync(root);
        symlinkSync(first, path.join(root, 'old'));
      }, HOURS_MS);
      write(second, 'Two.');
      swap(second, first);
      await seen(next, 'old: Two.');
      await settle(200);
      write(first, 'Three.');
      await seen(next, 'old: Three.');
      write(third, 'Four.');
      symlinkSync(third, path.join(root, '.new'));
      renameSync(path.join(root, '.new'), path.join(root, 'old'));
      await seen(next, 'old: Four.');
      await settle(200);
      write(third, 'Five.');
      await seen(next, 'old: Five.');
    });
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
    expect(runModule(text, [built('skills/registry/registry.js'), root])).toBe('ended\n');
  });
});

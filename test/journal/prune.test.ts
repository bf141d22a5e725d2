import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { createRun } from '../../src/journal/journal-writer.ts';
import { pruneRuns } from '../../src/journal/prune.ts';
import { findRun } from '../../src/journal/run-units.ts';
import { verifyChain } from '../../src/journal/verify-chain.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import { scratch } from '../skills/registry/support.ts';
import { START, filesOf, startRun } from './support.ts';

const DAY = 24 * 3_600_000;
const now = (): Date => new Date('2026-03-01T00:00:00Z');

/** Ended runs of about 50 kB, so many days old. */
function runs(directory: string, ...days: readonly number[]): readonly string[] {
  return days.map((age) => {
    const run = startRun(directory, { now: () => new Date(now().getTime() - age * DAY) });
    run.keep(Buffer.alloc(50_000, `${String(age)} `), 'artifacts');
    run.end('done', '');
    return run.id;
  });
}

function bytesOf(directory: string, id: string): number {
  const run = path.join(directory, id);
  return filesOf(run).reduce((sum, file) => sum + statSync(path.join(run, file)).size, 0);
}

const namesIn = (directory: string): string[] => readdirSync(directory).filter((name) => name !== 'chain.jsonl');

describe('prune', () => {
  test('removes what is older, the oldest first, and says what is left', async () => {
    const directory = scratch();
    const [old = '', older = '', young = ''] = runs(directory, 40, 50, 3);
    const removed = [older, old].map((id) => ({ id, bytes: bytesOf(directory, id), reason: 'age' }));
    const keptBytes = bytesOf(directory, young);
    expect(await pruneRuns({ directory, olderThanMs: 30 * DAY, now })).toEqual({
      removed,
      acknowledged: [],
      kept: 1,
      keptBytes,
      running: 0,
    });
    expect(namesIn(directory)).toEqual([young]);
  });

  test('removes the oldest until the rest is small enough', async () => {
    const directory = scratch();
    const [c = '', b = '', a = ''] = runs(directory, 1, 2, 3);
    const { removed } = await pruneRuns({ directory, maxBytes: 120_000, now });
    expect(removed.map(({ id, reason }) => [id, reason])).toEqual([[a, 'size']]);
    expect(namesIn(directory).toSorted()).toEqual([b, c].toSorted());
  });

  test('says what it would do and does nothing', async () => {
    const directory = scratch();
    const ids = runs(directory, 40, 50);
    const { removed, kept } = await pruneRuns({ directory, olderThanMs: 30 * DAY, dryRun: true, now });
    expect([removed.length, kept]).toEqual([2, 0]);
    expect(namesIn(directory).toSorted()).toEqual(ids.toSorted());
  });

  test('keeps the newest, those that run, and those it cannot judge while they are young', async () => {
    const directory = scratch();
    const [newest = '', old = ''] = runs(directory, 40, 50);
    const running = startRun(directory, { now: () => new Date('2020-01-01T00:00:00Z') });
    const unknown = '20200101T000000Z-00000000';
    mkdirSync(path.join(directory, unknown));
    const stay = [newest, running.id, unknown];
    const pruned = await pruneRuns({ directory, olderThanMs: 0, maxBytes: 0, keep: 1, now: () => new Date() });
    expect(pruned.removed.map(({ id }) => id)).toEqual([old]);
    expect([pruned.kept, pruned.running]).toEqual([3, 2]);
    expect(namesIn(directory).toSorted()).toEqual(stay.toSorted());

    const yesterday = Date.now() / 1000 - 86_400;
    utimesSync(path.join(directory, unknown), yesterday, yesterday);
    const again = await pruneRuns({ directory, olderThanMs: 0, keep: 1, now: () => new Date() });
    expect(again.removed.map(({ id }) => id)).toEqual([unknown]);
    running.append({ type: 'note', message: 'still there' });
    running.end('done', '');
  });

  test('keeps and removes a run together with its subagents, by age, size and number', async () => {
    const directory = scratch();
    const at = (time: string, parent?: string): string => {
      const run = createRun(
        directory,
        { ...START, ...(parent === undefined ? {} : { parent }) },
        { now: () => new Date(time) },
      );
      run.keep(Buffer.alloc(50_000, time), 'artifacts');
      run.end('done', '');
      return run.id;
    };
    const old = at('2026-02-01T00:00:00Z');
    const oldChild = at('2026-02-20T00:00:00Z', old);
    const run = at('2026-02-02T00:00:00Z');
    const child = at('2026-02-27T00:00:00Z', run);
    const grandchild = at('2026-02-28T00:00:00Z', child);
    const prune = async (options: object): Promise<readonly string[]> =>
      (await pruneRuns({ directory, dryRun: true, now, ...options })).removed.map(({ id }) => id);
    expect(await prune({ olderThanMs: 0, keep: 1 })).toEqual([oldChild, old]);
    expect(await prune({ maxBytes: 0, keep: 1 })).toEqual([oldChild, old]);
    expect(await prune({ maxBytes: 200_000 })).toEqual([oldChild, old]);
    expect(await prune({ olderThanMs: 27.5 * DAY })).toEqual([oldChild, old]);
    expect(await prune({ run })).toEqual([child, grandchild, run]);
    await expect(prune({ run: child })).rejects.toThrow(`is a subagent of run ${run}; nothing was removed`);
    await pruneRuns({ directory, olderThanMs: 0, keep: 1, now });
    expect(namesIn(directory).toSorted()).toEqual([run, child, grandchild].toSorted());
    expect(findRun(directory, 'last')).toBe(path.join(directory, run));
    rmSync(path.join(directory, run), { recursive: true });
    expect(() => findRun(directory, 'last')).toThrow('there is no run "last"');
    expect(await prune({ olderThanMs: 0 })).toEqual([grandchild, child]);
  });

  test('removes what was killed before its first event, whatever else it keeps, and not what was emptied later', async () => {
    const directory = scratch();
    const [kept = '', emptied = ''] = runs(directory, 1, 2);
    for (const name of readdirSync(path.join(directory, emptied)))
      rmSync(path.join(directory, emptied, name), { recursive: true });
    const killed = '20260228T120000Z-00000000';
    mkdirSync(path.join(directory, killed));
    writeFileSync(path.join(directory, killed, 'index.json'), '{}');
    const minutes = (ago: number): Date => new Date(Date.now() - ago * 60_000);
    for (const id of [killed, emptied]) utimesSync(path.join(directory, id), minutes(2), minutes(2));
    expect(findRun(directory, 'last')).toBe(path.join(directory, kept));
    expect(verifyChain(directory)).toMatchObject({ unchained: [], problems: [{ run: emptied }] });
    expect(verifyRun(path.join(directory, killed))).toMatchObject({ status: 'torn', isEmpty: true });
    const pruned = await pruneRuns({ directory, olderThanMs: 30 * DAY, keep: 5 });
    expect(pruned).toMatchObject({ removed: [{ id: killed, reason: 'not-begun' }], kept: 2, running: 0 });
    expect(verifyChain(directory)).toMatchObject({ removed: [], problems: [{ run: emptied }] });
  });

  test('removes what an earlier one left half removed, and what cannot be read', async () => {
    const directory = scratch();
    const [id = ''] = runs(directory, 40);
    const left = path.join(directory, '.removed-20200101T000000Z-00000000');
    mkdirSync(path.join(left, 'deep', 'er'), { recursive: true });
    chmodSync(path.join(left, 'deep'), 0o000);
    writeFileSync(path.join(directory, id, 'run.json'), 'nonsense');
    const old = Date.parse('2025-01-01T00:00:00Z') / 1000;
    utimesSync(path.join(directory, id), old, old);
    await pruneRuns({ directory, olderThanMs: 30 * DAY, now });
    expect(namesIn(directory)).toEqual([]);
  });

  test('removes what is left of a removal also where no run is left', async () => {
    const directory = scratch();
    mkdirSync(path.join(directory, '.removed-20200101T000000Z-00000000'));
    await pruneRuns({ directory, olderThanMs: 30 * DAY, now });
    expect(namesIn(directory)).toEqual([]);
  });

  test('follows no link', async () => {
    const base = scratch();
    const directory = path.join(base, 'runs');
    const [id = ''] = runs(directory, 40);
    writeFileSync(path.join(base, 'precious'), 'x');
    symlinkSync(base, path.join(directory, id, 'out'));
    symlinkSync(base, path.join(directory, '20200101T000000Z-00000000'));
    await pruneRuns({ directory, olderThanMs: 30 * DAY, now });
    expect(readdirSync(base).toSorted()).toEqual(['precious', 'runs']);

    runs(directory, 40);
    symlinkSync('runs', path.join(base, 'linked'));
    await expect(pruneRuns({ directory: path.join(base, 'linked'), olderThanMs: 0, now })).rejects.toThrow(
      'it is a symbolic link',
    );
    rmSync(path.join(base, 'linked'));
    expect(await pruneRuns({ directory: path.join(base, 'nothing'), olderThanMs: 0 })).toEqual({
      removed: [],
      acknowledged: [],
      kept: 0,
      keptBytes: 0,
      running: 0,
    });
  });
});

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { createRun } from '../../src/journal/journal-writer.ts';
import { openRunIndex } from '../../src/server/run-index.ts';
import { countRuns } from '../../src/server/run-statistics.ts';
import { openRunReader } from '../../src/server/run-views.ts';

function record(directory: string, request: string, tokens?: number): string {
  const run = createRun(
    directory,
    { request, version: '0', indexHash: '', index: [], policyHash: '' },
    { sync: 'none' },
  );
  if (tokens !== undefined) {
    run.hold({ type: 'model-call', turn: 1, model: tokens > 50 ? 'large' : 'small', request: '', tokens });
    run.hold({
      type: 'model-answer',
      turn: 1,
      text: '',
      toolCalls: [],
      finish: 'stop',
      usage: { inputTokens: tokens, outputTokens: 0 },
      retries: 0,
    });
  }
  run.end(request.includes('bad') ? 'failed' : 'done', '');
  return run.id;
}

const PAGE = { query: '', offset: 0, limit: 50, sort: 'started', order: 'down' } as const;

test('runs are sorted and filtered by what they cost, once it has been read, and a removed run is gone', async () => {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'skillwright-index-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const price = (model: string, { inputTokens = 0 }): number | undefined =>
    model === 'large' ? inputTokens / 100 : undefined;
  const [cheap, dear, bad] = [record(directory, 'one', 10), record(directory, 'two', 100), record(directory, 'bad')];
  const index = openRunIndex(directory, openRunReader({ price }));
  const ids = (page: object): readonly string[] => index.list({ ...PAGE, ...page }).runs.map(({ run }) => run);
  expect(index.list({ ...PAGE, sort: 'tokens' }).unread).toBe(3);
  await expect.poll(() => index.list({ ...PAGE, sort: 'tokens' }).unread).toBe(0);
  expect(ids({ sort: 'tokens' })).toEqual([dear, cheap, bad]);
  expect(ids({ sort: 'tokens', order: 'up' })).toEqual([bad, cheap, dear]);
  // A price that is not known is not 0.
  expect(ids({ sort: 'money', order: 'up' })[0]).toBe(dear);
  expect(ids({ model: 'small' })).toEqual([cheap]);
  expect(ids({ state: 'failed' })).toEqual([bad]);
  expect(ids({ query: 'TWO' })).toEqual([dear]);
  expect(ids({ until: new Date(0) })).toEqual([]);
  const day = new Date().toISOString().slice(0, 10);
  expect(countRuns(index.list({ ...PAGE, isCounted: true }).runs)).toEqual({
    days: [{ day, runs: 3, failed: 1, tokens: 110, usd: 1 }],
    skills: [],
    models: ['large', 'small'],
  });
  rmSync(path.join(directory, cheap), { recursive: true });
  expect(new Set(ids({}))).toEqual(new Set([dear, bad]));
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

import { runAgent } from '../../src/agent/agent.ts';
import { runs } from '../property-runs.ts';
import { played, world } from './support.ts';

/** Bytes in use once everything that nobody holds is gone. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

const RUNS = runs(900);

test('hundreds of runs of two turns leave nothing in memory', async () => {
  const { runtime } = await world();
  const some = async (count: number): Promise<void> => {
    for (let run = 0; run < count; run += 1) {
      const model = played([{ calls: [['load_skill', { skill: 'report' }]] }, { text: 'There are 42 rows.' }]);
      const { outcome } = await runAgent({ runtime, model, request: 'count the rows' });
      expect(outcome).toBe('done');
    }
  };
  await some(50);
  const before = heapInUse();
  await some(RUNS);
  const grown = heapInUse() - before;

  expect(grown / RUNS).toBeLessThan(18 * 1024);
}, 300_000);

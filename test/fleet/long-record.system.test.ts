/** A record of more than 10,000 lines, through everything that reads it. */
import { needs } from '../needs.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runAgent } from '../../src/agent/agent.ts';
import { openFleetClient, type FleetClient } from '../../src/client.ts';
import { defined } from '../../src/core/defined.ts';
import type { Model } from '../../src/core/model.ts';
import type { RunEvent, RunScan } from '../../src/core/run-events.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { createRun } from '../../src/journal/journal-writer.ts';
import { returnRun } from '../../src/fleet/hand-over.ts';
import { startWorker, type Worker } from '../../src/fleet/worker.ts';
import { played } from '../agent/support.ts';
import { WORKER, openApiWorld, type ApiWorld } from './world.ts';

const NOTES = 10_050;
const REQUEST = 'count the rows';
const ANSWER = 'There are **42**.';

describe('a record of more than 10,000 lines', needs('postgresql'), () => {
  let world: ApiWorld;
  let key: string;
  let client: FleetClient;
  beforeAll(async () => {
    world = await openApiWorld();
    key = await world.key('default', 'admin');
    client = openFleetClient({ url: world.url, key });
  }, 120_000);
  afterAll(() => world.close(), 120_000);

  /** Runs an agent here, and submits a run whose lost worker stored its record, with many notes before the last turn and without an end. */
  async function storeLongRecord(): Promise<string> {
    const { path: folder = '' } = await runAgent({
      runtime: world.runtime,
      model: played([{ calls: [['search_skills', { query: 'rows' }]] }, { text: ANSWER }]),
      request: REQUEST,
      run: { directory: path.join(world.root, 'here') },
    });
    const events = [...readRun(folder).lines].map(({ event }) => event);
    const [first] = events;
    if (first?.type !== 'run-start') throw new Error('a record begins with run-start');
    const { version, indexHash, policyHash, budgets, agent } = first;
    const [scan] = events.flatMap(({ type, ...rest }) => (type === 'scan' ? [rest as RunScan] : []));
    const index: unknown = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8'));
    const start = { request: REQUEST, version, indexHash, policyHash, index, ...defined({ budgets, agent, scan }) };
    const { run } = await client.submit({ request: REQUEST });
    const { mirror } = await world.claim(run);
    const record = createRun(world.root, start, { openPlace: mirror.openPlace });
    const lastTurn = events.findLastIndex(({ type }) => type === 'turn');
    const notes = Array.from({ length: NOTES }, (_, at): RunEvent => ({ type: 'note', message: String(at) }));
    for (const event of [...events.slice(0, lastTurn), ...notes, ...events.slice(lastTurn)])
      if (event.type !== 'run-start' && event.type !== 'scan' && event.type !== 'run-end') record.hold(event);
    record.flush();
    await mirror.push();
    return run;
  }

  const stored = (run: string, attempt: number): number =>
    Number(
      world.postgres.query(
        `select max(seq) from skillwright.lines where run = '${run}' and attempt = ${String(attempt)}`,
      ),
    );

  const startHere = (model: Model): Promise<Worker> =>
    startWorker({
      ...world.fleet,
      url: world.postgres.url,
      directory: path.join(world.root, 'worker'),
      openModel: () => Promise.resolve(model),
    });

  test('is verified, shown, downloaded and streamed as a whole, and continued by another worker after its last line', async () => {
    // A process may start a worker again after it has drained one.
    await (await startHere(played([]))).drain(0);
    const run = await storeLongRecord();
    const lines = stored(run, 1);
    expect(lines).toBeGreaterThan(10_000);
    await returnRun(world.fleet, { run, attempt: 1, worker: WORKER }, 'its worker stopped');

    const get = async (target: string): Promise<string> => (await world.ask(key, 'GET', `/api/v1${target}`)).text;
    expect(JSON.parse(await get(`/runs/${run}`))).toMatchObject({
      events: lines,
      answer: ANSWER,
      isTorn: false,
      problems: [],
      usage: { toolCalls: 1 },
    });
    expect(JSON.parse(await get(`/runs/${run}/rows?from=${String(lines)}`))).toMatchObject({
      rows: [{ seq: lines }],
      isMore: false,
    });
    expect((await get(`/runs/${run}/export`)).trim().split('\n')).toHaveLength(lines);

    // The answer is recorded, so the model is not asked again.
    const model = played([]);
    const worker = await startHere(model);
    try {
      expect(await client.wait(run)).toMatchObject({ outcome: 'done', answer: ANSWER });
    } finally {
      await worker.drain(0);
    }
    expect(model.requests).toEqual([]);
    // A busy machine may lose the worker while it reads the record; then it has a further attempt.
    const { records } = await client.integrity(run);
    const attempts = records.length;
    expect(attempts).toBeGreaterThan(1);
    expect(records.map(({ status, problems }) => [status, problems])).toEqual([
      ...Array.from({ length: attempts - 1 }, () => ['torn', []]),
      ['intact', []],
    ]);
    const ids: string[] = [];
    for await (const { id } of client.events(run, { signal: AbortSignal.timeout(100_000) })) ids.push(id);
    const counts = Array.from({ length: attempts }, (_, at) => stored(run, at + 1));
    expect([ids.length, ids[lines - 1], ids.at(-1)]).toEqual([
      counts.reduce((sum, count) => sum + count, 0),
      `1-${String(lines)}`,
      `${String(attempts)}-${String(counts.at(-1))}`,
    ]);
  }, 240_000);
});

/** Workers of the built command and what submissions carry: input files, also after a hand-over, a model by name, and a timeout. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { temporaryFolder } from '../cli/run-cli.ts';
import { stop, until } from './fleet-processes.ts';
import { openFleetWorld, type FleetWorld } from './harness.ts';
import { needs } from '../needs.ts';

/** Appends its input file to its notes, and hangs while there is a file that holds it. */
const COUNT = [
  '#!/bin/sh',
  'cat "$WORK_DIR/inputs/rows.csv" >> "$1"',
  'while [ -e "$1.hold" ]; do sleep 0.1; done',
  '',
].join('\n');
const LOCAL = ['--executor', 'local', '--set', 'policy.allow=["run_script","unsafe_local"]'];

describe('workers and what submissions carry', needs('postgresql'), () => {
  let world: FleetWorld;
  beforeAll(async () => {
    world = await openFleetWorld({
      'count/SKILL.md': '---\nname: count\ndescription: Counts rows.\n---\nRun scripts/count.sh.\n',
      'count/scripts/count.sh': COUNT,
    });
  }, 120_000);
  afterAll(() => world.close(), 120_000);

  test('a program reads the input files of its run, also when another worker continues it', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    const notes = path.join(folder, 'notes');
    writeFileSync(`${notes}.hold`, '');
    onTestFinished(() => rmSync(`${notes}.hold`, { force: true }));
    const call = {
      name: 'run_script',
      input: { skill: 'count', script: 'scripts/count.sh', args: [notes] },
    };
    const first = await world.startWorker({ turns: [{ toolCalls: [call] }, { text: 'never' }] }, ...LOCAL);
    const { id } = await world.admin.upload('rows.csv', Buffer.from('a,b\n'));
    const { run } = await world.admin.submit({ request: 'count', uploads: [id] });
    await until(() => existsSync(notes));
    await stop(first, 'SIGKILL');
    rmSync(`${notes}.hold`);
    const second = await world.startWorker({ turns: [{ text: 'Two.' }] }, ...LOCAL);
    expect(await world.admin.wait(run)).toMatchObject({ outcome: 'done', answer: 'Two.' });
    expect(new Set(readFileSync(notes, 'utf8').trim().split('\n'))).toEqual(new Set(['a,b']));
    expect(readFileSync(notes, 'utf8').length).toBeGreaterThan(4);
    await stop(second);
    const third = await world.startWorker({ turns: [{ text: 'never' }] }, '--executor', 'none');
    const refused = await world.admin.submit({ request: 'count', uploads: [id] });
    expect(await world.admin.wait(refused.run)).toMatchObject({
      outcome: 'failed',
      reason: 'the run has input files, and this worker runs no programs that could read them',
    });
    await stop(third);
  }, 240_000);

  test('a run with a model gets it from the worker that offers it, and the answer says which models there are', async () => {
    const other = path.join(temporaryFolder(), 'other.json');
    writeFileSync(other, JSON.stringify({ turns: [{ text: 'From the other model.' }] }));
    const name = `scripted:${other}`;
    const plain = await world.startWorker({ turns: [{ text: 'From the first model.' }] }, '--executor', 'none');
    await expect(world.admin.submit({ request: 'x', model: name })).rejects.toThrow('no worker has the model');
    const offering = await world.startWorker(
      { turns: [{ text: 'From the first model.' }] },
      '--executor',
      'none',
      '--offer-model',
      name,
    );
    const { run } = await world.admin.submit({ request: 'x', model: name });
    expect(await world.admin.wait(run)).toMatchObject({ outcome: 'done', answer: 'From the other model.' });
    const { run: usual } = await world.admin.submit({ request: 'x' });
    expect(await world.admin.wait(usual)).toMatchObject({ outcome: 'done', answer: 'From the first model.' });
    await Promise.all([stop(plain), stop(offering)]);
  }, 120_000);

  test('a run whose timeout passes while a worker has it is stopped and says why', async () => {
    const worker = await world.startWorker({ turns: [{ text: 'late', delayMs: 600_000 }] }, '--executor', 'none');
    const { run } = await world.admin.submit({ request: 'slow', timeoutSeconds: 1 });
    expect(await world.admin.wait(run)).toMatchObject({
      outcome: 'cancelled',
      reason: 'its timeout passed before it ended',
    });
    await stop(worker);
  }, 120_000);
});

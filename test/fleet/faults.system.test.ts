/** What goes wrong in a fleet, with real processes. One database and one server for the file. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { openFleetClient, type FleetClient } from '../../src/client.ts';
import { isDisconnected, openDatabase, watchDatabase } from '../../src/fleet/database.ts';
import { claimRun } from '../../src/fleet/run-table.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { serveConversation } from './conversation-model.ts';
import { openDatabaseProxy } from './database-proxy.ts';
import {
  openEffects,
  openFleetProcesses,
  retried,
  startCommand,
  stop,
  until,
  type FleetProcesses,
  type Started,
} from './fleet-processes.ts';
import { needs } from '../needs.ts';

const SLOW = { turns: [{ text: 'late', delayMs: 600_000 }] };
const QUICK = { turns: [{ text: 'Here.' }] };

describe('faults of a fleet', { ...needs('postgresql'), timeout: 240_000 }, () => {
  let fleet: FleetProcesses;
  let server: Started;
  let admin: FleetClient;

  beforeAll(async () => {
    fleet = await openFleetProcesses(PROJECT);
    const started = await fleet.serve();
    server = started;
    ({ admin } = started);
  });

  afterAll(() => fleet.close(), 120_000);

  const untilEnd = (started: Started): Started => {
    onTestFinished(() => stop(started.child, 'SIGKILL'));
    return started;
  };
  const worker = async (script: object, ...words: readonly string[]): Promise<Started> =>
    untilEnd(await fleet.worker(script, ...words));
  const isRunning = (run: string) => async (): Promise<boolean> => (await admin.run(run)).state === 'running';

  test('a worker that is cut off from the database gives its runs up, and works again when it is back', async () => {
    const proxy = await openDatabaseProxy(fleet.postgres.url);
    onTestFinished(() => proxy.close());
    const cutOff = untilEnd(await fleet.worker(SLOW, '--slots', '1', '--database', proxy.url));
    let talk = '';
    cutOff.child.stderr?.on('data', (data: Buffer) => (talk += data.toString()));
    const { run } = await admin.submit({ request: 'partition' });
    await until(() => fleet.postgres.query(`select count(*) from skillwright.lines where run = '${run}'`) !== '0');
    proxy.freeze();
    const other = await worker(QUICK);
    expect(await admin.wait(run)).toMatchObject({ state: 'ended', outcome: 'done', answer: 'Here.' });
    await until(() => talk.includes('no heartbeat'));
    proxy.thaw();
    await stop(other.child);
    // The late end of its own attempt changed nothing, and it takes runs again.
    const next = await admin.submit({ request: 'after the partition' });
    await until(isRunning(next.run));
    expect((await admin.run(next.run)).worker).toBe(cutOff.found);
    expect(await admin.run(run)).toMatchObject({ outcome: 'done', answer: 'Here.' });
    const statuses = (await admin.integrity(run)).records.map(({ status }) => status);
    expect([statuses[0], statuses.at(-1)]).toEqual(['torn', 'intact']);

    // A firewall forgets the connections without a word, and lets new ones pass: the worker replaces them and works on.
    const pool = await openDatabase(proxy.url, { timeoutMs: 600_000 });
    const watch = await watchDatabase(proxy.url, pool);
    onTestFinished(() => watch.close().then(() => pool.end()));
    await Promise.all(Array.from({ length: 5 }, () => pool.query('select pg_sleep(0.1)')));
    proxy.forget();
    // What a server does.
    await expect(pool.query('select 1')).rejects.toSatisfy(isDisconnected);
    await retried(() => pool.query('select 1'));
    await until(() => talk.includes('they are replaced'));
    await admin.cancel(next.run);
    expect(await admin.wait(next.run)).toMatchObject({ outcome: 'cancelled' });
    const last = await admin.submit({ request: 'after the firewall' });
    await until(isRunning(last.run));
    expect((await admin.run(last.run)).worker).toBe(cutOff.found);
    await admin.cancel(last.run);
  });

  verifies(
    'DIST-2',
    'a run is claimed although the database is away for seconds after the queue has handed it out',
    async () => {
      const proxy = await openDatabaseProxy(fleet.postgres.url);
      onTestFinished(() => proxy.close());
      const only = untilEnd(await fleet.worker(QUICK, '--slots', '1', '--database', proxy.url));
      let talk = '';
      only.child.stderr?.on('data', (data: Buffer) => (talk += data.toString()));
      // By then this worker counts as lost, and nothing else works on runs.
      proxy.at({ statement: 'claim\0', when: 'before' }, () => {
        proxy.cut();
        setTimeout(() => proxy.restore(), 4_500);
      });
      const { run } = await admin.submit({ request: 'between dequeue and claim' });
      expect(await admin.wait(run)).toMatchObject({ state: 'ended', outcome: 'done', answer: 'Here.' });
      await until(() => talk.includes('no heartbeat'));
    },
  );

  test('a program that finishes while the database is away keeps its result, and does not run again', async () => {
    const proxy = await openDatabaseProxy(fleet.postgres.url);
    onTestFinished(() => proxy.close());
    const effects = openEffects();
    onTestFinished(() => rmSync(effects, { recursive: true }));
    const log = path.join(effects, 'log');
    writeFileSync(log, '');
    chmodSync(log, 0o666);
    const command = `echo begun >> ${log}; sleep 1; echo done >> ${log}`;
    const model = await serveConversation((step) =>
      step === 0
        ? ['load_skill', { skill: 'greet' }]
        : step === 1
          ? ['run_command', { skill: 'greet', command }]
          : 'It ran.',
    );
    onTestFinished(() => model.close());
    const words = ['worker', '--data', path.join(fleet.folder, 'program'), '--executor', 'local', '--slots', '1'];
    const env = { ...fleet.env(proxy.url), OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_MODEL: 'conversation' };
    untilEnd(await fleet.start(words, /^worker (\S+):/m, env));
    const { run } = await admin.submit({ request: 'run a program' });
    expect(await admin.wait(run)).toMatchObject({ state: 'waiting' });
    const [question] = await admin.questions();
    await admin.answer(run, question?.id ?? '', { verdict: 'yes' });
    await until(() => readFileSync(log, 'utf8') === 'begun\n');
    proxy.cut();
    await until(() => readFileSync(log, 'utf8') === 'begun\ndone\n');
    // The worker gives its runs up meanwhile.
    await sleep(4_000);
    proxy.restore();
    expect(await admin.wait(run)).toMatchObject({ state: 'ended', outcome: 'done', answer: 'It ran.' });
    expect(readFileSync(log, 'utf8')).toBe('begun\ndone\n');
    const notes = fleet.postgres.query(
      `select event->>'message' from skillwright.events where run = '${run}' and type = 'note' and event->>'message' like 'attempt %'`,
    );
    expect(notes).toMatch(/^attempt 3: its worker \S+ gave it back: it was cut off from the database$/);
  });

  test('runs that arrive while a worker is still starting are worked on', async () => {
    // The queue is known from an earlier worker, so it hands out runs before this one has registered it.
    const earlier = await worker(QUICK);
    await stop(earlier.child);
    const proxy = await openDatabaseProxy(fleet.postgres.url);
    onTestFinished(() => proxy.close());
    proxy.delay('INSERT INTO "dbos".queues', 2_000);
    const { run } = await admin.submit({ request: 'early' });
    fleet.postgres.query(`update skillwright.runs set format = 99 where id = '${run}'`);
    const started = startCommand(
      [
        path.join(PROJECT, 'dist/command/skillwright.js'),
        'worker',
        '--model',
        'rules',
        '--data',
        path.join(fleet.folder, 'early'),
        '--executor',
        'none',
      ],
      /^worker (\S+):/m,
      { cwd: fleet.folder, env: fleet.env(proxy.url) },
    );
    onTestFinished(() => stop(started.child, 'SIGKILL'));
    let talk = '';
    started.child.stderr?.on('data', (data: Buffer) => (talk += data.toString()));
    await started.found;
    // It has left the run to other workers, again and again.
    await until(async () => (await admin.run(run)).attempt > 1);
    expect(talk).not.toContain(run);
    await admin.cancel(run);
  });

  test('a worker that starts while the database is away waits for it, and prints no stack trace', async () => {
    const starts = ['select 1', 'pg_advisory_lock', 'application_versions', 'INSERT INTO "dbos".queues'];
    await Promise.all(
      starts.map(async (statement, index) => {
        const proxy = await openDatabaseProxy(fleet.postgres.url);
        onTestFinished(() => proxy.close());
        proxy.at({ statement, when: 'before' }, () => {
          proxy.cut();
          setTimeout(() => proxy.restore(), 1_500);
        });
        const data = path.join(fleet.folder, `outage-${String(index)}`);
        const words = ['worker', '--model', 'rules', '--data', data, '--executor', 'none'];
        const { child, found } = startCommand(
          [path.join(PROJECT, 'dist/command/skillwright.js'), ...words],
          /^worker (\S+):/m,
          {
            cwd: fleet.folder,
            env: fleet.env(proxy.url),
          },
        );
        onTestFinished(() => stop(child, 'SIGKILL'));
        let talk = '';
        child.stderr?.on('data', (text: Buffer) => (talk += text.toString()));
        await found;
        expect(talk).not.toMatch(/^ +at /m);
      }),
    );
  });

  test('a pool whose connections were forgotten reports one statement and replaces all of them', async () => {
    const proxy = await openDatabaseProxy(fleet.postgres.url);
    onTestFinished(() => proxy.close());
    const pool = await openDatabase(proxy.url, { timeoutMs: 500 });
    onTestFinished(() => pool.end());
    const several = (): Promise<unknown[]> =>
      Promise.all(Array.from({ length: 5 }, () => pool.query('select pg_sleep(0.1)')));
    await several();
    proxy.forget();
    await expect(pool.query('select 1')).rejects.toSatisfy(isDisconnected);
    await until(() => pool.totalCount === 0);
    await several();
  });

  test(
    'a full database accepts nothing and loses nothing; with room it goes on',
    { ...needs('postgresql', 'mounts'), timeout: 240_000 },
    async () => {
      const disk = mkdtempSync(path.join(os.tmpdir(), 'skillwright-full-'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk], { stdio: 'pipe' });
      onTestFinished(() => void execFileSync('umount', ['-l', disk]));
      execFileSync('chown', ['postgres', disk]);
      fleet.postgres.query(`create tablespace small location '${disk}'`);
      fleet.postgres.query('create database small tablespace small');
      const env = fleet.env(fleet.postgres.url.replace(/postgres$/, 'small'));
      const small = await fleet.start(['serve', '--port', '0'], /(http:\S+)\n/, env).then(untilEnd);
      const created = await fleet.start(['fleet', 'keys', 'create', 'x', '--rights', 'admin'], /(sw_\S+)\n/, env);
      const client = openFleetClient({ url: small.found, key: created.found });
      const data = path.join(fleet.folder, 'small');
      mkdirSync(data);
      const script = path.join(data, 'script.json');
      writeFileSync(script, JSON.stringify(QUICK));
      const sql = (text: string): string => fleet.postgres.run('psql', ['-At', '-c', text, 'small']);
      sql('create table filler (bytes text) with (autovacuum_enabled = off)');
      sql('alter table filler alter bytes set storage external');
      // What was written before the error stays on the disk. Then pages that have room are used up.
      expect(() => sql(`insert into filler select repeat('x', 10000) from generate_series(1, 10000)`)).toThrow(
        'No space left on device',
      );
      const accepted: string[] = [];
      let refusal = '';
      await until(() =>
        client.submit({ request: randomBytes(2_000).toString('hex') }).then(
          ({ run }) => accepted.push(run) < 0,
          (error: Error) => (refusal = error.message) !== '',
        ),
      );
      expect(refusal).toBe('the request could not be completed; try again');
      execFileSync('mount', ['-o', 'remount,size=96m', disk]);
      accepted.push((await retried(() => client.submit({ request: 'room' }))).run);
      await fleet
        .start(
          ['worker', '--model', `scripted:${script}`, '--data', data, '--executor', 'none'],
          /^worker (\S+):/m,
          env,
        )
        .then(untilEnd);
      const runs = await Promise.all(accepted.map((run) => client.wait(run)));
      expect(runs.map(({ outcome, answer }) => [outcome, answer])).toEqual(runs.map(() => ['done', 'Here.']));
    },
  );

  test('clocks: workers a day apart share the work, and one whose clock goes back ends itself', async () => {
    const clock = path.join(fleet.folder, 'clock');
    const shim = path.join(fleet.folder, 'clock.cjs');
    writeFileSync(shim, CLOCK_SHIM);
    const withClock = async (name: string, offset: number): Promise<Started> => {
      const [file, script] = [`${clock}-${name}`, path.join(fleet.folder, 'quick.json')];
      writeFileSync(file, String(offset));
      writeFileSync(script, JSON.stringify(QUICK));
      const words = [
        'worker',
        '--model',
        `scripted:${script}`,
        '--data',
        path.join(fleet.folder, name),
        '--executor',
        'none',
      ];
      const env = { ...fleet.env(), NODE_OPTIONS: `--require ${shim}`, CLOCK: file };
      return untilEnd(await fleet.start(words, /^worker (\S+):/m, env));
    };
    const DAY = 86_400_000;
    const workers = await Promise.all([withClock('early', -DAY), withClock('late', DAY)]);
    const runs = await Promise.all(
      Array.from({ length: 12 }, (_, i) => admin.submit({ request: `clock ${String(i)}` })),
    );
    const done = await Promise.all(runs.map(({ run }) => admin.wait(run)));
    expect(done.map(({ outcome }) => outcome)).toEqual(runs.map(() => 'done'));
    const [early] = workers;
    const left = new Promise((resolve) => early.child.on('close', resolve));
    writeFileSync(`${clock}-early`, String(-2 * DAY));
    expect(await left).toBe(1);
    const after = await admin.submit({ request: 'after the jump' });
    expect(await admin.wait(after.run)).toMatchObject({ outcome: 'done' });
  });

  test('two workers claim the same runs: each run has one', async () => {
    const pools = await Promise.all([openDatabase(fleet.postgres.url), openDatabase(fleet.postgres.url)]);
    onTestFinished(() => Promise.all(pools.map((pool) => pool.end())).then(() => undefined));
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, i) => admin.submit({ request: `claim ${String(i)}`, delaySeconds: 3_600 })),
    );
    // Workers that are not heard of are lost to the others, which may belong to another test.
    fleet.postgres.query(
      `insert into skillwright.workers (id, host, version, format, slots, seen_at)
       select 'worker-' || n, 'h', 'v', 1, 1, now() + interval '1 hour' from generate_series(0, 1) n`,
    );
    const claims = await Promise.all(
      runs.flatMap(({ run }) =>
        pools.map((pool, index) => claimRun(pool, { run, attempt: 1, worker: `worker-${String(index)}` })),
      ),
    );
    const won = claims.filter((claim) => claim !== undefined);
    expect(won.map(({ id }) => id).toSorted()).toEqual(runs.map(({ run }) => run).toSorted());
    // Asking again is not claiming again: the answer may have been lost.
    const [first] = won;
    const again = { run: first?.id ?? '', attempt: 1, worker: first?.worker ?? '' };
    expect(await claimRun(pools[0], again)).toEqual(first);
    expect(await claimRun(pools[0], { ...again, worker: 'another' })).toBeUndefined();
    fleet.postgres.query(`delete from skillwright.runs where request like 'claim %'`);
    fleet.postgres.query(`delete from skillwright.workers where host = 'h'`);
  });

  test('a run that takes its third worker down is set aside', async () => {
    const first = await worker(SLOW, '--slots', '1');
    const { run } = await admin.submit({ request: 'poison' });
    await until(isRunning(run));
    fleet.postgres.query(`update skillwright.runs set crashes = 2 where id = '${run}'`);
    await stop(first.child, 'SIGKILL');
    await worker(QUICK);
    expect(await admin.wait(run)).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      reason: 'set aside: 3 workers ended while they worked on it',
    });
  });

  test('a project that floods the queue does not hold up another', async () => {
    const other = fleet.run('fleet', 'keys', 'create', 'other', '--project', 'other', '--rights', 'admin').trim();
    const calm = openFleetClient({ url: server.found, key: other });
    const flood = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        retried(() => admin.submit({ request: `flood ${String(i)}`, idempotencyKey: `flood ${String(i)}` })),
      ),
    );
    await worker({ turns: [{ text: 'Here.', delayMs: 1000 }] }, '--slots', '3', '--per-project', '2');
    const { run } = await retried(() => calm.submit({ request: 'calm', idempotencyKey: 'calm' }));
    expect(await calm.wait(run)).toMatchObject({ outcome: 'done' });
    // Fifty runs, two at a time, a second each, take 25 seconds at least.
    expect((await admin.fleet()).runs['queued']).toBeGreaterThan(0);
    await Promise.all(flood.map((one) => retried(() => admin.cancel(one.run))));
  });

  test('files of a skill that were changed in the store are not used', async () => {
    fleet.postgres.query(`update skillwright.contents set bytes = 'other'`);
    await worker(QUICK);
    const { run } = await admin.submit({ request: 'changed' });
    expect(await admin.wait(run)).toMatchObject({
      outcome: 'failed',
      // Files are read side by side; the first one that comes back is named.
      reason: expect.stringMatching(/^the skills of the run cannot be used: "[\w./-]+" of "[a-z-]+" is changed$/),
    });
  });
});

/** Adds the number in a file to the clock of a process. */
const CLOCK_SHIM = `
const { readFileSync } = require('node:fs');
const Real = Date;
const now = () => Real.now() + Number(readFileSync(process.env.CLOCK, 'utf8'));
globalThis.Date = class extends Real {
  constructor(...given) { super(...(given.length === 0 ? [now()] : given)); }
  static now() { return now(); }
};
`;

/** Runs on PostgreSQL: the built command, real workers, and real kills. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { openFleetClient, type FleetClient, type FleetRun } from '../../src/client.ts';
import { openAttemptsOnWorkers, type AttemptsOnWorkers } from '../../src/fleet/attempts-on-workers.ts';
import { openTableContents } from '../../src/fleet/content-store.ts';
import { inTransaction, openDatabase } from '../../src/fleet/database.ts';
import { SCHEMA_VERSION, migrate } from '../../src/fleet/migrations.ts';
import { openFleet } from '../../src/fleet/open-fleet.ts';
import { claimRun } from '../../src/fleet/run-table.ts';
import { spawnCli, temporaryFolder } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { openFleetProcesses, retried, stop, until, type FleetProcesses, type Started } from './fleet-processes.ts';
import type { Postgres } from './postgres.ts';
import { needs } from '../needs.ts';

describe('a fleet', needs('postgresql'), () => {
  let fleet: FleetProcesses;
  let postgres: Postgres;
  let project: string;
  let home: string;
  let server: Started;
  let admin: FleetClient;
  let secret: string;
  const env = (): Record<string, string> => fleet.env();

  const startWorker: FleetProcesses['worker'] = async (script, ...words) => {
    const started = await fleet.worker(script, ...words);
    onTestFinished(() => stop(started.child, 'SIGKILL'));
    return started;
  };

  beforeAll(async () => {
    fleet = await openFleetProcesses(PROJECT);
    ({ postgres } = fleet);
    [project, home] = [path.join(fleet.folder, 'project'), path.join(fleet.folder, 'home')];
    const serving = await fleet.serve();
    server = serving;
    ({ admin, secret } = serving);
    expect(secret).toMatch(/^sw_[0-9a-f]{12}_[\w-]{43}$/);
  }, 240_000);

  afterAll(() => fleet.close(), 120_000);

  test('a run that is submitted is worked on by one of two workers, with the answer of a single machine', async () => {
    const script = {
      turns: [{ toolCalls: [{ name: 'load_skill', input: { skill: 'greet' } }] }, { text: 'Hello, Ada.' }],
    };
    const workers = await Promise.all([startWorker(script), startWorker(script)]);
    const submitted = await admin.submit({ request: 'greet Ada', idempotencyKey: 'one' });
    expect(submitted).toMatchObject({ state: 'queued', attempt: 1, request: 'greet Ada' });
    const run = await admin.wait(submitted.run);
    const file = path.join(temporaryFolder(), 'script.json');
    writeFileSync(file, JSON.stringify(script));
    const single = await spawnCli(
      project,
      ['run', 'greet Ada', '--model', `scripted:${file}`, '--executor', 'none', '--json'],
      env(),
    );
    const alone: unknown = JSON.parse(single.out.trim().split('\n').at(-1) ?? '');
    expect(alone).toMatchObject({ result: { outcome: run.outcome, answer: run.answer } });
    expect(run).toMatchObject({ state: 'ended', outcome: 'done', answer: 'Hello, Ada.' });
    expect(await admin.submit({ request: 'greet Ada', idempotencyKey: 'one' })).toEqual(run);
    await expect(admin.submit({ request: 'greet Bob', idempotencyKey: 'one' })).rejects.toThrow(
      'the idempotency key was used for another request',
    );
    expect((await admin.integrity(run.run)).records.at(-1)).toMatchObject({ status: 'intact', problems: [] });
    const types: string[] = [];
    for await (const { type } of admin.events(run.run, { signal: AbortSignal.timeout(60_000) })) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(['run-start', 'run-end']);
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, i) => admin.submit({ request: `greet ${String(i)}` })),
    );
    const done = await Promise.all(many.map(({ run: id }) => admin.wait(id)));
    expect(done.map(({ outcome, answer }) => [outcome, answer])).toEqual(many.map(() => ['done', 'Hello, Ada.']));
    await Promise.all(workers.map(({ child }) => stop(child)));
    expect((await admin.fleet()).workers).toEqual([]);
  }, 240_000);

  verifies('DIST-1', 'a worker that is killed loses no run, and no model call is repeated', async () => {
    // The third call is answered slowly, so the worker is killed between two recorded calls.
    const turns = [
      { toolCalls: [{ name: 'load_skill', input: { skill: 'greet' } }] },
      { toolCalls: [{ name: 'search_skills', input: { query: 'hello' } }], delayMs: 600_000 },
    ];
    const first = await startWorker({ turns });
    const { run: id } = await admin.submit({ request: 'greet Grace' });
    await until(() => Number(postgres.query(`select count(*) from skillwright.lines where run = '${id}'`)) > 8);
    await stop(first.child, 'SIGKILL');
    const second = await startWorker({ turns: [{ text: 'Hello, Grace.' }] });
    const run = await admin.wait(id);
    expect(run).toMatchObject({ state: 'ended', outcome: 'done', answer: 'Hello, Grace.', attempt: 2 });
    const { records } = await admin.integrity(id);
    expect(records).toMatchObject([
      { attempt: 1, status: 'torn', problems: [] },
      { attempt: 2, status: 'intact', problems: [] },
    ]);
    const calls = postgres.query(
      `select 'said: ' || (line::jsonb->'event'->>'text') from skillwright.lines where run = '${id}' and attempt = 2 and line like '%"type":"model-answer"%' order by seq`,
    );
    expect(calls.split('\n')).toEqual(['said: ', 'said: Hello, Grace.']);
    await stop(second.child);
  });

  test('the database is restarted: nothing that was accepted is lost', async () => {
    const worker = await startWorker({ turns: [{ text: 'Hello.' }] });
    const before = await Promise.all(
      Array.from({ length: 5 }, (_, i) => admin.submit({ request: `before ${String(i)}` })),
    );
    postgres.stop('immediate');
    postgres.start();
    const after = await retried(() => admin.submit({ request: 'after' }));
    const runs = await Promise.all([...before, after].map(({ run }) => retried(() => admin.wait(run))));
    expect(runs.map(({ outcome, answer }) => [outcome, answer])).toEqual(runs.map(() => ['done', 'Hello.']));
    expect([worker.child.exitCode, server.child.exitCode]).toEqual([null, null]);
    await stop(worker.child, 'SIGKILL');
  }, 240_000);

  test('a connection that breaks between two statements of a transaction fails that transaction only', async () => {
    const pool = await openDatabase(postgres.url);
    onTestFinished(() => pool.end());
    const broken = inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const isEnded = new Promise<void>((resolve) => client.once('end', resolve));
      postgres.query(`select pg_terminate_backend(${String(rows[0]?.pid)})`);
      await isEnded;
      await client.query('select 1');
    });
    await expect(broken).rejects.toThrow('not queryable');
    expect(await inTransaction(pool, async (client) => (await client.query('select 1 as one')).rows)).toEqual([
      { one: 1 },
    ]);
  }, 120_000);

  test('attempts of an evaluation that no worker takes end with a message, and leave nothing in the queue', async () => {
    const opened = await openFleet({ database: postgres.url, env: {} });
    const signal = new AbortController();
    const open = (maxSilentMs?: number): Promise<AttemptsOnWorkers> =>
      openAttemptsOnWorkers(opened, signal.signal, maxSilentMs);
    onTestFinished(() => opened.close());
    // A worker that was killed before is seen for ten seconds.
    postgres.query('delete from skillwright.workers');
    await expect(open()).rejects.toThrow('no worker of the fleet was seen in the last 10 seconds');
    const seen = `insert into skillwright.workers (id, host, version, format, slots, seen_at)
      values ('late', 'h', '1', 1, 1, now() + interval '1 hour') on conflict (id) do update set seen_at = excluded.seen_at`;
    const submit = async (attempts: AttemptsOnWorkers): Promise<unknown> => {
      const roots = await attempts.pin({ folder: path.join(home, '.agents/skills'), roots: [] });
      const stored = { packed: {}, timeoutMs: 1_000, roots, skillsDigest: '' };
      return attempts.run(stored, 'attempt', { runs: temporaryFolder(), outputs: undefined });
    };
    const evaluations = (columns: string): string =>
      postgres.query(`select ${columns} from skillwright.runs where options ? 'evaluation' order by submitted_at`);
    postgres.query(seen);
    const silent = await open(1);
    const waiting = submit(silent).catch((error: unknown) => error);
    await until(() => evaluations('state') === 'queued');
    const id = evaluations('id');
    // The worker claims the attempt and is never heard again.
    await claimRun(opened.pool, { run: id, attempt: 1, worker: 'late' });
    postgres.query(`update skillwright.workers set seen_at = now() - interval '1 minute'`);
    expect(await waiting).toMatchObject({
      code: 'executor/unavailable',
      message: `no worker of the fleet was seen for 10.001 seconds; 1 open attempt is cancelled: ${id}`,
      hint: expect.stringContaining('skillwright worker --model NAME'),
    });
    await silent.close();
    postgres.query(seen);
    const interrupted = await open();
    const [one, two] = [submit(interrupted), submit(interrupted)].map((run) => run.catch((error: unknown) => error));
    await until(() => evaluations('state').split('\n').length === 3);
    signal.abort(new Error('Ctrl-C'));
    expect([await one, await two]).toEqual([new Error('Ctrl-C'), new Error('Ctrl-C')]);
    await interrupted.close();
    expect(evaluations('state, outcome, reason').split('\n')).toEqual([
      'ended|cancelled|cancelled; its worker was lost',
      'ended|cancelled|cancelled before it ran',
      'ended|cancelled|cancelled before it ran',
    ]);
    postgres.query(`delete from skillwright.workers where id = 'late'`);
    const left = `select count(*) from dbos.workflow_status join skillwright.runs on workflow_uuid = id || '/1'
      where options ? 'evaluation' and status in ('ENQUEUED', 'DELAYED', 'PENDING')`;
    expect(postgres.query(left)).toBe('0');
  }, 120_000);

  test('SIGTERM drains a worker, and another one goes on with what it had', async () => {
    const slow = await startWorker({ turns: [{ text: 'late', delayMs: 600_000 }] }, '--grace', '1');
    const { run: id } = await admin.submit({ request: 'drain' });
    await until(async () => (await admin.run(id)).state === 'running');
    await stop(slow.child);
    expect(slow.child.exitCode).toBe(0);
    const next = await startWorker({ turns: [{ text: 'Here.' }] });
    expect(await admin.wait(id)).toMatchObject({ outcome: 'done', answer: 'Here.' });
    await stop(next.child);
  }, 240_000);

  test('keys: rights, projects, revocation; what is not there is said', async () => {
    const make = async (...words: readonly string[]): Promise<FleetClient> => {
      const { out } = await spawnCli(project, ['fleet', 'keys', 'create', 'x', ...words], env());
      return openFleetClient({ url: server.found, key: out.trim() });
    };
    const [reader, other] = [await make('--rights', 'read'), await make('--project', 'other', '--rights', 'admin')];
    await expect(reader.submit({ request: 'x' })).rejects.toThrow('this key has no right to submit');
    const { run } = await admin.submit({ request: 'mine', delaySeconds: 3_600 });
    await expect(other.run(run)).rejects.toThrow('there is no such run');
    await expect(other.cancel(run)).rejects.toThrow('there is no such run');
    expect(await admin.cancel(run)).toMatchObject({ state: 'ended', outcome: 'cancelled' });
    const nobody = openFleetClient({ url: server.found, key: 'sw_000000000000_'.padEnd(59, 'x') });
    await expect(nobody.runs()).rejects.toThrow('missing or invalid key');
    const raw = async (target: string, init: RequestInit = {}): Promise<readonly [number, string]> => {
      const response = await fetch(`${server.found}${target}`, {
        ...init,
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...init.headers },
      });
      return [response.status, await response.text()];
    };
    const post = (body: string): Promise<readonly [number, string]> => raw('/api/v1/runs', { method: 'POST', body });
    expect([
      (await post('{')).at(0),
      (await post('{"request": 5}')).at(0),
      (await post('{"request": "x", "more": 1}')).at(0),
      (await post(JSON.stringify({ request: 'x'.repeat(2_000_000) }))).at(0),
      (await raw('/api/v1/none')).at(0),
      (await raw('/healthz', { headers: { authorization: '' } })).at(0),
      (await raw('/metrics', { headers: { authorization: '' } })).at(0),
    ]).toEqual([400, 400, 400, 413, 404, 200, 401]);
    expect((await raw('/metrics'))[1]).toMatch(/^skillwright_runs_ended_total\{outcome="done"\} \d+$/m);
    expect(JSON.parse((await raw('/api/v1/openapi.json'))[1])).toMatchObject({ openapi: '3.1.0' });
    expect(JSON.parse((await raw('/api/v1/audit'))[1])).toMatchObject({
      acts: expect.arrayContaining([expect.objectContaining({ act: 'run-cancel', target: run })]),
    });
  }, 240_000);

  test('a server beyond the loopback needs a key first', async () => {
    postgres.query('create database empty');
    const refused = await spawnCli(project, ['serve', '--port', '0', '--host', '0.0.0.0'], {
      ...env(),
      SKILLWRIGHT_DATABASE_URL: postgres.url.replace(/postgres$/, 'empty'),
    });
    expect(refused).toMatchObject({
      status: 3,
      out: '',
      err: expect.stringContaining('the server would be reachable at 0.0.0.0, and there is no key yet'),
    });
  }, 120_000);

  test('contents that do not match their digest are refused, and a database of a later version too', async () => {
    const pool = await openDatabase(postgres.url);
    onTestFinished(() => pool.end());
    expect(await migrate(pool)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION });
    const contents = openTableContents(pool);
    expect(await contents.load('0'.repeat(64))).toBeUndefined();
    const { run } = (await admin.runs({ limit: 200 })).runs.find(({ outcome }: FleetRun) => outcome === 'done') ?? {
      run: '',
    };
    postgres.query(
      `update skillwright.contents set bytes = 'other' where digest in (select digest from skillwright.files where run = '${run}')`,
    );
    const { records } = await admin.integrity(run);
    expect(records.map(({ status }) => status)).toEqual(records.map(() => 'tampered'));
    postgres.query('insert into skillwright.migrations (version) values (99)');
    await expect(migrate(pool)).rejects.toThrow('the database has version 99');
    postgres.query('delete from skillwright.migrations where version = 99');
  }, 120_000);
});

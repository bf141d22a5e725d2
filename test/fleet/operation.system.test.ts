/** Operating a fleet: upgrades of the tables, backup, metrics and traces. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { sha256 } from '../../src/platform/hash.ts';
import { openFleetClient } from '../../src/client.ts';
import { openTableContents, recordedContents } from '../../src/fleet/content-store.ts';
import { openDatabase } from '../../src/fleet/database.ts';
import { SCHEMA_VERSION, migrate } from '../../src/fleet/migrations.ts';
import { pruneContents } from '../../src/fleet/prune.ts';
import { openS3Contents } from '../../src/fleet/s3-contents.ts';
import { openFleet } from '../../src/fleet/open-fleet.ts';
import { openStoredArtifacts } from '../../src/fleet/stored-artifacts.ts';
import { SHARED_CACHE, spawnCli, temporaryFolder } from '../cli/run-cli.ts';
import { PROJECT } from '../files-below.ts';
import { sendJson, serve } from '../model/local-server.ts';
import { openBucket } from './bucket.ts';
import { openDatabaseProxy } from './database-proxy.ts';
import { openFleetProcesses, stop, until, type FleetProcesses } from './fleet-processes.ts';
import { freePort } from './postgres.ts';
import { needs } from '../needs.ts';

describe('operation of a fleet', needs('postgresql'), () => {
  let fleet: FleetProcesses;

  beforeAll(async () => {
    fleet = await openFleetProcesses(PROJECT);
  }, 240_000);

  afterAll(() => fleet.close(), 120_000);

  test('tables of the first version are upgraded once, however many processes begin at the same time', async () => {
    fleet.postgres.query('create database old');
    const url = fleet.postgres.url.replace(/postgres$/, 'old');
    const pools = await Promise.all([openDatabase(url), openDatabase(url)]);
    onTestFinished(() => Promise.all(pools.map((pool) => pool.end())).then(() => undefined));
    const [pool] = pools;
    expect(await migrate(pool, 1)).toEqual({ from: 0, to: 1 });
    await pool.query(`insert into skillwright.projects (name) values ('p')`);
    await pool.query(`insert into skillwright.skill_sets (id, skills) values ('s', '[]')`);
    await pool.query(
      `insert into skillwright.runs (id, project, request, options, skill_set, format, state, submitted_by)
       values ('r', 'p', 'before the upgrade', '{}', 's', 1, 'ended', 'k')`,
    );
    const upgrades = await Promise.all(pools.map((one) => migrate(one)));
    expect(upgrades.toSorted((a, b) => a.from - b.from)).toEqual([
      { from: 1, to: SCHEMA_VERSION },
      { from: SCHEMA_VERSION, to: SCHEMA_VERSION },
    ]);
    const { rows } = await pool.query(`select request from skillwright.runs where id = 'r'`);
    expect(rows).toEqual([{ request: 'before the upgrade' }]);
    const versions = await pool.query('select count(*)::int as count from skillwright.migrations');
    expect(versions.rows).toEqual([{ count: SCHEMA_VERSION }]);
  }, 120_000);

  test('first starts on an empty database at the same time all succeed', async () => {
    fleet.postgres.query('create database empty');
    const env = {
      PATH: process.env['PATH'] ?? '',
      SKILLWRIGHT_DATABASE_URL: fleet.postgres.url.replace(/postgres$/, 'empty'),
      ...SHARED_CACHE,
    };
    const folder = temporaryFolder();
    const commands = [['migrate'], ['status'], ['keys', 'create', 'a'], ['migrate']];
    const starts = await Promise.all(
      commands.map((words) => spawnCli(folder, ['fleet', ...words], { ...env, HOME: folder })),
    );
    expect(starts.map(({ status, err }) => (status === 0 ? 0 : err))).toEqual(commands.map(() => 0));
  }, 120_000);

  test('a worker answers probes: ready while it takes runs, alive until it has to be replaced', async () => {
    const proxy = await openDatabaseProxy(fleet.postgres.url);
    onTestFinished(() => proxy.close());
    const port = String(await freePort());
    const probe = async (name: string): Promise<unknown> => {
      const answer = await fetch(`http://127.0.0.1:${port}/${name}`);
      return [answer.status, await answer.json()];
    };
    const { child } = await fleet.worker({ turns: [] }, '--health-port', port, '--database', proxy.url);
    const ok = [200, { status: 'ok' }];
    expect([await probe('healthz'), await probe('readyz')]).toEqual([ok, ok]);
    expect(await probe('metrics')).toEqual([404, { error: 'expected /healthz or /readyz' }]);
    const second = fleet.worker({ turns: [] }, '--health-port', port);
    await expect(second).rejects.toThrow(`cannot answer probes on port ${port}: EADDRINUSE`);
    proxy.cut();
    const isReady = async (): Promise<boolean> => JSON.stringify(await probe('readyz')) === JSON.stringify(ok);
    await until(async () => !(await isReady()));
    expect([await probe('healthz'), await probe('readyz')]).toEqual([
      ok,
      [503, { status: 'the database does not answer' }],
    ]);
    proxy.restore();
    await until(isReady);
    await stop(child);
    await expect(probe('healthz')).rejects.toThrow('fetch failed');
  }, 120_000);

  test('a database whose user may not create tables is refused without a stack trace', async () => {
    fleet.postgres.query('create database guarded');
    fleet.postgres.query('create role guest login');
    const url = new URL(fleet.postgres.url.replace(/postgres$/, 'guarded'));
    url.username = 'guest';
    await expect(openFleet({ database: url.href, env: {} })).rejects.toMatchObject({
      code: 'io/failed',
      message: expect.stringContaining('permission denied'),
    });
  }, 120_000);

  test('a server names the skills of its project that nobody trusted, and serves them with --trust-project', async () => {
    const folder = path.join(fleet.folder, 'project/.agents/skills/local');
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'SKILL.md'), '---\nname: local\ndescription: Of this project.\n---\n');
    const served = (): string =>
      fleet.postgres.query(`select count(*) from skillwright.skill_sets where skills::text like '%"name": "local"%'`);
    const named = await fleet.start(
      ['serve', '--port', '0'],
      /(?=[^]*hidden until you trust this project: local)[^]*(http:\S+)\n/,
    );
    await stop(named.child);
    expect(served()).toBe('0');
    const trusting = await fleet.start(['serve', '--port', '0', '--trust-project'], /(http:\S+)\n/);
    await stop(trusting.child);
    expect(served()).toBe('1');
  }, 240_000);

  test('contents that nothing names are removed a day after they were saved last', async () => {
    fleet.postgres.query('create database contents');
    const pool = await openDatabase(fleet.postgres.url.replace(/postgres$/, 'contents'));
    onTestFinished(() => pool.end());
    await migrate(pool);
    const bucket = await openBucket();
    const s3 = recordedContents(pool, await openS3Contents({ address: 's3://bucket', env: bucket.env }));
    const table = openTableContents(pool);
    const made = (text: string): { readonly digest: string; readonly bytes: Buffer } => {
      const bytes = Buffer.from(text);
      return { digest: sha256(bytes), bytes };
    };
    const [old, again, used, fresh, own] = ['old', 'saved again', 'used', 'fresh', 'own'].map(made);
    if (old === undefined || again === undefined || used === undefined || fresh === undefined || own === undefined)
      throw new TypeError('five contents');
    await s3.save([old, again]);
    await table.save([own]);
    await pool.query(`insert into skillwright.projects (name) values ('gc')`);
    await openStoredArtifacts({ pool, contents: s3 }, 'gc').save('used.txt', used.bytes, { mediaType: 'text/plain' });
    await pool.query(`update skillwright.contents set saved_at = now() - interval '25 hours' where digest = any($1)`, [
      [old, again, used, own].map(({ digest }) => digest),
    ]);
    await s3.save([fresh]);
    const found = { contents: 3, bytes: old.bytes.length + again.bytes.length + own.bytes.length, unreachable: 0 };
    expect(await pruneContents(pool, s3, { isDryRun: true })).toEqual(found);
    const without = { contents: 1, bytes: own.bytes.length, unreachable: 2 };
    expect(await pruneContents(pool, {}, { isDryRun: true })).toEqual(without);

    // A run saves the same bytes while they are being removed: it waits and sends them again.
    let go = (): void => undefined;
    bucket.beforeRemoval = new Promise((resolve) => (go = resolve));
    const pruning = pruneContents(pool, s3, { isDryRun: false });
    const isLocked = async (): Promise<boolean> =>
      (await pool.query(`select 1 from skillwright.contents where digest = $1 for update skip locked`, [again.digest]))
        .rowCount === 0;
    while (!(await isLocked())) await sleep(10);
    const saving = s3.save([again]);
    go();
    await saving;
    expect(await pruning).toEqual(found);
    const left = [old, again, used, fresh].map(({ digest }) => bucket.objects.has(`/bucket/sha256/${digest}`));
    expect(left).toEqual([false, true, true, true]);
    expect([await table.load(own.digest), await s3.load(again.digest)]).toEqual([undefined, again.bytes]);
    expect(await pruneContents(pool, s3, { isDryRun: false })).toEqual({ contents: 0, bytes: 0, unreachable: 0 });
  }, 120_000);

  test('one trace over a hand-over; metrics of what was done; a backup that verifies; old runs are pruned', async () => {
    const traces = new Set<string>();
    const collector = await serve((response, _turn, { body }) => {
      for (const [, id] of JSON.stringify(body).matchAll(/"traceId":"([0-9a-f]{32})"/g))
        if (id !== undefined) traces.add(id);
      sendJson(response, {});
    });
    onTestFinished(() => collector.close());
    const { admin, secret, found } = await fleet.serve();
    const telemetry = ['--set', `telemetry.endpoint=${collector.url}`];
    const first = await fleet.worker({ turns: [{ text: 'late', delayMs: 600_000 }] }, '--grace', '1', ...telemetry);
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const { run } = await admin.submit({ request: 'trace', traceparent: `00-${trace}-b7ad6b7169203331-01` });
    await until(async () => (await admin.run(run)).state === 'running');
    await stop(first.child);
    const second = await fleet.worker({ turns: [{ text: 'Here.' }] }, ...telemetry);
    expect(await admin.wait(run)).toMatchObject({ outcome: 'done', answer: 'Here.' });
    await stop(second.child);
    expect([...traces]).toEqual([trace]);

    const metrics = await (await fetch(`${found}/metrics`, { headers: { authorization: `Bearer ${secret}` } })).text();
    const worker = `worker="${second.found}"`;
    for (const line of [
      'skillwright_runs{state="queued"} 0',
      'skillwright_queue_depth{project="default"} 0',
      'skillwright_runs_ended_total{outcome="done"} 1',
      'skillwright_run_seconds_count 1',
      `skillwright_step_seconds_count{kind="model",${worker}} 1`,
      `skillwright_tokens_total{kind="input",${worker}} 0`,
      '# TYPE skillwright_refusals_total counter',
      '# TYPE skillwright_sandbox_failures_total counter',
    ])
      expect(metrics.split('\n')).toContain(line);

    const file = `${fleet.postgres.folder}/backup`;
    fleet.postgres.run('pg_dump', ['-Fc', '-n', 'skillwright', '-n', 'dbos', '-f', file, 'postgres']);
    fleet.postgres.query('create database restored');
    fleet.postgres.run('pg_restore', ['-d', 'restored', file]);
    const env = fleet.env(fleet.postgres.url.replace(/postgres$/, 'restored'));
    const restored = await fleet.start(['serve', '--port', '0'], /(http:\S+)\n/, env);
    const client = openFleetClient({ url: restored.found, key: secret });
    expect(await client.run(run)).toEqual(await admin.run(run));
    expect((await client.integrity(run)).records).toEqual((await admin.integrity(run)).records);
    expect((await client.integrity(run)).records.at(-1)).toMatchObject({ status: 'intact', problems: [] });

    const left = (): string =>
      fleet.postgres
        .query(`select (select string_agg(id, ' ' order by id) from skillwright.runs), (select count(*) from skillwright.lines),
        (select count(*) from dbos.workflow_status), (select count(*) from dbos.workflow_input), (select count(*) from dbos.workflow_output)`);
    const waiting = await admin.submit({ request: 'later', delaySeconds: 3_600 });
    const before = left();
    fleet.postgres.query(`update skillwright.runs set submitted_at = now() - interval '31 days';
      update skillwright.runs set ended_at = now() - interval '31 days' where state = 'ended';
      update dbos.workflow_status set completed_at = completed_at - 31 * 86400000::bigint`);
    // Contents of the pruned run go with it; those of skills, and those that were saved within a day, stay.
    const skills = `select count(distinct entry->>'content') from skillwright.skill_sets s, jsonb_array_elements(s.skills) skill,
      jsonb_array_elements(skill->'entries') entry where entry->>'kind' in ('file', 'program')`;
    fleet.postgres.query(`insert into skillwright.contents (digest, bytes) values ('uploaded', 'x');
      insert into skillwright.uploads (id, project, name, digest, bytes, saved_at)
        values ('old', 'default', 'a.txt', 'uploaded', 1, now() - interval '31 days')`);
    fleet.postgres.query(`update skillwright.contents set saved_at = now() - interval '31 days'`);
    const stored = Number(fleet.postgres.query('select count(*) from skillwright.contents'));
    fleet.postgres.query(`insert into skillwright.contents (digest, bytes) values ('new', 'x')`);
    const contents = stored - Number(fleet.postgres.query(skills));
    expect(contents).toBeGreaterThan(0);
    const would = fleet.run('fleet', 'prune', '--older-than', '30d', '--dry-run');
    expect(would).toMatch(/^would remove 1 run that ended before .*Z, and \d+ contents? \(\d[^)]*\)\n$/);
    expect(would).toContain(`and ${String(contents)} content`);
    expect(left()).toBe(before);
    expect(JSON.parse(fleet.run('fleet', 'prune', '--older-than', '30d', '--json'))).toMatchObject({
      runs: 1,
      contents,
      bytes: expect.any(Number) as number,
      // On a loaded machine the run may be handed over more than once.
      entries: Number(before.split('|')[2]) - 1,
    });
    expect(left()).toBe(`${waiting.run}|0|1|1|0`);
    expect(fleet.postgres.query('select count(*) from skillwright.uploads')).toBe('0');
    expect(Number(fleet.postgres.query('select count(*) from skillwright.contents'))).toBe(stored - contents + 1);
    expect(fleet.postgres.query(`select act, detail->'runs' from skillwright.audit where act = 'runs-prune'`)).toBe(
      'runs-prune|1',
    );
  }, 240_000);
});

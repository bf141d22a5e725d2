/** What teams need of a fleet, with the built command and PostgreSQL. */
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { SKIP_MEANINGS } from '../../src/core/outputs.ts';
import { signWebhook } from '../../src/fleet/webhooks.ts';
import { spawnCli, temporaryFolder } from '../cli/run-cli.ts';
import { PROJECT } from '../files-below.ts';
import { stop, until } from './fleet-processes.ts';
import { openFleetWorld, type FleetWorld } from './harness.ts';
import { needs } from '../needs.ts';

/** The script writes its key and its folder, and hangs the first time. */
const BILL = [
  '#!/bin/sh',
  'notes="$1"',
  'echo "$SKILLWRIGHT_IDEMPOTENCY_KEY $WORKSPACE_DIR" >> "$notes"',
  'while [ -e "$notes.hold" ]; do sleep 0.1; done',
  'echo billed',
  '',
].join('\n');

const ODD_NAMES = [
  '#!/bin/sh',
  'cd "$OUTPUT_DIR" && mkdir deep && ln -s /etc/passwd link',
  String.raw`for name in a.txt 'deep/b c.txt' AGENTS.md 'new\nline.txt' 'bad\377.txt' 'over\342\200\256txt.exe'; do`,
  '  echo x > "$(printf "$name")"',
  'done',
  '',
].join('\n');
const LOCAL = ['--executor', 'local', '--set', 'policy.allow=["run_script","unsafe_local"]'];

describe('a fleet for teams', needs('postgresql'), () => {
  let world: FleetWorld;
  const api = async (method: string, target: string, body?: unknown): Promise<readonly [number, unknown]> => {
    const response = await fetch(`${world.url}/api/v1${target}`, {
      method,
      headers: { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return [response.status, await response.json()];
  };

  let port = 0;
  const received: { readonly headers: string; readonly body: string }[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      received.push({ headers: String(request.headers['skillwright-signature']), body });
      response.writeHead(204).end();
    });
  });

  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = receiver.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
    world = await openFleetWorld(
      {
        'bill/SKILL.md':
          '---\nname: bill\ndescription: Bills customers. Use for invoices.\n---\nRun scripts/bill.sh.\n',
        'bill/scripts/bill.sh': BILL,
        'bill/scripts/odd-names.sh': ODD_NAMES,
        'bill/scripts/leave.sh':
          '#!/bin/sh\necho hello > "$OUTPUT_DIR/$1"\nif [ -n "$2" ]; then rm "$OUTPUT_DIR/$2"; fi\n',
      },
      '--webhooks-to',
      `private://127.0.0.1:${String(port)}`,
    );
  }, 120_000);

  afterAll(async () => {
    receiver.close();
    await world.close();
  });

  test('a script that kill -9 interrupted runs again with the same key in another workspace', async () => {
    const folder = temporaryFolder();
    // Programs of root run as another user.
    chmodSync(folder, 0o777);
    const notes = path.join(folder, 'notes');
    writeFileSync(`${notes}.hold`, '');
    onTestFinished(() => rmSync(`${notes}.hold`, { force: true }));
    const call = { name: 'run_script', input: { skill: 'bill', script: 'scripts/bill.sh', args: [notes] } };
    const first = await world.startWorker({ turns: [{ toolCalls: [call] }, { text: 'never' }] }, ...LOCAL);
    const { run: id } = await world.admin.submit({ request: 'bill Ada' });
    await until(() => existsSync(notes));
    await stop(first, 'SIGKILL');
    rmSync(`${notes}.hold`);
    const second = await world.startWorker({ turns: [{ text: 'Billed.' }] }, ...LOCAL);
    expect(await world.admin.wait(id)).toMatchObject({ outcome: 'done', answer: 'Billed.' });
    const lines = readFileSync(notes, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    // On a busy machine a worker may lose its run once more.
    expect(lines.length).toBeGreaterThan(1);
    expect(new Set(lines.map(([key]) => key))).toEqual(new Set([`${id}/1`]));
    expect(new Set(lines.map(([, workspace]) => workspace)).size).toBe(lines.length);
    const starts = world.postgres.query(
      `select coalesce(line::jsonb->'event'->'agent'->'resumes'->>'again', '-') from skillwright.lines where run = '${id}' and seq = 1 order by attempt`,
    );
    expect([starts.split('\n').at(0), starts.split('\n').at(-1)]).toEqual(['-', '[1]']);
    const { records } = await world.admin.integrity(id);
    expect([records.at(0)?.status, records.at(-1)?.status]).toEqual(['torn', 'intact']);
    await stop(second);
  }, 240_000);

  test('every output file that can be stored is stored, and the others are named with their invisible characters escaped', async () => {
    const call = { name: 'run_script', input: { skill: 'bill', script: 'scripts/odd-names.sh', args: [] } };
    const worker = await world.startWorker({ turns: [{ toolCalls: [call] }, { text: 'Done.' }] }, ...LOCAL);
    const { run } = await world.admin.submit({ request: 'odd names' });
    expect(await world.admin.wait(run)).toMatchObject({ outcome: 'done' });
    const name = SKIP_MEANINGS.name;
    expect((await api('GET', `/runs/${run}`))[1]).toMatchObject({
      files: [
        { name: 'AGENTS.md', bytes: 2 },
        { name: 'a.txt', bytes: 2 },
        { name: 'deep/b c.txt', bytes: 2 },
      ],
      problems: [
        String.raw`output not stored: out/bad\xff.txt (${name})`,
        'output not stored: out/link (links are not followed)',
        String.raw`output not stored: out/new\nline.txt (${name})`,
        String.raw`output not stored: out/over\u{202e}txt.exe (${name})`,
      ],
    });
    await stop(worker);
  }, 120_000);

  test('output files of a program that ended are stored before the next step, so a killed worker does not lose them', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    const notes = path.join(folder, 'notes');
    writeFileSync(`${notes}.hold`, '');
    onTestFinished(() => rmSync(`${notes}.hold`, { force: true }));
    const call = (script: string, ...args: readonly string[]): object => ({
      toolCalls: [{ name: 'run_script', input: { skill: 'bill', script: `scripts/${script}.sh`, args } }],
    });
    const first = await world.startWorker(
      { turns: [call('leave', 'a.txt'), call('leave', 'b.txt', 'a.txt'), call('bill', notes), { text: 'never' }] },
      ...LOCAL,
    );
    const { run } = await world.admin.submit({ request: 'lost files' });
    await until(() => existsSync(notes));
    await stop(first, 'SIGKILL');
    rmSync(`${notes}.hold`);
    const second = await world.startWorker({ turns: [{ text: 'Billed.' }] }, ...LOCAL);
    expect(await world.admin.wait(run)).toMatchObject({ outcome: 'done', answer: 'Billed.' });
    expect((await api('GET', `/runs/${run}`))[1]).toMatchObject({ files: [{ name: 'b.txt', bytes: 6 }], problems: [] });
    await stop(second);
  }, 240_000);

  test('webhooks go to the internet and to hosts that the server grants, signed', async () => {
    const refused = async (url: string): Promise<unknown> => (await api('POST', '/webhooks', { url }))[1];
    expect(await refused('https://10.0.0.1/x')).toMatchObject({
      error: '"https://10.0.0.1/x" cannot be a webhook: 10.0.0.1 is not an address on the internet',
    });
    expect(await refused('https://169.254.169.254/latest')).toMatchObject({
      error: expect.stringContaining('is not an address on the internet'),
    });
    expect(await refused(`http://127.0.0.1:${String(port + 1)}/`)).toMatchObject({
      error: expect.stringContaining('would not be encrypted'),
    });
    expect(await refused('ftp://example.org/')).toMatchObject({
      error: expect.stringContaining('not an http address'),
    });
    // A name is checked when it is resolved: this one is this machine.
    expect((await api('POST', '/webhooks', { url: 'https://localhost/hook' }))[0]).toBe(201);
    const [status, made] = await api('POST', '/webhooks', { url: `http://127.0.0.1:${String(port)}/hook` });
    expect(status).toBe(201);
    const secret = typeof made === 'object' && made !== null ? String(Reflect.get(made, 'secret')) : '';
    const { run } = await world.admin.submit({ request: 'later', delaySeconds: 3_600 });
    await world.admin.cancel(run);
    await until(() => received.length > 0);
    const [{ headers, body } = { headers: '', body: '' }] = received;
    const [, time = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers) ?? [];
    expect(signature).toBe(signWebhook(secret, time, body));
    expect(JSON.parse(body)).toMatchObject({ type: 'run-end', run, outcome: 'cancelled' });
    const problem = (): string =>
      world.postgres.query('select distinct problem from skillwright.deliveries where problem is not null');
    await until(() => problem() !== '');
    expect(problem()).toMatch(/^localhost:443 resolves to .*\(this machine\)/);
  }, 120_000);

  test('the console works with a key: a person asks, sees the run, and answers its question', async () => {
    const page = await fetch(world.url);
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining('<form method="post" action="/login">'),
    ]);
    const logIn = (key: string, origin: string = world.url): Promise<Response> =>
      fetch(`${world.url}/login`, {
        method: 'POST',
        redirect: 'manual',
        headers: { origin },
        body: new URLSearchParams({ key }),
      });
    expect((await logIn('sw_000000000000_'.padEnd(59, 'x'))).status).toBe(401);
    expect((await logIn(world.secret, 'https://evil.example')).status).toBe(403);
    const { headers, status } = await logIn(world.secret);
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    expect([status, headers.get('location'), headers.get('set-cookie')]).toEqual([
      303,
      '/',
      expect.stringMatching(/^skillwright-fleet=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/),
    ]);
    const ask = async (
      method: string,
      target: string,
      body?: unknown,
      more: object = { origin: world.url },
    ): Promise<Readonly<Record<string, unknown>>> => {
      const response = await fetch(`${world.url}${target}`, {
        method,
        headers: { cookie, ...more, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, ...(text.startsWith('{') ? JSON.parse(text) : { text }) };
    };
    expect(await ask('GET', '/')).toMatchObject({ status: 200, text: expect.stringContaining('<script') });
    expect(await ask('POST', '/api/v1/runs', { request: 'x' }, { origin: 'https://evil.example' })).toMatchObject({
      status: 403,
    });
    expect(await ask('GET', '/api/v1/status', undefined, { 'sec-fetch-site': 'cross-site' })).toMatchObject({
      status: 403,
    });
    expect(await ask('GET', '/api/v1/status')).toMatchObject({ project: 'default', canInstall: false });
    expect(await ask('GET', '/api/v1/skills')).toMatchObject({
      skills: expect.arrayContaining([expect.objectContaining({ name: 'bill' })]),
    });
    const call = { name: 'run_script', input: { skill: 'bill', script: 'scripts/bill.sh', args: ['/dev/null'] } };
    const asking = await world.startWorker(
      { turns: [{ toolCalls: [call] }, { text: 'never' }] },
      '--executor',
      'local',
    );
    const started = await ask('POST', '/api/v1/runs', { request: 'bill Ada now', budget: {} });
    expect(started).toMatchObject({
      status: 201,
      run: expect.any(String),
      events: `/api/v1/runs/${String(started['run'])}/events`,
    });
    let pending: readonly { readonly id: string }[] = [];
    await until(async () => {
      pending = (await ask('GET', '/api/v1/approvals'))['pending'] as typeof pending;
      return pending.length > 0;
    });
    expect(pending).toMatchObject([
      { run: started['run'], tool: 'run_script', detail: { kind: 'script', script: 'scripts/bill.sh' } },
    ]);
    await until(async () => (await world.admin.run(String(started['run']))).state === 'waiting');
    await stop(asking);
    // A worker continues with the answers of its own model.
    const worker = await world.startWorker({ turns: [{ text: 'Billed **Ada**.' }] }, '--executor', 'local');
    expect(await ask('GET', `/api/v1/runs/${String(started['run'])}`)).toMatchObject({ run: { state: 'waiting' } });
    const answer = { verdict: 'yes', scope: 'once' };
    const place = `/api/v1/approvals/${encodeURIComponent(pending[0]?.id ?? '')}`;
    expect(await ask('POST', place, { ...answer, scope: 'skill' })).toMatchObject({ status: 409 });
    expect(await ask('POST', place, answer)).toMatchObject({ status: 200, verdict: 'yes' });
    expect(await ask('POST', place, answer)).toMatchObject({ status: 409 });
    expect(await world.admin.wait(String(started['run']))).toMatchObject({
      outcome: 'done',
      answer: 'Billed **Ada**.',
    });
    expect(await ask('GET', '/api/v1/runs?query=ada%20now')).toMatchObject({
      total: 1,
      runs: [{ run: started['run'], state: 'done' }],
    });
    expect(await ask('GET', `/api/v1/runs/${String(started['run'])}`)).toMatchObject({
      answer: 'Billed **Ada**.',
      skills: [{ name: 'bill' }],
      approvals: [{ answer: 'approved once by the program' }],
    });
    expect(await ask('GET', `/api/v1/runs/${String(started['run'])}/rows?limit=1`)).toMatchObject({
      rows: [{ seq: 1, type: 'run-start' }],
      isMore: true,
    });
    const text = String((await ask('GET', `/api/v1/runs/${String(started['run'])}/live`))['text']);
    expect([[...text.matchAll(/^event: row$/gm)].length > 20, text.endsWith('event: end\ndata: {}\n\n')]).toEqual([
      true,
      true,
    ]);
    expect(await ask('GET', `/api/v1/runs/${String(started['run'])}/integrity`)).toMatchObject({
      status: 'intact',
      problems: [],
    });
    const audit = world.postgres.query(
      `select actor, act from skillwright.audit where target like '${String(started['run'])}%' order by id`,
    );
    const key = world.secret.slice(3, 15);
    expect(audit.split('\n')).toEqual([`${key}|run-submit`, `${key}|approval-answer`]);
    world.postgres.query(`update skillwright.keys set revoked_at = now() where id = '${key}'`);
    expect(await ask('GET', '/api/v1/status')).toMatchObject({ status: 401 });
    world.postgres.query(`update skillwright.keys set revoked_at = null where id = '${key}'`);
    await stop(worker);
  }, 240_000);

  test('an evaluation on two workers has the report of one machine, and its runs verify', async () => {
    const cases = ['disclosure', 'safety'].map((name) => path.join(PROJECT, `evals/${name}.yaml`));
    const words = [...cases, '--no-eval-cache', '--json'];
    // A worker that was killed before is seen for ten seconds.
    world.postgres.query('delete from skillwright.workers');
    const none = await spawnCli(world.project, ['eval', ...words, '--workers'], world.env);
    expect(none).toMatchObject({ status: 4, err: expect.stringContaining('no worker of the fleet was seen') });
    const workers = await Promise.all([1, 2].map(() => world.startWorker({ turns: [] }, '--executor', 'none')));
    const here = await spawnCli(world.project, ['eval', ...words, '--executor', 'none'], world.env);
    const there = await spawnCli(world.project, ['eval', ...words, '--workers'], world.env);
    expect(there).toMatchObject({ status: here.status });
    const report = comparable(there.out);
    expect(report).toEqual(comparable(here.out));
    expect(report).toMatchObject({ results: expect.arrayContaining([expect.objectContaining({ status: 'passed' })]) });
    const took = world.postgres.query(
      `select count(*) from skillwright.attempts a join skillwright.runs r on r.id = a.run where r.options ? 'evaluation'`,
    );
    expect(Number(took)).toBeGreaterThan(8);
    await Promise.all(workers.map((worker) => stop(worker)));
  }, 240_000);
});

/** A report without times, turns, folders and ids of runs. Estimates of tokens count the characters of the temporary folder. */
function comparable(out: string): unknown {
  return JSON.parse(out, (key, value: unknown) => {
    if (key === 'turn') return 'some turn';
    if (/^(?:startedAt|endedAt|wallMs|elapsedMs|modelMs|run|runs|folder|directory|id|inputTokens)$/.test(key))
      return undefined;
    return value;
  });
}

/** The HTTP API of a fleet and its client: what is accepted, refused, stored and streamed. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { needs } from '../needs.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openFleetClient, type FleetClient, type FleetEvent } from '../../src/client.ts';
import { createRun, type RunRecord } from '../../src/journal/journal-writer.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { openApprovalTable } from '../../src/fleet/approval-table.ts';
import { createKey, revokeKey } from '../../src/fleet/keys.ts';
import type { Mirror } from '../../src/fleet/mirror.ts';
import { until } from './fleet-processes.ts';
import { freePort } from './postgres.ts';
import { openApiWorld, type ApiWorld } from './world.ts';

const HALF = '\uD83D';

describe('the API of a fleet', needs('postgresql'), () => {
  let world: ApiWorld;
  let key: string;
  let client: FleetClient;
  beforeAll(async () => {
    world = await openApiWorld();
    key = await world.key('default', 'admin');
    client = openFleetClient({ url: world.url, key });
  }, 120_000);
  afterAll(() => world.close(), 120_000);

  const post = async (target: string, body: unknown): Promise<readonly [number, unknown]> => {
    const { status, text } = await world.ask(key, 'POST', `/api/v1${target}`, body);
    return [status, JSON.parse(text)];
  };

  /** Submits and claims a run, and begins its record. */
  async function begun(request: string): Promise<{ run: string; mirror: Mirror; record: RunRecord }> {
    const { run } = await client.submit({ request });
    const { mirror } = await world.claim(run);
    const start = { request, version: '1', indexHash: '', policyHash: '', index: {} };
    const record = createRun(path.join(world.root, 'x'), start, { openPlace: mirror.openPlace });
    await mirror.push();
    return { run, mirror, record };
  }

  test('a repeated submission gets its run although the queue is full by now', async () => {
    const full = await world.key('full', 'admin');
    world.postgres.query(`update skillwright.projects set queued_limit = 1 where name = 'full'`);
    const submit = (body: object): Promise<{ readonly status: number; readonly text: string }> =>
      world.ask(full, 'POST', '/api/v1/runs', body);
    const first = await submit({ request: 'one', idempotencyKey: 'k' });
    expect(await submit({ request: 'one', idempotencyKey: 'k' })).toEqual(first);
    expect((await submit({ request: 'other', idempotencyKey: 'k' })).text).toContain('used for another request');
    for (const body of [{ request: 'two', idempotencyKey: 'new' }, { request: 'two' }])
      expect(await submit(body)).toMatchObject({ status: 403, text: expect.stringContaining('1 waiting runs') });
  });

  test('a page of runs that begins after an unknown run is refused, not empty', async () => {
    expect(await world.ask(key, 'GET', '/api/v1/fleet/runs?before=none')).toMatchObject({
      status: 400,
      text: expect.stringContaining('`before` names no run of this project'),
    });
  });

  test('two Host or Authorization headers are refused', async () => {
    const { host } = new URL(world.url);
    for (const headers of [
      ['Host', host, 'Host', 'evil.example', 'Authorization', `Bearer ${key}`],
      ['Host', host, 'Authorization', `Bearer ${key}`, 'Authorization', 'Bearer other'],
    ]) {
      const asked = request(new URL('/api/v1/runs', world.url), { headers });
      asked.end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).toBe(400);
    }
  });

  test('U+0000 and half a surrogate pair are refused in bodies, queries and paths', async () => {
    const nested = '['.repeat(200_000) + ']'.repeat(200_000);
    const found = [
      await post('/runs', { request: 'a\0b' }),
      await post('/runs', { request: `a${HALF}b` }),
      await post('/runs', { request: 'x', skills: ['a\0'] }),
      await post('/runs', { request: 'x', 'a\0': 1 }),
      await post('/keys', { name: 'a\0', rights: ['read'] }),
      await post('/approvals/a/b', { verdict: 'no', note: '\0' }),
    ];
    expect(found.map(([status]) => status)).toEqual(found.map(() => 400));
    expect(found[0]?.[1]).toEqual({
      error: 'invalid body request: it contains the character U+0000',
      hint: 'remove it from the request',
    });
    expect(found[1]?.[1]).toMatchObject({ error: 'invalid body request: it contains half a surrogate pair' });
    expect((await post('/runs', nested))[0]).toBe(400);
    for (const target of ['/runs?query=%00', '/runs/a%00', '/runs/a%00/events', '/fleet/runs?before=%00', '/keys/%00'])
      expect([
        target,
        (await world.ask(key, target === '/keys/%00' ? 'DELETE' : 'GET', `/api/v1${target}`)).status,
      ]).toEqual([target, 400]);
    expect(world.notes).toEqual([]);
  });

  test('what models and programs produce is stored: exactly in the record, visibly escaped elsewhere', async () => {
    const text = `nul \0, half ${HALF}, pair 😀, written \\u0000`;
    const { run, mirror, record } = await begun('characters');
    const action = { type: 'write_file', path: 'a.txt', content: text } as const;
    record.append({ type: 'action', call: 1, action, askedBy: 'model' });
    record.append({ type: 'note', message: text });
    record.append({ type: 'action', call: 2, action: { type: 'final_answer', answer: text }, askedBy: 'model' });
    const approve = openApprovalTable(world.fleet.pool, run);
    const question = {
      id: 'sha256:nul',
      tool: 'write_file',
      risk: 'high',
      action,
      rule: 'r',
      origin: { layer: 'built-in', where: 'w' },
      detail: { kind: 'write', path: 'a.txt', before: undefined, after: text },
      affects: [text],
      scopes: ['once', 'run'],
      coverage: JSON.stringify([text]),
    } as const;
    expect(await approve(question, { signal: AbortSignal.timeout(60_000) })).toBe('pending');
    const shown = 'nul ␀, half \uFFFD, pair 😀, written \\u0000';
    const [asked] = await client.questions();
    expect(asked).toMatchObject({ run, question: { detail: { after: shown }, affects: [shown] } });
    await client.answer(run, 'sha256:nul', { verdict: 'yes', scope: 'run' });
    // An answer for the run covers the same question again.
    for (const id of ['sha256:nul', 'sha256:next'])
      expect(await approve({ ...question, id }, { signal: AbortSignal.timeout(60_000) })).toMatchObject({
        verdict: 'yes',
      });
    record.end('done', '');
    await mirror.finish({ state: 'ended', outcome: 'done', answer: text, reason: text });

    expect(await client.run(run)).toMatchObject({ outcome: 'done', answer: shown, reason: shown });
    expect(await client.integrity(run)).toMatchObject({ records: [{ status: 'intact', problems: [] }] });
    const detail = await world.ask(key, 'GET', `/api/v1/runs/${run}`);
    expect(JSON.parse(detail.text)).toMatchObject({ answer: text });
    const lines: unknown[] = [];
    for await (const { line } of client.events(run, { signal: AbortSignal.timeout(60_000) })) lines.push(line);
    expect(lines).toContainEqual(expect.objectContaining({ event: { type: 'note', message: text } }));
    const { rows } = await world.fleet.pool.query<{ message: string }>(
      `select event->>'message' as message from skillwright.events where run = $1 and type = 'note'`,
      [run],
    );
    expect(rows).toEqual([{ message: `nul \\u0000, half \\ud83d, pair 😀, written \\u0000` }]);
  });

  test('a record that is read while it is written is read on from where it was', async () => {
    const { run, mirror, record } = await begun('growing');
    const detail = async (): Promise<unknown> => {
      const { events, answer, isTorn, problems } = JSON.parse(
        (await world.ask(key, 'GET', `/api/v1/runs/${run}`)).text,
      );
      return { events, answer, isTorn, problems };
    };
    expect(await Promise.all([detail(), detail(), detail()])).toEqual(
      Array.from({ length: 3 }, () => ({ events: 1, answer: '', isTorn: false, problems: [] })),
    );
    const following = world.ask(key, 'GET', `/api/v1/runs/${run}/live`);
    const text = 'long '.repeat(2_000);
    for (let at = 0; at < 5; at += 1) {
      record.append({ type: 'note', message: `${String(at)} ${text}` });
      await mirror.push();
      expect(await detail()).toMatchObject({ events: at + 2, problems: [] });
    }
    record.append({ type: 'action', call: 1, action: { type: 'final_answer', answer: text }, askedBy: 'model' });
    record.end('done', '');
    await mirror.finish({ state: 'ended', outcome: 'done', answer: text, reason: '' });
    expect(await detail()).toEqual({ events: 8, answer: text, isTorn: false, problems: [] });
    const seqs = [...(await following).text.matchAll(/^id: 1-(\d+)$/gm)].map(([, seq]) => Number(seq));
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await client.integrity(run)).toMatchObject({ records: [{ status: 'intact', problems: [] }] });
  });

  test('an answer that comes too late is a conflict', async () => {
    const { run, mirror } = await begun('late');
    const ask = (id: string): Promise<unknown> =>
      world.fleet.pool.query('insert into skillwright.approvals (run, id, question) values ($1, $2, $3)', [
        run,
        id,
        JSON.stringify({ id, scopes: ['once'] }),
      ]);
    await ask('sha256:a');
    await ask('sha256:b');
    const answer = async (id: string, body: object = { verdict: 'yes' }): Promise<readonly number[]> => [
      (await post(`/approvals/${run}/${encodeURIComponent(id)}`, body))[0],
      (await post(`/approvals/${encodeURIComponent(`${run}/${id}`)}`, body))[0],
    ];
    expect(await answer('sha256:a', { verdict: 'yes', scope: 'run' })).toEqual([409, 409]);
    expect(await answer('sha256:a')).toEqual([200, 409]);
    expect(await answer('sha256:none')).toEqual([409, 409]);
    await mirror.finish({ state: 'ended', outcome: 'done', answer: '', reason: '' });
    expect(await answer('sha256:b')).toEqual([409, 409]);
  });

  test('unknown names in a body, rules among them, are refused with the nearest one', async () => {
    expect([
      await post('/runs', { request: 'x', budget: { turn: 3 } }),
      await post('/runs', { request: 'x', budget: { money: 3 } }),
      await post('/runs', { request: 'x', budget: { tokn: 3 } }),
      await post('/runs', { requst: 'x' }),
      await post('/runs', { request: 'x', policy: { allow: ['*'] } }),
      await post('/runs', { request: 'x', idempotencykey: 'a' }),
      await post('/schedules', { name: 'a', cron: '* * * * *', request: 'x', budget: {} }),
      await post('/runs', { request: 'x', vocabulary: 'other' }),
      await post('/runs', { request: 'x', budget: { turns: 0.5 } }),
    ]).toEqual([
      [400, { error: 'invalid body budget: Unrecognized key: "turn"', hint: 'did you mean turns?' }],
      [
        400,
        {
          error: 'invalid body budget: Unrecognized key: "money"',
          hint: 'the keys are turns, toolCalls, scriptRuns, tokens, contextTokens, wallMs',
        },
      ],
      [400, { error: 'invalid body budget: Unrecognized key: "tokn"', hint: 'did you mean tokens?' }],
      [400, { error: 'invalid body: Unrecognized key: "requst"', hint: 'did you mean request?' }],
      [400, { error: 'invalid body: Unrecognized key: "policy"', hint: expect.stringContaining('the keys are') }],
      [400, { error: 'invalid body: Unrecognized key: "idempotencykey"', hint: 'did you mean idempotencyKey?' }],
      [400, { error: 'invalid body: Unrecognized key: "budget"', hint: 'the keys are name, cron, request' }],
      [400, { error: expect.stringContaining('invalid body vocabulary: Invalid option') }],
      [400, { error: expect.stringContaining('invalid body budget.turns') }],
    ]);
  });

  test('a schedule has five fields and a request', async () => {
    const schedule = (cron: string, request = 'x'): Promise<readonly [number, unknown]> =>
      post('/schedules', { name: 'often', cron, request });
    expect((await schedule('0 7 * * 1-5', ' '))[0]).toBe(400);
    for (const cron of ['* * * * * *', '* * * *', '@hourly', ''])
      expect(await schedule(cron)).toEqual([
        400,
        {
          code: 'input/invalid',
          error: expect.stringMatching(/cannot be scheduled at .*: it has \d fields?$/),
          hint: expect.stringContaining('five fields'),
        },
      ]);
    expect((await schedule('0 7 * * 1-5'))[0]).toBe(201);
  });

  test('a file in a folder is downloaded by its path, with slashes or escaped', async () => {
    const { run } = await begun('files');
    const bytes = Buffer.from('text');
    await world.fleet.contents.save([{ digest: sha256(bytes), bytes }]);
    await world.fleet.pool.query(
      'insert into skillwright.run_files (run, name, digest, bytes) values ($1, $2, $3, 4)',
      [run, 'a b/c.txt', sha256(bytes)],
    );
    const get = (name: string): Promise<unknown> => world.ask(key, 'GET', `/api/v1/runs/${run}/files/${name}`);
    for (const name of ['a%20b/c.txt', 'a%20b%2Fc.txt']) expect(await get(name)).toEqual({ status: 200, text: 'text' });
    for (const name of ['a%20b', 'a%20b/', 'a%20b/c.txt/', 'x/../../integrity/x'])
      expect(await get(name)).toMatchObject({ status: 404 });
  });

  test('streams of a key end when it is revoked, and every key that was created or revoked is in the audit', async () => {
    const { run } = await begun('revoked');
    const made = await createKey(
      world.fleet.pool,
      { name: 'reader', project: 'default', rights: ['read'] },
      'fleet keys',
    );
    const streams = await Promise.all(
      [`/runs/${run}/events`, `/runs/${run}/live`, '/changes'].map((target) =>
        fetch(`${world.url}/api/v1${target}`, { headers: { authorization: `Bearer ${made.secret}` } }),
      ),
    );
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await revokeKey(world.fleet.pool, { actor: 'fleet keys', project: 'default' }, made.key.id)).toBe(true);
    for (const text of await Promise.all(streams.map((stream) => stream.text())))
      expect(text).not.toContain('event: end');
    expect(
      world.postgres
        .query(`select actor, act from skillwright.audit where target = '${made.key.id}' order by id`)
        .split('\n'),
    ).toEqual(['fleet keys|key-create', 'fleet keys|key-revoke']);
    const other = JSON.parse((await world.ask(key, 'POST', '/api/v1/keys', { name: 'k', rights: ['read'] })).text);
    expect((await world.ask(key, 'DELETE', `/api/v1/keys/${String(other.key.id)}`)).status).toBe(200);
    expect(
      world.postgres.query(`select act from skillwright.audit where target = '${String(other.key.id)}' order by id`),
    ).toBe('key-create\nkey-revoke');
    for (const name of ['', ' ', 'x'.repeat(101)])
      await expect(createKey(world.fleet.pool, { name, project: 'default', rights: [] }, 'test')).rejects.toMatchObject(
        {
          code: 'input/invalid',
        },
      );
  }, 60_000);

  test('a client follows a run over restarts of its server, and an early end of the stream is not the end', async () => {
    const port = await freePort();
    let server = await world.serve({ port });
    const follower = openFleetClient({ url: server.url, key, unreachableMs: 60_000 });
    const { run, mirror, record } = await begun('restarts');
    const seen: FleetEvent[] = [];
    const following = (async () => {
      for await (const event of follower.events(run, { signal: AbortSignal.timeout(100_000) })) seen.push(event);
    })();
    const waiting = follower.wait(run);
    for (let round = 1; round <= 2; round += 1) {
      record.append({ type: 'note', message: `before restart ${String(round)}` });
      await mirror.push();
      await until(() => seen.length === 2 * round);
      await server.close();
      record.append({ type: 'note', message: `during restart ${String(round)}` });
      await mirror.push();
      server = await world.serve({ port });
    }
    record.end('done', '');
    await mirror.finish({ state: 'ended', outcome: 'done', answer: 'x', reason: '' });
    await following;
    expect(await waiting).toMatchObject({ state: 'ended', answer: 'x' });
    expect(seen.map(({ id, type }) => [id, type])).toEqual([
      ['1-1', 'run-start'],
      ['1-2', 'note'],
      ['1-3', 'note'],
      ['1-4', 'note'],
      ['1-5', 'note'],
      ['1-6', 'run-end'],
    ]);
    await server.close();

    // A server that is gone for good.
    const patient = openFleetClient({ url: server.url, key, unreachableMs: 100 });
    const events = async (signal: AbortSignal): Promise<void> => {
      for await (const { id } of patient.events(run, { signal })) expect(id).toBe('');
    };
    await expect(events(AbortSignal.timeout(60_000))).rejects.toMatchObject({
      code: 'io/failed',
      message: expect.stringMatching(/^the server did not answer for 0\.1 s: /),
    });
    await expect(patient.wait(run)).rejects.toMatchObject({ code: 'io/failed' });
    await expect(events(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    // What does not pass is reported at once.
    await expect(client.wait('none')).rejects.toThrow('there is no such run');
    await expect(client.events('none', { signal: AbortSignal.timeout(60_000) }).next()).rejects.toThrow(
      'there is no such run',
    );
  }, 120_000);
});

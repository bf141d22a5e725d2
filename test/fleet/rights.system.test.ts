/** What a key sees that belongs to another project or lacks a right, on every route that the OpenAPI description names. */
import { needs } from '../needs.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createRun } from '../../src/journal/journal-writer.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { openApiWorld, type ApiWorld, type Reply } from './world.ts';

/** In everything that only a reader of the project alpha may see. */
const SECRET = 'alpha-secret';
/** In the question, which a key with the right to approve sees as well. */
const QUESTION = 'alpha-question';
const UNKNOWN = '20260101T000000Z-00000000';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly queries: readonly string[];
}

let schedules = 0;

/** A valid body for each route that takes one. */
const BODIES: Readonly<Record<string, () => unknown>> = {
  'POST /api/v1/runs': () => ({ request: `${SECRET} request`, idempotencyKey: 'alpha-key', labels: { team: SECRET } }),
  'POST /api/v1/approvals/{id}': () => ({ verdict: 'no' }),
  'POST /api/v1/approvals/{run}/{id}': () => ({ verdict: 'no' }),
  'POST /api/v1/keys': () => ({ name: 'new', rights: ['read'] }),
  'POST /api/v1/webhooks': () => ({ url: 'https://hooks.example/' }),
  'POST /api/v1/schedules': () => ({ name: `new-${String((schedules += 1))}`, cron: '0 7 * * 1', request: 'x' }),
  'POST /api/v1/runs/{id}/links': () => ({}),
  'POST /api/v1/policy/explain': () => ({ tool: 'read_file' }),
};

describe('every route', needs('postgresql'), () => {
  let world: ApiWorld;
  let alpha: string;
  let ids: {
    readonly upload: string;
    readonly ended: string;
    readonly waiting: string;
    readonly key: string;
    readonly webhook: string;
  };
  let operations: readonly Operation[];

  beforeAll(async () => {
    world = await openApiWorld();
    alpha = await world.key('alpha', 'admin');
    const post = async (target: string, body: unknown): Promise<Readonly<Record<string, unknown>>> =>
      JSON.parse((await world.ask(alpha, 'POST', `/api/v1${target}`, body)).text);
    const submit = async (idempotencyKey: string): Promise<string> =>
      String((await post('/runs', { request: `${SECRET} request`, idempotencyKey, labels: { team: SECRET } }))['run']);
    const ended = await submit('alpha-key');
    const { mirror } = await world.claim(ended);
    const record = createRun(
      world.root,
      { request: `${SECRET} request`, version: '1', indexHash: '', policyHash: '', index: {} },
      { openPlace: mirror.openPlace },
    );
    record.append({
      type: 'action',
      call: 1,
      action: { type: 'final_answer', answer: `${SECRET} answer` },
      askedBy: 'model',
    });
    record.end('done', '');
    await mirror.finish({ state: 'ended', outcome: 'done', answer: `${SECRET} answer`, reason: SECRET });
    const bytes = Buffer.from(`${SECRET} file`);
    await world.fleet.contents.save([{ digest: sha256(bytes), bytes }]);
    const { pool } = world.fleet;
    await pool.query('insert into skillwright.run_files (run, name, digest, bytes) values ($1, $2, $3, $4)', [
      ended,
      'out.txt',
      sha256(bytes),
      bytes.length,
    ]);
    const waiting = await submit('waiting');
    const asking = await world.claim(waiting);
    await pool.query('insert into skillwright.approvals (run, id, question) values ($1, $2, $3)', [
      waiting,
      'sha256:q',
      JSON.stringify({
        id: 'sha256:q',
        tool: 'run_command',
        risk: 'high',
        action: {},
        rule: 'r',
        origin: { layer: 'l', where: 'w' },
        detail: { kind: 'other', summary: QUESTION },
        affects: [],
        scopes: ['once'],
        coverage: '',
      }),
    ]);
    await asking.mirror.finish({ state: 'waiting' });
    const key = await post('/keys', { name: SECRET, rights: ['read'] });
    const webhook = await post('/webhooks', { url: `https://${SECRET}.example/` });
    await post('/schedules', { name: SECRET, cron: '0 7 * * 1', request: `${SECRET} request` });
    const upload = await fetch(`${world.url}/api/v1/uploads?name=${SECRET}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alpha}`, 'content-type': 'application/octet-stream' },
      body: 'alpha',
    });
    ids = {
      upload: ((await upload.json()) as { id: string }).id,
      ended,
      waiting,
      key: (key['key'] as { id: string }).id,
      webhook: String(webhook['id']),
    };
    const { paths }: { paths: Record<string, Record<string, { requestBody?: object; parameters: Parameter[] }>> } =
      JSON.parse((await world.ask(alpha, 'GET', '/api/v1/openapi.json')).text);
    operations = Object.entries(paths).flatMap(([route, methods]) =>
      Object.entries(methods).map(([method, { requestBody, parameters }]) => ({
        method: method.toUpperCase(),
        path: route,
        hasBody: requestBody !== undefined,
        queries: parameters.flatMap(({ name, in: where, required }) =>
          where === 'query' && (required || name === 'before') ? [name] : [],
        ),
      })),
    );
  }, 120_000);
  afterAll(() => world.close(), 120_000);

  interface Parameter {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
  }

  /** The target of an operation with things of alpha, or with things that do not exist. */
  function target({ path: route, queries }: Operation, exists: boolean, run = ids.ended): string {
    const one = (known: string): string => (exists ? known : UNKNOWN);
    const filled = route
      .replace('/approvals/{id}', `/approvals/${encodeURIComponent(`${one(ids.waiting)}/sha256:q`)}`)
      .replace('/approvals/{run}/{id}', `/approvals/${one(ids.waiting)}/sha256%3Aq`)
      .replace('/keys/{id}', `/keys/${one(ids.key)}`)
      .replace('/webhooks/{id}', `/webhooks/${one(ids.webhook)}`)
      .replace('/schedules/{name}', `/schedules/${exists ? SECRET : 'unknown'}`)
      .replace('/uploads/{id}', `/uploads/${one(ids.upload)}`)
      .replace('/runs/{id}', `/runs/${one(run)}`)
      .replace('{path}', 'out.txt')
      .replace('{seq}', '1')
      .replaceAll(/\{\w+\}/g, 'report');
    const query = queries.map((name) => `${name}=${route.endsWith('/audit') ? '1' : one(run)}`).join('&');
    return query === '' ? filled : `${filled}?${query}`;
  }

  async function call(key: string, operation: Operation, address: string): Promise<Reply> {
    const { method, path: route, hasBody } = operation;
    const name = `${method} ${route}`;
    const body = BODIES[name];
    const isFile = route === '/api/v1/uploads';
    if (hasBody && !isFile && body === undefined) throw new Error(`BODIES has no body for ${name}`);
    const stop = new AbortController();
    const response = await fetch(`${world.url}${address}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(hasBody ? { 'content-type': `application/${isFile ? 'octet-stream' : 'json'}` } : {}),
      },
      ...(hasBody ? { body: isFile ? 'bytes' : JSON.stringify(body?.()) } : {}),
      signal: stop.signal,
    });
    if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream'))
      return { status: response.status, text: await response.text() };
    // A stream may not end: what it has is sent first.
    const reader = response.body?.getReader();
    let text = '';
    for (let frames = 0; frames < 2; frames += 1) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    stop.abort();
    return { status: response.status, text };
  }

  test('shows a key nothing of another project, and answers as if it did not exist', async () => {
    const beta = await world.key('beta', 'admin');
    const found: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const operation of operations) {
      const name = `${operation.method} ${operation.path}`;
      const foreign = await call(beta, operation, target(operation, true));
      const unknown = await call(beta, operation, target(operation, false));
      // What the caller itself wrote may be repeated.
      const isOwn = name === 'POST /api/v1/runs' || operation.path.endsWith('/{name}');
      const shows = [SECRET, QUESTION].filter((word) => !isOwn && foreign.text.includes(word));
      found[name] = { status: foreign.status, shows };
      expected[name] = { status: unknown.status, shows: [] };
    }
    expect(found).toEqual(expected);
    // Nothing of alpha was changed.
    expect(world.postgres.query(`select count(*) from skillwright.approvals where verdict is not null`)).toBe('0');
    expect(await world.ask(beta, 'GET', '/api/v1/schedules')).toMatchObject({
      text: expect.not.stringContaining(SECRET),
    });
    const metrics = await world.ask(beta, 'GET', '/metrics');
    expect(metrics.text).toContain('skillwright_queue_depth{project="beta"} ');
    expect(metrics.text).toContain('skillwright_questions_waiting 0\n');
    expect(metrics.text).not.toContain('alpha');
    expect((await world.ask(alpha, 'GET', '/metrics')).text).toContain('skillwright_questions_waiting 1\n');
  }, 120_000);

  test('shows a key without the right to read nothing of a run, also in the answer to what it may do', async () => {
    const [submit, approve] = [await world.key('alpha', 'submit'), await world.key('alpha', 'approve')];
    for (const operation of operations) {
      const name = `${operation.method} ${operation.path}`;
      for (const [right, key] of [
        ['submit', submit],
        ['approve', approve],
      ] as const) {
        const { status, text } = await call(key, operation, target(operation, true, ids.waiting));
        const unknown = await call(key, operation, target(operation, false));
        // A key that may not use a route learns nothing from it either.
        if (status === 403) expect([name, right, unknown.status]).toEqual([name, right, 403]);
        expect([name, right, text.includes(SECRET)]).toEqual([name, right, false]);
        if (right === 'submit') expect([name, text.includes(QUESTION)]).toEqual([name, false]);
      }
    }
    const again = await world.ask(submit, 'POST', '/api/v1/runs', {
      request: `${SECRET} request`,
      idempotencyKey: 'alpha-key',
    });
    expect(JSON.parse(again.text)).toMatchObject({
      run: ids.ended,
      state: 'ended',
      request: '',
      outcome: null,
      answer: null,
      reason: null,
    });
    expect((await world.ask(submit, 'GET', '/metrics')).status).toBe(403);
  }, 120_000);
});

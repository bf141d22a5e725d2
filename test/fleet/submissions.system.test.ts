/** What a submission carries: files, a model, labels, a timeout and an address to notify; and how its run and results are found again. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { needs } from '../needs.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openFleetClient, type FleetClient } from '../../src/client.ts';
import { readGrant } from '../../src/platform/net/network-gate.ts';
import { reconcile } from '../../src/fleet/reconcile.ts';
import { pruneContents } from '../../src/fleet/prune.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { signWebhook } from '../../src/fleet/webhooks.ts';
import { openApiWorld, type ApiWorld } from './world.ts';
import { until } from './fleet-processes.ts';

const SECRET = 'a secret of sixteen characters';

describe('a submission', needs('postgresql'), () => {
  let world: ApiWorld;
  let client: FleetClient;
  let other: FleetClient;
  let host = '';
  const received: { signature: string; body: string }[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      received.push({ signature: String(request.headers['skillwright-signature']), body });
      response.writeHead(204).end();
    });
  });
  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = receiver.address();
    host = `127.0.0.1:${String(typeof address === 'object' && address !== null ? address.port : 0)}`;
    world = await openApiWorld({ webhooksTo: [readGrant(`private://${host}`)] });
    client = openFleetClient({ url: world.url, key: await world.key('default', 'admin') });
    other = openFleetClient({ url: world.url, key: await world.key('other', 'admin') });
  }, 120_000);
  afterAll(() => {
    receiver.close();
    return world.close();
  }, 120_000);

  const end = async (run: string, outcome = 'done'): Promise<void> =>
    (await world.claim(run)).mirror.finish({ state: 'ended', outcome, answer: 'the answer', reason: '' });

  test('is found again by labels, state, key and time, in pages', async () => {
    const runs: string[] = [];
    for (const [place, team] of ['docs', 'docs', 'web', 'docs'].entries()) {
      const labels = { team, env: place === 3 ? 'test' : 'live=1' };
      const { run, labels: shown } = await client.submit({
        request: `n ${String(place)}`,
        labels,
        idempotencyKey: `key-${String(place)}`,
      });
      expect(shown).toEqual(labels);
      runs.push(run);
    }
    const [first = '', second = '', third = '', fourth = ''] = runs;
    await end(first, 'failed');
    await end(second);
    const found = async (filter: Parameters<FleetClient['runs']>[0]): Promise<readonly string[]> =>
      (await client.runs(filter)).runs.map(({ run }) => run);
    expect(await found({ labels: { team: 'docs' } })).toEqual([fourth, second, first]);
    expect(await found({ labels: { team: 'docs', env: 'live=1' } })).toEqual([second, first]);
    expect(await found({ labels: { team: 'docs' }, state: 'failed' })).toEqual([first]);
    expect(await found({ state: 'queued' })).toEqual([fourth, third]);
    expect(await found({ state: 'ended' })).toEqual([second, first]);
    expect(await found({ state: 'done' })).toEqual([second]);
    expect(await found({ key: 'key-2' })).toEqual([third]);
    expect(await found({ query: 'N 1' })).toEqual([second]);
    const { submittedAt } = await client.run(third);
    expect(await found({ since: new Date(submittedAt) })).toEqual([fourth, third]);
    expect(await found({ until: new Date(submittedAt), labels: { team: 'docs' } })).toEqual([second, first]);
    const page = await client.runs({ labels: { team: 'docs' }, limit: 2 });
    expect(page).toMatchObject({ runs: [{ run: fourth }, { run: second }], next: second });
    expect(await client.runs({ labels: { team: 'docs' }, limit: 2, before: second })).toMatchObject({
      runs: [{ run: first }],
      next: null,
    });
    // The list of the console takes the same filters.
    const listed = await (await fetchFrom('/runs?label=team%3Ddocs&label=env%3Dtest&state=queued')).json();
    expect(listed).toMatchObject({ total: 1, runs: [{ run: fourth, labels: { team: 'docs', env: 'test' } }] });
    expect(await other.runs({ labels: { team: 'docs' } })).toEqual({ runs: [], next: null });
    for (const query of ['label=team', 'since=yesterday', 'state=a&state=b'])
      expect([query, (await fetchFrom(`/fleet/runs?${query}`)).status]).toEqual([query, 400]);
  });

  let key = '';
  const fetchFrom = async (target: string): Promise<Response> => {
    key ||= await world.key('default', 'admin');
    return fetch(`${world.url}/api/v1${target}`, { headers: { authorization: `Bearer ${key}` } });
  };

  test('is cancelled when its timeout has passed, wherever it is', async () => {
    const submit = async (): Promise<string> => (await client.submit({ request: 'slow', timeoutSeconds: 3_600 })).run;
    const [queued, waiting, running] = [await submit(), await submit(), await submit()];
    await (await world.claim(waiting)).mirror.finish({ state: 'waiting' });
    const { mirror } = await world.claim(running);
    const pass = async (): Promise<void> => {
      world.postgres.query(`update skillwright.reconciler set passed_at = '-infinity'`);
      await reconcile(world.fleet, 'test');
    };
    await pass();
    expect(await client.run(queued)).toMatchObject({ state: 'queued', deadline: expect.any(String) });
    world.postgres.query('update skillwright.runs set deadline = now() where deadline is not null');
    await pass();
    const overdue = { state: 'ended', outcome: 'cancelled', reason: 'its timeout passed before it ended' };
    expect(await client.run(queued)).toMatchObject(overdue);
    expect(await client.run(waiting)).toMatchObject(overdue);
    // Its worker stops it, as for any other cancellation.
    expect(world.postgres.query(`select is_cancelled from skillwright.runs where id = '${running}'`)).toBe('t');
    await mirror.finish({ state: 'ended', outcome: 'cancelled', answer: '', reason: 'cancelled' });
    expect(await client.run(running)).toMatchObject(overdue);
  });

  test('names an address that hears of the end of its run, signed with its own secret', async () => {
    const notify = { url: `http://${host}/done`, secret: SECRET };
    const { run } = await client.submit({ request: 'tell me', notify, labels: { team: 'docs' } });
    await end(run);
    await until(() => received.length > 0);
    const [{ signature, body } = { signature: '', body: '' }] = received;
    expect(JSON.parse(body)).toMatchObject({ type: 'run-end', run, outcome: 'done', labels: { team: 'docs' } });
    const [, time = '', digest] = /^t=(\d+),v1=(\w+)$/.exec(signature) ?? [];
    expect(digest).toBe(signWebhook(SECRET, time, body));
    expect(await (await fetchFrom(`/fleet/runs/${run}`)).text()).not.toContain(SECRET);
    const inside = { ...notify, url: 'http://127.0.0.1:1/done' };
    await expect(client.submit({ request: 'x', notify: inside })).rejects.toThrow('cannot be a webhook');
  });

  test('brings files that its project uploaded or that one of its runs left, and no others', async () => {
    const bytes = Buffer.from('a,b\n1,2\n');
    const upload = await client.upload('../data.csv', bytes);
    expect(upload).toEqual({ id: expect.any(String), name: 'data.csv', bytes: 8, digest: sha256(bytes) });
    const submitted = await client.submit({
      request: 'sum',
      uploads: [upload.id],
      files: [{ name: 'again.csv', digest: `sha256:${upload.digest}` }],
    });
    const stored = world.postgres.query(`select options->'files' from skillwright.runs where id = '${submitted.run}'`);
    expect(JSON.parse(stored)).toEqual([
      { name: 'data.csv', digest: upload.digest },
      { name: 'again.csv', digest: upload.digest },
    ]);
    await expect(other.submit({ request: 'sum', uploads: [upload.id] })).rejects.toThrow('this project has no upload');
    await expect(other.submit({ request: 'sum', files: [{ name: 'a', digest: upload.digest }] })).rejects.toThrow(
      'no file with the digest',
    );
    // The bytes stay as long as a run names them, also without the upload.
    const removed = await world.ask(await world.key('default', 'submit'), 'DELETE', `/api/v1/uploads/${upload.id}`);
    expect(removed.status).toBe(200);
    await expect(client.submit({ request: 'sum', uploads: [upload.id] })).rejects.toThrow('this project has no upload');
    world.postgres.query(
      `update skillwright.contents set saved_at = now() - interval '2 days' where digest = '${upload.digest}'`,
    );
    await pruneContents(world.fleet.pool, world.fleet.contents, { isDryRun: false });
    expect(await world.fleet.contents.load(upload.digest)).toEqual(bytes);
    await client.cancel(submitted.run);
    // A file that a run left can be the input of the next.
    const left = Buffer.from('left');
    await world.fleet.contents.save([{ digest: sha256(left), bytes: left }]);
    world.postgres.query(
      `insert into skillwright.run_files values ('${submitted.run}', 'out.txt', '${sha256(left)}', 4)`,
    );
    expect((await client.submit({ request: 'next', files: [{ name: 'in.txt', digest: sha256(left) }] })).state).toBe(
      'queued',
    );
  });

  test('names a model that a worker has, and only such a worker takes it', async () => {
    await expect(client.submit({ request: 'x', model: 'large' })).rejects.toThrow('no worker has the model "large"');
    world.postgres.query(`update skillwright.workers set models = '{small,large}'`);
    const { run } = await client.submit({ request: 'x', model: 'large' });
    await expect(world.claim(run)).rejects.toThrow('cannot be claimed');
    world.postgres.query(`update skillwright.workers set models = '{}'`);
  });

  test('has results that a signed link shows without a key, until it expires or its key is revoked', async () => {
    const reader = await world.key('default', 'submit', 'read');
    const near = openFleetClient({ url: world.url, key: reader });
    const { run } = await near.submit({ request: 'report' });
    await end(run);
    const bytes = Buffer.from('the report');
    await world.fleet.contents.save([{ digest: sha256(bytes), bytes }]);
    world.postgres.query(
      `insert into skillwright.run_files values ('${run}', 'sub/a b.txt', '${sha256(bytes)}', ${String(bytes.length)})`,
    );
    const file = await near.link(run, { file: 'sub/a b.txt', seconds: 60 });
    const answer = await near.link(run);
    const status = async (url: string): Promise<number> => (await fetch(url)).status;
    expect(await (await fetch(file)).text()).toBe('the report');
    expect(await (await fetch(answer)).json()).toMatchObject({ run, answer: 'the answer' });
    await expect(near.link(run, { file: 'none' })).rejects.toThrow('no such file');
    await expect(other.link(run)).rejects.toThrow('there is no such run');
    // Each part of the link is signed, and it opens nothing else.
    const changed = new URL(answer);
    changed.searchParams.set('expires', String(Number(changed.searchParams.get('expires')) + 1));
    expect(await status(changed.href)).toBe(401);
    expect(await status(answer.replace(run, `${run}x`))).toBe(401);
    expect(await status(answer.replace('/fleet/runs/', '/runs/'))).toBe(401);
    expect(await status(answer.replace(`/fleet/runs/${run}`, '/runs'))).toBe(401);
    const brief = await near.link(run, { seconds: 1 });
    await until(async () => (await status(brief)) === 401);
    const [, id = ''] = /^sw_([0-9a-f]+)_/.exec(reader) ?? [];
    world.postgres.query(`update skillwright.keys set revoked_at = now() where id = '${id}'`);
    expect(await status(file)).toBe(401);
  });
});

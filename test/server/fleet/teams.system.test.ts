/** What teams need of a fleet, with the built command and PostgreSQL. */
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { signatureOf } from '../../../src/server/fleet/webhooks.ts';
import { temporaryFolder } from '../../cli/run-cli.ts';
import { openFleetWorld, stop, until } from './harness.ts';
import type { FleetWorld } from './harness.ts';
import { POSTGRES } from './postgres.ts';

/** The script writes its key and its folder, and hangs the first time. */
const BILL = [
  '#!/bin/sh',
  'notes="$1"',
  'echo "$SKILLWRIGHT_IDEMPOTENCY_KEY $WORKSPACE_DIR" >> "$notes"',
  'while [ -e "$notes.hold" ]; do sleep 0.1; done',
  'echo billed',
  '',
].join('\n');

describe.skipIf(POSTGRES === undefined)('a fleet for teams', () => {
  let world: FleetWorld;
  const api = async (method: string, target: string, body?: unknown): Promise<readonly [number, unknown]> => {
    const response = await fetch(`${world.url}/api/v1${target}`, {
      method,
      headers: { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
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
    const words = ['--executor', 'local', '--set', 'policy.allow=["run_script","unsafe_local"]'];
    const first = await world.startWorker({ turns: [{ toolCalls: [call] }, { text: 'never' }] }, ...words);
    const { run: id } = await world.admin.submit({ request: 'bill Ada' });
    await until(() => existsSync(notes));
    await stop(first, 'SIGKILL');
    rmSync(`${notes}.hold`);
    const second = await world.startWorker({ turns: [{ text: 'Billed.' }] }, ...words);
    expect(await world.admin.wait(id)).toMatchObject({ outcome: 'done', answer: 'Billed.', attempt: 2 });
    const lines = readFileSync(notes, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    expect(lines.map(([key]) => key)).toEqual([`${id}/1`, `${id}/1`]);
    expect(new Set(lines.map(([, workspace]) => workspace)).size).toBe(2);
    const starts = world.postgres.query(
      `select coalesce(line::jsonb->'event'->'agent'->'resumes'->>'again', '-') from skillwright.lines where run = '${id}' and seq = 1 order by attempt`,
    );
    expect(starts.split('\n')).toEqual(['-', '[1]']);
    expect((await world.admin.integrity(id)).records.map(({ status }) => status)).toEqual(['torn', 'intact']);
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
    expect(signature).toBe(signatureOf(secret, time, body));
    expect(JSON.parse(body)).toMatchObject({ type: 'run-end', run, outcome: 'cancelled' });
    const problem = (): string =>
      world.postgres.query('select distinct problem from skillwright.deliveries where problem is not null');
    await until(() => problem() !== '');
    expect(problem()).toMatch(/^localhost:443 resolves to .*\(this machine\)/);
  }, 120_000);
});

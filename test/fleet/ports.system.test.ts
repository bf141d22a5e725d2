/**
 * One suite for each port, run against both implementations: the one of a single machine (in process and files) and the one of a fleet
 * (PostgreSQL, DBOS and S3). Both servers run in this process, with the same model and the same skills.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openFileArtifacts } from '../../src/sandbox/artifacts/file-store.ts';
import type { ArtifactStore } from '../../src/sandbox/artifacts/store.ts';
import { compareText } from '../../src/core/diagnostic.ts';
import type { Model } from '../../src/core/model.ts';
import { eventIndex } from '../../src/cli/runs/event-index.ts';
import { createRuntime } from '../../src/packs/open-runtime.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { openApprovals } from '../../src/policy/approval/approver.ts';
import { pendingFolder } from '../../src/policy/approval/pending-approvals.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { openTableContents, type ContentStore } from '../../src/fleet/content-store.ts';
import { openFleetServer } from '../../src/fleet/fleet-server.ts';
import { createKey } from '../../src/fleet/keys.ts';
import { openFleet } from '../../src/fleet/open-fleet.ts';
import { openS3Contents } from '../../src/fleet/s3-contents.ts';
import { pinSkills } from '../../src/fleet/skill-sets.ts';
import { openStoredArtifacts } from '../../src/fleet/stored-artifacts.ts';
import { startWorker } from '../../src/fleet/worker.ts';
import { createRunServer } from '../../src/server/run-server.ts';
import { REPORT, answerOf } from '../agent/support.ts';
import { verifies } from '../conformance/verifies.ts';
import { writeSkill } from '../skills/registry/support.ts';
import { openBucket } from './bucket.ts';
import { openPostgres, type Postgres } from './postgres.ts';
import { has, needs } from '../needs.ts';

type Reply = Readonly<Record<string, unknown>>;
/** One implementation of all ports, behind its server. */
interface Side {
  readonly ask: (method: string, target: string, body?: unknown) => Promise<Reply>;
  readonly artifacts: ArtifactStore;
  /** The index of events of a run. */
  readonly index: (run: string) => Promise<readonly unknown[]>;
  /** Answers of the model so far. */
  readonly calls: () => number;
  /** Files that approved actions wrote. */
  readonly project: string;
}

/** Loads a skill, writes a file if the request says so, then answers. What it says depends on the conversation only. */
function countingModel(): { readonly model: Model; readonly calls: () => number } {
  let calls = 0;
  const model: Model = {
    id: 'by-conversation',
    call({ messages }, { signal }) {
      calls += 1;
      const text = JSON.stringify(messages);
      if (text.includes('wait for me'))
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
        });
      if (!text.includes('load_skill'))
        return Promise.resolve(answerOf({ calls: [['load_skill', { skill: 'report' }]] }, 1));
      if (text.includes('write the note') && !text.includes('write_file'))
        return Promise.resolve(answerOf({ calls: [['write_file', { path: 'note.txt', content: 'noted' }]] }, 2));
      return Promise.resolve(
        answerOf({ text: 'There are **42** rows.', usage: { inputTokens: 100, outputTokens: 20 } }, 3),
      );
    },
  };
  return { model, calls: () => calls };
}

function asking(url: string, token: string): Side['ask'] {
  return async (method, target, body) => {
    const response = await fetch(`${url}/api/v1${target}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json;') === true;
    return { status: response.status, ...(isJson ? (JSON.parse(text) as Reply) : { text }) };
  };
}

/** Without PostgreSQL only the implementations of one machine are tried. */
const HAS_FLEET = has('postgresql');
const NAMES = HAS_FLEET ? (['one machine', 'a fleet'] as const) : (['one machine'] as const);

describe('both implementations of each port', () => {
  const sides = new Map<string, Side>();
  const closing: (() => unknown)[] = [];
  let postgres: Postgres;
  let pool: Pool;

  const side = (name: string): Side => {
    const found = sides.get(name);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  };

  beforeAll(async () => {
    const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'skillwright-ports-')));
    for (const [name, skill] of Object.entries(REPORT)) writeSkill(path.join(root, 'skills', name), skill);
    const place = (name: string): { readonly cwd: string; readonly home: string } => {
      const [cwd, home] = [path.join(root, name, 'project'), path.join(root, name, 'home')];
      for (const folder of [path.join(cwd, '.git'), home]) mkdirSync(folder, { recursive: true });
      return { cwd, home };
    };
    const runtimeFor = ({ cwd, home }: { readonly cwd: string; readonly home: string }): Promise<Runtime> =>
      createRuntime({
        cwd,
        home,
        env: {},
        roots: [path.join(root, 'skills')],
        onlyRoots: true,
        vouched: [path.join(root, 'skills')],
        cache: false,
      });

    const here = place('here');
    const local = countingModel();
    const directory = path.join(here.cwd, '.agent/runs');
    const server = await createRunServer({
      runtime: await runtimeFor(here),
      model: local.model,
      directory,
      token: 'a-token-of-the-test-alone',
      surroundings: { ...here, env: {} },
      agent: {
        run: {
          host: {},
          approve: openApprovals({ home: here.home, pending: { folder: pendingFolder(here.home), waitMs: 600_000 } })
            .approve,
        },
      },
    });
    closing.push(() => server.close());
    sides.set('one machine', {
      ask: asking(server.url, server.token),
      artifacts: openFileArtifacts(path.join(root, 'artifacts')),
      index: (run) => Promise.resolve([...eventIndex(directory)].filter((row) => row.run === run)),
      calls: local.calls,
      project: here.cwd,
    });

    if (!HAS_FLEET) return void closing.push(() => rmSync(root, { recursive: true, force: true }));
    postgres = await openPostgres();
    const fleet = await openFleet({ database: postgres.url, env: {}, connections: 20 });
    ({ pool } = fleet);
    const there = place('there');
    const runtime = await runtimeFor(there);
    const skillSet = await pinSkills(fleet, runtime);
    const { secret } = await createKey(pool, { name: 'test', project: 'default', rights: ['admin'] }, 'test');
    const fleetServer = await openFleetServer({
      ...fleet,
      skillSet: () => Promise.resolve(skillSet),
      base: mkdtempSync(path.join(root, 'base-')),
      page: { runtime, surroundings: { ...there, env: {} }, pages: path.join(root, 'no-pages') },
    });
    const durable = countingModel();
    const worker = await startWorker({
      ...fleet,
      directory: there.cwd,
      openModel: () => Promise.resolve(durable.model),
      run: { host: {} },
    });
    closing.push(
      () => worker.drain(60_000),
      () => fleetServer.close(),
      () => fleet.close(),
      () => postgres.close(),
      () => rmSync(root, { recursive: true, force: true }),
    );
    sides.set('a fleet', {
      ask: asking(fleetServer.url, secret),
      artifacts: openStoredArtifacts(fleet, 'default'),
      async index(run) {
        const { rows } = await pool.query<{ at: Date }>(
          'select run, seq, at, type, call, subject, result from skillwright.events where run = $1 order by attempt, seq',
          [run],
        );
        return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }));
      },
      calls: durable.calls,
      project: there.cwd,
    });
  }, 120_000);

  afterAll(async () => {
    for (const close of closing) await close();
  }, 120_000);

  async function ended({ ask }: Side, run: unknown): Promise<Reply> {
    for (;;) {
      const detail = await ask('GET', `/runs/${String(run)}`);
      const { state } = detail['run'] as { readonly state: string };
      if (!['queued', 'running', 'waiting'].includes(state)) return detail;
      await sleep(50);
    }
  }

  async function question({ ask }: Side): Promise<Reply> {
    for (;;) {
      const [first] = (await ask('GET', '/approvals'))['pending'] as readonly Reply[];
      if (first !== undefined) return first;
      await sleep(50);
    }
  }

  describe.each(NAMES)('run queue and run store: %s', (name) => {
    test('a run that is submitted ends, is listed, streamed, exported and verified', async () => {
      const own = side(name);
      const started = await own.ask('POST', '/runs', { request: 'count the rows' });
      expect(started).toMatchObject({ status: 201, run: expect.any(String) });
      const detail = await ended(own, started['run']);
      expect(detail).toMatchObject({
        answer: 'There are **42** rows.',
        run: { state: 'done', request: 'count the rows' },
      });
      expect(await own.ask('GET', '/runs?query=count%20the%20rows&limit=1')).toMatchObject({
        runs: [{ run: started['run'], state: 'done' }],
      });
      const id = String(started['run']);
      const live = String((await own.ask('GET', `/runs/${id}/live`))['text']);
      const { rows } = await own.ask('GET', `/runs/${id}/rows?limit=1000`);
      expect([...live.matchAll(/^event: row$/gm)]).toHaveLength((rows as readonly unknown[]).length);
      expect(live.endsWith('event: end\ndata: {}\n\n')).toBe(true);
      expect(await own.ask('GET', `/runs/${id}/integrity`)).toMatchObject({ status: 'intact', problems: [] });
      expect((await own.ask('GET', `/runs/${id}/export`))['text']).toContain('"type":"run-end"');
      expect((await own.ask('GET', '/runs/20260101T000000Z-00000000'))['status']).toBe(404);
      expect((await own.ask('POST', '/runs', { request: ' ' }))['status']).toBe(400);
    }, 60_000);

    test('a run in progress is cancelled, and its record says so', async () => {
      const own = side(name);
      const before = own.calls();
      const { run } = await own.ask('POST', '/runs', { request: 'wait for me' });
      while (own.calls() === before) await sleep(20);
      expect((await own.ask('POST', `/runs/${String(run)}/cancel`))['status']).toBe(200);
      expect(await ended(own, run)).toMatchObject({ run: { state: 'cancelled' } });
      expect(await own.ask('GET', `/runs/${String(run)}/integrity`)).toMatchObject({ status: 'intact' });
      const index = await own.index(String(run));
      expect(index.at(-1)).toMatchObject({ type: 'run-end', result: 'cancelled' });
    }, 60_000);
  });

  verifies(
    'DIST-1',
    'the same agent answers byte by byte the same on one machine and in a fleet, with the same record',
    async () => {
      const views = [];
      for (const name of NAMES) {
        const own = side(name);
        const before = own.calls();
        const { run } = await own.ask('POST', '/runs', { request: 'count the rows again' });
        const { answer, reason, skills, tools, approvals, policyHash, indexHash } = await ended(own, run);
        const { rows } = await own.ask('GET', `/runs/${String(run)}/rows?limit=1000`);
        const steps = (rows as readonly Reply[]).map(({ seq, type, text, tone }) => ({
          seq,
          type,
          tone,
          text: stable(String(text)),
        }));
        const index = (await own.index(String(run))).map((row) => ({ ...(row as Reply), run: '', at: '' }));
        const digests = (skills as readonly Reply[]).map(({ name: skill, digest }) => ({ skill, digest }));
        views.push({
          answer,
          reason,
          digests,
          tools,
          approvals,
          policyHash: typeof policyHash,
          indexHash: typeof indexHash,
          steps,
          index,
          calls: own.calls() - before,
        });
      }
      if (HAS_FLEET) expect(views[0]).toEqual(views[1]);
      expect(views[0]).toMatchObject({ answer: 'There are **42** rows.', calls: 2 });
    },
  );

  describe.each(NAMES)('approvals: %s', (name) => {
    test('a question waits, the first answer counts, and it is used once', async () => {
      const own = side(name);
      const { run } = await own.ask('POST', '/runs', { request: 'write the note' });
      const asked = await question(own);
      expect(asked).toMatchObject({
        tool: 'write_file',
        isAnswered: false,
        detail: { kind: 'write', path: 'note.txt', after: 'noted' },
      });
      expect(existsSync(path.join(own.project, 'note.txt'))).toBe(false);
      const place = `/approvals/${encodeURIComponent(String(asked['id']))}`;
      expect((await own.ask('POST', place, { verdict: 'yes', scope: 'ever' }))['status']).toBe(400);
      expect((await own.ask('POST', '/approvals/sha256%3Anone', { verdict: 'yes' }))['status']).toBe(409);
      const answers = await Promise.all([1, 2].map(() => own.ask('POST', place, { verdict: 'yes' })));
      expect(answers.map(({ status }) => String(status)).toSorted(compareText)).toEqual(['200', '409']);
      expect(await ended(own, run)).toMatchObject({ run: { state: 'done' }, answer: 'There are **42** rows.' });
      expect(readFileSync(path.join(own.project, 'note.txt'), 'utf8')).toBe('noted');
      expect(await own.ask('GET', '/approvals')).toMatchObject({ pending: [] });
    }, 60_000);

    test('no is told to the model with its reason', async () => {
      const own = side(name);
      const { run } = await own.ask('POST', '/runs', { request: 'write the note, please' });
      const { id } = await question(own);
      expect(
        await own.ask('POST', `/approvals/${encodeURIComponent(String(id))}`, { verdict: 'no', reason: 'not today' }),
      ).toMatchObject({ status: 200 });
      await ended(own, run);
      expect((await own.ask('GET', `/runs/${String(run)}/export`))['text']).toContain('not today');
    }, 60_000);
  });

  test.each(HAS_FLEET ? ([...NAMES, 'S3'] as const) : NAMES)(
    'artifacts: %s',
    async (name) => {
      const bucket = name === 'S3' ? await openBucket() : undefined;
      const contents: ContentStore | undefined =
        bucket === undefined ? undefined : await openS3Contents({ address: 's3://bucket', env: bucket.env });
      if (HAS_FLEET) await pool.query(`insert into skillwright.projects (name) values ('s3') on conflict do nothing`);
      const store = contents === undefined ? side(name).artifacts : openStoredArtifacts({ pool, contents }, 's3');
      const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
      const TEXT = { mediaType: 'text/plain' };
      const one = {
        name: 'out/a.txt',
        version: 0,
        digest: `sha256:${sha256(bytes('first'))}`,
        bytes: 5,
        mediaType: 'text/plain',
        savedAt: expect.any(String),
      };
      expect(await store.save('out/a.txt', bytes('first'), TEXT)).toEqual(one);
      expect(await store.save('out/a.txt', [bytes('sec'), bytes('ond')], TEXT)).toMatchObject({ version: 1, bytes: 6 });
      const many = await Promise.all(Array.from({ length: 10 }, () => store.save('b', bytes('same'), TEXT)));
      expect(many.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(Buffer.from((await store.load('out/a.txt')).content).toString()).toBe('second');
      expect(Buffer.from((await store.load('out/a.txt', 0)).content).toString()).toBe('first');
      expect((await store.list()).map(({ name: saved, version }) => [saved, version])).toEqual([
        ['b', 9],
        ['out/a.txt', 1],
      ]);
      expect(await store.delete('out/a.txt', 1)).toEqual([1]);
      expect(await store.save('out/a.txt', bytes('third'), TEXT)).toMatchObject({ version: 2 });
      expect((await store.versions('out/a.txt')).map(({ version }) => version)).toEqual([0, 2]);
      await expect(store.load('out/a.txt', 1)).rejects.toMatchObject({
        code: 'artifact/unknown',
        data: { nearest: ['out/a.txt@0', 'out/a.txt@2'] },
      });
      await expect(store.load('out/a.txd')).rejects.toMatchObject({
        code: 'artifact/unknown',
        data: { nearest: ['out/a.txt'] },
      });
      for (const bad of ['../up', '/etc/passwd', '', 'a@1'])
        await expect(store.save(bad, bytes('x'), TEXT)).rejects.toMatchObject({ code: 'input/invalid' });
      if (bucket !== undefined)
        for (const key of bucket.objects.keys()) bucket.objects.set(key, Buffer.from('other bytes'));
      if (bucket !== undefined) await expect(store.load('b')).rejects.toMatchObject({ code: 'io/failed' });
    },
    60_000,
  );

  test('contents in the table come back as they were, and are missing otherwise', needs('postgresql'), async () => {
    const store = openTableContents(pool);
    const bytes = Buffer.from('content');
    await store.save([{ digest: sha256(bytes), bytes }]);
    await store.save([{ digest: sha256(bytes), bytes }]);
    expect(await store.load(sha256(bytes))).toEqual(bytes);
    expect(await store.load('0'.repeat(64))).toBeUndefined();
  });
});

/** Text of a step without ids, times and folders of this run. */
function stable(text: string): string {
  return (
    text
      .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{8}/g, 'ID')
      .replaceAll(/\/[\w./-]+/g, 'PATH')
      .replaceAll(/\d+(?:\.\d+)? m?s\b/g, 'TIME')
      .replaceAll(/sha256:[0-9a-f]{8,64}/g, 'DIGEST')
      // An estimate, which counts the characters of the folders.
      .replaceAll(/about \d+ tokens/g, 'TOKENS')
  );
}

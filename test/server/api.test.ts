/** Every route of the API against one server, with the schemas that describe them. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Model } from '../../src/core/model.ts';
import { isAnswered, writePending } from '../../src/policy/approval/pending-approvals.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { createRunServer, type RunServer } from '../../src/server/run-server.ts';
import { createRuntime } from '../../src/packs/open-runtime.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { REPORT, answerOf } from '../agent/support.ts';
import { writeSkill } from '../skills/registry/support.ts';
import { requestOf } from '../policy/approval-request.ts';

const TOKEN = 'a-token-of-the-test-alone';
const HOSTILE = '<img src=x onerror=alert(1)>\u202Eevil\u001B[31m';

let here: { readonly root: string; readonly project: string; readonly runtime: Runtime };
let server: RunServer;
let [home, answers] = ['', 0];

/** Plans, reads the skill, then answers; each run gets its own three answers. */
const MODEL: Model = {
  id: 'three-answers',
  call: ({ messages }) => {
    answers += 1;
    const isFirst = !JSON.stringify(messages).includes('load_skill');
    return Promise.resolve(
      isFirst
        ? answerOf({ calls: [['load_skill', { skill: 'report' }]] }, answers)
        : answerOf({ text: `There are 42 rows ${HOSTILE}`, usage: { inputTokens: 100, outputTokens: 20 } }, answers),
    );
  },
};

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function ask(method: string, target: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${server.url}/api/v1${target}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function text(target: string): Promise<string> {
  return (await fetch(`${server.url}/api/v1${target}`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
}

/** Starts a run and waits for its end. */
async function completedRun(request = 'count the rows', more: object = {}): Promise<string> {
  const { body } = await ask('POST', '/runs', { request, ...more });
  const run = String(body['run']);
  await text(`/runs/${run}/events`);
  return run;
}

beforeAll(async () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'skillwright-api-')));
  const project = path.join(root, 'project');
  home = path.join(root, 'home');
  for (const folder of [path.join(project, '.git'), home]) mkdirSync(folder, { recursive: true });
  for (const [name, skill] of Object.entries(REPORT)) writeSkill(path.join(root, 'skills', name), skill);
  const runtime = await createRuntime({
    cwd: project,
    home,
    // Nothing is there yet, as on a new machine.
    env: { TMPDIR: path.join(root, 'temporary') },
    roots: [path.join(root, 'skills')],
    builtin: false,
    cache: false,
  });
  here = { root, project, runtime };
  server = await createRunServer({
    runtime,
    model: MODEL,
    directory: path.join(project, '.agent/runs'),
    token: TOKEN,
    surroundings: { cwd: project, home, env: {} },
    evaluations: {
      list: () => [],
      page: (id) => ({ id }),
      html: () => '<!doctype html>',
      history: () => [],
    },
  });
});
afterAll(async () => {
  await server.close();
  rmSync(here.root, { recursive: true, force: true, maxRetries: 5 });
});

describe('skills', () => {
  test('are listed, filtered and ranked like in the library', async () => {
    const { body } = await ask('GET', '/skills');
    expect(body).toMatchObject({ total: here.runtime.index.skills.length });
    expect((await ask('GET', '/scan')).body).toMatchObject({ leftOut: [], leftOutTotal: 0 });
    const found = await ask('GET', '/skills?query=report&limit=3');
    const names = (found.body['skills'] as readonly { readonly name: string }[]).map(({ name }) => name);
    expect(names).toEqual((await here.runtime.searchSkills('report', 500)).slice(0, 3).map(({ name }) => name));
    expect((await ask('GET', '/skills?source=nowhere')).body).toMatchObject({ total: 0, skills: [] });
    expect((await ask('GET', '/skills?limit=0')).status).toBe(400);
    expect((await ask('GET', '/skills?unknown=1')).status).toBe(400);
  });

  test('are shown with files, cost, trust and what they may do; nothing outside is read', async () => {
    const { id } = here.runtime.find('report');
    const address = `/skills/${encodeURIComponent(id)}`;
    const { body } = await ask('GET', address);
    expect(body).toMatchObject({
      skill: { id, name: 'report', trusted: true },
      trust: { trusted: true },
      treeDigest: expect.stringMatching(/^sha256-tree:/),
      powers: { chosenBy: 'both' },
      isBodyCut: false,
    });
    expect((await ask('GET', `${address}/files/SKILL.md`)).body).toMatchObject({ isBinary: false, isCut: false });
    for (const name of ['..%2F..%2Fhome', '%2Fetc%2Fpasswd', 'missing.md'])
      expect((await ask('GET', `${address}/files/${name}`)).status).toBe(404);
    expect((await ask('GET', '/skills/nothing-like-this')).body).toMatchObject({ code: 'skill/unknown' });
  });

  test('are repaired only as shown', async () => {
    const dir = path.join(here.root, 'skills/Broken_Name');
    mkdirSync(dir, { recursive: true });
    writeFileSync(path.join(dir, 'SKILL.md'), '---\nname: Broken_Name\ndescription: Counts.\n---\nCount.\n');
    await here.runtime.refresh();
    const skill = here.runtime.index.all.find((one) => one.dir.endsWith('Broken_Name'));
    const { body } = await ask('GET', `/skills/${encodeURIComponent(skill?.id ?? '')}`);
    const { repair } = body as { readonly repair?: { readonly before: string; readonly after: string } };
    if (repair === undefined) return expect(body).toMatchObject({ diagnostics: expect.any(Array) });
    const address = `/skills/${encodeURIComponent(skill?.id ?? '')}/repair`;
    expect((await ask('POST', address, { before: sha256('other') })).status).toBe(409);
    expect((await ask('POST', address, { before: sha256(repair.before) })).status).toBe(200);
    expect(readFileSync(path.join(dir, 'SKILL.md'), 'utf8')).toBe(repair.after);
  });

  test('are installed, and only by the plan that was shown', async () => {
    const source = path.join(here.root, 'source/tidy');
    mkdirSync(source, { recursive: true });
    writeFileSync(path.join(source, 'SKILL.md'), '---\nname: tidy\ndescription: Tidies notes.\n---\nTidy.\n');
    const wanted = { action: 'install', source: path.join(here.root, 'source') };
    const { body: plan } = await ask('POST', '/packs/plan', wanted);
    expect(plan).toMatchObject({ skills: [{ name: 'tidy', change: 'new', findings: [] }], refused: [] });
    writeFileSync(path.join(source, 'SKILL.md'), '---\nname: tidy\ndescription: Tidies all notes.\n---\nTidy.\n');
    expect((await ask('POST', '/packs/apply', { ...wanted, digest: plan['digest'] })).status).toBe(409);
    const again = await ask('POST', '/packs/plan', wanted);
    const done = await ask('POST', '/packs/apply', { ...wanted, digest: again.body['digest'] });
    expect(done).toMatchObject({ status: 200, body: { names: ['tidy'] } });
    const { body } = await ask('GET', `/skills/${encodeURIComponent(here.runtime.find('tidy').id)}`);
    expect(body).toMatchObject({ trust: { trusted: true }, installed: { source: expect.any(String) } });
    const removal = { action: 'uninstall', skills: ['tidy'] };
    const planned = await ask('POST', '/packs/plan', removal);
    expect((await ask('POST', '/packs/apply', { ...removal, digest: planned.body['digest'] })).body).toMatchObject({
      names: ['tidy'],
    });
    expect((await ask('POST', '/packs/plan', { action: 'install', source: '/nowhere' })).status).toBe(400);
  });
});

test('the catalog is what a model sees under a budget', async () => {
  const { body } = await ask('GET', '/catalog?budget=200');
  const without = await here.runtime.distrust(here.runtime.index.skills);
  expect(body['text']).toBe(here.runtime.catalog({ budget: 200, without }).text);
  const { parts, tokens } = body as { readonly parts: Record<string, number>; readonly tokens: number };
  expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeGreaterThanOrEqual(tokens - 3);
});

describe('runs', () => {
  test('are shown, followed, verified, replayed, compared and exported', async () => {
    const [left, right] = [await completedRun(), await completedRun('count again')];
    const { body: detail } = await ask('GET', `/runs/${left}`);
    expect(detail).toMatchObject({
      run: { run: left, state: 'done', skills: ['report'] },
      answer: `There are 42 rows ${HOSTILE}`,
      usage: { models: ['three-answers'], turns: 2, toolCalls: 1 },
      isTorn: false,
      files: [],
    });
    const { body } = await ask('GET', `/runs/${left}/rows?from=2&limit=3`);
    expect((body['rows'] as readonly { readonly seq: number }[]).map(({ seq }) => seq)).toEqual([2, 3, 4]);
    expect((await ask('GET', `/runs/${left}/events/1`)).body).toMatchObject({ event: { type: 'run-start' } });
    expect((await ask('GET', `/runs/${left}/events/9999`)).status).toBe(404);
    const live = await text(`/runs/${left}/live?after=3`);
    expect(live).toContain('id: 4\nevent: row\n');
    expect(live).not.toContain('id: 3\n');
    expect(live.endsWith('event: end\ndata: {}\n\n')).toBe(true);
    expect((await ask('GET', `/runs/${left}/integrity`)).body).toMatchObject({ status: 'intact', problems: [] });
    expect((await ask('POST', `/runs/${left}/replay`)).body).toMatchObject({ status: 'same' });
    const { isCut, steps } = (await ask('GET', `/comparison?left=${left}&right=${right}`)).body;
    expect([isCut, JSON.stringify(steps)]).toEqual([false, expect.stringContaining('"isSame":true')]);
    expect((await text(`/runs/${left}/export`)).split('\n')[0]).toContain('"run-start"');
    expect((await ask('GET', '/runs?query=again')).body).toMatchObject({ total: 1, runs: [{ run: right }] });
  });

  test('a record that was changed is shown as tampered, and where', async () => {
    const run = await completedRun('tamper with this');
    appendFileSync(path.join(here.project, '.agent/runs', run, 'events.jsonl'), '{"seq":99}\n');
    const { body } = await ask('GET', `/runs/${run}/integrity`);
    expect(body['status']).toBe('tampered');
    expect(body['problems']).toContainEqual(expect.objectContaining({ path: 'events.jsonl', line: 27 }));
    expect((await ask('GET', `/runs/${run}`)).status).toBe(200);
  });

  test('are complete when their stream ends: it waits for the summary, which is written after the last event', async () => {
    const run = await completedRun('end now');
    const file = path.join(here.project, '.agent/runs', run, 'run.json');
    const complete = readFileSync(file);
    const info = JSON.parse(complete.toString()) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...info, outcome: 'running', endedAt: undefined }));
    const live = text(`/runs/${run}/live`);
    setTimeout(() => writeFileSync(file, complete), 300);
    expect((await live).endsWith('event: end\ndata: {}\n\n')).toBe(true);
    expect((await ask('GET', `/runs/${run}`)).body).toMatchObject({ run: { run, state: 'done' } });
  });

  test('fork from a turn with another request, and keep the answers before it', async () => {
    const run = await completedRun('the first course');
    const { status, body } = await ask('POST', `/runs/${run}/fork`, { turn: 1, request: 'another course' });
    expect(status).toBe(201);
    const fork = String(body['run']);
    await text(`/runs/${fork}/events`);
    expect((await ask('GET', `/runs/${fork}`)).body).toMatchObject({
      run: { request: 'another course', state: 'done', skills: ['report'] },
      resumes: run,
    });
    expect((await ask('POST', `/runs/${run}/resume`, {})).status).toBe(409);
    expect((await ask('POST', `/runs/${run}/cancel`)).status).toBe(409);
    expect((await ask('POST', '/runs', { request: 'x', model: 'rules' })).status).toBe(400);
  });

  test('take uploaded files by their id', async () => {
    const response = await fetch(`${server.url}/api/v1/uploads?name=..%2F..%2Fa%01b.csv`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
      body: 'id,amount\n1,2\n',
    });
    expect([response.status, await response.json()]).toEqual([
      201,
      { id: expect.any(String), name: 'a_b.csv', bytes: 14, digest: sha256('id,amount\n1,2\n') },
    ]);
    expect((await ask('POST', '/runs', { request: 'x', uploads: ['../../etc'] })).status).toBe(400);
    expect((await ask('DELETE', '/uploads/..%2F..')).status).toBe(404);
  });

  test('keep an uploaded file until it is removed', async () => {
    const response = await fetch(`${server.url}/api/v1/uploads?name=a.csv`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
      body: 'a\n',
    });
    const { id } = (await response.json()) as { readonly id: string };
    await completedRun('count', { uploads: [id] });
    await completedRun('count again', { uploads: [id] });
    expect([await ask('DELETE', `/uploads/${id}`), (await ask('DELETE', `/uploads/${id}`)).status]).toEqual([
      { status: 200, body: { id } },
      404,
    ]);
    expect((await ask('POST', '/runs', { request: 'x', uploads: [id] })).status).toBe(400);
  });
});

describe('approvals', () => {
  test('are answered once, with the reason', async () => {
    const place = { folder: path.join(home, '.agent/pending'), home };
    const { request } = writePending(place, requestOf());
    const { body } = await ask('GET', '/approvals');
    expect(body).toMatchObject({ pending: [{ id: request.id, isAnswered: false, risk: 'medium' }], problems: [] });
    const answer = { verdict: 'no', reason: 'use the other folder' };
    const both = await Promise.all([
      ask('POST', `/approvals/${encodeURIComponent(request.id)}`, answer),
      ask('POST', `/approvals/${encodeURIComponent(request.id)}`, { verdict: 'yes', scope: 'run' }),
    ]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect((await ask('GET', '/approvals')).body).toMatchObject({ pending: [{ isAnswered: true }] });
    expect((await ask('POST', `/approvals/${'0'.repeat(64)}`, answer)).status).toBe(409);
    expect((await ask('DELETE', '/approvals/stored/unknown')).status).toBe(404);
  });

  test('take no answer that is not well-formed', async () => {
    const place = { folder: path.join(home, '.agent/pending'), home };
    const { request } = writePending(place, requestOf({ id: `sha256:${'7'.repeat(64)}` }));
    const verdicts = ['YES', 'yes ', 'true', true, 1, '', null, ['yes'], { verdict: 'yes' }, undefined];
    const bodies: readonly unknown[] = [
      ...verdicts.map((verdict) => ({ verdict })),
      ...['forever', '', null, true, ['once']].map((scope) => ({ verdict: 'yes', scope })),
      true,
      'yes',
      1,
      [],
      { approved: true },
    ];
    for (const body of bodies)
      expect([body, (await ask('POST', `/approvals/${encodeURIComponent(request.id)}`, body)).status]).toEqual([
        body,
        400,
      ]);
    expect(isAnswered(place, request.id)).toBe(false);
  });
});

test('the policy is shown and explained', async () => {
  const { body } = await ask('GET', '/policy');
  expect(body['layers']).toContainEqual(expect.objectContaining({ origin: { layer: 'built-in', where: '' } }));
  expect((await ask('POST', '/policy/explain', { tool: 'read_file', subject: 'README.md' })).body).toMatchObject({
    effect: expect.stringMatching(/^(?:allow|ask|deny)$/),
    reason: expect.any(String),
  });
  expect((await ask('POST', '/policy/explain', { tool: '' })).status).toBe(400);
});

test('a request gives its run no rules', async () =>
  expect((await ask('POST', '/runs', { request: 'count', policy: {} })).status).toBe(400));
test('every route is described, and the description names no other', async () => {
  const { body } = await ask('GET', '/openapi.json');
  const { paths } = body as { readonly paths: Record<string, Record<string, { readonly operationId: string }>> };
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  expect(new Set(ids).size).toBe(ids.length);
  expect(Object.keys(paths).toSorted()).toMatchInlineSnapshot(`
    [
      "/api/v1/approvals",
      "/api/v1/approvals/stored/{id}",
      "/api/v1/approvals/{id}",
      "/api/v1/case-history",
      "/api/v1/catalog",
      "/api/v1/changes",
      "/api/v1/comparison",
      "/api/v1/evaluations",
      "/api/v1/evaluations/{id}",
      "/api/v1/evaluations/{id}/export",
      "/api/v1/isolation",
      "/api/v1/mode",
      "/api/v1/packs/apply",
      "/api/v1/packs/plan",
      "/api/v1/policy",
      "/api/v1/policy/explain",
      "/api/v1/run-statistics",
      "/api/v1/runs",
      "/api/v1/runs/{id}",
      "/api/v1/runs/{id}/cancel",
      "/api/v1/runs/{id}/events",
      "/api/v1/runs/{id}/events/{seq}",
      "/api/v1/runs/{id}/export",
      "/api/v1/runs/{id}/files/{path}",
      "/api/v1/runs/{id}/fork",
      "/api/v1/runs/{id}/integrity",
      "/api/v1/runs/{id}/live",
      "/api/v1/runs/{id}/replay",
      "/api/v1/runs/{id}/resume",
      "/api/v1/runs/{id}/rows",
      "/api/v1/scan",
      "/api/v1/skills",
      "/api/v1/skills/{id}",
      "/api/v1/skills/{id}/files/{path}",
      "/api/v1/skills/{id}/repair",
      "/api/v1/status",
      "/api/v1/uploads",
      "/api/v1/uploads/{id}",
    ]
  `);
  for (const target of ['/status', '/evaluations', '/evaluations/20260101T000000', '/case-history?case=x'])
    expect((await ask('GET', target)).status).toBe(200);
});

describe('a session', () => {
  const open = async (headers: Record<string, string>, target = '/api/v1/status'): Promise<number> =>
    (await fetch(`${server.url}${target}`, { headers, redirect: 'manual' })).status;

  test('begins with a link that works once, and holds for pages of this origin only', async () => {
    const link = server.newLink();
    const first = await fetch(link, { redirect: 'manual' });
    const header = first.headers.get('set-cookie') ?? '';
    expect([first.status, first.headers.get('location')]).toEqual([303, '/']);
    expect(header).toMatch(/; HttpOnly; SameSite=Strict; Path=\//);
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(401);
    const [cookie = ''] = header.split(';');
    expect(await open({ cookie })).toBe(200);
    expect(await open({ cookie: `${cookie.slice(0, -1)}0` })).toBe(cookie.endsWith('0') ? 200 : 401);
    expect(await open({ cookie, 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await open({ cookie, 'sec-fetch-site': 'same-origin' })).toBe(200);
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${server.url}/api/v1/policy/explain`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', ...headers },
        body: '{"tool":"grep"}',
      });
    expect((await post({})).status).toBe(403);
    expect((await post({ origin: server.url })).status).toBe(200);
    expect((await post({ origin: 'http://127.0.0.1:1' })).status).toBe(403);
  });
});

/** The MCP server over streamable HTTP, driven by the official client in both protocol versions. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { expect, onTestFinished, test } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { listRuns } from '../../src/journal/run-folder.ts';
import { serveHttp, type ServeHttpOptions } from '../../src/mcp/serve-http.ts';
import { openSkillServer } from '../../src/mcp/server.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { verifies } from '../conformance/verifies.ts';
import { SHARED_CACHE, runCli } from '../cli/run-cli.ts';
import { PROJECT } from '../files-below.ts';
import { textOf, world } from './mcp-world.ts';

interface Served {
  readonly url: string;
  readonly token: string;
}

async function serve({ home, project }: ReturnType<typeof world>): Promise<Served> {
  const child = spawn(
    process.execPath,
    [path.join(PROJECT, 'dist/command/skillwright.js'), 'mcp', '--http', '--json'],
    {
      cwd: project,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, ...SHARED_CACHE },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  onTestFinished(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    expect(await exited).toEqual([130, null]);
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return JSON.parse(line) as Served;
}

const MODERN: ClientOptions = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

async function connect({ url, token }: Served, options: ClientOptions): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { ...options, capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { approve: true } }));
  onTestFinished(() => client.close());
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  );
  return client;
}

verifies('MCP-1', 'serves tools, skills, approvals and changes over HTTP in both protocol versions', async () => {
  const here = world();
  const served = await serve(here);
  let changed = 0;
  const heard = (): void => void (changed += 1);
  const listChanged = { tools: { onChanged: heard }, resources: { onChanged: heard } };
  const clients = [await connect(served, { listChanged }), await connect(served, { ...MODERN, listChanged })];
  for (const client of clients) {
    expect(client.getInstructions()).toContain('greet');
    const skills = new SkillsClient(client);
    const greet = (await skills.list()).skills.find(({ uri }) => uri === 'skill://greet/SKILL.md');
    if (greet === undefined) throw new Error('greet is not listed');
    expect(await skills.read(greet, 'references/words.md')).toMatchObject({ text: 'hello, hi\n' });
    const run = { name: 'run_script', arguments: { skill: 'greet', script: 'greet.sh', args: ['you'] } };
    expect(textOf(await client.callTool(run))).toContain('hello you');
  }
  const skill = path.join(here.home, '.agents/skills/wave');
  mkdirSync(skill);
  writeFileSync(path.join(skill, 'SKILL.md'), '---\nname: wave\ndescription: Waves.\n---\nWave.\n');
  await expect.poll(() => changed, { timeout: 60_000 }).toBeGreaterThanOrEqual(4);
  for (const client of clients)
    expect(textOf(await client.callTool({ name: 'load_skill', arguments: { skill: 'wave' } }))).toContain('Wave.');
});

/** The server in this process, which does not watch for changes. */
async function serveHere(
  { home, project }: ReturnType<typeof world>,
  options: Pick<ServeHttpOptions, 'idleMs'> = {},
): Promise<Served> {
  const onWarning = (): void => undefined;
  const runtime = await createRuntime({ cwd: project, home, env: {}, cache: false });
  const server = await openSkillServer({ runtime, version: '1', onWarning });
  const http = await serveHttp(server, { ...options, onWarning });
  onTestFinished(async () => {
    await http.close();
    await server.end();
  });
  return http;
}

test('two clients at once have a session and a record each, which end with them', async () => {
  const here = world();
  const served = await serveHere(here);
  const [one, two] = [await connect(served, {}), await connect(served, {})];
  const load = async (client: Client): Promise<string> =>
    textOf(await client.callTool({ name: 'load_skill', arguments: { skill: 'greet' } }));
  for (const text of await Promise.all([load(one), load(two)])) expect(text).toContain('Run scripts/greet.sh');
  const runs = path.join(here.project, '.agent/runs');
  const recorded = (): readonly string[] =>
    listRuns(runs)
      .map((run) => {
        const { info, lines } = readRun(path.join(runs, run.id));
        return `${String([...lines].filter(({ event }) => event.type === 'action').length)} ${info.outcome}`;
      })
      .toSorted();
  // One run is for clients that are not told apart.
  expect(recorded()).toEqual(['0 running', '1 running', '1 running']);
  const { transport } = one;
  if (!(transport instanceof StreamableHTTPClientTransport)) throw new Error('another transport');
  expect(transport.sessionId).not.toBe(two.transport?.sessionId);
  await transport.terminateSession();
  await expect.poll(recorded, { timeout: 60_000 }).toEqual(['0 running', '1 done', '1 running']);
  expect(await load(two)).toContain('Run scripts/greet.sh');
});

test('a port that is in use is one line with a hint', async () => {
  const { home, project } = world();
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { status, err } = await runCli(project, ['mcp', '--http', '--port', String(port)], { HOME: home });
  expect(status).toBe(2);
  expect(err).toMatch(
    new RegExp(`error: port ${String(port)} is in use\\n *hint: choose another --port, or omit it\\n$`),
  );
});

test('a session that no client uses ends', async () => {
  const served = await serveHere(world(), { idleMs: 1 });
  const authorization = `Bearer ${served.token}`;
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const response = await fetch(served.url, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(initialize),
  });
  await response.text();
  const id = response.headers.get('mcp-session-id') ?? expect.fail();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  await expect
    .poll(() => ask(served, { headers: { authorization, 'mcp-session-id': id }, body }), { timeout: 60_000 })
    .toBe(404);
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

/** `fetch` sets Host and Origin itself. */
async function ask(
  { url }: Served,
  { method = 'POST', path: at = '/mcp', headers = {}, body = '{}' }: Asked,
): Promise<number> {
  const asked = request(new URL(at, url), {
    method,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  });
  // The server stops reading a body that is too long.
  asked.on('error', () => undefined);
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

test('refuses strangers, and survives what they send', async () => {
  const here = world();
  const served = await serve(here);
  const authorization = `Bearer ${served.token}`;
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const answers: readonly (readonly [number, Asked])[] = [
    [401, {}],
    [401, { headers: { authorization: 'Bearer wrong-wrong-wrong-wrong' } }],
    [401, { path: `/mcp?token=${served.token}` }],
    [421, { headers: { authorization, host: 'evil.example' } }],
    [400, { headers: { authorization: [authorization, 'Bearer wrong-wrong-wrong-wrong'] } }],
    [403, { headers: { authorization, origin: 'https://evil.example' } }],
    [404, { path: '/', headers: { authorization } }],
    ...['TRACE', 'PUT', 'PROPFIND'].map((method) => [405, { method, headers: { authorization } }] as const),
    [404, { headers: { authorization, 'mcp-session-id': 'of-somebody-else' }, body: call }],
    // No session was started.
    [400, { headers: { authorization }, body: call }],
    [400, { headers: { authorization }, body: '{"jsonrpc": "2.0", ' }],
    [400, { headers: { authorization }, body: '['.repeat(100_000) }],
    [413, { headers: { authorization }, body: ' '.repeat(5_000_000) }],
    [415, { headers: { authorization, 'content-type': 'text/plain' }, body: call }],
    [400, { headers: { authorization, 'mcp-protocol-version': '1999-01-01' }, body: call }],
  ];
  for (const [status, asked] of answers)
    expect(await ask(served, asked), JSON.stringify(asked).slice(0, 200)).toBe(status);
  const client = await connect(served, MODERN);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('load_skill');
});

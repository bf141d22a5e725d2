/** The official conformance suite of the Skills extension, against our server over HTTP and our host. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { openSkillServer, serveHttp } from '../../src/mcp.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';

const SUITE = path.join(PROJECT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** The suite needs one function of Node 22 for a mode that is not used here; Node 20 refuses to import it. */
const WITHOUT_GLOB = `
  import { register } from 'node:module';
  const load = "export async function load(url, context, next) { const found = await next(url, context); if (url.endsWith('/conformance/dist/index.js')) found.source = String(found.source).replace(/,globSync as \\\\w+/, ''); return found; }";
  register('data:text/javascript,' + encodeURIComponent(load));`;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

async function suite(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<readonly Check[]> {
  const results = temporaryFolder();
  const shim = `data:text/javascript,${encodeURIComponent(WITHOUT_GLOB)}`;
  const running = spawn(
    process.execPath,
    ['--import', shim, SUITE, ...words, '--timeout', '150000', '--output-dir', results],
    {
      cwd: results,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  onTestFinished(() => void running.kill());
  let printed = '';
  running.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  running.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  await once(running, 'close');
  const files = readdirSync(results, { recursive: true }).map(String);
  const [file, ...more] = files.filter((each) => each.endsWith('checks.json'));
  if (file === undefined || more.length > 0) throw new Error(printed);
  return JSON.parse(readFileSync(path.join(results, file), 'utf8')) as readonly Check[];
}

function outcome(checks: readonly Check[]): object {
  const others = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO');
  return {
    passed: checks.filter(({ status }) => status === 'SUCCESS').length,
    others: others.map(({ id, status, errorMessage }) => ({ id, status, errorMessage })),
  };
}

/** Adds the token to requests of the suite, which has none. */
async function withToken(url: string, token: string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { host: _, ...headers } = incoming.headers;
    const asked = request(url, { method: incoming.method, headers: { ...headers, authorization: `Bearer ${token}` } });
    asked.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on('error', () => outgoing.destroy());
    incoming.pipe(asked);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}/mcp`;
}

verifies('MCP-1', 'the official suite of the Skills extension passes without warnings', async () => {
  const home = temporaryFolder();
  writeFiles(home, {
    '.agents/skills/git-workflow/SKILL.md':
      '---\nname: git-workflow\ndescription: Follows conventions of Git.\nlicense: MIT\n---\nSee references/words.md.\n',
    '.agents/skills/git-workflow/references/words.md': 'branch, commit\n',
    '.agents/skills/git-workflow/scripts/run.sh': 'echo ran\n',
    '.agents/skills/pdf-processing/SKILL.md': '---\nname: pdf-processing\ndescription: Reads PDF files.\n---\nRead.\n',
    'project/readme.md': 'x',
  });
  mkdirSync(path.join(home, '.agents/skills/pdf-processing/templates'));
  const runtime = await createRuntime({ cwd: path.join(home, 'project'), home, env: {}, builtin: false });
  const server = await openSkillServer({ runtime, version: '1', onWarning: () => undefined });
  onTestFinished(() => server.end());
  const token = 'a-token-of-the-test-0123456789';
  const served = await serveHttp(server, { port: 0, token, onWarning: () => undefined });
  onTestFinished(() => served.close());
  const url = await withToken(served.url, token);
  const scenario = async (name: string): Promise<object> =>
    outcome(await suite(['server', '--url', url, '--scenario', `sep-2640-skills-${name}`]));
  expect(await scenario('enumeration')).toEqual({ passed: 32, others: [] });
  expect(await scenario('manifest')).toEqual({ passed: 6, others: [] });
  expect(await scenario('directory')).toEqual({ passed: 7, others: [] });
});

async function againstHost(scenario: string, what: 'list' | 'load'): Promise<object> {
  const home = temporaryFolder();
  const command = [process.execPath, path.join(PROJECT, 'test/mcp/suite-host.mjs'), what, home].join(' ');
  return outcome(await suite(['client', '--command', command, '--scenario', `sep-2640-client-${scenario}`]));
}

verifies('MCP-2', 'the official suite of the Skills extension passes against the host: no-prefetch', async () => {
  expect(await againstHost('no-prefetch', 'list')).toEqual({ passed: 1, others: [] });
});

test.each(['digest', 'size', 'frontmatter'])('the official suite passes against the host: verify-%s', async (what) => {
  expect(await againstHost(`verify-${what}`, 'load')).toEqual({ passed: 1, others: [] });
});

/** What users learn about MCP servers that are not configured correctly or do not answer. */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openToolServers } from '../../src/mcp.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { runCli, temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { PROJECT } from '../files-below.ts';

const DEMO = path.join(PROJECT, 'test/mcp/demo-server.mjs');

/** A port that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('an error in the configuration is not silent: run and mcp check say so', async () => {
  const home = temporaryFolder();
  const project = path.join(home, 'project');
  mkdirSync(project);
  const run = (...words: readonly string[]): ReturnType<typeof runCli> => runCli(project, words, { HOME: home });
  const servers = { good: { command: 'node', args: [DEMO, 'good'] }, bad: { command: 'node', timeout_second: 5 } };
  writeFiles(home, { '.agent/config.json': JSON.stringify({ mcp_servers: servers }) });
  const ran = await run('run', 'hello', '--model', 'rules');
  expect(ran.err).toContain('"mcp_servers.bad.timeout_second" is not a known key');
  const checked = await run('mcp', 'check');
  expect([checked.status, checked.out]).toEqual([1, '']);
  expect(checked.err).toContain('"mcp_servers.bad.timeout_second" is not a known key');
  writeFiles(home, { '.agent/config.json': '{}' });
  writeFiles(project, { '.agent/config.json': JSON.stringify({ mcp_servers: { good: servers.good } }) });
  expect((await run('run', 'hello', '--model', 'rules')).err).toMatch(
    /^warning: .*config\.json: "mcp_servers" is reserved for the user/m,
  );
});

test('the reason of a failed connection names its cause', async () => {
  const home = temporaryFolder();
  const runtime = await createRuntime({
    cwd: home,
    home,
    builtin: false,
    config: {
      mcp_servers: {
        refused: { url: `http://127.0.0.1:${String(await closedPort())}/mcp` },
        blocked: { url: 'http://127.0.0.1:6000/mcp' },
      },
    },
  });
  const servers = await openToolServers(runtime);
  const { problems } = await servers.open({ secrets: async () => ({ values: {} }) });
  expect(problems).toEqual([
    expect.stringMatching(/fetch failed: .*ECONNREFUSED/),
    expect.stringContaining('fetch failed: bad port'),
  ]);
});

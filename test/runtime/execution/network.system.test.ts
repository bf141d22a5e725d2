import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { Executor } from '../../../src/core/execution.ts';
import type { RunResult } from '../../../src/core/outputs.ts';
import type { ExecutionOptions } from '../../../src/sandbox/execution/parts.ts';
import { containerExecutor } from '../../../src/sandbox/executors/container/executor.ts';
import { openBridge, type Bridge } from '../../../src/sandbox/network/bridge.ts';
import { servePort, servingCommand } from '../../../src/sandbox/network/serve-port.ts';
import { verifies } from '../../conformance/verifies.ts';
import { freePort } from '../../fleet/postgres.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { sharedDockerEngine, type TestEngine } from '../../sandbox/docker-engine.ts';
import { knownExecutor } from '../../sandbox/known-executor.ts';
import { runtimeOver } from '../support.ts';
import { has, needs, skipUnless } from '../../needs.ts';

async function run(command: string, execution: ExecutionOptions): Promise<RunResult> {
  const root = scratch();
  writeSkill(`${root}/net`, { body: '# Net\n' });
  const session = await (
    await runtimeOver(root)
  ).startSession({
    execution: { executor: knownExecutor('bubblewrap'), artifacts: false, ...execution },
  });
  onTestFinished(() => session.close());
  const observation = await session.perform({ type: 'run_command', skill: 'net', command });
  if (observation.type !== 'program-ran') throw new Error(JSON.stringify(observation));
  return observation.result;
}

const ASK = `python3 -c 'import sys, urllib.request
for url in sys.argv[1:]:
    try: print(urllib.request.urlopen(url, timeout=5).read().decode())
    except Exception as error: print("failed", getattr(error, "code", ""))
'`;

describe('the network of a program', needs('bubblewrap', 'python3'), () => {
  verifies('ENV-2', 'a granted port of localhost is reached by name and by address; the rest is listed', async () => {
    const server = createServer((_, response) => response.end('from the host'));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    // A string for a pipe, and null before `listen`.
    const { port } = server.address() as AddressInfo;
    const own = String(port);
    const {
      stdout,
      refused_connections: refused,
      warnings,
    } = await run(
      `${ASK} http://localhost:${own} http://127.0.0.1:${own} http://127.0.0.1:9 http://elsewhere.invalid http://169.254.169.254/x`,
      { network: [`localhost:${own}`] },
    );
    // What is not granted on the loopback is the sandbox's own, where nothing listens.
    expect(stdout).toBe('from the host\nfrom the host\nfailed \nfailed 403\nfailed 403\n');
    expect(refused).toEqual([
      { host: 'elsewhere.invalid', port: 80, reason: 'not-granted' },
      { host: '169.254.169.254', port: 80, reason: 'not-granted' },
    ]);
    expect(warnings).toEqual(
      expect.arrayContaining([
        'the connection to elsewhere.invalid was refused; allow it with --allow elsewhere.invalid',
        'the connection to 169.254.169.254 was refused; allow it with --allow private://169.254.169.254',
      ]),
    );
  });

  verifies('ENV-2', 'a program without a network is told so where it complains', async () => {
    const { stderr, refused_connections: refused } = await run(
      `python3 -c 'import urllib.request as u; u.urlopen("http://example.org")'`,
      {},
    );
    expect(stderr).toContain('\nskillwright: this program has no network; allow it with --allow HOST\n');
    // After the run the user sees the flag for the host that the code names.
    expect(refused).toEqual([{ host: 'example.org', port: 0, reason: 'not-granted' }]);
  });
});

const engine = await sharedDockerEngine();
if (typeof engine === 'string') console.log(`skipped: ${engine}`);

/** Each with the interpreter that forwards the port: a container uses one of its image. */
const SERVING: readonly (readonly [string, NonNullable<ExecutionOptions['executor']>, RegExp])[] = [
  ...(has('bubblewrap') ? ([['bubblewrap', knownExecutor('bubblewrap'), /^node$/]] as const) : []),
  ...(typeof engine === 'string' ? [] : ([['container', inContainer(engine), /^python3/]] as const)),
];

function inContainer({ socket, rootFileSystem }: TestEngine): Executor {
  const bridge = (hosts: readonly string[]): Promise<Bridge> =>
    openBridge({ hosts, folder: scratch(), isInImage: true });
  return containerExecutor({ socket, rootFileSystem, bridge });
}

describe.each(SERVING)('--serve under %s', (_, executor, forwarder) => {
  verifies('ENV-2', 'a served port is reached from the host while the program runs, and not afterwards', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${String(port)}/`;
    let answer: Promise<string> | undefined;
    const onReady = (): void => {
      answer = fetch(url).then((response) => response.text(), String);
    };
    const page = `import http.server as h, os
class Page(h.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"a page"); self.server.seen = True
    def log_message(self, *words): pass
server = h.HTTPServer(("127.0.0.1", ${String(port)}), Page)
server.seen = False
while not server.seen: server.handle_request()
print(os.path.basename(os.readlink("/proc/%d/exe" % os.getppid())))`;
    const { stdout, stderr } = await run(`exec python3 -c '${page}'`, {
      executor,
      serve: { port, onReady },
      limits: { wallMs: 60_000 },
    });
    expect([stdout.trim(), stderr]).toEqual([expect.stringMatching(forwarder), '']);
    expect(await answer).toBe('a page');
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

test(
  'a port cannot be served by an engine without files of this machine',
  skipUnless(typeof engine !== 'string', 'dockerd'),
  async () => {
    if (typeof engine === 'string') return;
    const { socket, rootFileSystem } = engine;
    const executor = containerExecutor({ socket, rootFileSystem, transfer: 'copy' });
    await expect(run('true', { executor, serve: { port: 65_000, onReady: () => undefined } })).rejects.toThrow(
      'port 65000 cannot be served: the engine of the container executor cannot mount a socket of this machine',
    );
  },
);

test.each([
  ['Python', true],
  ['Node', false],
])('a port that %s forwards is served when the program listens, however slow the sandbox is', async (_, isInImage) => {
  const folder = scratch();
  const [port, outside] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${String(outside)}/`;
  const socketPath = path.join(folder, 'serve.sock');
  const program = `process.stdin.on('end', () => process.exit()); process.stdin.once('data', () => require('node:http').createServer((_, answer) => answer.end('a page')).listen(${String(port)}, '127.0.0.1'))`;
  const [command = '', ...args] = servingCommand(socketPath, port, isInImage);
  const child = spawn(command, [...args, process.execPath, '-e', program], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  while (!existsSync(socketPath)) await setTimeout(20);
  child.kill('SIGSTOP');
  let isServed = false;
  const served = await servePort({ port: outside, onReady: () => (isServed = true) }, socketPath);
  onTestFinished(() => served.close());
  // Time for several attempts, which a stopped sandbox answers late.
  await setTimeout(600);
  expect(isServed).toBe(false);
  child.kill('SIGCONT');
  await setTimeout(300);
  expect(isServed).toBe(false);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  child.stdin.write('listen\n');
  await expect.poll(() => isServed, { timeout: 20_000 }).toBe(true);
  expect(await (await fetch(url)).text()).toBe('a page');
});

test('in an image without Python, Node forwards a served port and passes on the exit status', async () => {
  const folder = scratch();
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, path.join(bin, 'node'));
  const socketPath = path.join(folder, 's');
  const program = `const server = require('node:net').createServer((near) => near.end('from inside')).listen(0, '127.0.0.1', () => {
    console.log(server.address().port);
  }); process.stdin.on('data', () => process.exit(7));`;
  const [command = '', ...args] = servingCommand(socketPath, 1, true);
  const child = spawn(command, [...args, 'node', '-e', program], {
    env: { PATH: bin },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(existsSync(socketPath)).toBe(true);
  child.stdin.write('end\n');
  expect(await once(child, 'exit')).toEqual([7, null]);
});

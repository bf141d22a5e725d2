import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';

import { transformWithEsbuild } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Identity } from '../../../src/core/execution.ts';
import { openBridge, type Bridge } from '../../../src/sandbox/network/bridge.ts';
import type { NetworkDecision } from '../../../src/platform/net/network-gate.ts';
import { PROJECT } from '../../files-below.ts';
import { openSite, type Site } from '../../platform/net/proxy-world.ts';
import { needs } from '../../needs.ts';

const nobody: Identity | undefined = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

let folder = '';
let forwarder = '';
let site: Site;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'bridge-'));
  chmodSync(folder, 0o711);
  // The sources as they are now, not as they were when the package was built.
  const source = readFileSync(path.join(PROJECT, 'src/sandbox/network/forwarder.ts'), 'utf8');
  forwarder = path.join(folder, 'forwarder.mjs');
  writeFileSync(forwarder, (await transformWithEsbuild(source, 'forwarder.ts', { target: 'node20' })).code);
  site = await openSite();
});
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true });
});

async function withBridge(
  run: (bridge: Bridge, decisions: readonly NetworkDecision[]) => Promise<void>,
  socketInside?: string,
): Promise<void> {
  const decisions: NetworkDecision[] = [];
  const bridge = await openBridge({
    hosts: [`private://site.example:${String(site.port)}`],
    folder,
    forwarder,
    resolve: async (name) => (name === 'site.example' ? ['127.0.0.1'] : []),
    onDecision: (decision) => {
      decisions.push(decision);
    },
    identity: nobody,
    socketInside,
  });
  try {
    await run(bridge, decisions);
  } finally {
    await bridge.close();
  }
}

interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function finish(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const [command = '', ...args] = argv;
  const child = spawn(command, args, {
    env: { PATH: '/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 170_000,
    killSignal: 'SIGKILL',
    ...nobody,
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { code, signal: child.signalCode, ...text };
}

/** A program in bubblewrap that sees nothing but /usr, its own /tmp and the socket of the bridge. */
async function inSandbox(bridge: Bridge, program: string, words: readonly string[] = []): Promise<Finished> {
  const view = [
    '/usr/bin/bwrap --unshare-all --die-with-parent --new-session --cap-drop ALL --clearenv',
    '--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --ro-bind-try /lib64 /lib64',
    '--ro-bind-try /etc/resolv.conf /etc/resolv.conf --proc /proc --dev /dev --tmpfs /tmp',
    `--ro-bind ${process.execPath} ${process.execPath} --bind ${bridge.socketPath} /run/skillwright/proxy.sock`,
    '--remount-ro /',
  ];
  const env = { PATH: '/usr/bin:/bin', ...bridge.env };
  return await finish([
    ...view.flatMap((line) => line.split(' ')),
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...bridge.forwarderArgv,
    process.execPath,
    '--input-type=module',
    '-e',
    program,
    '--',
    ...words,
  ]);
}

describe('the forwarder', () => {
  const forwarded = async (argv: readonly string[]): Promise<Finished> => {
    let finished: Finished | undefined;
    await withBridge(
      async (bridge) => {
        finished = await finish([...bridge.forwarderArgv.slice(0, -3), '0', 'none', '--', ...argv]);
      },
      path.join(folder, 'nobody-listens'),
    );
    if (finished === undefined) throw new Error('it did not run');
    return finished;
  };

  test('gives the output and the exit status of the program, whatever its words look like', async () => {
    const program = 'printf "%s|" "$@"; echo err >&2; exit 7';
    expect(await forwarded(['/bin/sh', '-c', program, 'sh', '-x', '--', '--port=1', '$(id)', 'a\nb', ''])).toEqual({
      code: 7,
      signal: null,
      stdout: '-x|--|--port=1|$(id)|a\nb||',
      stderr: 'err\n',
    });
  });

  test('ends by the signal that ended the program', async () => {
    expect(await forwarded(['/bin/sh', '-c', 'kill -KILL $$'])).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(await forwarded(['/bin/sh', '-c', 'kill -TERM $$'])).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  test('passes signals on', async () => {
    await withBridge(async (bridge) => {
      const [command, ...args] = [...bridge.forwarderArgv.slice(0, -3), '0', 'none', '--'];
      const program = 'trap "echo got it; exit 3" TERM; echo ready; while :; do sleep 0.05; done';
      const child = spawn(command, [...args, '/bin/sh', '-c', program], { stdio: ['ignore', 'pipe', 'inherit'] });
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        if (text === '') child.kill('SIGTERM');
        text += chunk.toString();
      });
      const [code] = await once(child, 'close');
      expect([code, text]).toEqual([3, 'ready\ngot it\n']);
    });
  });

  test('says that a program is missing', async () => {
    expect(await forwarded(['/nowhere/program'])).toMatchObject({
      code: 127,
      stderr: 'skillwright: spawn /nowhere/program ENOENT\n',
    });
  });
});

/** Asks the proxy by HTTP, by CONNECT and by SOCKS, then everything else, and prints what came of it. */
const PROBE = `
import { connect } from 'node:net';
import { request } from 'node:http';
import { createSocket } from 'node:dgram';
import { Resolver, lookup } from 'node:dns/promises';
const [port, udpPort, ...addresses] = process.argv.slice(1);
const proxy = new URL(process.env.HTTP_PROXY);
const within = (promise, ms = 700) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, ms, 'no answer'))]);
const get = (url) => within(new Promise((resolve) => {
  request({ host: proxy.hostname, port: proxy.port, path: url }, (response) => {
    let text = '';
    response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(response.statusCode + ' ' + text.trim()));
  }).on('error', (error) => resolve(error.code)).end();
}), 60_000);
const talk = (bytes) => within(new Promise((resolve) => {
  let text = '';
  connect({ host: proxy.hostname, port: proxy.port }, function () { for (const each of bytes) this.write(each); })
    .on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', (error) => resolve(error.code)).on('close', () => resolve(text));
}), 60_000);
const tcp = (host, port) => within(new Promise((resolve) => {
  connect({ host, port }, () => resolve('connected')).on('error', (error) => resolve(error.code));
}));
const udp = (host) => within(new Promise((resolve) => {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', () => resolve('answered'));
  socket.on('error', (error) => resolve(error.code));
  socket.send('escaped', Number(udpPort), host, (error) => { if (error) resolve(error.code); });
}));
const dns = (server) => {
  const resolver = new Resolver({ timeout: 200, tries: 1 });
  resolver.setServers([server]);
  return within(resolver.resolve4('leak.example').then(() => 'answered', (error) => error.code));
};
const web = 'GET / HTTP/1.1\\r\\nHost: inner\\r\\nConnection: close\\r\\n\\r\\n';
const socks = (name, to) => [Uint8Array.of(5, 1, 0), Buffer.from([5, 1, 0, 3, name.length, ...Buffer.from(name), to >> 8, to & 255])];
const results = {
  granted: await get('http://site.example:' + port + '/inside'),
  other: (await get('http://evil.example/')).slice(0, 3),
  otherPort: (await get('http://site.example:1/')).slice(0, 3),
  tunnel: (await talk(['CONNECT site.example:' + port + ' HTTP/1.1\\r\\n\\r\\n', web])).endsWith('hello from inner'),
  socks: (await talk([...socks('site.example', Number(port)), web])).endsWith('hello from inner'),
  socksOther: (await talk(socks('evil.example', 443))).charCodeAt(3),
  direct: await Promise.all(addresses.map((address) => tcp(address, Number(port)))),
  udp: await Promise.all(addresses.map(udp)),
  dns: await Promise.all(addresses.map((address) => dns((address.includes(':') ? '[' + address + ']' : address) + ':' + udpPort))),
  lookup: await within(lookup('leak.example').then(() => 'answered', (error) => error.code)),
};
console.log(JSON.stringify(results));
process.exit(9);
`;

describe('a sandbox with a bridge', () => {
  test('reaches only the granted host, as observed from outside', needs('bubblewrap'), async () => {
    const arrived: string[] = [];
    const udp = createSocket({ type: 'udp6', ipv6Only: false });
    udp.on('message', (message, { address, port }) => {
      arrived.push(message.toString('latin1'));
      udp.send('answer', port, address);
    });
    udp.bind(0);
    await once(udp, 'listening');
    const { port: udpPort } = udp.address();
    const ours = Object.values(networkInterfaces()).flatMap((each) =>
      (each ?? []).filter(({ scopeid }) => scopeid === undefined || scopeid === 0).map(({ address }) => address),
    );
    // The listener works: from here it is reached.
    const probe = createSocket('udp4');
    probe.send('from the host', udpPort, '127.0.0.1');
    await once(probe, 'message');
    probe.close();

    const before = { connections: site.connections(), requests: site.requests.length };
    await withBridge(async (bridge, decisions) => {
      const { code, stdout, stderr } = await inSandbox(bridge, PROBE, [String(site.port), String(udpPort), ...ours]);
      expect({ code, stderr }).toEqual({ code: 9, stderr: '' });
      const { direct, udp: sent, dns, lookup, ...proxied } = JSON.parse(stdout);
      expect(proxied).toEqual({
        granted: `200 hello from site.example:${String(site.port)}`,
        other: '403',
        otherPort: '403',
        tunnel: true,
        socks: true,
        socksOther: 2,
      });
      expect([...direct, lookup]).not.toContain('connected');
      expect([...sent, ...dns, lookup]).not.toContain('answered');
      expect(decisions.map(({ host, port, allowed }) => [host, port === site.port ? 'site' : port, allowed])).toEqual([
        ['site.example', 'site', true],
        ['evil.example', 80, false],
        ['site.example', 1, false],
        ['site.example', 'site', true],
        ['site.example', 'site', true],
        ['evil.example', 443, false],
      ]);
    });
    // Three times through the proxy; not once past it.
    expect({
      connections: site.connections() - before.connections,
      requests: site.requests.length - before.requests,
    }).toEqual({ connections: 3, requests: 3 });
    expect(arrived).toEqual(['from the host']);
    udp.close();
  });

  test('is cut off when the bridge closes', needs('bubblewrap'), async () => {
    await withBridge(async (bridge) => {
      await bridge.close();
      expect(existsSync(bridge.socketPath)).toBe(false);
    });
  });

  test('programs get the proxy in every variable that they read', async () => {
    await withBridge(async ({ env }) => {
      const http = 'http://127.0.0.1:3128';
      const socks = 'socks5h://127.0.0.1:3128';
      const direct = 'localhost,127.0.0.1,::1';
      expect(env).toEqual({
        HTTP_PROXY: http,
        http_proxy: http,
        HTTPS_PROXY: http,
        https_proxy: http,
        ALL_PROXY: socks,
        all_proxy: socks,
        NO_PROXY: direct,
        no_proxy: direct,
        NODE_USE_ENV_PROXY: '1',
        // Only this line warns about the variable above.
        ...(process.version.startsWith('v22.') ? { NODE_NO_WARNINGS: '1' } : {}),
      });
    });
  });

  test.each([
    ['v22.23.3', '1'],
    ['v24.1.0', 'unset'],
    ['v18.19.0', 'unset'],
  ])(
    'in an image with Node %s, which may warn about those variables, NODE_NO_WARNINGS is %s',
    async (version, shown) => {
      const bin = mkdtempSync(path.join(folder, 'image-'));
      chmodSync(bin, 0o755);
      const fake = `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo "\${NODE_NO_WARNINGS-unset} \${NODE_OPTIONS-unset}"\n`;
      writeFileSync(path.join(bin, 'node'), fake, { mode: 0o755 });
      const bridge = await openBridge({ hosts: ['site.example'], folder, forwarder, isInImage: true });
      await bridge.close();
      expect(await finish([...bridge.forwarderArgv, 'program'], { ...bridge.env, PATH: bin })).toEqual({
        code: 0,
        signal: null,
        stdout: `${shown} unset\n`,
        stderr: '',
      });
    },
  );

  test('curl finds its way by the environment alone', needs('bubblewrap', 'curl'), async () => {
    await withBridge(async (bridge) => {
      const url = `http://site.example:${String(site.port)}/curl`;
      const program = `
          import { spawnSync } from 'node:child_process';
          const curl = (...args) => spawnSync('/usr/bin/curl', ['-sS', '--max-time', '5', ...args], { encoding: 'utf8' });
          const socks = { ...process.env, http_proxy: '' };
          console.log(JSON.stringify([
            curl('${url}').stdout,
            spawnSync('/usr/bin/curl', ['-sS', '--max-time', '5', '${url}'], { encoding: 'utf8', env: socks }).stdout,
            curl('--noproxy', '*', '${url}').status,
          ]));`;
      const { stdout, stderr } = await inSandbox(bridge, program);
      expect(stderr).toBe('');
      const hello = `hello from site.example:${String(site.port)}`;
      expect(JSON.parse(stdout)).toEqual([hello, hello, 6]);
    });
  });
});

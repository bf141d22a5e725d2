import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

import { isSkillError } from '../../src/core/errors.ts';
import type { OutputSink } from '../../src/core/execution.ts';
import { connectEngine } from '../../src/sandbox/executors/container/client.ts';
import { openEngine } from '../../src/sandbox/executors/container/engine.ts';
import { endpointText, engineEndpoint } from '../../src/sandbox/executors/container/endpoint.ts';
import { seccompProfile } from '../../src/sandbox/executors/container/seccomp-profile.ts';
import { createBody, lifelineUser } from '../../src/sandbox/executors/container/settings.ts';
import { frameReader } from '../../src/sandbox/executors/container/exec-output.ts';
import { REFUSED_CALLS } from '../../src/sandbox/executors/seccomp/calls.ts';

const OK = 'HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Something that is no engine, or a bad one. */
async function listen(answer: (socket: Socket, count: number) => void): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-socket-'));
  const sockets = new Set<Socket>();
  let count = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', () => {
      count += 1;
      answer(socket, count);
    });
  });
  const file = path.join(folder, 'engine.sock');
  await new Promise<void>((resolve) => {
    server.listen(file, resolve);
  });
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
  return file;
}

/** Code and message of what a call throws; a call that gives something is a failure. */
async function refusalOf(call: Promise<unknown>): Promise<readonly [string, string]> {
  try {
    await call;
  } catch (error) {
    if (isSkillError(error)) return [error.code, error.message];
    throw error;
  }
  throw new Error('it was not refused');
}

describe('the address of an engine', () => {
  test.each([
    [undefined, 'unix:///var/run/docker.sock'],
    ['', 'unix:///var/run/docker.sock'],
    ['/run/a.sock', 'unix:///run/a.sock'],
    ['unix:///run/podman/podman.sock', 'unix:///run/podman/podman.sock'],
    ['tcp://10.0.0.2:2376', 'tcp://10.0.0.2:2376'],
    ['tcp://engine', 'tcp://engine:2375'],
    ['tcp://engine:80', 'tcp://engine:80'],
    ['http://[::1]:99/', 'tcp://::1:99'],
  ])('%s is %s', (address, expected) => {
    expect(endpointText(engineEndpoint(address))).toBe(expected);
  });

  test.each([
    ['ssh://me@host', 'ssh is not supported'],
    ['npipe:////./pipe/docker_engine', 'its scheme is unknown; expected unix:// or tcp://'],
    ['unix://relative.sock', 'the socket path must be absolute'],
    ['tcp://', 'it is not a valid URL'],
    ['tcp://host:99999', 'it is not a valid URL'],
    ['tcp://user:secret@host', 'only a host and a port are allowed'],
    ['nonsense', 'its scheme is unknown; expected unix:// or tcp://'],
  ])('%s is refused', async (address, reason) => {
    expect(
      await refusalOf(
        (async () => {
          await Promise.resolve();
          return engineEndpoint(address);
        })(),
      ),
    ).toEqual(['executor/unavailable', `invalid container engine address ${JSON.stringify(address)}: ${reason}`]);
  });
});

describe('a server that is not an engine', () => {
  const connect = (socketPath: string): Promise<unknown> =>
    connectEngine({ type: 'unix', socketPath }, { deadlineMs: 300 });

  test('a missing socket and a refused connection', async () => {
    expect(await refusalOf(connect('/nowhere/engine.sock'))).toEqual([
      'executor/unavailable',
      'no container engine at unix:///nowhere/engine.sock: the socket does not exist',
    ]);
    expect(await refusalOf(connectEngine({ type: 'tcp', host: '127.0.0.1', port: 1 }))).toEqual([
      'executor/unavailable',
      'no container engine at tcp://127.0.0.1:1: connection refused',
    ]);
  });

  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n', 'the server there does not speak HTTP'],
    ['another server', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK', 'the server there is not a container engine'],
    ['an old engine', OK.replace('1.41', '1.24'), 'the engine has API version 1.24; 1.40 or newer is required'],
    ['a version that is none', OK.replace('1.41', '1.x; rm'), 'the server there is not a container engine'],
    ['an error', OK.replace('200 OK', '500 No'), 'the server there is not a container engine'],
  ])('%s', async (_, answer, reason) => {
    const file = await listen((socket) => socket.end(answer));
    expect(await refusalOf(connect(file))).toEqual([
      'executor/unavailable',
      `no container engine at unix://${file}: ${reason}`,
    ]);
  });

  test('one that closes, one that never answers, one that never finishes', async () => {
    const closes = await listen((socket) => socket.destroy());
    expect((await refusalOf(connect(closes)))[0]).toBe('executor/unavailable');
    const silent = await listen(() => undefined);
    const endless = await listen((socket, count) => {
      if (count > 1) return;
      socket.write('HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nTransfer-Encoding: chunked\r\n\r\n');
      const drip = setInterval(() => socket.write('1\r\nx\r\n'), 100);
      closing.push(() => clearInterval(drip));
    });
    const late = 'no response within 300 ms';
    expect(await Promise.all([refusalOf(connect(silent)), refusalOf(connect(endless))])).toEqual([
      ['executor/unavailable', `no container engine at unix://${silent}: ${late}`],
      ['executor/unavailable', `no container engine at unix://${endless}: ${late}`],
    ]);
  });
});

describe('an engine that goes wrong later', () => {
  test('its own words are given, on one line and without control characters', async () => {
    const message = JSON.stringify({ message: 'no such \u001B[31mthing\nat all' });
    const file = await listen((socket, count) => {
      const refusal = `HTTP/1.1 404 Not Found\r\nContent-Length: ${String(Buffer.byteLength(message))}\r\n\r\n${message}`;
      socket.write(count === 1 ? OK : refusal);
    });
    const client = await connectEngine({ type: 'unix', socketPath: file });
    expect(await refusalOf(client.get('/anything'))).toEqual([
      'executor/failed',
      'the container engine reports: no such \\x1b[31mthing\\nat all',
    ]);
    expect((await client.get('/anything', { also: [404] })).status).toBe(404);
    client.close();
  });

  test('an endless response, invalid JSON, a response that is too large, a signal', async () => {
    const big = 9 * 1024 * 1024;
    const bodies = [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{no}}',
      `HTTP/1.1 200 OK\r\nContent-Length: ${String(big)}\r\n\r\n`,
    ];
    const file = await listen((socket, count) => {
      socket.write(count === 1 ? OK : (bodies[count - 2] ?? ''));
      if (count === 3) socket.write(Buffer.alloc(big));
    });
    const client = await connectEngine({ type: 'unix', socketPath: file });
    expect(await client.get('/one')).toEqual({ status: 200, body: undefined });
    expect((await refusalOf(client.get('/two')))[1]).toContain('the response has more than 8388608 bytes');
    const stop = new AbortController();
    const waiting = refusalOf(client.get('/three', { signal: stop.signal }));
    stop.abort();
    expect((await waiting)[1]).toContain('the call was cancelled');
    expect((await refusalOf(client.get('/four', { deadlineMs: 50 })))[1]).toContain('no response within 50 ms');
    client.close();
  });
});

describe('an OCI runtime', () => {
  /** An engine that knows two runtimes and one image. */
  async function engine(): Promise<string> {
    const info = {
      OSType: 'linux',
      Architecture: 'aarch64',
      MemoryLimit: true,
      PidsLimit: true,
      NCPU: 2,
      DefaultRuntime: 'runc',
      Runtimes: { runc: {}, runsc: {} },
    };
    const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-socket-'));
    const server = createHttpServer((request, response) => {
      response.setHeader('api-version', '1.41').setHeader('content-type', 'application/json');
      const body = request.url?.endsWith('/info') === true ? info : request.url?.includes('containers') ? [] : {};
      response.end(request.url?.endsWith('_ping') === true ? 'OK' : JSON.stringify(body));
    });
    const file = path.join(folder, 'engine.sock');
    await new Promise<void>((resolve) => {
      server.listen(file, resolve);
    });
    closing.push(() => {
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    });
    return file;
  }

  test('is used where the engine has it', async () => {
    const { facts, client } = await openEngine({ socket: await engine(), image: 'i', runtime: 'runsc' });
    client.close();
    expect(facts).toMatchObject({ defaultRuntime: 'runc', runtimes: ['runc', 'runsc'] });
  });

  test('that is missing is an error with what to do, not another runtime', async () => {
    expect(await refusalOf(openEngine({ socket: await engine(), runtime: 'kata' }))).toEqual([
      'executor/unavailable',
      expect.stringMatching(/cannot be used: it has no runtime "kata", only runc, runsc$/),
    ]);
  });
});

describe('what an engine is asked for', () => {
  test('has walls', () => {
    const body = createBody({
      image: 'i',
      shared: { root: '/w', readOnly: [{ source: '/s', target: 'skills/s' }] },
      needs: {
        memoryBytes: 1000,
        processes: 64,
        fileBytes: 77,
        skills: '',
        folders: [],
        home: 'home/s',
        mounts: [
          { source: '/p', target: '/p', access: 'read' },
          { source: '/w/private/s/work', target: '/workspace/work', access: 'write' },
        ],
      },
      cpus: 1.5,
      labels: { a: 'b' },
      runtime: 'runsc',
      lifelineUser: lifelineUser({ uid: 65_534, gid: 65_534 }),
      volume: 'v',
      keepsOwnUser: false,
      seccomp: '{}',
    });
    const bind = (source: string, target: string, isReadOnly: boolean): unknown => ({
      Type: 'bind',
      Source: source,
      Target: target,
      ReadOnly: isReadOnly,
      BindOptions: { Propagation: 'rprivate' },
    });
    expect(body).toEqual({
      Image: 'i',
      Hostname: 'skill',
      User: '65533:65533',
      Entrypoint: ['cat'],
      Cmd: [],
      WorkingDir: '/',
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      AttachStdout: false,
      AttachStderr: false,
      Tty: false,
      Labels: { a: 'b' },
      Healthcheck: { Test: ['NONE'] },
      HostConfig: {
        AutoRemove: true,
        Init: true,
        NetworkMode: 'none',
        IpcMode: 'private',
        CgroupnsMode: 'private',
        ReadonlyRootfs: true,
        Privileged: false,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges', 'seccomp={}'],
        Memory: 1000,
        MemorySwap: 1000,
        // gVisor's own threads count as well.
        PidsLimit: 66 + 1024,
        NanoCpus: 1_500_000_000,
        ShmSize: 16_777_216,
        Tmpfs: { '/tmp': 'rw,exec,nosuid,nodev,mode=1777,size=67108864,nr_inodes=20000' },
        Ulimits: [
          { Name: 'core', Soft: 0, Hard: 0 },
          { Name: 'fsize', Soft: 77, Hard: 77 },
          { Name: 'nofile', Soft: 1024, Hard: 1024 },
        ],
        LogConfig: { Type: 'none' },
        Mounts: [
          bind('/w/out', '/workspace/out', false),
          bind('/w/runs', '/workspace/runs', false),
          bind('/w/home/s', '/workspace/home/s', false),
          bind('/s', '/workspace/skills/s', true),
          bind('/p', '/p', true),
          bind('/w/private/s/work', '/workspace/work', false),
        ],
        Runtime: 'runsc',
      },
    });
  });

  test('has a filter that refuses what the sandbox refuses, and allows no call twice', () => {
    const { syscalls } = JSON.parse(seccompProfile()) as {
      readonly syscalls: readonly {
        readonly names: readonly string[];
        readonly action: string;
        readonly args?: readonly unknown[];
      }[];
    };
    const free = syscalls
      .filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && args?.length === 0)
      .flatMap(({ names }) => names);
    expect(free.filter((name) => REFUSED_CALLS.includes(name))).toEqual([]);
    const judged = new Set(syscalls.filter(({ args }) => (args?.length ?? 0) > 0).flatMap(({ names }) => names));
    expect(free.filter((name) => judged.has(name))).toEqual([]);
    expect(new Set(free).size).toBe(free.length);
  });

  test('has a rule for calls that programs replace by older ones, for engines that do not know the default error', () => {
    const { syscalls } = JSON.parse(seccompProfile()) as {
      readonly syscalls: readonly { readonly names: readonly string[] }[];
    };
    const rule = { names: ['clone3', 'openat2'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 };
    expect(syscalls.filter(({ names }) => names.includes('clone3'))).toEqual([rule]);
  });
});

describe('frames', () => {
  const frame = (stream: number, text: string): Buffer => {
    const header = Buffer.alloc(8);
    header[0] = stream;
    header.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };
  const sinks = (): { readonly said: string[]; readonly stdout: OutputSink; readonly stderr: OutputSink } => {
    const said: string[] = [];
    const sink = (mark: string): OutputSink => ({
      write: (chunk) => {
        said.push(mark + Buffer.from(chunk).toString('latin1'));
        return said.length < 100;
      },
    });
    return { said, stdout: sink('>'), stderr: sink('!') };
  };

  test('come apart wherever they are cut', () => {
    const whole = Buffer.concat([frame(1, 'one'), frame(2, ''), frame(2, 'two'), frame(1, 'three')]);
    for (let cut = 1; cut < whole.length; cut += 1) {
      const to = sinks();
      const read = frameReader(to);
      expect([read(whole.subarray(0, cut)), read(whole.subarray(cut))]).toEqual(['more', 'more']);
      expect(to.said.join('').replaceAll(/(?<=[a-z])[>!](?=[a-z])/g, (mark) => mark)).toMatch(/^>o.*!t.*>t/s);
      expect(to.said.map((text) => text.slice(1)).join('')).toBe('onetwothree');
    }
  });

  test('that are none are noticed', () => {
    const to = sinks();
    expect(frameReader(to)(Buffer.from('OCI runtime says hello'))).toBe('garbled');
    expect(frameReader(to)(frame(7, 'x'))).toBe('garbled');
    expect(to.said).toEqual([]);
  });

  test('end with a sink that takes no more', () => {
    const full: OutputSink = { write: () => false };
    expect(frameReader({ stdout: full, stderr: full })(frame(1, 'x'))).toBe('refused');
  });
});

import { once } from 'node:events';
import { statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openAllowProxy } from '../../../src/platform/net/allow-proxy.ts';
import { MALFORMED_REQUESTS } from './malformed-requests.ts';
import { exchange, openPort, openProxyWorld, openSite, type ProxyWorld, type Site } from './proxy-world.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(async () => {
  await site.close();
});

async function withProxy(
  hosts: readonly string[],
  names: Readonly<Record<string, readonly string[]>>,
  run: (world: ProxyWorld) => Promise<void>,
): Promise<void> {
  const world = await openProxyWorld(hosts, names);
  try {
    await run(world);
  } finally {
    await world.close();
  }
}

const here = { 'site.example': ['127.0.0.1'] };
const grant = (): string => `private://site.example:${String(site.port)}`;
const authority = (): string => `site.example:${String(site.port)}`;

describe('an absolute request', () => {
  test('reaches a granted host with end-to-end headers only', async () => {
    await withProxy([grant()], here, async ({ say, decisions, lookups }) => {
      const answer = await say(
        `POST http://${authority()}/a?b=c#d HTTP/1.1\r\nHost: other.example\r\nX-Mine: 1\r\nX-Hop: 2\r\n`,
        'Connection: keep-alive, x-hop, content-length\r\nProxy-Authorization: Basic c2VjcmV0\r\nTE: trailers\r\n',
        'Upgrade: websocket\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody',
      );
      expect(site.requests.at(-1)).toBe(
        ['POST /a?b=c', 'connection: close', 'content-length: 4', `host: ${authority()}`, 'x-mine: 1', 'body'].join(
          '\n',
        ),
      );
      expect(answer.replace('HTTP/1.1 100 Continue\r\n\r\n', '').split('\r\n')).toEqual([
        'HTTP/1.1 200 OK',
        'x-kept: yes',
        `Content-Length: ${String(`hello from ${authority()}`.length)}`,
        'Connection: close',
        '',
        `hello from ${authority()}`,
      ]);
      expect(decisions).toEqual([{ host: 'site.example', port: site.port, allowed: true, rule: grant() }]);
      expect(lookups).toEqual(['site.example']);
    });
  });

  test('a chunked body stays chunked, also for GET', async () => {
    await withProxy([grant()], here, async ({ say }) => {
      await say(`GET http://${authority()}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n`);
      expect(site.requests.at(-1)).toBe(
        ['GET /', 'connection: close', `host: ${authority()}`, 'transfer-encoding: chunked', 'abcd'].join('\n'),
      );
    });
  });

  test('a host without a grant is refused with the list of grants, and never resolved', async () => {
    const before = site.connections();
    await withProxy([grant(), '*.good.example'], here, async ({ say, decisions, lookups }) => {
      const answer = await say('GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n');
      expect(answer).toContain('HTTP/1.1 403 Forbidden\r\n');
      expect(answer.split('\r\n').at(-1)).toBe(
        `skillwright: evil.example:80 is not granted; granted: ${grant()}, *.good.example\n`,
      );
      expect(decisions).toEqual([{ host: 'evil.example', port: 80, allowed: false, rule: 'not-granted' }]);
      expect(lookups).toEqual([]);
    });
    expect(site.connections()).toBe(before);
  });

  test.each(MALFORMED_REQUESTS)('%s is answered with 400 and not forwarded', async (_, bytes) => {
    const before = site.connections();
    await withProxy(['site.example', 'site.example:*', grant()], { 'site.example': ['127.0.0.1'] }, async (world) => {
      const answer = await world.say(Buffer.from(bytes, 'latin1'));
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*\r\n\r\nskillwright: [^\n]+\n$/);
      expect(world.decisions.filter(({ allowed }) => allowed)).toEqual([]);
      expect(world.lookups).toEqual([]);
    });
    expect(site.connections()).toBe(before);
  });

  test.each([
    ['another Host', 'Host: evil.example\r\n'],
    ['two Hosts', 'Host: site.example\r\nHost: evil.example\r\n'],
    ['a Host that the connection names', 'Host: evil.example\r\nConnection: host, close\r\n'],
    ['an upgrade', 'Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n'],
  ])('the address decides the host, not %s', async (_, headers) => {
    await withProxy([grant()], here, async ({ say, lookups }) => {
      await say(`GET http://${authority()}/same HTTP/1.1\r\n${headers}\r\n`);
      expect(site.requests.at(-1)).toBe(['GET /same', 'connection: close', `host: ${authority()}`, ''].join('\n'));
      expect(lookups).toEqual(['site.example']);
    });
  });

  test.each([
    ['a chunk size that overflows', 'ffffffffffffffff1\r\nGET http://evil.example/two HTTP/1.1\r\n\r\n'],
    ['a chunk size with a sign', '-1\r\nGET http://evil.example/two HTTP/1.1\r\n\r\n'],
    ['a chunk that ends late', '2\r\nabGET http://evil.example/two HTTP/1.1\r\n\r\n0\r\n\r\n'],
    ['chunks that end early', '0\r\n\r\nGET http://evil.example/two HTTP/1.1\r\n\r\n'],
    ['a trailer', '0\r\nHost: evil.example\r\nX-Two: /two\r\n\r\n'],
  ])('%s smuggles no second request', async (_, body) => {
    const before = site.requests.length;
    await withProxy([grant()], here, async ({ say, decisions }) => {
      await say(`POST http://${authority()}/one HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
      expect(decisions.filter(({ host }) => host === 'evil.example')).toEqual([]);
    });
    expect(site.requests.slice(before).filter((request) => /two|evil/i.test(request))).toEqual([]);
  });

  test('a second pipelined request is neither served nor treated as part of the first', async () => {
    const before = site.requests.length;
    await withProxy([grant()], here, async ({ say, decisions }) => {
      const one = `GET http://${authority()}/one HTTP/1.1\r\n\r\n`;
      const other = `GET http://evil.example/two HTTP/1.1\r\n\r\n`;
      await say(`${one}${other}`);
      expect(decisions.filter(({ host }) => host === 'evil.example')).toEqual([]);
    });
    expect(site.requests.slice(before).filter((request) => request.includes('two'))).toEqual([]);
  });

  test('an endless head is rejected', async () => {
    await withProxy([grant()], here, async ({ say }) => {
      const answer = await say(`GET http://${authority()}/ HTTP/1.1\r\n`, `X: ${'a'.repeat(20_000)}\r\n`);
      expect(answer).toContain('HTTP/1.1 431 ');
    });
  });

  test('an invalid response is a bad gateway', async () => {
    const nonsense = await openPort((socket) => {
      socket.end('SSH-2.0-OpenSSH\r\n');
    });
    await withProxy([`private://site.example:${String(nonsense.port)}`], here, async ({ say }) => {
      const answer = await say(`GET http://site.example:${String(nonsense.port)}/ HTTP/1.1\r\n\r\n`);
      expect(answer).toContain('HTTP/1.1 502 Bad Gateway\r\n');
    });
    await nonsense.close();
  });

  test('a truncated response does not look complete', async () => {
    const broken = await openPort((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n');
        void setTimeout(20).then(() => socket.destroy());
      });
    });
    await withProxy([`private://site.example:${String(broken.port)}`], here, async ({ say }) => {
      const answer = await say(`GET http://site.example:${String(broken.port)}/ HTTP/1.1\r\n\r\n`);
      expect(answer).toContain('abcd');
      expect(answer).not.toContain('\r\n0\r\n');
    });
    await broken.close();
  });
});

describe('name resolution', () => {
  test.each([
    ['loopback', ['127.0.0.1']],
    ['loopback, as version 6', ['::1']],
    ['loopback, mapped', ['::ffff:127.0.0.1']],
    ['loopback, through NAT64', ['64:ff9b::127.0.0.1']],
    ['nowhere', ['0.0.0.0']],
    ['a private network', ['10.1.2.3']],
    ['a unique local address', ['fd00::1']],
    ['the link', ['fe80::1']],
    ['metadata', ['169.254.169.254']],
    ['metadata of Alibaba', ['100.100.100.200']],
    ['everybody', ['224.0.0.1']],
  ])('%s is refused to a granted name', async (_, addresses) => {
    await withProxy(['site.example:*'], { 'site.example': addresses }, async ({ say, decisions }) => {
      const answer = await say(`CONNECT ${authority()} HTTP/1.1\r\n\r\n`);
      expect(answer).toContain('HTTP/1.1 403 Forbidden\r\n');
      expect(answer).toContain('; grant it as private://site.example');
      expect(decisions).toEqual([{ host: 'site.example', port: site.port, allowed: false, rule: 'not-public' }]);
    });
  });

  test('a private grant of a name does not cover metadata or multicast', async () => {
    for (const address of ['169.254.169.254', 'fd00:ec2::254', '224.0.0.1', '255.255.255.255']) {
      await withProxy([grant()], { 'site.example': [address] }, async ({ say, decisions }) => {
        await say(`CONNECT ${authority()} HTTP/1.1\r\n\r\n`);
        expect(decisions).toEqual([{ host: 'site.example', port: site.port, allowed: false, rule: 'not-public' }]);
      });
    }
  });

  test('an address is reached by a private grant of it and by nothing else', async () => {
    const literal = `127.0.0.1:${String(site.port)}`;
    const ask = `GET http://${literal}/ HTTP/1.1\r\n\r\n`;
    await withProxy([literal], {}, async ({ say }) => expect(await say(ask)).toContain('HTTP/1.1 403'));
    await withProxy([grant()], here, async ({ say }) => expect(await say(ask)).toContain('HTTP/1.1 403'));
    await withProxy([`private://${literal}`], {}, async ({ say, lookups }) => {
      expect(await say(ask)).toContain(`hello from ${literal}`);
      expect(lookups).toEqual([]);
    });
  });

  test('a name that resolves differently the second time is checked again', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']];
    const world = await openProxyWorld([grant()], {}, { resolve: async () => answers.shift() ?? [] });
    const ask = `GET http://${authority()}/ HTTP/1.1\r\n\r\n`;
    expect([await world.say(ask), await world.say(ask), await world.say(ask)].map((text) => text.slice(9, 12))).toEqual(
      ['200', '403', '200'],
    );
    await world.close();
  });

  test('of several addresses only allowed ones are used', async () => {
    await withProxy([grant()], { 'site.example': ['169.254.169.254', 'nonsense', '127.0.0.1'] }, async ({ say }) => {
      expect(await say(`GET http://${authority()}/ HTTP/1.1\r\n\r\n`)).toContain(`hello from ${authority()}`);
    });
  });

  test('a name without an address, or with an endless lookup, is a bad gateway', async () => {
    await withProxy(['site.example'], {}, async ({ say }) => {
      expect(await say('CONNECT site.example:443 HTTP/1.1\r\n\r\n')).toContain('HTTP/1.1 502');
    });
    const world = await openProxyWorld(
      ['site.example'],
      {},
      {
        resolve: async () => await new Promise<never>(() => undefined),
        limits: { connectMs: 50 },
      },
    );
    expect(await world.say('CONNECT site.example:443 HTTP/1.1\r\n\r\n')).toContain('HTTP/1.1 502');
    await world.close();
  });
});

describe('a tunnel', () => {
  test('carries bytes both ways, including early ones, and half-closed ends', async () => {
    const echo = await openPort((socket) => {
      socket.pipe(socket);
    });
    await withProxy([`private://site.example:${String(echo.port)}`], here, async ({ socketPath, proxy }) => {
      const socket = connect({ path: socketPath, allowHalfOpen: true });
      socket.write(`CONNECT site.example:${String(echo.port)} HTTP/1.1\r\n\r\nearly `);
      socket.end(Buffer.alloc(3_000_000, 'z'));
      const text = await readAll(socket);
      const [head, body = ''] = text.split('\r\n\r\n');
      expect(head).toBe('HTTP/1.1 200 Connection Established');
      expect([body.slice(0, 7), body.length]).toEqual(['early z', 3_000_006]);
      expect(proxy.transferred()).toBe(6_000_012);
    });
    await echo.close();
  });

  test('a closed port is a bad gateway', async () => {
    const closed = await openPort(() => undefined);
    await closed.close();
    await withProxy([`private://site.example:${String(closed.port)}`], here, async ({ say, decisions }) => {
      expect(await say(`CONNECT site.example:${String(closed.port)} HTTP/1.1\r\n\r\n`)).toContain('HTTP/1.1 502');
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true]);
    });
  });
});

describe('limits', () => {
  test('bytes over the limit do not pass, and later requests get the reason', async () => {
    const world = await openProxyWorld([grant()], here, { limits: { bytes: 10_000 } });
    const ask = `GET http://${authority()}/bytes/50000 HTTP/1.1\r\n\r\n`;
    expect((await world.say(ask)).length).toBeLessThan(50_000);
    expect(await world.say(ask)).toContain('skillwright: the limit of 10000 bytes is used up');
    await world.close();
  });

  test('an incomplete head is answered with 408', async () => {
    const world = await openProxyWorld([grant()], here, { limits: { headMs: 60 } });
    expect(await world.say('GET http://site')).toContain('HTTP/1.1 408');
    expect(await world.say()).toContain('HTTP/1.1 408');
    expect(await world.say(Uint8Array.of(5, 1))).toContain('HTTP/1.1 408');
    await world.close();
  });

  test('connections over the limit are closed, and accepted again later', async () => {
    const world = await openProxyWorld([grant()], here, { limits: { connections: 3 } });
    const idle = await Promise.all(
      [1, 2, 3].map(async () => {
        const socket = connect({ path: world.socketPath });
        await once(socket, 'connect');
        return socket;
      }),
    );
    const ask = `GET http://${authority()}/ HTTP/1.1\r\n\r\n`;
    expect(await world.say(ask)).toBe('');
    for (const socket of idle) socket.destroy();
    let answer = '';
    for (let tries = 0; tries < 50 && answer === ''; tries += 1) answer = await world.say(ask);
    expect(answer).toContain('HTTP/1.1 200');
    await world.close();
  });

  test('an idle connection is closed', async () => {
    const silent = await openPort(() => undefined);
    const world = await openProxyWorld([`private://site.example:${String(silent.port)}`], here, {
      limits: { idleMs: 60 },
    });
    expect(await world.say(`CONNECT site.example:${String(silent.port)} HTTP/1.1\r\n\r\n`)).toBe(
      'HTTP/1.1 200 Connection Established\r\n\r\n',
    );
    await world.close();
    await silent.close();
  });

  test('a flood of half-open connections does not keep a closed proxy alive', async () => {
    const world = await openProxyWorld([grant()], here);
    const sockets = Array.from({ length: 300 }, () => {
      const socket = connect({ path: world.socketPath });
      socket.on('error', () => socket.destroy());
      return socket;
    });
    await world.close();
    for (const socket of sockets) {
      while (!socket.destroyed) await setTimeout(5);
    }
    expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });
});

describe('opening', () => {
  test('the socket is private to its owner', async () => {
    const world = await openProxyWorld([], {}, process.getuid?.() === 0 ? { owner: { uid: 65_534, gid: 65_534 } } : {});
    const { mode, uid } = statSync(world.socketPath);
    expect(mode & 0o777).toBe(0o600);
    expect(uid).toBe(process.getuid?.() === 0 ? 65_534 : process.getuid?.());
    await world.close();
    expect(statSync(world.socketPath, { throwIfNoEntry: false })).toBeUndefined();
  });

  test('listens on loopback if requested', async () => {
    const proxy = await openAllowProxy({ hosts: [grant()], loopback: true, resolve: async () => ['127.0.0.1'] });
    const answer = await exchange(proxy.port ?? 0, [`GET http://${authority()}/ HTTP/1.1\r\n\r\n`]);
    expect(answer).toContain(`hello from ${authority()}`);
    await proxy.close();
    await proxy.close();
  });

  test('an invalid grant, a long socket path and a missing folder are errors', async () => {
    const open = async (hosts: readonly string[], socketPath: string): Promise<unknown> =>
      await openAllowProxy({ hosts, socketPath }).catch((error: unknown) => error);
    expect(await open(['*.com'], '/tmp/never')).toMatchObject({ code: 'input/invalid' });
    expect(await open([], path.join('/tmp', 'x'.repeat(100)))).toMatchObject({ code: 'executor/failed' });
    // libuv says so of a missing folder too.
    expect(await open([], '/nowhere/at/all')).toMatchObject({ code: 'executor/failed', data: { cause: 'EACCES' } });
  });

  test('an aborted signal closes it', async () => {
    const stop = new AbortController();
    const world = await openProxyWorld([grant()], here, { signal: stop.signal });
    const waiting = world.say('GET http://');
    stop.abort();
    expect(await waiting).toBe('');
    await world.close();
  });
});

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1');
  for await (const chunk of socket) text += String(chunk);
  return text;
}

import { connect } from 'node:net';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openPort, openProxyWorld, openSite, type ProxyWorld, type Site } from './proxy-world.ts';
import { runs } from '../../property-runs.ts';

let site: Site;
let world: ProxyWorld;
beforeAll(async () => {
  site = await openSite();
  world = await openProxyWorld(
    [`private://site.example:${String(site.port)}`, `private://127.0.0.1:${String(site.port)}`, 'inside.example:*'],
    { 'site.example': ['127.0.0.1'], 'inside.example': ['10.0.0.1'] },
  );
});
afterAll(async () => {
  await world.close();
  await site.close();
});

const GREETING = Uint8Array.of(5, 1, 0);

function request(name: string | readonly number[], port: number, command = 1): Uint8Array {
  const address = typeof name === 'string' ? [3, name.length, ...Buffer.from(name, 'latin1')] : name;
  return Uint8Array.of(5, command, 0, ...address, port >> 8, port & 0xff);
}

/** What comes back as numbers, the greeting's answer without. */
async function replyTo(...pieces: readonly Uint8Array[]): Promise<readonly number[]> {
  return [...Buffer.from(await world.say(...pieces), 'latin1')].slice(2);
}

const refusal = (code: number): readonly number[] => [5, code, 0, 1, 0, 0, 0, 0, 0, 0];

describe('SOCKS 5', () => {
  test('reaches a granted name, resolved by the proxy, with early bytes', async () => {
    const answer = await world.say(
      GREETING,
      request('SITE.example.', site.port),
      Buffer.from(`GET /socks HTTP/1.1\r\nHost: mine\r\nConnection: close\r\n\r\n`),
    );
    expect(answer.slice(12)).toContain('hello from mine');
    expect(world.decisions.at(-1)).toEqual({
      host: 'site.example',
      port: site.port,
      allowed: true,
      rule: `private://site.example:${String(site.port)}`,
    });
  });

  test('reaches a granted address', async () => {
    const answer = await world.say(
      GREETING,
      request([1, 127, 0, 0, 1], site.port),
      Buffer.from('GET / HTTP/1.1\r\nHost: by-address\r\nConnection: close\r\n\r\n'),
    );
    expect(answer).toContain('hello from by-address');
  });

  test.each<[string, Uint8Array, number]>([
    ['a name that is not granted', request('evil.example', 443), 2],
    ['a port that is not granted', request('site.example', 1), 2],
    ['a name that leads inside', request('inside.example', 80), 2],
    ['an address that is not granted', request([1, 127, 0, 0, 2], 80), 2],
    ['loopback of version 6', request([4, ...Array.from({ length: 15 }, () => 0), 1], 80), 2],
    ['a mapped address', request([4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1], 80), 2],
    ['a name with NUL', request('site.example\0.evil', 80), 1],
    ['a name with a line end', request('site.example\r\n', 80), 1],
    ['a short address as a name', request('127.1', 80), 1],
    ['a name in bytes', request('s\xeete.example', 80), 1],
    ['an empty name', request('', 80), 1],
    ['port 0', request('site.example', 0), 1],
    ['BIND', request('site.example', 80, 2), 7],
    ['UDP', request('site.example', 80, 3), 7],
    ['an unknown kind of address', request([9, 1, 2, 3, 4], 80), 8],
  ])('%s is refused', async (_, bytes, code) => {
    const before = site.connections();
    expect(await replyTo(GREETING, bytes)).toEqual(refusal(code));
    expect(site.connections()).toBe(before);
  });

  test('a closed port is refused', async () => {
    const closed = await openPort(() => undefined);
    await closed.close();
    const other = await openProxyWorld([`private://127.0.0.1:${String(closed.port)}`]);
    const answer = await other.say(GREETING, request([1, 127, 0, 0, 1], closed.port));
    expect([...Buffer.from(answer, 'latin1')].slice(2)).toEqual(refusal(5));
    await other.close();
  });

  test('a client that requires a password is rejected', async () => {
    expect([...Buffer.from(await world.say(Uint8Array.of(5, 1, 2)), 'latin1')]).toEqual([5, 255]);
  });

  test('a request sent byte by byte is served', async () => {
    const bytes = [...GREETING, ...request('evil.example', 443)].map((byte) => Uint8Array.of(byte));
    expect(await replyTo(...bytes)).toEqual(refusal(2));
  });

  test('random bytes are never forwarded and the connection closes', async () => {
    const before = site.connections();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (noise) => {
        const socket = connect({ path: world.socketPath });
        socket.on('error', () => socket.destroy());
        socket.resume();
        socket.end(Uint8Array.of(5, ...noise));
        await new Promise((resolve) => {
          socket.once('close', resolve);
        });
      }),
      { numRuns: runs(200) },
    );
    expect(site.connections()).toBe(before);
  });
});

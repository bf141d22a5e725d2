import { describe, expect, test } from 'vitest';

import { CERTIFICATE } from './certificate.ts';
import { ask, openSite, type Site } from './network-world.ts';

/** Sends on to wherever `to` says, with a status. */
async function openSender(
  to: (path: string) => string,
  status = 302,
  options: { secure?: boolean } = {},
): Promise<Site> {
  return await openSite((request, response) => {
    response.writeHead(status, { location: to(request.url ?? '') }).end('moved');
  }, options);
}

describe('a redirect', () => {
  test('is followed and reported', async () => {
    const end = await openSite((_request, response) => response.end('here'));
    const start = await openSender((path) => (path === '/' ? '/next' : `${end.origin}/end#part`));
    expect(await ask([start, end], { url: start.origin })).toMatchObject({
      url: `${end.origin}/end`,
      text: 'here',
      redirects: [`${start.origin}/`, `${start.origin}/next`],
    });
  });

  test('is checked like a first request: host, port and address', async () => {
    const end = await openSite((_request, response) => response.end('here'));
    const start = await openSender(() => end.origin);
    const asked: string[] = [];
    const decideHost = (host: string, port: number): boolean => {
      asked.push(`${host}:${String(port)}`);
      return port !== end.port;
    };
    expect(await ask([start, end], { url: start.origin }, { decideHost })).toMatchObject({ code: 'network/refused' });
    expect(asked).toEqual([`127.0.0.1:${String(start.port)}`, `127.0.0.1:${String(end.port)}`]);
    // Decided for, and still not granted.
    expect(await ask([start], { url: start.origin })).toMatchObject({ code: 'network/refused' });
    expect(end.requests).toEqual([]);
  });

  test('from the internet to this machine is refused, in every spelling', async () => {
    const secret = await openSite((_request, response) => response.end('SECRET'));
    const spellings = ['127.0.0.1', '127.1', '2130706433', '0x7f000001', 'localhost', '[::ffff:127.0.0.1]', '[::1]'];
    for (const spelling of spellings) {
      const start = await openSender(() => `http://${spelling}:${String(secret.port)}/`);
      const grants = [
        `private://start.example:${String(start.port)}`,
        `127.0.0.1:${String(secret.port)}`,
        `localhost:${String(secret.port)}`,
        `[::ffff:127.0.0.1]:${String(secret.port)}`,
        `[::1]:${String(secret.port)}`,
      ];
      const url = `http://start.example:${String(start.port)}/`;
      const received = await ask([], { url }, { grants, resolve: async () => ['127.0.0.1'] });
      expect([spelling, received]).toMatchObject([spelling, { code: 'network/refused' }]);
    }
    expect(secret.requests).toEqual([]);
  });

  test('is limited in number', async () => {
    const loop = await openSender((path) => `${path}x`);
    expect(await ask([loop], { url: loop.origin })).toMatchObject({
      code: 'network/failed',
      message: `"${loop.origin}/" redirects more than 5 times`,
    });
    expect(loop.requests).toHaveLength(6);
    expect(await ask([loop], { url: loop.origin }, { maxRedirects: 0 })).toMatchObject({ code: 'network/failed' });
  });

  test('to another scheme, with a user name, or from https to http is refused', async () => {
    const open = await openSite((_request, response) => response.end('open'));
    const places = [
      'file:///etc/passwd',
      'ftp://127.0.0.1/',
      'javascript:1',
      `http://user@127.0.0.1:${String(open.port)}/`,
      `http:\\\\127.0.0.1`,
    ];
    for (const place of places) {
      const start = await openSender(() => place);
      expect(await ask([start, open], { url: start.origin })).toMatchObject({ code: 'network/refused' });
    }
    const secure = await openSender(() => open.origin, 302, { secure: true });
    expect(await ask([secure, open], { url: secure.origin }, { certificates: [CERTIFICATE] })).toMatchObject({
      code: 'network/refused',
    });
    expect(open.requests).toEqual([]);
  });

  test.each([
    [301, 'GET', ''],
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', 'body'],
    [308, 'POST', 'body'],
  ])('with status %i continues with %s', async (status, method, body) => {
    const end = await openSite((_request, response) => response.end('here'));
    const start = await openSender(() => end.origin, status);
    const headers = {
      'content-type': 'text/plain',
      authorization: 'Bearer TOKEN',
      'x-api-key': 'KEY',
      accept: 'text/html',
    };
    await ask([start, end], { url: start.origin, method: 'POST', headers, body: 'body' });
    const [arrived] = end.requests;
    expect([arrived?.line, arrived?.body]).toEqual([`${method} /`, body]);
    expect(Object.keys(arrived?.headers ?? {}).sort()).toEqual(
      [
        'accept',
        'accept-encoding',
        'connection',
        ...(body === '' ? [] : ['content-length', 'content-type']),
        'host',
        'user-agent',
      ].sort(),
    );
  });

  test('to the same origin keeps its keys', async () => {
    const site = await openSite((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/in' }).end();
      else response.end('in');
    });
    expect(await ask([site], { url: site.origin, headers: { authorization: 'Bearer TOKEN' } })).toMatchObject({
      text: 'in',
    });
    expect(site.requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer TOKEN', 'Bearer TOKEN']);
  });
});

import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { networkRequest } from '../../../src/project/network/network-request.ts';
import { CERTIFICATE } from './certificate.ts';
import { ask, openSite, outcome } from './network-world.ts';

describe('a request', () => {
  test('returns the sanitized response with a few headers', async () => {
    const site = await openSite((_request, response) => {
      response.writeHead(201, {
        'content-type': 'text/html; charset=utf-8',
        etag: '"1"',
        'set-cookie': 'id=1',
        'x-secret': 'hop',
        connection: 'close',
      });
      response.end('<p>hel\u200blo</p>\r\n');
    });
    const url = `${site.origin}/a?b=c#d`;
    const headers = { Authorization: 'Bearer TOKEN', Accept: 'text/html' };
    expect(await ask([site], { url, method: 'post', headers, body: 'grüße' })).toEqual({
      type: 'response-received',
      action: 'network_request',
      url: `${site.origin}/a?b=c`,
      status: 201,
      headers: { 'content-type': 'text/html; charset=utf-8', etag: '"1"' },
      mediaType: 'text/html',
      isBinary: false,
      text: '<p>hello</p>\n',
      bytes: 17,
      truncated: false,
      redirects: [],
    });
    expect(site.requests).toEqual([
      {
        line: 'POST /a?b=c',
        headers: {
          'user-agent': 'skillwright',
          accept: 'text/html',
          authorization: 'Bearer TOKEN',
          host: site.origin.slice('http://'.length),
          'accept-encoding': 'gzip, br',
          connection: 'close',
          'content-length': '7',
        },
        body: 'grüße',
      },
    ]);
  });

  test('does not show its authorization key', async () => {
    const site = await openSite((request, response) => {
      const key = request.headers.authorization ?? '';
      response.writeHead(200, { etag: key }).end(`you sent ${key}; that is ${key.slice('Bearer '.length)}`);
    });
    const headers = { Authorization: 'Bearer abcdefgh12345678' };
    expect(await ask([site], { url: site.origin, headers })).toMatchObject({
      headers: { etag: '[key]' },
      text: 'you sent [key]; that is [key]',
    });
  });

  test('supports each method; HEAD has no body', async () => {
    const site = await openSite((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '5' });
      response.end();
    });
    expect(await ask([site], { url: site.origin, method: 'HEAD' })).toMatchObject({ status: 200, text: '', bytes: 0 });
    const plain = await openSite((_request, response) => response.end('x'));
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) await ask([plain], { url: plain.origin, method });
    expect(plain.requests.map(({ line }) => line)).toEqual(['GET /', 'PUT /', 'PATCH /', 'DELETE /']);
  });

  test('uses TLS only with a valid certificate', async () => {
    const site = await openSite((_request, response) => response.end('secret'), { secure: true });
    const named = `https://test.example:${String(site.port)}/`;
    const resolve = async (): Promise<readonly string[]> => ['127.0.0.1'];
    const grants = [`private://test.example:${String(site.port)}`, `private://wrong.example:${String(site.port)}`];
    const certificates = [CERTIFICATE];
    expect(await ask([site], { url: named }, { grants, resolve, certificates })).toMatchObject({ text: 'secret' });
    expect(await ask([site], { url: site.origin }, { certificates })).toMatchObject({ text: 'secret' });
    expect(await ask([site], { url: named }, { grants, resolve })).toMatchObject({
      code: 'network/failed',
      message: expect.stringContaining('SELF_SIGNED'),
    });
    const wrong = `https://wrong.example:${String(site.port)}/`;
    expect(await ask([site], { url: wrong }, { grants, resolve, certificates })).toMatchObject({
      code: 'network/failed',
      message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
    expect(site.requests).toHaveLength(2);
  });

  test('decompresses gzip and brotli, and reports other encodings and binaries', async () => {
    const site = await openSite((request, response) => {
      const text = 'ü'.repeat(1000);
      if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
      else if (request.url === '/br')
        response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync(text));
      else if (request.url === '/two')
        response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(gzipSync(gzipSync(text)));
      else if (request.url === '/bad') response.writeHead(200, { 'content-encoding': 'gzip' }).end(text);
      else if (request.url === '/short')
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text).subarray(0, 20));
      else response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.from('89504e470d0a1a0a0000', 'hex'));
    });
    const get = async (path: string) => await ask([site], { url: site.origin + path });
    expect(await get('/gzip')).toMatchObject({ text: 'ü'.repeat(1000), bytes: 2000 });
    expect(await get('/br')).toMatchObject({ text: 'ü'.repeat(1000), bytes: 2000 });
    expect(await get('/two')).toMatchObject({ text: '', isBinary: true });
    expect(await get('/png')).toMatchObject({ text: '', isBinary: true, mediaType: 'text/plain', bytes: 10 });
    expect([await get('/bad'), await get('/short')]).toMatchObject([
      { code: 'network/failed' },
      { code: 'network/failed' },
    ]);
  });

  test('decodes text in the encoding of the server', async () => {
    const site = await openSite((request, response) => {
      const charset = request.url === '/latin' ? 'ISO-8859-1' : request.url === '/wide' ? 'utf-16le' : 'martian';
      response.writeHead(200, { 'content-type': `text/plain; charset="${charset}"` });
      response.end(charset === 'utf-16le' ? Buffer.from('grün', 'utf16le') : Buffer.from('gr\xfcn', 'latin1'));
    });
    const get = async (path: string) => await ask([site], { url: site.origin + path });
    expect([await get('/latin'), await get('/wide'), await get('/other')]).toMatchObject([
      { text: 'grün' },
      { text: 'grün' },
      { text: '', isBinary: true },
    ]);
  });
});

describe('validation', () => {
  test.each([
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http:127.0.0.1',
    'http:///127.0.0.1/',
    '//127.0.0.1/',
    'http://user:word@127.0.0.1/',
    'http://good.example@127.0.0.1/',
    'http://good.example\\@127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://127.0.0.1\t/',
    'http://127.0.0.1/\nx',
    'http://exa\u200bmple.org/',
    'http://127.0.0.1:99999/',
    'http://[::1%25lo]/',
    ' http://127.0.0.1/',
    '',
  ])('%j is rejected', async (url) => {
    const decisions: string[] = [];
    const decideHost = (host: string): boolean => {
      decisions.push(host);
      return true;
    };
    expect(await outcome(ask([{ origin: 'http://127.0.0.1:80' }], { url }, { decideHost }))).toBe('input/invalid');
    expect(decisions).toEqual([]);
  });

  test.each([
    ['Host', 'evil.example'],
    ['hOsT', 'evil.example'],
    ['Content-Length', '3'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'keep-alive'],
    ['Upgrade', 'h2c'],
    ['Proxy-Authorization', 'SECRET'],
    ['Cookie', 'a=b'],
    ['x', 'a\r\nHost: evil.example'],
    ['x', 'a\nb'],
    ['x', 'a\0b'],
    ['x', '\u{1f600}'],
    ['x\r\ny', 'z'],
    ['x y', 'z'],
    ['', 'z'],
  ])('the header %j with %j is rejected without showing its value', async (name, value) => {
    const site = await openSite((_request, response) => response.end('x'));
    const received = await ask([site], { url: site.origin, headers: { [name]: value } });
    expect(received).toMatchObject({ code: 'input/invalid' });
    expect(received.type === 'failed' && received.message.includes(value)).toBe(false);
    expect(site.requests).toEqual([]);
  });

  test('allows fifty headers, each once, a known method, and a body only where permitted', async () => {
    const site = await openSite((_request, response) => response.end('x'));
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, count) => [`x-${String(count)}`, 'y']));
    const wrong = [
      { headers: many },
      { headers: { x: 'y'.repeat(20_000) } },
      { url: `${site.origin}/${'x'.repeat(9000)}` },
      { headers: { 'x-a': '1', 'X-A': '2' } },
      { method: 'CONNECT' },
      { method: 'TRACE' },
      { method: 'GET /\r\nx' },
      { method: 'GET', body: 'x' },
    ];
    expect(
      await Promise.all(wrong.map(async (more) => await outcome(ask([site], { url: site.origin, ...more })))),
    ).toEqual(wrong.map(() => 'input/invalid'));
    expect(site.requests).toEqual([]);
  });

  test('connects only to granted and approved hosts', async () => {
    const site = await openSite((_request, response) => response.end('x'));
    const { port, origin } = site;
    const to = async (grants: readonly string[], url = origin) => await outcome(ask([], { url }, { grants }));
    expect(await to([])).toBe('network/refused');
    expect(await to([`127.0.0.1:${String(port)}`])).toBe('network/refused');
    expect(await to([`private://127.0.0.1:${String(port + 1)}`])).toBe('network/refused');
    expect(await to([`private://127.0.0.1:${String(port)}`])).toBe(200);
    const grants = [`private://127.0.0.1:${String(port)}`];
    expect(await outcome(ask([], { url: origin }, { grants, decideHost: () => false }))).toBe('network/refused');
    expect(site.requests).toHaveLength(1);
    await expect(
      networkRequest({ type: 'network_request', url: origin }, { grants: ['http://x/'], decideHost: () => true }),
    ).rejects.toThrow('invalid network grant:');
  });

  test('does not reach this machine by a name, even with DNS rebinding', async () => {
    const site = await openSite((_request, response) => response.end('x'));
    const addresses = [['93.184.216.34'], ['127.0.0.1']];
    const grants = [`rebind.example:${String(site.port)}`];
    const options = { grants, resolve: async () => addresses.pop() ?? [], timeoutMs: 300 };
    const url = `http://rebind.example:${String(site.port)}/`;
    expect(await ask([], { url }, options)).toMatchObject({
      code: 'network/refused',
      message: expect.stringContaining('127.0.0.1 (this machine)'),
    });
    expect(
      await outcome(
        ask(
          [],
          { url: 'http://metadata.example/' },
          { grants: ['metadata.example'], resolve: async () => ['169.254.169.254'] },
        ),
      ),
    ).toBe('network/refused');
    expect(
      await outcome(ask([], { url: 'http://none.example/' }, { grants: ['none.example'], resolve: async () => [] })),
    ).toBe('network/failed');
    expect(site.requests).toEqual([]);
  });

  test('accepts an IPv6 address in brackets', async ({ skip }) => {
    const site = await openSite((_request, response) => response.end('six'), { host: '::1' }).catch(() => undefined);
    if (site === undefined) return skip('there is no IPv6 here');
    const decided: string[] = [];
    const decideHost = (host: string, port: number): boolean => decided.push(`${host} ${String(port)}`) > 0;
    expect(await ask([site], { url: site.origin }, { decideHost })).toMatchObject({ text: 'six' });
    expect(decided).toEqual([`::1 ${String(site.port)}`]);
  });
});

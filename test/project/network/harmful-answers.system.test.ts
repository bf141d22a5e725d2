import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { CERTIFICATE } from './certificate.ts';
import { ask, openPort, openSite, outcome } from './network-world.ts';

const HUGE = 64 * 1024;

describe('a hostile response', () => {
  test('that is endless or a decompression bomb is cut off', async () => {
    let sent = 0;
    const site = await openSite((request, response) => {
      const isPacked = request.url === '/bomb';
      response.writeHead(200, isPacked ? { 'content-encoding': 'gzip' } : {});
      if (isPacked) {
        response.end(gzipSync(Buffer.alloc(50 * 1024 * 1024)));
        return;
      }
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    expect(await ask([site], { url: site.origin })).toMatchObject({ bytes: 1024 * 1024, truncated: true });
    expect(await ask([site], { url: `${site.origin}/bomb` })).toMatchObject({ bytes: 1024 * 1024, truncated: true });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test('that decompresses to nothing forever is aborted', async () => {
    const member = gzipSync('');
    const site = await openSite((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const chunk = Buffer.concat(Array.from({ length: 3000 }, () => member));
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    expect(await ask([site], { url: site.origin }, { maxBytes: HUGE })).toMatchObject({ code: 'network/failed' });
  });

  test('leaves no connection open', async () => {
    const body = (path: string | undefined): string | Buffer =>
      path === '/broken' ? 'no gzip' : path === '/long' ? Buffer.alloc(8 * 1024 * 1024, 'x') : 'short';
    for (const secure of [false, true]) {
      const stop = new AbortController();
      const site = await openSite(
        ({ url }, response) => {
          if (url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:1/' });
          if (url === '/broken') response.writeHead(200, { 'content-encoding': 'gzip' });
          if (url === '/endless') response.write('x', () => stop.abort(new Error('enough')));
          else response.end(body(url));
        },
        { secure },
      );
      const request = (path: string): Promise<unknown> =>
        ask([site], { url: site.origin + path }, { certificates: [CERTIFICATE], signal: stop.signal });
      for (const path of ['/short', '/long', '/broken', '/away']) await request(path);
      await expect(request('/endless')).rejects.toThrow('enough');
      expect(site.requests).toHaveLength(5);
      await site.allOver();
    }
  });

  test('is shown up to 65,536 characters', async () => {
    const site = await openSite((_request, response) => response.end('y'.repeat(HUGE + 1)));
    const received = await ask([site], { url: site.origin });
    expect(received).toMatchObject({ bytes: HUGE + 1, truncated: true, text: 'y'.repeat(HUGE) });
  });

  test('that is slow or missing ends at the deadline, or at once by the signal', async () => {
    const site = await openSite((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const silent = await openPort(() => undefined);
    const secure = await openSite((_request, response) => void response.writeHead(200).write('.'), { secure: true });
    const timeoutMs = 300;
    for (const { origin } of [site, silent])
      expect(await ask([site, silent], { url: origin }, { timeoutMs })).toMatchObject({
        code: 'network/failed',
        message: `"${origin}": no complete response within 300 ms`,
      });
    expect(await outcome(ask([secure], { url: secure.origin }, { timeoutMs, certificates: [CERTIFICATE] }))).toBe(
      'network/failed',
    );
    // TLS to a server that never answers the greeting.
    expect(await outcome(ask([silent], { url: silent.origin.replace('http', 'https') }, { timeoutMs }))).toBe(
      'network/failed',
    );
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(ask([site], { url: site.origin }, { signal: controller.signal })).rejects.toThrow('enough');
    await expect(ask([site], { url: site.origin }, { signal: controller.signal })).rejects.toThrow('enough');
  });

  test.each([
    ['a body shorter than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort', 'network/failed'],
    ['a body longer than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n', 'ok'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nokk', 'network/failed'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'network/failed',
    ],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'network/failed'],
    ['nothing', '', 'network/failed'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-', 'network/failed'],
    ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, 'network/failed'],
    [
      'another protocol',
      'HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
      'network/failed',
    ],
    ['a redirection to nowhere', 'HTTP/1.1 302 Found\r\nlocation: http://[bad/\r\n\r\n', 'network/refused'],
    ['a redirection without a place', 'HTTP/1.1 302 Found\r\ncontent-length: 2\r\n\r\nno', 'no'],
  ])('with %s', async (_what, bytes, expected) => {
    const site = await openPort((socket) => {
      socket.once('data', () => socket.end(bytes));
    });
    const received = await ask([site], { url: site.origin });
    expect(received.type === 'failed' ? received.code : received.text).toBe(expected);
  });
});

import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';

import { readHost } from '../../../src/core/network/host-pattern.ts';
import { isProblem } from '../../../src/core/problem.ts';
import { networkGate, readGrant } from '../../../src/platform/net/network-gate.ts';
import { proxyFor } from '../../../src/platform/net/user-proxy.ts';
import { proxiedFetch } from '../../../src/platform/net/proxied-fetch.ts';

const HOST = 'models.example';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return address.port;
}

/** A server that only the proxy can reach, by a name that does not exist elsewhere. */
async function world(status = 200): Promise<{ readonly proxy: string; readonly asked: string[] }> {
  const target = await listen(
    createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => response.setHeader('x-from', 'target').end(`${request.method ?? ''} ${body}`));
    }),
  );
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    asked.push(`${request.url ?? ''} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${String(status)} No\r\n\r\n`);
      return;
    }
    const onward = connect(target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return { proxy: `127.0.0.1:${String(await listen(proxy))}`, asked };
}

describe('the proxy of the environment', () => {
  test('carries installations of packages to granted hosts only', async () => {
    const { proxy, asked } = await world();
    const gate = networkGate({
      grants: [readGrant(`${HOST}:443`)],
      resolve: () => Promise.resolve([]),
      proxyFrom: { https_proxy: `http://${proxy}` },
      connectMs: 10_000,
      onDecision: () => undefined,
    });
    const reach = async (name: string): Promise<string> => {
      const reached = await gate.reach({ host: { name, isAddress: false }, port: 443 }, AbortSignal.timeout(20_000));
      if (isProblem(reached)) return reached.refusal;
      reached.destroy();
      return 'reached';
    };
    expect([await reach(HOST), await reach('other.example')]).toEqual(['reached', 'not-granted']);
    expect(asked).toEqual([`${HOST}:443`]);
  });

  test('carries requests to models, with its credentials', async () => {
    const { proxy, asked } = await world();
    const send = proxiedFetch({ HTTP_PROXY: `http://me:p%40ss@${proxy}` });
    const response = await send(`http://${HOST}/v1`, { method: 'POST', body: 'hello' });
    expect([response.status, response.headers.get('x-from'), await response.text()]).toEqual([
      200,
      'target',
      'POST hello',
    ]);
    expect(asked).toEqual([`${HOST}:80 Basic ${Buffer.from('me:p@ss').toString('base64')}`]);
  });

  test('is not used for this machine and for names in NO_PROXY', async () => {
    const { proxy, asked } = await world();
    const port = await listen(createServer((_, response) => response.end('direct')));
    const send = proxiedFetch({ http_proxy: proxy, all_proxy: proxy });
    expect(await (await send(`http://127.0.0.1:${String(port)}/`)).text()).toBe('direct');
    expect(asked).toEqual([]);
  });

  test('that refuses or is not there is an error with its address, without its password', async () => {
    const { proxy } = await world(407);
    await expect(proxiedFetch({ HTTP_PROXY: `http://me:secret@${proxy}` })(`http://${HOST}/`)).rejects.toThrow(
      `the proxy ${proxy} answered 407 for ${HOST}`,
    );
    await expect(proxiedFetch({ HTTP_PROXY: 'http://127.0.0.1:9' })(`http://${HOST}/`)).rejects.toThrow(
      'the proxy 127.0.0.1:9 cannot be reached',
    );
  });

  test.each([
    [{ HTTPS_PROXY: 'p:1' }, 'http://p:1'],
    [{ https_proxy: 'http://lower:1', HTTPS_PROXY: 'http://upper:1' }, 'http://lower:1'],
    [{ HTTP_PROXY: 'http://p:1' }, undefined],
    [{ ALL_PROXY: 'https://p' }, 'https://p'],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, undefined],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'other, .example' }, undefined],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'models.example:443' }, undefined],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'models.example:8443' }, 'http://p:1'],
    [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'dels.example' }, 'http://p:1'],
    [{ HTTPS_PROXY: ' ' }, undefined],
  ])('%j is read as curl reads it', (env, expected) => {
    const host = readHost(HOST);
    if (host === undefined) throw new TypeError('no host');
    expect(proxyFor({ host, port: 443, isSecure: true }, env)?.origin).toBe(expected);
  });

  test('of another kind is refused with the variable to correct', () => {
    const host = readHost(HOST);
    if (host === undefined) throw new TypeError('no host');
    for (const HTTPS_PROXY of ['socks5://p:1', 'http://', '::'])
      expect(() => proxyFor({ host, port: 443, isSecure: true }, { HTTPS_PROXY })).toThrow(/correct HTTPS_PROXY/);
  });
});

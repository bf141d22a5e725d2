import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../conformance/verifies.ts';
import { CERTIFICATE } from '../../project/network/certificate.ts';
import { openPort, openSite } from '../../project/network/network-world.ts';
import { bring, mustBring, outcome, packAs, plantSource, skillText } from './bring-support.ts';
import { ARCHIVE_LIMITS } from '../../../src/core/config/config.ts';

function pack(): Buffer {
  return readFileSync(packAs('a.tgz', plantSource({ 'a/SKILL.md': skillText('a') })));
}

const SMALL = { limits: { ...ARCHIVE_LIMITS, maxArchiveBytes: 10_000 } };

describe('an address as a source', () => {
  verifies('PACK-6', 'gives the skills of the archive there, with its digest and the signature beside it', async () => {
    const bytes = pack();
    const site = await openSite(({ url }, response) => {
      if (url === '/x/a.tgz') response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=b' }).end(bytes);
      else response.writeHead(200).end('untrusted comment: x\n');
    });
    const steps: unknown[] = [];
    const { result, to } = await bring(`${site.origin}/x/a.tgz`, { onProgress: (step) => steps.push(step) });
    const folder = path.join(to, 'tree');
    expect(result).toEqual({
      type: 'staged',
      resolved: {
        source: `${site.origin}/x/a.tgz`,
        kind: 'url',
        archive: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
      },
      folder,
      skills: [{ folder: 'a', path: path.join(folder, 'a'), name: 'a' }],
      unusable: [],
      leftOut: [],
      signature: { of: 'archive', text: 'untrusted comment: x\n', payload: path.join(to, 'archive.tgz') },
    });
    expect(site.requests.map(({ line }) => line)).toEqual(['GET /x/a.tgz', 'GET /x/a.tgz.minisig']);
    expect(site.requests[0]?.headers).toEqual({
      host: site.origin.slice('http://'.length),
      'user-agent': 'skillwright',
      accept: '*/*',
      'accept-encoding': 'identity',
      connection: 'close',
    });
    expect(steps.at(-1)).toEqual({ step: 'unpack' });
  });

  test('may be a SKILL.md alone; a page where a signature is asked for is none', async () => {
    const site = await openSite((_request, response) => response.end(skillText('pdf')));
    const { skills, signature } = await mustBring(`${site.origin}/skills/pdf/SKILL.md`);
    expect(skills.map(({ name, files }) => [name, Object.keys(files ?? {})])).toEqual([['pdf', ['SKILL.md']]]);
    expect(signature).toBeUndefined();
  });

  test('is followed where it is sent on to, within the same rules', async () => {
    const bytes = pack();
    const other = await openSite((_request, response) => response.end(bytes));
    const site = await openSite(({ url }, response) =>
      response.writeHead(302, { location: url === '/a.tgz' ? '/b' : `${other.origin}/c` }).end(),
    );
    expect(await outcome(`${site.origin}/a.tgz`)).toEqual({ a: ['SKILL.md'] });
    const loop = await openSite((_request, response) => response.writeHead(301, { location: '/again' }).end());
    expect(await outcome(`${loop.origin}/a.tgz`)).toBe('source/refused');
    expect(loop.requests.length).toBe(6);
  });

  test('is not followed from a secure connection to an open one, nor to what is no plain address', async () => {
    const open = await openSite((_request, response) => response.end(pack()));
    for (const location of [
      open.origin,
      'file:///etc/passwd',
      'https://u:p@host.example/',
      'http://10.0.0.1/a',
      '//[',
    ]) {
      const site = await openSite((_request, response) => response.writeHead(302, { location }).end(), {
        secure: true,
      });
      expect(await outcome(`${site.origin}/a.tgz`, { network: { certificates: [CERTIFICATE] } })).toBe(
        'source/refused',
      );
    }
    expect(open.requests).toEqual([]);
  });

  test('is not reached on this machine or its neighbours by a name from elsewhere, nor by being sent there', async () => {
    const site = await openSite((_request, response) => response.end(pack()));
    const resolve = async () => ['127.0.0.1'];
    const named = `https://host.example:${String(site.port)}/a.tgz`;
    expect(await outcome(named, { network: { resolve } })).toBe('source/refused');
    expect(await outcome('https://host.example/a.tgz', { network: { resolve: async () => ['169.254.169.254'] } })).toBe(
      'source/refused',
    );
    expect(await outcome('https://host.example/a.tgz', { network: { resolve: async () => [] } })).toBe('source/failed');
    const open = { type: 'url', url: `http://host.example:${String(site.port)}/a.tgz` } as const;
    expect(await outcome(open, { network: { resolve } })).toBe('source/refused');
    expect(site.requests).toEqual([]);
    expect(await outcome(open, { network: { resolve, allowHttp: true, allowPrivate: true } })).toEqual({
      a: ['SKILL.md'],
    });
  });

  test("is not trusted where its certificate is nobody's", async () => {
    const site = await openSite((_request, response) => response.end(pack()), { secure: true });
    expect(await outcome(`${site.origin}/a.tgz`)).toBe('source/failed');
    expect(await outcome(`${site.origin}/a.tgz`, { network: { certificates: [CERTIFICATE] } })).toEqual({
      a: ['SKILL.md'],
    });
  });
});

describe('a key for a host', () => {
  test('is sent to that host alone, not to where it sends on to, and is in no message', async () => {
    const other = await openSite((_request, response) => response.writeHead(500).end());
    const site = await openSite((_request, response) =>
      response.writeHead(302, { location: `${other.origin}/b` }).end(),
    );
    const env = { SKILLWRIGHT_HTTP_TOKEN: 'hunter2', SKILLWRIGHT_HTTP_TOKEN_HOST: site.origin.slice('http://'.length) };
    const { result } = await bring(`${site.origin}/a.tgz`, { env });
    expect(result).toMatchObject({ code: 'source/failed' });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect([site, other].map(({ requests }) => requests[0]?.headers['authorization'])).toEqual([
      'Bearer hunter2',
      undefined,
    ]);
  });

  test('is not sent without the host it is for', async () => {
    const site = await openSite((_request, response) => response.writeHead(403).end());
    expect(await outcome(`${site.origin}/a.tgz`, { env: { SKILLWRIGHT_HTTP_TOKEN: 'hunter2' } })).toBe(
      'source/refused',
    );
    expect(site.requests[0]?.headers['authorization']).toBeUndefined();
  });
});

describe('a server that lies, hangs or never ends', () => {
  test('is refused by the bytes that come, whatever it announces', async () => {
    const endless = await openSite((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(4096)));
      };
      response.on('drain', more);
      more();
    });
    const announcing = await openSite((_request, response) =>
      response.writeHead(200, { 'content-length': '999999999' }).end('x'),
    );
    const short = await openPort((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nonly this'));
    const none = await openPort((socket) => socket.end('SSH-2.0-x\r\n'));
    expect([
      await outcome(`${endless.origin}/a.tgz`, SMALL),
      await outcome(`${announcing.origin}/a.tgz`, SMALL),
      await outcome(`${short.origin}/a.tgz`, SMALL),
      await outcome(`${none.origin}/a.tgz`, SMALL),
    ]).toEqual(['archive/too-large', 'archive/too-large', 'source/failed', 'source/failed']);
  });

  test('has its status told apart', async () => {
    const site = await openSite(({ url }, response) => response.writeHead(Number(url?.slice(1, 4))).end());
    const ask = (status: number) => outcome(`${site.origin}/${String(status)}/a.tgz`);
    expect([await ask(404), await ask(410), await ask(401), await ask(500), await ask(204)]).toEqual([
      'source/missing',
      'source/missing',
      'source/refused',
      'source/failed',
      'source/failed',
    ]);
  });

  test('is left at the deadline, and at once when nobody waits any more', async () => {
    const slow = await openPort(() => undefined);
    expect(await outcome(`${slow.origin}/a.tgz`, { network: { timeoutMs: 50 } })).toBe('source/failed');
    const trickling = await openPort((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nx'));
    const stop = new AbortController();
    const reason = new Error('enough');
    const bringing = bring(`${trickling.origin}/a.tgz`, {
      signal: stop.signal,
      onProgress: ({ done }) => done === 1 && stop.abort(reason),
    });
    await expect(bringing).rejects.toBe(reason);
  });
});

/** Contents in S3, against a server that is slow, fails, and returns other bytes. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

import { openS3Contents } from '../../../src/server/fleet/s3-contents.ts';
import { sha256 } from '../../../src/platform/hash.ts';

interface Bucket {
  readonly objects: Map<string, Buffer>;
  /** Answers to give before the real ones. */
  readonly faults: ('fail' | 'wrong')[];
  readonly puts: string[];
  readonly env: Readonly<Record<string, string>>;
}

async function openBucket(): Promise<Bucket> {
  const objects = new Map<string, Buffer>();
  const faults: Bucket['faults'] = [];
  const puts: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { pathname: name } = new URL(request.url ?? '', 'http://x');
      const fault = faults.shift();
      if (fault === 'fail') return response.writeHead(503).end();
      if (request.method === 'PUT') {
        objects.set(name, Buffer.concat(pieces));
        puts.push(name);
        return response.writeHead(200, { etag: '"x"' }).end();
      }
      const found = objects.get(name);
      if (found === undefined) return response.writeHead(404).end();
      const bytes = fault === 'wrong' ? Buffer.from('other bytes') : found;
      response.writeHead(200, { 'content-length': String(bytes.length), etag: '"x"' });
      return response.end(request.method === 'HEAD' ? undefined : bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const env = {
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${String(port)}`,
  };
  return { objects, faults, puts, env };
}

test('bytes are saved once under their digest, and come back in spite of passing faults', async () => {
  const { faults, puts, env, objects } = await openBucket();
  const store = await openS3Contents({ address: 's3://bucket/fleet', env });
  const bytes = Buffer.from('content');
  const digest = sha256(bytes);
  faults.push('fail');
  await store.save([{ digest, bytes }]);
  await store.save([{ digest, bytes }]);
  expect(puts).toEqual([`/bucket/fleet/sha256/${digest}`]);
  faults.push('fail', 'wrong');
  expect(await store.load(digest)).toEqual(bytes);
  expect(await store.load('0'.repeat(64))).toBeUndefined();
  objects.set(`/bucket/fleet/sha256/${digest}`, Buffer.from('changed'));
  await expect(store.load(digest)).rejects.toThrow(/returns other bytes/);
});

test.each([
  ['file:///x', 'does not name a bucket'],
  ['s3://', 'does not name a bucket'],
  ['s3://Upper', 'does not name a bucket'],
])('%s %s', async (address, message) => {
  const { env } = await openBucket();
  await expect(openS3Contents({ address, env })).rejects.toThrow(message);
});

test('without credentials it says which variables to set', async () => {
  await expect(openS3Contents({ address: 's3://bucket', env: {} })).rejects.toMatchObject({
    message: 'there are no credentials for S3',
    hint: 'expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment',
  });
});

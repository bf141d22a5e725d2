/** A server that speaks enough of S3, is slow to agree, fails, and returns other bytes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/** `silent` never answers; `trickle` sends a byte now and then, without end. */
type Fault = 'fail' | 'wrong' | 'silent' | 'trickle';

export interface Bucket {
  readonly objects: Map<string, Buffer>;
  /** Answers to give before the real ones. */
  readonly faults: Fault[];
  /** Given for ever when `faults` is empty. */
  usual: Fault | undefined;
  readonly puts: string[];
  /** Awaited before objects are removed. */
  beforeRemoval: Promise<void> | undefined;
  readonly env: Readonly<Record<string, string>>;
}

export async function openBucket(): Promise<Bucket> {
  const bucket: Bucket = {
    objects: new Map(),
    faults: [],
    usual: undefined,
    puts: [],
    beforeRemoval: undefined,
    env: {},
  };
  const { objects, faults, puts } = bucket;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { pathname: name } = new URL(request.url ?? '', 'http://x');
      const fault = faults.shift() ?? bucket.usual;
      if (fault === 'silent') return undefined;
      if (fault === 'fail') return response.writeHead(503).end();
      if (request.method === 'PUT') {
        objects.set(name, Buffer.concat(pieces));
        puts.push(name);
        return response.writeHead(200, { etag: '"x"' }).end();
      }
      if (request.method === 'POST') {
        const keys = [
          ...Buffer.concat(pieces)
            .toString()
            .matchAll(/<Key>([^<]*)<\/Key>/g),
        ].map(([, key = '']) => key);
        return (bucket.beforeRemoval ?? Promise.resolve()).then(() => {
          for (const key of keys) objects.delete(`${name.replace(/\/$/, '')}/${key}`);
          const removed = keys.map((key) => `<Deleted><Key>${key}</Key></Deleted>`).join('');
          response.writeHead(200, { 'content-type': 'application/xml' });
          response.end(`<?xml version="1.0"?><DeleteResult>${removed}</DeleteResult>`);
        });
      }
      const found = objects.get(name);
      if (found === undefined) return response.writeHead(404).end();
      if (fault === 'trickle') {
        response.writeHead(200, { 'content-length': '1000000', etag: '"x"' });
        const timer = setInterval(() => response.write('x'), 5);
        return response.on('close', () => clearInterval(timer));
      }
      const bytes = fault === 'wrong' ? Buffer.from('other bytes') : found;
      response.writeHead(200, { 'content-length': String(bytes.length), etag: '"x"' });
      return response.end(request.method === 'HEAD' ? undefined : bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const env = {
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${String(port)}`,
  };
  return Object.assign(bucket, { env });
}

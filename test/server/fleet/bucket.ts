/** A server that speaks enough of S3, is slow to agree, fails, and returns other bytes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

export interface Bucket {
  readonly objects: Map<string, Buffer>;
  /** Answers to give before the real ones. */
  readonly faults: ('fail' | 'wrong')[];
  readonly puts: string[];
  readonly env: Readonly<Record<string, string>>;
}

export async function openBucket(): Promise<Bucket> {
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

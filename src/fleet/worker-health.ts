/** Answers the probes of an orchestrator: `/healthz` until the worker has to be replaced, `/readyz` while it takes runs. */
import { createServer } from 'node:http';
import { once } from 'node:events';

import { SkillError } from '#core';
import { isSystemError, respond } from '#platform';

interface WorkerHealth {
  /** Why the process has to be replaced. */
  readonly failure: () => string | undefined;
  /** Why it takes no runs now. */
  readonly pause: () => string | undefined;
}

const IDLE_MS = 5_000;

/** Listens on all addresses: probes come from the machine around the container. Nothing but the two states is told. */
export async function serveHealth(port: number | undefined, { failure, pause }: WorkerHealth): Promise<() => void> {
  if (port === undefined) return () => undefined;
  const server = createServer((request, response) => {
    request.resume();
    const { pathname } = new URL(request.url ?? '/', 'http://worker');
    if (pathname !== '/healthz' && pathname !== '/readyz')
      return respond(response, 404, { error: 'expected /healthz or /readyz' });
    const problem = failure() ?? (pathname === '/readyz' ? pause() : undefined);
    respond(response, problem === undefined ? 200 : 503, { status: problem ?? 'ok' });
  });
  server.headersTimeout = IDLE_MS;
  server.requestTimeout = IDLE_MS;
  server.maxConnections = 32;
  server.listen(port);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `cannot answer probes on port ${String(port)}: ${error.code}`,
      hint: 'choose another port with --health-port',
      data: { path: String(port), cause: error.code },
      cause: error,
    });
  }
  server.unref();
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

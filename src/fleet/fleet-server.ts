/** The HTTP API of a fleet. It starts no run itself: it accepts runs, answers questions and shows what workers recorded. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';

import { SkillError } from '#core';
import { acceptRequests, LOOPBACK_HEADERS, respond } from '#platform';
import { answerApi, httpError, openPageFiles, sendError } from '#server';
import { reasonText } from './database.ts';
import { hasKeys, needRight, openKeyring, type Identity } from './keys.ts';
import { SILENT_SECONDS, takeOverRuns } from './hand-over.ts';
import { metricsText } from './metrics.ts';
import { PASS_SECONDS, reconcile } from './reconcile.ts';
import { LIMITS, fleetRoutes, type FleetContext } from './routes.ts';
import { linkIdentity } from './signed-links.ts';
import { logIn, sendLogin, sessionIdentity, sessionToken } from './page-session.ts';
import { openRecordFolders, type RecordFolders } from './stored-records.ts';
import { deliver } from './webhooks.ts';

export interface FleetServerOptions extends Omit<FleetContext, 'folders'> {
  /** Default: the loopback. Anything else needs at least one key in the database. */
  readonly host?: string;
  readonly port?: number;
  readonly onNote?: (note: string) => void;
  /** A reader that takes no data for this long is disconnected (default: 30,000). */
  readonly stalledMs?: number;
}

export interface FleetServer {
  /** Without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);
const STALLED_MS = 30_000;
const MAX_CONNECTIONS = 512;
const IS_OPEN = `state in ('queued', 'running', 'waiting')`;
const DELIVERY_MS = 1_000;
/**
 * Workers take over runs too; the server does for a time without workers. It waits longer than they do: if there is no other worker, the one
 * that is silent may still have results in its memory.
 */
const LOST_SECONDS = 30;
const FAILED_MS = 2 * SILENT_SECONDS * 1_000;

/** Resolves when the server listens. Throws `policy/refused` if it would be reachable from elsewhere without keys. */
export async function openFleetServer(options: FleetServerOptions): Promise<FleetServer> {
  const { pool, host = '127.0.0.1', port = 0, onNote = () => undefined } = options;
  if (!LOOPBACK.has(host) && !(await hasKeys(pool))) throw withoutKeys(host);
  const closing = new AbortController();
  const keyring = openKeyring(pool);
  const exchange: Exchange = {
    options,
    keyring,
    folders: openRecordFolders(options),
    pages: openPageFiles(options.page.pages),
    closing: closing.signal,
    onNote,
  };
  const server = createServer({
    maxHeaderSize: 16_384,
    headersTimeout: 5_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1_000,
  });
  acceptRequests(server, MAX_CONNECTIONS, (request, response) => answer(request, response, exchange));
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const by = `server ${hostname()}-${String(process.pid)}`;
  const loops = [
    repeat(
      'webhooks',
      async () => ((await deliver(pool, closing.signal, options.webhooksTo ?? [])) === 0 ? DELIVERY_MS : 0),
      exchange,
    ),
    repeat(
      'reconciler',
      async () => {
        const { rowCount } = await pool.query(`select 1 from skillwright.runs where ${IS_OPEN} limit 1`);
        if (rowCount === 0) return PASS_SECONDS * 1_000;
        const lost = await takeOverRuns(options, by, LOST_SECONDS);
        for (const { run, because } of [...lost, ...(await reconcile(options, by))]) onNote(`run ${run}: ${because}`);
        return PASS_SECONDS * 1_000;
      },
      exchange,
    ),
  ];
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${String(bound)}`,
    async close() {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, ...loops]);
    },
  };
}

/** Calls `act` until the server closes, after the pause in milliseconds that the last call returned. */
async function repeat(
  name: string,
  act: () => Promise<number>,
  { closing, onNote }: Pick<Exchange, 'closing' | 'onNote'>,
): Promise<void> {
  while (!closing.aborted) {
    const ms = await act().catch((error: unknown) => {
      if (!closing.aborted) onNote(`${name}: ${reasonText(error)}`);
      return FAILED_MS;
    });
    if (ms > 0) await sleep(ms, undefined, { signal: closing }).catch(() => undefined);
  }
}

/** Streams of a key that was revoked end within this time, and the second for which keys are remembered. */
const RECHECK_MS = 2_000;

interface Exchange {
  readonly options: FleetServerOptions;
  readonly folders: RecordFolders;
  readonly pages: ReturnType<typeof openPageFiles>;
  readonly keyring: (secret: string) => Promise<Identity | undefined>;
  readonly closing: AbortSignal;
  readonly onNote: (note: string) => void;
}

async function answer(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  try {
    await route(request, response, exchange);
  } catch (error) {
    if (sendError(response, error)) return;
    exchange.onNote(`request failed: ${reasonText(error)}`);
    respond(response, 503, { error: 'the request could not be completed; try again' });
  }
}

async function route(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { options, keyring, closing, pages } = exchange;
  const { pool } = options;
  const target = request.url ?? '';
  if (!target.startsWith('/') || !URL.canParse(target, 'http://localhost'))
    throw httpError(400, 'invalid request target');
  const url = new URL(target, 'http://localhost');
  const isGet = request.method === 'GET';
  if (isGet && (url.pathname === '/healthz' || url.pathname === '/readyz')) return health(url.pathname, response, pool);
  if (url.pathname === '/login' && pages.isPresent) {
    if (isGet) return sendLogin(response);
    if (request.method === 'POST') return logIn(request, response, { pool, keyring });
  }
  const session = sessionToken(request);
  const [, bearer = ''] = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(request.headers.authorization ?? '') ?? [];
  const identify = async (): Promise<Identity | undefined> => {
    if (isGet && session === '' && bearer === '' && url.searchParams.has('signature')) return linkIdentity(pool, url);
    return session === '' ? keyring(bearer) : sessionIdentity(pool, session);
  };
  const identity = await identify();
  if (isGet && pages.has(url.pathname)) {
    if (identity === undefined && url.pathname === '/') return sendLogin(response);
    return pages.send(response, url.pathname);
  }
  if (identity === undefined)
    throw httpError(
      401,
      'missing or invalid key: send Authorization: Bearer KEY',
      'skillwright fleet keys creates one',
    );
  if (url.pathname === '/metrics' && isGet) {
    needRight(identity, 'read');
    const text = await metricsText(pool, identity.project);
    response.writeHead(200, { ...LOOPBACK_HEADERS, 'content-type': 'text/plain; version=0.0.4' });
    return void response.end(text);
  }
  const routes = fleetRoutes({ ...options, folders: exchange.folders }, identity);
  // A stream outlives its first check. While the database does not answer, nothing is known about the key.
  const revoked = new AbortController();
  const recheck = setInterval(() => {
    identify().then(
      (known) => known ?? revoked.abort(),
      () => undefined,
    );
  }, RECHECK_MS);
  try {
    await answerApi(request, response, url, {
      routes,
      limits: { ...LIMITS, stalledMs: options.stalledMs ?? STALLED_MS },
      closing: AbortSignal.any([closing, revoked.signal]),
      onNote: exchange.onNote,
    });
  } finally {
    clearInterval(recheck);
  }
}

async function health(name: string, response: ServerResponse, pool: Pool): Promise<void> {
  if (name === '/healthz') return respond(response, 200, { status: 'alive' });
  try {
    await pool.query('select 1 from skillwright.migrations limit 1');
    respond(response, 200, { status: 'ready' });
  } catch {
    respond(response, 503, { status: 'the database does not answer' });
  }
}

function withoutKeys(host: string): SkillError {
  return new SkillError({
    code: 'policy/refused',
    message: `the server would be reachable at ${host}, and there is no key yet`,
    hint: 'create one: skillwright fleet keys create NAME --rights admin; TLS is the work of a reverse proxy in front',
    data: { rule: 'server/keys', approval: '', command: 'skillwright fleet keys create NAME --rights admin' },
  });
}

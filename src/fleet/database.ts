/** Connections to PostgreSQL. `pg` and `@dbos-inc/dbos-sdk` are optional: they are loaded when a fleet is opened. */
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';

import { invalidInput, isSkillError, SkillError } from '#core';
import { loadOptional } from '#platform';

export interface Database extends Pool {
  /**
   * Closes connections that are older than this. A firewall that forgets a connection neither answers nor closes it, and each statement on
   * such a one would wait for its timeout. Statements in progress reject with an error that `isPassing`.
   */
  renew(olderThanMs: number): void;
}

const READ_TIMEOUT = 'Query read timeout';
/** After this much silence the kernel asks the other side each second, ten times. */
const KEEP_ALIVE_MS = 5_000;

/** Opens a pool of connections and checks that the database answers. */
export async function openDatabase(
  url: string,
  { size = 10, timeoutMs = 30_000 }: { readonly size?: number; readonly timeoutMs?: number } = {},
): Promise<Database> {
  if (!/^postgres(?:ql)?:\/\//.test(url))
    throw invalidInput(
      'the database address does not begin with postgres://',
      'postgres://USER@HOST/NAME',
      'pass --database postgres://USER@HOST/NAME, or set SKILLWRIGHT_DATABASE_URL',
    );
  const pg = await loadOptional('pg', () => import('pg'));
  const opened = new Map<Socket, number>();
  // The server cannot say that a statement takes too long if the network is broken.
  const readTimeoutMs = timeoutMs + 1_000;
  const pool = new pg.default.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: 5_000,
    statement_timeout: timeoutMs,
    query_timeout: readTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    stream() {
      const socket = new Socket();
      opened.set(socket, performance.now());
      socket.on('close', () => opened.delete(socket));
      return socket;
    },
  });
  // An idle connection that breaks is replaced by the pool; the query that needs one reports the error.
  pool.on('error', () => undefined);
  // The pool listens to idle connections only. One that breaks between two statements of a transaction would end this process otherwise.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  const renew = (olderThanMs: number): void => {
    for (const [socket, at] of opened) if (performance.now() - at >= olderThanMs) socket.destroy();
  };
  // Other connections of that age are dead too.
  pool.on('release', (error) => {
    if (error instanceof Error && error.message === READ_TIMEOUT) renew(readTimeoutMs);
  });
  try {
    await pool.query('select 1');
  } catch (error) {
    await pool.end();
    const path = withoutPassword(url);
    throw ioFailed(
      `the database ${path} does not answer: ${reasonText(error)}`,
      'check that PostgreSQL runs and accepts this user: psql "$SKILLWRIGHT_DATABASE_URL" -c "select 1"',
      { path, error },
    );
  }
  return Object.assign(pool, { renew });
}

const WATCH_MS = 500;
/** While nothing happens. A pool that does not answer is still found before its connections have been silent for long. */
const IDLE_BEAT_MS = 2_500;
const IDLE_USE_MS = 5_000;
/** Connections that do not answer for this long are replaced; statements of a fleet take milliseconds. */
const SILENT_MS = 8_000;

/** Sends a statement on a connection that nothing else uses, and opens it again after it broke. */
export type Heart = <Row extends QueryResultRow>(statement: QueryConfig) => Promise<QueryResult<Row>>;

export interface WatchOptions {
  /** Asks on a connection of its own: those of the pool may all be busy (default: `select 1`). It must reject if there is no answer. */
  readonly beat?: (heart: Heart) => Promise<unknown>;
  /** Uses the pool (default: `select 1`). */
  readonly use?: () => Promise<unknown>;
  /** Asks less often while this holds (default: always). */
  readonly isIdle?: () => boolean;
  /** Called before connections are replaced, with the time since `use` was last answered. */
  readonly onSilent?: (silentMs: number) => void;
  /** Calls `heard` for each notification on a channel. */
  readonly listen?: { readonly channel: string; readonly heard: () => void };
}

export interface DatabaseWatch {
  /** Asks now. */
  kick(): void;
  close(): Promise<void>;
}

/** Asks the database again and again, and renews the connections of a pool that do not answer although a new one does. */
export async function watchDatabase(
  url: string,
  pool: Database,
  { beat = (send) => send({ text: 'select 1' }), use = () => pool.query('select 1'), ...options }: WatchOptions = {},
): Promise<DatabaseWatch> {
  const { isIdle = () => true, onSilent, listen } = options;
  const heart = await openDatabase(url, { size: 1, timeoutMs: 3_000 });
  let lastUse = performance.now();
  let lastRenewal = 0;
  const check = (): void => {
    const now = performance.now();
    if (now - Math.max(lastUse, lastRenewal) <= SILENT_MS) return;
    lastRenewal = now;
    onSilent?.(now - lastUse);
    pool.renew(SILENT_MS);
  };
  const listening = new WeakSet<PoolClient>();
  const send: Heart = async (statement) => {
    const client = await heart.connect();
    let broken: Error | undefined;
    try {
      // A connection that replaces a broken one listens too.
      if (listen !== undefined && !listening.has(client)) {
        client.on('notification', listen.heard);
        await client.query(`listen ${listen.channel}`);
        listening.add(client);
      }
      return await client.query(statement);
    } catch (error) {
      broken = error instanceof Error ? error : new Error(reasonText(error));
      throw error;
    } finally {
      client.release(broken);
    }
  };
  const answered = async (): Promise<void> => {
    await use().catch(() => undefined);
    lastUse = performance.now();
  };
  // Apart, so that a heartbeat does not wait for the pool.
  const uses = openInterval(answered, () => (isIdle() ? IDLE_USE_MS : WATCH_MS));
  const beats = openInterval(
    () => beat(send).then(check, () => undefined),
    () => (isIdle() ? IDLE_BEAT_MS : WATCH_MS),
  );
  return {
    kick() {
      beats.kick();
      uses.kick();
    },
    async close() {
      // In this order: connections that are silent now are still replaced.
      await uses.close();
      await beats.close();
      await beat(send).catch(() => undefined);
      await heart.end();
    },
  };
}

/** Calls `act` again and again, each time a while after it has ended, or when it is kicked. */
function openInterval(act: () => Promise<void>, pauseMs: () => number): DatabaseWatch {
  const closing = new AbortController();
  let kicked = new AbortController();
  const loop = (async () => {
    while (!closing.signal.aborted) {
      kicked = new AbortController();
      await act();
      const signal = AbortSignal.any([closing.signal, kicked.signal]);
      await pause(pauseMs(), undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    kick: () => kicked.abort(),
    async close() {
      closing.abort();
      await loop;
    },
  };
}

export async function inTransaction<T>(pool: Pool, act: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await act(client);
    await client.query('commit');
    return result;
  } catch (error) {
    if (error instanceof Error && isDisconnected(error)) broken = error;
    else
      await client.query('rollback').catch((problem: Error) => {
        broken = problem;
      });
    throw error;
  } finally {
    client.release(broken);
  }
}

export const RETRY_MS = 200;
const END_MS = 60_000;

/** Tries again after failures that may pass. Others are thrown at once: they say that the run belongs to another worker, or what is wrong with it. */
export async function retry<T>(act: () => Promise<T>, mayPass: (error: unknown) => boolean): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await pause(RETRY_MS);
    }
  }
}

/** Tries again while the database does not answer, as when it is restarted or full, until `stop`. */
export function reached<T>(act: () => Promise<T>, stop: AbortSignal): Promise<T> {
  return retry(act, (error) => isPassing(error) && !stop.aborted);
}

/**
 * As `reached`, for what must not be given up because nothing would do it later: as long as there is no connection, and a minute if the
 * database refuses.
 */
export function untilReached<T>(act: () => Promise<T>): Promise<T> {
  const end = performance.now() + END_MS;
  return retry(act, (error) => isPassing(error) && (isDisconnected(error) || performance.now() <= end));
}

/**
 * Whether the same statement may succeed later: the connection broke, or the server restarts, is full or has a conflict. SQLSTATE classes:
 * 08 connection, 25 read-only after a switch-over, 40 rollback, 53 resources, 55 not ready, 57 shutdown, 58 system.
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || isSkillError(error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return !/^[0-9A-Z]{5}$/.test(code) || /^(?:08|25|40|53|55|57|58)/.test(code);
}

/** Whether the connection to the database was lost. Narrower than `isPassing`: a run is repeated after it. */
export function isDisconnected(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    /^(?:08|57P)\w{2,3}$|^E(?:CONN|TIMEDOUT|PIPE|HOSTUN|NETUN)/.test(code) ||
    /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client .* not queryable)/.test(
      error.message,
    )
  );
}

/** Whether opening the database failed in a way that may pass: it starts, is full, or cannot be reached. */
export function isUnreachable(error: unknown): boolean {
  return isPassing(isSkillError(error) ? error.cause : error);
}

export function reasonText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function ioFailed(
  message: string,
  hint: string,
  { path, cause, error }: { readonly path: string; readonly cause?: string; readonly error?: unknown },
): SkillError {
  return new SkillError({
    code: 'io/failed',
    message,
    hint,
    data: { path, cause: cause ?? reasonText(error) },
    cause: error,
  });
}

/** The address without its password, for messages. */
function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return 'address';
  const parsed = new URL(url);
  parsed.password = '';
  parsed.search = '';
  return parsed.href;
}

/**
 * U+0000 as `␀`, half a surrogate pair as `�`: neither `text` nor `jsonb` stores them. Requests with them are refused; what models and programs
 * produce is stored visibly escaped. The lines of a record are JSON text, whose escapes keep every character.
 */
export function storableText(text: string): string {
  return text.replaceAll('\0', '␀').replaceAll(/\p{Cs}/gu, '\uFFFD');
}

/** JSON for a `jsonb` column, with keys and values as `storableText` writes them. */
export function storableJson(value: unknown): string {
  // `JSON.stringify` escapes a surrogate only if it has no partner.
  return JSON.stringify(value).replaceAll(/\\(?:u(0000|d[89a-f]..)|.)/g, (escape: string, code?: string) =>
    code === undefined ? escape : code === '0000' ? '␀' : '\uFFFD',
  );
}

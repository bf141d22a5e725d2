import { setTimeout as wait } from 'node:timers/promises';

import { visibleJson, type JournalLine } from '#core';

export interface ServerSentEventOptions {
  /** The `Last-Event-ID` header of the request: lines up to that id are omitted. */
  readonly lastEventId?: string | undefined;
  /** The interval of keep-alive comments in milliseconds (default: 15,000). */
  readonly heartbeatMs?: number;
  /** The reconnection delay of the client in milliseconds (default: 2,000). */
  readonly retryMs?: number;
  /** Aborted when the client disconnects or the server closes. */
  readonly signal?: AbortSignal;
}

const RETRY_MS = 2_000;

/**
 * Renders a run as frames of `text/event-stream`: `id:` is the number of a line, `event:` its type, `data:` the line as JSON. Lines
 * are read on demand, one per frame. The stream ends after the last line; a client should close after `run-end`, because browsers
 * reconnect otherwise.
 */
export async function* serverSentEvents(
  lines: AsyncIterable<JournalLine>,
  options: ServerSentEventOptions = {},
): AsyncGenerator<string, void, undefined> {
  yield `retry: ${String(Math.max(0, Math.round(options.retryMs ?? RETRY_MS)))}\n\n`;
  yield* withHeartbeat(frameLines(lines, readLastEventId(options.lastEventId)), options);
}

async function* frameLines(lines: AsyncIterable<JournalLine>, after: number): AsyncGenerator<string> {
  for await (const line of lines) {
    const { seq, event } = line;
    if (!(seq <= after)) yield frameEvent(event.type, line, Number.isSafeInteger(seq) ? seq : undefined);
  }
}

/** Adds comments that say that a stream without news is still open. Ends with the signal. */
export async function* withHeartbeat(
  frames: AsyncIterable<string>,
  { heartbeatMs = HEARTBEAT_MS, signal }: Pick<ServerSentEventOptions, 'heartbeatMs' | 'signal'>,
): AsyncGenerator<string, void, undefined> {
  const iterator = frames[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    while (true) {
      const result = await orSilence(next, heartbeatMs, signal);
      if (result === 'gone') return;
      if (result === 'silence') yield ': \n\n';
      else if (result.done === true) return;
      else {
        yield result.value;
        next = iterator.next();
      }
    }
  } finally {
    // Not awaited: a source that waits for its next line ends when that arrives.
    iterator.return?.().catch(() => undefined);
  }
}

/** Returns the number of the last line that a client has; 0 for an invalid header. */
function readLastEventId(header: string | undefined): number {
  return header !== undefined && /^[0-9]{1,15}$/.test(header) ? Number(header) : 0;
}

export function frameEvent(event: string, value: unknown, id?: string | number): string {
  return frameLine(event, visibleJson(JSON.stringify(value)), id);
}

/** A frame with one line of JSON. A name that could break the frame is replaced. */
export function frameLine(event: string, json: string, id?: string | number): string {
  const first = id === undefined ? '' : `id: ${String(id)}\n`;
  return `${first}event: ${/^[a-z-]{1,40}$/.test(event) ? event : 'unknown'}\ndata: ${json}\n\n`;
}

const HEARTBEAT_MS = 15_000;

/** Waits for the next line, the keep-alive interval, or the abort signal, whichever comes first. */
async function orSilence<Line>(
  next: Promise<Line>,
  heartbeatMs: number,
  signal: AbortSignal | undefined,
): Promise<Line | 'silence' | 'gone'> {
  if (signal?.aborted === true) {
    next.catch(() => undefined);
    return 'gone';
  }
  const timer = new AbortController();
  const stop = (): void => timer.abort();
  signal?.addEventListener('abort', stop, { once: true });
  const silence = wait(heartbeatMs, 'silence' as const, { signal: timer.signal, ref: false }).catch(
    () => 'gone' as const,
  );
  try {
    return await Promise.race([next, silence]);
  } finally {
    signal?.removeEventListener('abort', stop);
    timer.abort();
  }
}

import type { Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';

import type { OutputSink } from '#core';
import { isSystemError } from '#platform';

/** Checks of streams that should be empty. */
const MAX_DRAINS = 10_000;

/** The output streams of a process, connected to sinks. */
export interface Intake {
  /** Resolves when both streams are closed. */
  readonly closed: Promise<unknown>;
  readonly refused: Promise<void>;
  /** Reads what is left in the streams and closes them. Throws what a sink threw. */
  drain(): Promise<void>;
}

type Source = readonly [Readable, OutputSink];

/** Passes every chunk to its sink immediately; both streams together pass at most `maxBytes`. */
export function takeOutput(first: Source, second: Source, maxBytes: number): Intake {
  const sources = [first, second];
  let received = 0;
  let thrown: { readonly error: unknown } | undefined;
  let isOpen = true;
  const refused = new Promise<void>((resolve) => {
    const take = (sink: OutputSink, chunk: Uint8Array): void => {
      if (!isOpen) return;
      const room = maxBytes - received;
      received += chunk.length;
      let isTaken = false;
      try {
        isTaken = sink.write(chunk.length > room ? chunk.subarray(0, room) : chunk) && chunk.length <= room;
      } catch (error) {
        // `drain` throws it: an error thrown here would crash the event loop.
        thrown ??= { error };
      }
      if (isTaken) return;
      // Paused, not closed: the program blocks until it is killed, instead of dying from a broken pipe.
      isOpen = false;
      for (const [stream] of sources) stream.pause();
      resolve();
    };
    for (const [stream, sink] of sources) {
      stream.on('error', ignoreClosed);
      stream.on('data', (chunk: Uint8Array) => take(sink, chunk));
    }
  });
  const closed = Promise.all(
    sources.map(async ([stream]) => await new Promise((resolve) => void stream.once('close', resolve))),
  );
  const drain = async (): Promise<void> => {
    // A stream counts as empty only if two turns of the event loop brought nothing, however late they run.
    for (let quiet = 0, looks = 0; quiet < 2 && looks < MAX_DRAINS; looks += 1) {
      if (sources.every(([stream]) => stream.closed)) break;
      const before = received;
      await immediate();
      quiet = received === before ? quiet + 1 : 0;
    }
    isOpen = false;
    for (const [stream] of sources) stream.destroy();
    if (thrown !== undefined) throw thrown.error;
  };
  return { closed, refused, drain };
}

/** Ignores errors of a stream that the other side closed. Other errors are thrown. */
export function ignoreClosed(error: unknown): void {
  if (!isSystemError(error) || !CLOSED.has(error.code)) throw error;
}

const CLOSED: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'ECANCELED', 'EOF', 'ENOTCONN', 'EIO']);

import type { Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';

import type { OutputSink } from '../../core/execution.ts';
import { isSystemError } from '../fs/paths.ts';

/** Looks at streams that should be empty. */
const MAX_DRAINS = 10_000;

/** What comes out of a process, on its way to the sinks. */
export interface Intake {
  /** Both streams have ended. */
  readonly closed: Promise<unknown>;
  readonly refused: Promise<void>;
  /** Takes what lies in the streams, and cuts them. Throws what a sink threw. */
  drain(): Promise<void>;
}

type Source = readonly [Readable, OutputSink];

/** Hands every chunk to its sink at once, so that nothing is kept; both streams together give `maxBytes` at most. */
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
        // Not ours to judge, and not to be thrown into the loop of events: whoever waits for the end gets it.
        thrown ??= { error };
      }
      if (isTaken) return;
      // Held back and not closed: a program that cannot write waits to be ended, and does not end by itself of a broken pipe.
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
    // However late the loop is: a stream counts as empty only after it was asked and gave nothing, twice.
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

/** The other side of a stream is gone: what was still to be written or read is nobody's loss. Everything else is thrown. */
export function ignoreClosed(error: unknown): void {
  if (!isSystemError(error) || !CLOSED.has(error.code)) throw error;
}

const CLOSED: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'ECANCELED', 'EOF', 'ENOTCONN', 'EIO']);

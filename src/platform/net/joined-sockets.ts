import type { Duplex } from 'node:stream';

/** A byte counter shared by connections. Once `take` returns false, the limit is reached for all of them. */
export interface ByteMeter {
  readonly total: number;
  take(bytes: number): boolean;
}

export function byteMeter(limit: number, exhausted: () => void): ByteMeter {
  let total = 0;
  return {
    get total() {
      return total;
    },
    take(bytes) {
      const had = total <= limit;
      total += bytes;
      if (total <= limit) return true;
      if (had) exhausted();
      return false;
    },
  };
}

/** Connects two sockets: bytes flow both ways, the end of one direction ends the other socket's, and closing one closes the other. */
export function joinSockets(near: Duplex, far: Duplex, meter: ByteMeter): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.on('data', (chunk: Uint8Array) => {
      if (!meter.take(chunk.length)) from.destroy();
    });
    // After a proper end, `pipe` ends the other socket once its bytes are delivered.
    from.once('close', () => {
      if (!from.readableEnded) to.destroy();
    });
    from.pipe(to);
  }
}

/** Reads `count` bytes; fewer if the other side ended or `signal` aborted. */
export async function takeBytes(socket: Duplex, count: number, signal: AbortSignal): Promise<Uint8Array> {
  let held: Uint8Array = new Uint8Array();
  while (!signal.aborted && !socket.destroyed) {
    // Reads everything: while bytes are left, Node emits `readable` again immediately, forever.
    const chunk: unknown = socket.read();
    if (chunk instanceof Uint8Array) {
      held = Buffer.concat([held, chunk]);
      if (held.length < count) continue;
      if (held.length > count) socket.unshift(held.subarray(count));
      return held.subarray(0, count);
    }
    if (socket.readableEnded) break;
    await readable(socket, signal);
  }
  return held;
}

function readable(socket: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of EVENTS) socket.off(event, done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    for (const event of EVENTS) socket.on(event, done);
    signal.addEventListener('abort', done, { once: true });
  });
}

const EVENTS = ['readable', 'end', 'close'] as const;

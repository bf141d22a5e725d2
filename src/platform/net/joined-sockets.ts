import type { Duplex } from 'node:stream';

/** Counts what passes. Once `take` gives false nothing more passes, for anybody who shares it. */
export interface ByteMeter {
  readonly taken: number;
  take(bytes: number): boolean;
}

export function byteMeter(limit: number, exhausted: () => void): ByteMeter {
  let taken = 0;
  return {
    get taken() {
      return taken;
    },
    take(bytes) {
      const had = taken <= limit;
      taken += bytes;
      if (taken <= limit) return true;
      if (had) exhausted();
      return false;
    },
  };
}

/** Two connections become one: bytes both ways, a half that ends ends the other's half, either one gone takes the other along. */
export function joinSockets(near: Duplex, far: Duplex, meter: ByteMeter): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.on('data', (chunk: Uint8Array) => {
      if (!meter.take(chunk.length)) from.destroy();
    });
    // What ended properly has ended the other by `pipe`, which may still have bytes to deliver.
    from.once('close', () => {
      if (!from.readableEnded) to.destroy();
    });
    from.pipe(to);
  }
}

/** Up to `count` bytes: fewer when the other side has ended or `signal` says stop. */
export async function takeBytes(socket: Duplex, count: number, signal: AbortSignal): Promise<Uint8Array> {
  let held: Uint8Array = new Uint8Array();
  while (!signal.aborted && !socket.destroyed) {
    // All there is: while a part stays behind, Node calls the stream readable again at once, for ever.
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

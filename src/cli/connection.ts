import { EXIT } from './exit.ts';
import type { Streams } from './terminal.ts';

export interface Connection {
  /** Aborted by the first interrupt; the second one ends the process. */
  readonly signal: AbortSignal;
  readonly streams: Streams;
}

/** Ties a command to its process: interrupts become an abort that commands can act on, and a closed pipe is no error. */
export function connect(process: NodeJS.Process): Connection {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      // oxlint-disable-next-line unicorn/no-process-exit
      if (controller.signal.aborted) process.exit(EXIT.interrupted);
      controller.abort(new Error(`stopped by ${name}`));
    });
  }
  const guarded = new WeakSet<NodeJS.WriteStream>();
  const guard = (stream: NodeJS.WriteStream): NodeJS.WriteStream => {
    if (guarded.has(stream)) return stream;
    guarded.add(stream);
    return stream.on('error', (error: NodeJS.ErrnoException) => {
      // oxlint-disable-next-line unicorn/no-process-exit
      if (error.code === 'EPIPE') process.exit(EXIT.done);
      throw error;
    });
  };
  return {
    signal: controller.signal,
    streams: {
      get stdout() {
        return guard(process.stdout);
      },
      get stderr() {
        return guard(process.stderr);
      },
    },
  };
}

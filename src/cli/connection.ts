import { EXIT } from './exit.ts';
import { standardStream } from './terminal/standard-stream.ts';
import type { Stream, Streams } from './terminal/terminal.ts';

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
  // A terminal that goes away says so twice, once by its shell: nobody is impatient.
  const hangUp = (): void => controller.abort(new Error('stopped by SIGHUP'));
  process.on('SIGHUP', hangUp);
  const ending = { isEnding: () => controller.signal.aborted, hangUp };
  let stdout: Stream | undefined;
  let stderr: Stream | undefined;
  return {
    signal: controller.signal,
    streams: {
      get stdout() {
        stdout ??= standardStream(process, 'stdout', ending);
        return stdout;
      },
      get stderr() {
        stderr ??= standardStream(process, 'stderr', ending);
        return stderr;
      },
    },
  };
}

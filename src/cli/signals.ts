import { EXIT } from './exit.ts';

/** Turns the first interrupt into an abort that commands can act on; the second one ends the process. A closed pipe is no error. */
export function handleSignals(process: NodeJS.Process): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      // oxlint-disable-next-line unicorn/no-process-exit
      if (controller.signal.aborted) process.exit(EXIT.interrupted);
      controller.abort(new Error(`stopped by ${name}`));
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // oxlint-disable-next-line unicorn/no-process-exit
      if (error.code === 'EPIPE') process.exit(EXIT.done);
      throw error;
    });
  }
  return controller.signal;
}

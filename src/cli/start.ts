import { EXIT } from './exit.ts';
import { main } from './main.ts';
import { standardStream } from './terminal/standard-stream.ts';

/** Runs the command line of a process and sets its exit code. A bug ends the process with its stack. */
export async function start(process: NodeJS.Process, words: readonly string[]): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      // The first interrupt lets the command clean up; the second ends the process.
      // oxlint-disable-next-line unicorn/no-process-exit
      if (signal.aborted) process.exit(EXIT.interrupted);
      controller.abort(new Error(`stopped by ${name}`));
    });
  }
  // A closed terminal reports itself twice (a signal and a write error): the second report is not an impatient user.
  const onHangUp = (): void => controller.abort(new Error('stopped by SIGHUP'));
  process.on('SIGHUP', onHangUp);
  const owner = { isEnding: () => signal.aborted, onHangUp };
  const streams = {
    stdout: standardStream(process, 'stdout', owner),
    stderr: standardStream(process, 'stderr', owner),
  };
  // A process whose event loop runs empty before `main` resolves must not report success.
  process.exitCode = EXIT.failed;
  process.exitCode = await main({ words, streams, env: process.env, signal });
}

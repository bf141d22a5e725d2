import path from 'node:path';

import { cacheDirectory } from '../platform/fs/cache-directory.ts';
import { tryMakeFolders } from '../platform/fs/make-folders.ts';
import { EXIT } from './exit.ts';
import { standardStream } from './terminal/standard-stream.ts';

/** Runs the command line of a process and sets its exit code. A bug ends the process with its stack. */
export async function start(process: NodeJS.Process, words: readonly string[]): Promise<void> {
  if (!words.includes('--no-cache')) enableCompileCache(process);
  const { main } = await import('./main.ts');
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

/**
 * Node keeps compiled code between starts from 22.8 on; older versions compile each time. The folder is created here, because Node's own
 * way of creating it never returns for a home folder in which nothing can be created.
 */
function enableCompileCache(process: NodeJS.Process): void {
  const { env } = process;
  const cacheDir = cacheDirectory({ env, home: env['HOME'] });
  const nodeModule = process.getBuiltinModule('node:module');
  if (
    cacheDir === undefined ||
    !('enableCompileCache' in nodeModule) ||
    typeof nodeModule.enableCompileCache !== 'function'
  )
    return;
  const folder = path.join(cacheDir, 'code');
  if (tryMakeFolders(folder, 0o700)) nodeModule.enableCompileCache(folder);
}

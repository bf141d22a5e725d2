import path from 'node:path';

import { cacheDirectory } from '../platform/fs/cache-directory.ts';

/** Runs the command line of a process and sets its exit code. A bug ends the process with its stack. */
export async function start(process: NodeJS.Process, words: readonly string[]): Promise<void> {
  if (!words.includes('--no-cache')) enableCompileCache(process);
  const [{ main }, { connect }] = await Promise.all([import('./main.ts'), import('./connection.ts')]);
  const { signal, streams } = connect(process);
  // A process whose event loop runs empty before `main` resolves must not report success.
  process.exitCode = 1;
  process.exitCode = await main({ words, streams, env: process.env, signal });
}

/** Node keeps compiled code between starts from 22.8 on; older versions compile each time. */
function enableCompileCache(process: NodeJS.Process): void {
  const { env } = process;
  const cacheDir = cacheDirectory({ env, home: env['HOME'] });
  const nodeModule = process.getBuiltinModule('node:module');
  if (
    cacheDir !== undefined &&
    'enableCompileCache' in nodeModule &&
    typeof nodeModule.enableCompileCache === 'function'
  )
    nodeModule.enableCompileCache(path.join(cacheDir, 'code'));
}

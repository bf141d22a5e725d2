import Module from 'node:module';
import path from 'node:path';

import { cacheDirectory } from '../platform/cache-directory.ts';
import { keepCompiledCode } from './code-cache.ts';

/** Runs the command line of a process and leaves its exit status. A bug ends the process with its stack. */
export async function start(process: NodeJS.Process, words: readonly string[]): Promise<void> {
  const { env } = process;
  const cacheDir = words.includes('--no-cache') ? undefined : cacheDirectory({ env, home: env['HOME'] });
  if (cacheDir !== undefined) keepCode(cacheDir);
  const [{ main }, { connect }] = await Promise.all([import('./main.ts'), import('./connection.ts')]);
  const { signal, streams } = connect(process);
  process.exitCode = await main({ words, streams, env, signal });
}

/** Node keeps compiled code by itself from 22.8 on, when it is told where. */
function keepCode(cacheDir: string): void {
  if ('enableCompileCache' in Module && typeof Module.enableCompileCache === 'function')
    Module.enableCompileCache(path.join(cacheDir, 'code'));
  else keepCompiledCode(import.meta.dirname, cacheDir);
}

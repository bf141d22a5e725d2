import path from 'node:path';

import { cacheDirectory } from '../platform/cache-directory.ts';
import { keepCompiledCode } from './code-cache.ts';
import type { SaveCode } from './code-cache.ts';

/** Runs the command line of a process and leaves its exit status. A bug ends the process with its stack. */
export async function start(process: NodeJS.Process, words: readonly string[]): Promise<void> {
  const { env } = process;
  const cacheDir = words.includes('--no-cache') ? undefined : cacheDirectory({ env, home: env['HOME'] });
  const saveCode = cacheDir === undefined ? undefined : keepCode(process, cacheDir);
  const [{ main }, { connect }] = await Promise.all([import('./main.ts'), import('./connection.ts')]);
  const { signal, streams } = connect(process);
  // What waits for nothing that can still come ends the process without a word: that must not look like success.
  process.exitCode = 1;
  process.exitCode = await main({ words, streams, env, signal });
  await saveCode?.();
  leave(process);
}

/** Ends a process that has nothing left to do: at its natural end Node takes itself apart piece by piece, which takes a millisecond. */
export function leave(process: NodeJS.Process): void {
  // Output that is still on its way comes first.
  // oxlint-disable-next-line unicorn/no-process-exit
  if (process.getActiveResourcesInfo().length === 0) process.exit();
}

/** Node keeps compiled code by itself from 22.8 on, when it is told where. */
function keepCode(process: NodeJS.Process, cacheDir: string): SaveCode | undefined {
  // Asked by number first: the module that knows takes a third of a millisecond to load.
  const Module = Number.parseInt(process.versions.node, 10) < 22 ? {} : process.getBuiltinModule('node:module');
  if (!('enableCompileCache' in Module) || typeof Module.enableCompileCache !== 'function')
    return keepCompiledCode(import.meta.dirname, cacheDir);
  Module.enableCompileCache(path.join(cacheDir, 'code'));
  return undefined;
}

#!/usr/bin/env node
import path from 'node:path';

import { cacheDirectory, makeFolders, isSystemError } from '#platform';
import { VERSION } from '../version.ts';
import { keepPacks } from './keep-packs.ts';
import { standardStream } from './terminal/standard-stream.ts';

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  standardStream(process, 'stdout').write(`${VERSION}\n`);
} else {
  if (!words.includes('--no-cache')) keepCode();
  // CommonJS has no top-level await. A rejection ends the process with its stack.
  // oxlint-disable-next-line typescript/no-floating-promises
  import('./start.ts').then(async ({ start }) => start(process, words));
}

/**
 * The packs of chunks are kept by keep-packs.ts, other chunks by Node from 22.8 on. The folder is created here, because Node's own way of
 * creating it never returns for a home folder in which nothing can be created.
 */
function keepCode(): void {
  const { env } = process;
  const cacheDir = cacheDirectory({ env, home: env['HOME'] });
  if (cacheDir === undefined) return;
  const folder = path.join(cacheDir, 'code');
  if (!tryMakeFolders(folder, 0o700)) return;
  keepPacks(folder, words);
  if (Number.parseInt(process.versions.node, 10) < 22) return;
  const nodeModule = process.getBuiltinModule('node:module');
  if ('enableCompileCache' in nodeModule && typeof nodeModule.enableCompileCache === 'function')
    nodeModule.enableCompileCache(folder);
}

/** Creates a folder that the program can do without, such as a cache; false if the system refuses. */
export function tryMakeFolders(folder: string, mode = 0o777): boolean {
  try {
    makeFolders(folder, mode);
    return true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

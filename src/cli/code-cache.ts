import path from 'node:path';
import type { Script } from 'node:vm';

import { writeFileAtomically } from '../platform/fs/atomic-replace.ts';
import { cacheDirectory } from '../platform/fs/cache-directory.ts';
import { tryMakeFolders } from '../platform/fs/make-folders.ts';
import { isDirectory, isSystemError } from '../platform/fs/paths.ts';
import { readPrivateFile } from '../platform/fs/read-file.ts';

const MAX_BYTES = 8 * 1024 * 1024;

/** Keeps compiled code between starts. Node does it itself from 22.8 on. */
export function enableCodeCache({ env }: NodeJS.Process): void {
  const cacheDir = cacheDirectory({ env, home: env['HOME'] });
  if (cacheDir === undefined) return;
  const folder = path.join(cacheDir, 'code');
  const isFirstStart = !isDirectory(folder);
  // Node's own way of creating it never returns for a home folder in which nothing can be created.
  if (!tryMakeFolders(folder, 0o700)) return;
  const nodeModule = process.getBuiltinModule('node:module');
  if ('enableCompileCache' in nodeModule && typeof nodeModule.enableCompileCache === 'function')
    nodeModule.enableCompileCache(folder);
  // One start in a fresh home folder does not pay for later ones.
  else if (!isFirstStart) cacheChunks(folder);
}

/** Compiles the files of this command from their stored code, and stores what was missing when the process ends. */
function cacheChunks(folder: string): void {
  const { createRequire, Module } = process.getBuiltinModule('node:module');
  const { Script: NodeScript } = process.getBuiltinModule('node:vm');
  const compile: unknown = Reflect.get(Module.prototype, '_compile');
  if (typeof compile !== 'function') return;
  const missing = new Map<string, Script>();
  Reflect.set(
    Module.prototype,
    '_compile',
    function compileCached(this: NodeJS.Module, source: string, filename: string): unknown {
      if (path.dirname(filename) !== import.meta.dirname) return Reflect.apply(compile, this, [source, filename]);
      // Names of chunks contain a hash of their text; V8 rejects code of another Node.
      const file = path.join(folder, `${path.basename(filename)}-${process.version}-${process.arch}.code`);
      const stored = readPrivateFile(file, { maxBytes: MAX_BYTES, isSecret: true });
      const options = stored.type === 'read' ? { filename, cachedData: stored.bytes } : { filename };
      const script = new NodeScript(Module.wrap(source), options);
      if (stored.type !== 'read' || script.cachedDataRejected === true) missing.set(file, script);
      const run: unknown = script.runInThisContext();
      if (typeof run !== 'function') return undefined;
      return Reflect.apply(run, this.exports, [
        this.exports,
        createRequire(filename),
        this,
        filename,
        path.dirname(filename),
      ]);
    },
  );
  process.once('exit', () => {
    for (const [file, script] of missing) tryWrite(file, script.createCachedData());
  });
}

function tryWrite(file: string, bytes: Uint8Array): void {
  try {
    writeFileAtomically(file, bytes);
  } catch (error) {
    // The next start tries again.
    if (!isSystemError(error)) throw error;
  }
}

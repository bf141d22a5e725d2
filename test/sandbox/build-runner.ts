import { chmodSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

/** Bundles a program of this folder so that any user can run it, and returns the bundle. The caller removes its folder. */
export async function buildRunner(source: string): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-runner-'));
  chmodSync(folder, 0o755);
  await build({
    configFile: false,
    logLevel: 'silent',
    // Dependencies too: node_modules is not found from the temporary folder.
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL(source, import.meta.url)),
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'runner.mjs', chunkFileNames: '[name].mjs' } },
    },
  });
  return path.join(folder, 'runner.mjs');
}

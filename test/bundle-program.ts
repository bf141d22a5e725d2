import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { PROJECT } from './files-below.ts';

/**
 * Bundles a program that tests start in processes of their own into `folder`: a file, or the text of a module whose imports are relative
 * to `src`. Node loads a few large files several times faster than the hundreds that the library has.
 */
export async function bundleProgram(source: URL | string, folder: string): Promise<string> {
  await build({
    ...(typeof source === 'string'
      ? { stdin: { contents: source, resolveDir: path.join(PROJECT, 'src'), loader: 'js' } }
      : { entryPoints: [fileURLToPath(source)] }),
    entryNames: 'program',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    conditions: ['source'],
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // Dependencies too, because node_modules is not found from a temporary folder. Those in CommonJS need a `require`.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'error',
  });
  return path.join(folder, 'program.mjs');
}

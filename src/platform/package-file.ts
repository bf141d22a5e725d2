import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { SkillError } from '#core';

/**
 * The path of a file or folder of the package, such as `dist/console` or `skills`. A program that bundles skillwright moves this module
 * away from them; they are found through `node_modules` then.
 */
export function packageFile(name: string): string {
  root ??= findRoot();
  const file = path.join(root ?? '', name);
  if (root !== undefined && existsSync(file)) return file;
  throw new SkillError({
    code: 'io/failed',
    message: `${name} is missing from ${root === undefined ? 'this bundle of skillwright' : 'this installation'}`,
    hint:
      root === undefined
        ? "keep the package skillwright out of the bundle: `external: ['skillwright']` of esbuild, `externals` of webpack, `serverExternalPackages: ['skillwright']` of Next.js"
        : 'install skillwright again; in a clone, run npm run build',
    data: { path: file, cause: 'missing' },
  });
}

/** Where this module is loaded from; empty where a bundler removes it. */
export function packageLocation(): string {
  // Bundlers remove it, or make it that of the bundle.
  const dirname: string | undefined = import.meta.dirname;
  return dirname ?? '';
}

let root: string | undefined;

/** This module is two folders below the package in the sources, when compiled, and in both bundles of the package. */
function findRoot(): string | undefined {
  const location = packageLocation();
  const own = path.join(location, '../..');
  if (location !== '' && isPackage(own)) return own;
  // Without a location, from the working directory.
  return resolveFrom(path.resolve(location));
}

function resolveFrom(folder: string): string | undefined {
  try {
    return path.dirname(createRequire(path.join(folder, 'index.js')).resolve('skillwright/package.json'));
  } catch {
    return undefined;
  }
}

function isPackage(folder: string): boolean {
  try {
    return /"name":\s*"skillwright"/.test(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  } catch {
    return false;
  }
}

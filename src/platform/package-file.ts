import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '#core';

const HINT_BUNDLED =
  "keep the package skillwright out of the bundle: `external: ['skillwright']` of esbuild, `externals` of webpack, `serverExternalPackages: ['skillwright']` of Next.js";
const HINT_INCOMPLETE =
  "install skillwright again, or deploy its whole folder: `outputFileTracingIncludes: { '/**': ['./node_modules/skillwright/**/*'] }` of Next.js";

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
      root === undefined ? HINT_BUNDLED : existsSync(path.join(root, 'src')) ? 'run npm run build' : HINT_INCOMPLETE,
    data: { path: file, cause: 'missing' },
  });
}

/** Where this module is loaded from; empty where a bundler removes it. */
export function packageLocation(): string {
  // Bundlers remove it, or make it that of the bundle.
  const dirname: string | undefined = import.meta.dirname;
  return dirname ?? '';
}

/** Loads packages from where this one is installed. Bundlers do not see it; with `createRequire` imported, they look for the packages themselves. */
export function installedRequire(): NodeJS.Require {
  return process.getBuiltinModule('node:module').createRequire(path.join(path.resolve(packageLocation()), 'index.js'));
}

let root: string | undefined;

/** This module is two folders below the package in the sources, when compiled, and in both bundles of the package. */
function findRoot(): string | undefined {
  const location = packageLocation();
  const own = path.join(location, '../..');
  if (location !== '' && isPackage(own)) return own;
  try {
    return path.dirname(installedRequire().resolve('skillwright/package.json'));
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

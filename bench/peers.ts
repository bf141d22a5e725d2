import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Installs a peer at a pinned version into the cache folder, once, and imports a module of it. */
export async function importPeer(peersDir: string, spec: string, module: string): Promise<unknown> {
  const home = installPeer(peersDir, spec);
  const file = createRequire(path.join(home, 'package.json')).resolve(module);
  return import(pathToFileURL(file).href);
}

/** Installs a peer at a pinned version, once, and returns the folder with its `node_modules`. */
export function installPeer(peersDir: string, spec: string): string {
  const at = spec.lastIndexOf('@');
  const name = spec.slice(0, at);
  const home = path.join(peersDir, spec.replaceAll(/[^a-z0-9.@-]/gi, '_'));
  if (!existsSync(path.join(home, 'node_modules', name))) {
    mkdirSync(home, { recursive: true });
    writeFileSync(path.join(home, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', home, spec], {
      stdio: 'ignore',
      timeout: 300_000,
    });
  }
  return home;
}

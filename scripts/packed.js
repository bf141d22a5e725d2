// The packed package, installed beside other packages in a folder as a user does.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** The tarball, made in a folder. */
export function pack(folder) {
  mkdirSync(folder, { recursive: true });
  const words = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  return path.join(folder, execFileSync('npm', words, { cwd: PROJECT, encoding: 'utf8' }).trim());
}

/** Installs pinned packages, unless the folder has them, and the tarball. Returns what went wrong. */
export function install(home, packages, tarball) {
  const manifest = JSON.stringify({ type: 'module', private: true, dependencies: packages });
  const file = path.join(home, 'package.json');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== manifest) {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    writeFileSync(path.join(home, 'package.json'), manifest);
    const step = npm(home, 'install');
    if (step !== undefined) {
      rmSync(file);
      return step;
    }
  }
  // Without flags for conflicts: it must install beside every package.
  return npm(home, 'install', '--no-save', tarball);
}

function npm(cwd, ...words) {
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts'];
  const { status, stderr } = spawnSync('npm', [...words, ...flags], { cwd, encoding: 'utf8' });
  return status === 0 ? undefined : `npm ${words[0]} failed: ${stderr.trim()}`;
}

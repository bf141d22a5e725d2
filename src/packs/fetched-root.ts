/**
 * Roots that are addresses or archives (`SKILLS_ROOT=https://…/skills.zip`), as trpc-agent-go has them: downloaded once into
 * `SKILLS_CACHE_DIR`, a folder for each address, and used from there. Delete the folder to download again. Downloads and archives pass
 * the same checks as those of `install`.
 */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { RootServices } from '#runtime';
import { quoted } from '#core';
import { isSystemError, removeTree, sha256 } from '#platform';
import { stageSource } from './inspect/stage-pack.ts';
import { isRefusal, type PackRefusal } from './problems.ts';
import { readAddress } from './sources/source-text.ts';
import type { PackSource, StagedSource } from './sources/source.ts';

type FetchOptions = Parameters<RootServices['fetch']>[1];

/** Written last: a folder without it is incomplete. */
const READY = '.ready';

export const fetchRoot: RootServices['fetch'] = async (root, options) => {
  try {
    const source = parseRootSource(root, options);
    if (isRefusal(source)) return { problem: describeProblem(root, source.message) };
    if (source.type === 'folder') return { folder: source.path };
    const cache = findCacheFolder(options);
    if (cache === undefined)
      return { problem: describeProblem(root, 'there is no cache folder; set SKILLS_CACHE_DIR') };
    const folder = path.join(cache, toCacheKey(root, source));
    if (existsSync(path.join(folder, READY))) return { folder };
    mkdirSync(cache, { recursive: true, mode: 0o755 });
    return await fetchInto(folder, source, options, root);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { problem: describeProblem(root, error.message) };
  }
};

async function fetchInto(
  folder: string,
  source: PackSource,
  options: FetchOptions,
  root: string,
): ReturnType<RootServices['fetch']> {
  const { cwd, home = cwd, env, signal } = options;
  const temporary = mkdtempSync(path.join(path.dirname(folder), 'tmp-skill-root-'));
  try {
    const to = path.join(temporary, 'stage');
    mkdirSync(to);
    const staged = await stageSource(source, { to, cwd, home, env, signal });
    if (isRefusal(staged)) return { problem: describeProblem(root, staged.message) };
    const staging = path.join(temporary, 'root');
    gather(staged, staging);
    writeFileSync(path.join(staging, READY), 'ok');
    await putInPlace(staging, folder);
    return { folder };
  } finally {
    await removeTree(temporary);
  }
}

/** Every skill in a folder of its name. A second skill of the same name gets a number. */
function gather({ skills }: StagedSource, to: string): void {
  mkdirSync(to);
  const used = new Set<string>();
  for (const { path: from, folder, name } of skills) {
    const base = path.posix.basename(folder) || name.replaceAll(/[^\w.-]/g, '-') || 'skill';
    let free = base;
    for (let number = 2; used.has(free.toLowerCase()); number += 1) free = `${base}-${String(number)}`;
    used.add(free.toLowerCase());
    renameSync(from, path.join(to, free));
  }
}

/** Another process may have finished first; its folder is as good. */
async function putInPlace(staging: string, folder: string): Promise<void> {
  if (existsSync(folder) && !existsSync(path.join(folder, READY))) await removeTree(folder);
  try {
    renameSync(staging, folder);
  } catch (error) {
    if (!existsSync(path.join(folder, READY))) throw error;
  }
}

function parseRootSource(root: string, { cwd }: FetchOptions): PackSource | PackRefusal {
  const file = /^file:\/\/(?:localhost)?(\/[^?#]*)$/i.exec(root)?.[1];
  if (file === undefined && root.includes('://')) return readAddress(root, {});
  const place = path.resolve(cwd, file === undefined ? root : decodeURIComponent(file));
  return { type: lstatSync(place).isDirectory() ? 'folder' : 'archive', path: place };
}

/** An address never changes its folder; an archive on disk gets a new one when it changes. */
function toCacheKey(root: string, source: PackSource): string {
  if (source.type !== 'archive') return sha256(root);
  const { mtimeMs, size } = lstatSync(realpathSync(source.path));
  return sha256(`${realpathSync(source.path)}\0${String(mtimeMs)}\0${String(size)}`);
}

function findCacheFolder({ env, cacheDir }: FetchOptions): string | undefined {
  const { SKILLS_CACHE_DIR: cache = '' } = env;
  if (cache.trim() !== '') return path.resolve(cache.trim());
  return cacheDir === undefined ? undefined : path.join(cacheDir, 'roots');
}

function describeProblem(root: string, cause: string): string {
  return `the root ${quoted(root.replace(/[?#].*$/s, ''), 200)} is not available: ${cause}`;
}

import path from 'node:path';
import { Worker } from 'node:worker_threads';

import type { SkillEntry } from '../../core/skill.ts';
import { readCacheEntry, writeCacheEntry } from '../../platform/fs/cache-directory.ts';
import { fingerprintFiles } from '../../platform/fs/file-stamp.ts';
import { readSearchIndex } from '../../search/search-index.ts';
import type { SearchIndex } from '../../search/search-index.ts';
import type { DeepIndexRequest } from './deep-index-worker.ts';

/** Bodies of ten thousand skills take seconds; far beyond that something is wrong. */
const DEADLINE_MS = 10 * 60 * 1000;

/**
 * The index over bodies. It is built by a worker thread, so that the thread that asked stays free, and kept in the cache under a
 * fingerprint of every file it holds: an edited body is another fingerprint, and another index.
 */
export async function openDeepIndex(
  skills: readonly SkillEntry[],
  cacheDir: string | undefined,
  signal?: AbortSignal,
): Promise<SearchIndex> {
  const { fingerprint, isSettled } = fingerprintFiles(skills.map(({ dir, file }) => `${dir}/${file}`));
  const cacheFile = cacheDir === undefined ? undefined : path.join(cacheDir, `deep-${fingerprint.slice(0, 32)}.bin`);
  const kept = cacheFile === undefined ? undefined : readCacheEntry(cacheFile);
  const known = kept === undefined ? undefined : readSearchIndex(kept);
  if (known !== undefined && known.size === skills.length) return known;

  const bytes = await buildInBackground(
    { skills: skills.map(({ name, description, dir, file }) => ({ name, description, dir, file })) },
    signal,
  );
  // Files that changed just now could change again within the same tick of their clock.
  if (cacheFile !== undefined && isSettled) writeCacheEntry(cacheFile, bytes);
  const built = readSearchIndex(bytes);
  if (built === undefined) throw new Error('the deep index could not be read back');
  return built;
}

function buildInBackground(request: DeepIndexRequest, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const stop = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  return new Promise((resolve, reject) => {
    stop.throwIfAborted();
    // By way of the folder above: the same from the library's modules and from the command's bundle beside them.
    const worker = new Worker(new URL('./deep-index-worker.js', import.meta.url), { workerData: request });
    const end = (): void => {
      void worker.terminate();
      reject(stop.reason);
    };
    stop.addEventListener('abort', end, { once: true });
    worker.once('message', (bytes: Uint8Array) => {
      resolve(bytes);
    });
    worker.once('error', reject);
    worker.once('exit', () => {
      stop.removeEventListener('abort', end);
      reject(new Error('the task that builds the deep index ended without an answer'));
    });
  });
}

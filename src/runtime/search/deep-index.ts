import path from 'node:path';
import { Worker } from 'node:worker_threads';

import type { SkillEntry } from '#core';
import { packageFile, fingerprintFiles, cacheEntry, sha256 } from '#platform';
import { readSearchIndex, type SearchIndex } from '#skills';
import type { DeepIndexRequest } from './deep-index-worker.ts';

/** Indexing ten thousand bodies takes seconds; this is far beyond. */
const DEADLINE_MS = 10 * 60 * 1000;

/**
 * Opens the index over skill bodies. A worker thread builds it, and it is cached under a fingerprint of all files, so that an edited body
 * gets a new index.
 */
export async function openDeepIndex(
  skills: readonly SkillEntry[],
  cacheDir: string | undefined,
  signal?: AbortSignal,
): Promise<SearchIndex> {
  const { fingerprint, isSettled } = fingerprintFiles(skills.map(({ dir, file }) => `${dir}/${file}`));
  const entry = cacheEntry(cacheDir && path.join(cacheDir, `deep-${sha256(fingerprint).slice(0, 32)}.bin`));
  const kept = entry.read();
  const known = kept === undefined ? undefined : readSearchIndex(kept);
  if (known !== undefined && known.size === skills.length) return known;

  const bytes = await buildInBackground(
    { skills: skills.map(({ name, description, dir, file }) => ({ name, description, dir, file })) },
    signal,
  );
  // A file that changed just now could change again within the resolution of its timestamp.
  if (isSettled) entry.write(bytes);
  const built = readSearchIndex(bytes);
  if (built === undefined) throw new Error('the deep index could not be read back');
  return built;
}

function buildInBackground(request: DeepIndexRequest, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const stop = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  return new Promise((resolve, reject) => {
    stop.throwIfAborted();
    const worker = new Worker(packageFile('dist/command/deep-index-worker.js'), { workerData: request });
    const end = (): void => {
      worker.terminate().catch(() => undefined);
      reject(stop.reason);
    };
    stop.addEventListener('abort', end, { once: true });
    worker.once('message', (bytes: Uint8Array) => {
      resolve(bytes);
    });
    worker.once('error', reject);
    worker.once('exit', () => {
      stop.removeEventListener('abort', end);
      reject(new Error('the worker that builds the deep index ended without a result'));
    });
  });
}

/** Indexes bodies of skills in a thread: it takes seconds for two thousand, and a prompt waits 300 ms at most. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { buildSearchIndex, readSearchIndex, type SearchIndex } from '#skills';
import { readSkillFile } from '../skill-file.ts';

interface IndexedSkill {
  readonly name: string;
  readonly description: string;
  /** SKILL.md. */
  readonly path: string;
}

/** More skills are found by name and description only. */
const MAX_SKILLS = 5000;
/** The rest of a body says little more about the skill. */
const MAX_BODY = 8000;
const MAX_MEMORY_MB = 512;
const DEADLINE_MS = 60_000;

/** `program` is the file that calls `indexInThread` in a thread. Undefined if there are too many skills or the thread fails. */
export async function indexBodies(program: string, skills: readonly IndexedSkill[]): Promise<SearchIndex | undefined> {
  if (skills.length > MAX_SKILLS) return undefined;
  const workerData = skills.map(({ name, description, path }) => ({ name, description, path }));
  return new Promise((resolve) => {
    const worker = new Worker(program, { workerData, resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB } });
    const end = (index?: SearchIndex): void => {
      clearTimeout(timer);
      resolve(index);
      worker.terminate().catch(() => undefined);
    };
    const timer = setTimeout(end, DEADLINE_MS);
    worker.on('message', (bytes: Uint8Array) => end(readSearchIndex(bytes)));
    worker.on('error', () => end());
    worker.on('exit', () => end());
    // The process may end before the index is done.
    timer.unref();
    worker.unref();
  });
}

/** Answers `indexBodies` in the thread that it started. */
export async function indexInThread(): Promise<void> {
  if (isMainThread || parentPort === null) return;
  const skills: readonly IndexedSkill[] = workerData;
  const documents: { readonly name: string; readonly description: string; readonly body: string }[] = [];
  for (const { name, description, path } of skills)
    documents.push({ name, description, body: (await readSkillFile(path, MAX_BODY)).body ?? '' });
  parentPort.postMessage(buildSearchIndex(documents).toBytes());
}

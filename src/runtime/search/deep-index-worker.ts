import { parentPort, workerData } from 'node:worker_threads';

import { buildSearchIndex, readSkillFile } from '#skills';

export interface DeepIndexRequest {
  readonly skills: readonly {
    readonly name: string;
    readonly description: string;
    readonly dir: string;
    readonly file: string;
  }[];
}

/** Frontmatter is not removed: its fields are indexed with more weight anyway. */
function readBody(dir: string, file: string): string {
  const read = readSkillFile(dir, file);
  return read.type === 'read' ? read.text : '';
}

if (parentPort !== null) {
  const { skills }: DeepIndexRequest = workerData;
  const bytes = buildSearchIndex(
    skills.map(({ name, description, dir, file }) => ({ name, description, body: readBody(dir, file) })),
  ).toBytes();
  parentPort.postMessage(bytes);
}

/** Finds the transcripts of an agent. Links below its folder are not followed: they could lead to anything. */
import { readdirSync, statSync, type Dirent } from 'node:fs';
import path from 'node:path';

import type { Surroundings } from '#core';
import { expandFolder } from '#packs';
import { isSystemError, readTextFile } from '#platform';
import type { TranscriptRule } from '../agents/transcript.ts';

export interface Transcript {
  readonly path: string;
  readonly bytes: number;
  /** The working directory, where a file beside the transcript names it. */
  readonly cwd?: string;
}

export interface FoundTranscripts {
  readonly files: readonly Transcript[];
  readonly problems: readonly string[];
}

const MAX_DEPTH = 6;
const MAX_PATH_BYTES = 10_000;

/** Those that were written since a time. The folder itself may be a link, because people keep settings elsewhere. */
export function findTranscripts(
  rule: TranscriptRule,
  { place, since }: { readonly place: Surroundings; readonly since: number },
): FoundTranscripts {
  const top = expandFolder(rule.folder, place);
  const files: Transcript[] = [];
  const problems: string[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const entry of list(folder, problems)) {
      const file = path.join(folder, entry.name);
      const name = `/${path.relative(top ?? '', file).replaceAll(path.sep, '/')}`;
      const isTranscript = rule.files.test(name.slice(1)) || rule.files.test(name);
      if (entry.isDirectory() && depth < MAX_DEPTH) visit(file, depth + 1);
      else if (isTranscript && entry.isSymbolicLink()) problems.push(`${file} is a link and was not read`);
      else if (isTranscript && entry.isFile()) add(file);
    }
  };
  const add = (file: string): void => {
    // The newest rows of a database may be in the file beside it.
    const stats = [file, ...(rule.tables === undefined ? [] : [`${file}-wal`])].flatMap(
      (one) => statSync(one, { throwIfNoEntry: false }) ?? [],
    );
    if (!stats.some(({ mtimeMs }) => mtimeMs >= since)) return;
    const root = rule.projectFile && readTextFile(path.join(path.dirname(file), rule.projectFile), MAX_PATH_BYTES);
    files.push({
      path: file,
      bytes: stats.reduce((sum, { size }) => sum + size, 0),
      ...(typeof root === 'object' && root.type === 'read' ? { cwd: root.text.trim() } : {}),
    });
  };
  if (top !== undefined) visit(top, 0);
  return { files, problems };
}

function list(folder: string, problems: string[]): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code !== 'ENOENT') problems.push(`${folder} cannot be listed (${error.code})`);
    return [];
  }
}

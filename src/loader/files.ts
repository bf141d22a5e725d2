import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { isSystemError } from '../platform/paths.ts';

export interface SkillFile {
  /** Relative to the skill's folder, with forward slashes. */
  readonly path: string;
  readonly bytes: number;
  readonly type: 'file' | 'link' | 'other';
  readonly isExecutable: boolean;
}

export interface SkillFiles {
  readonly files: readonly SkillFile[];
  /** There are more than were listed. */
  readonly isCut: boolean;
}

const MAX_FILES = 2_000;
const MAX_DEPTH = 12;

/** Lists a skill's files by name and size. No file is opened and no link is followed. */
export function listSkillFiles(directory: string): SkillFiles {
  const files: SkillFile[] = [];
  const pending: { readonly relative: string; readonly depth: number }[] = [{ relative: '', depth: 0 }];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const name of namesIn(path.join(directory, folder.relative))) {
      const relative = folder.relative === '' ? name : `${folder.relative}/${name}`;
      const stats = lstatSync(path.join(directory, relative), { throwIfNoEntry: false });
      if (stats === undefined) continue;
      if (stats.isDirectory()) {
        if (folder.depth < MAX_DEPTH && name !== '.git' && name !== 'node_modules')
          pending.push({ relative, depth: folder.depth + 1 });
        continue;
      }
      if (files.length === MAX_FILES) return { files: sorted(files), isCut: true };
      const type = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other';
      files.push({
        path: relative,
        bytes: stats.size,
        type,
        isExecutable: type === 'file' && (stats.mode & 0o111) !== 0,
      });
    }
  }
  return { files: sorted(files), isCut: false };
}

function sorted(files: readonly SkillFile[]): readonly SkillFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

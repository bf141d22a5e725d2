import { toRelativePath, type Observation, type OfType, type ActionProblem, isProblem } from '#core';
import { inConfined, type ConfinedDirectory } from '#platform';
import { kindOfFile } from './file-kind.ts';

export interface SkillFiles {
  readonly files: readonly OfType<Observation, 'skill-loaded'>['files'][number][];
  /** Files and folders that cannot be read or listed, and why: links that lead outside or nowhere, missing permissions, names that no path can spell. */
  readonly unusable: readonly UnusableFile[];
  /** The list is incomplete: too many files, too deep, or with names that are not valid paths. */
  readonly isCut: boolean;
}

interface UnusableFile {
  readonly path: string;
  readonly reason: string;
}

/** Programs of a skill with more entries, or deeper folders, cannot run either. */
const LIMITS = { maxFiles: 20_000, maxDepth: 64 };

/** Lists the files of a skill folder; empty if the folder is gone. */
export function listSkillFiles(directory: string): SkillFiles {
  return inConfined(directory, listFiles, () => ({ files: [], unusable: [], isCut: false }));
}

/**
 * Lists the files of an open skill folder with name, size and kind, sorted. No file is read. Pipes, sockets and devices are ignored.
 * Files with hidden characters or backslashes in their name are unusable and set `isCut`, so that every listed path can be read.
 */
export function listFiles(directory: ConfinedDirectory): SkillFiles {
  const { files, misnamed, problems, isCut } = directory.list(LIMITS);
  const listed: OfType<Observation, 'skill-loaded'>['files'][number][] = [];
  const unusable: UnusableFile[] = misnamed.map((path) => ({ path, reason: MISNAMED }));
  for (const { path, bytes, type, isExecutable, isPublic } of files) {
    if (type === 'other') continue;
    const reason = isPublic ? undefined : whyUnusable(directory, path);
    // What is in the folder has its own path.
    if (reason === LINKED_FOLDER) continue;
    if (reason !== undefined) unusable.push({ path, reason });
    else listed.push({ path, bytes, kind: kindOfFile(path), isExecutable, isLink: type === 'link' });
  }
  unusable.push(...problems.map(({ path, problem }) => ({ path: path === '' ? '.' : path, reason: MISSING[problem] })));
  return { files: listed, unusable, isCut };
}

function whyUnusable(directory: ConfinedDirectory, file: string): string | undefined {
  const spelled = toRelativePath(file);
  if (isProblem(spelled)) return undefined;
  const found = directory.resolve(spelled, { allowHardLinks: true });
  if (found.type === 'found') return undefined;
  return UNUSABLE[found.code] ?? 'it cannot be read';
}

const MISNAMED = 'its name has an invisible character, a backslash, or is no valid path';
const MISSING: Readonly<Record<ReturnType<ConfinedDirectory['list']>['problems'][number]['problem'], string>> = {
  changed: 'the folder changed while its files were listed',
  unreadable: 'the folder cannot be read',
  name: 'the folder has a name that is not UTF-8',
  // Not `toLocaleString`, which takes longer than all else that loads with this file.
  'too-many': 'the skill has more than 20,000 files; the rest is not listed',
  'too-deep': `the folder is more than ${String(LIMITS.maxDepth)} levels deep; its files are not listed`,
};
const LINKED_FOLDER = 'it is a link to a folder';

const UNUSABLE: Partial<Readonly<Record<ActionProblem['code'], string>>> = {
  'path/link-outside': 'it is a link that leads outside the skill',
  'file/directory': LINKED_FOLDER,
  'file/missing': 'it is a link to a file that does not exist',
};

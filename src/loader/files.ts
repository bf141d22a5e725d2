import type { ListedFile } from '../core/observation.ts';
import { kindOfFile } from '../core/path.ts';
import { openConfined } from '../platform/fs/confined-directory.ts';
import type { ConfinedDirectory } from '../platform/fs/confined-directory.ts';
import type { ConfinedListing } from '../platform/fs/confined-directory.ts';

export interface SkillFiles {
  readonly files: readonly ListedFile[];
  /** The list is incomplete: too many files, too deep, or with names that are not valid paths. */
  readonly isCut: boolean;
}

const LIMITS = { maxFiles: 2_000, maxDepth: 12 };

/**
 * Lists a skill's files with name, size and kind, sorted. No file is opened and no link is followed. Pipes, sockets and devices are
 * ignored. Files with hidden characters or backslashes in their name are omitted and set `isCut`, so that every listed path can be
 * read.
 */
export function listSkillFiles(directory: string): SkillFiles {
  return shownFiles(listSkillEntries(directory));
}

/** Every file of a skill folder, for display; empty if the folder is gone. */
export function listSkillEntries(directory: string): ConfinedListing {
  const opening = openConfined(directory);
  if (opening.type === 'failed') return { files: [], isCut: false };
  try {
    return opening.directory.list(LIMITS);
  } finally {
    opening.directory.close();
  }
}

/** The files of an open skill folder. */
export function filesOf(directory: ConfinedDirectory): SkillFiles {
  return shownFiles(directory.list(LIMITS));
}

function shownFiles({ files, isCut }: ConfinedListing): SkillFiles {
  return {
    files: files.flatMap(({ path, bytes, type, isExecutable }) =>
      type === 'other' ? [] : [{ path, bytes, kind: kindOfFile(path), isExecutable, isLink: type === 'link' }],
    ),
    isCut,
  };
}

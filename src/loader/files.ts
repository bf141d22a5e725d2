import type { ListedFile } from '../core/observation.ts';
import { kindOfFile } from '../core/path.ts';
import { openConfined } from '../platform/fs/confined-directory.ts';
import type { ConfinedDirectory } from '../platform/fs/confined-directory.ts';
import type { ConfinedListing } from '../platform/fs/confined-directory.ts';

export interface SkillFiles {
  readonly files: readonly ListedFile[];
  /** There are more than were listed: too many, too deep, or with names that no path can spell. */
  readonly isCut: boolean;
}

const LIMITS = { maxFiles: 2_000, maxDepth: 12 };

/**
 * A skill's files by name, size and kind, sorted. No file is opened and no link is followed. Pipes, sockets and devices are not files;
 * a file whose name has hidden characters, a backslash or the like is left out and `isCut` says so: every path of the list can be
 * asked for.
 */
export function listSkillFiles(directory: string): SkillFiles {
  return shownFiles(listSkillEntries(directory));
}

/** All that lies in a skill's folder, for a person to see; nothing where the folder is gone. */
export function listSkillEntries(directory: string): ConfinedListing {
  const opening = openConfined(directory);
  if (opening.type === 'failed') return { files: [], isCut: false };
  try {
    return opening.directory.list(LIMITS);
  } finally {
    opening.directory.close();
  }
}

/** The files of a skill that is held open. */
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

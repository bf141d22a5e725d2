import { listDirectory } from './list-directory.ts';

export interface FoundFiles {
  /** Paths with forward slashes, starting with the given folder, sorted. */
  readonly paths: readonly string[];
  /** There are more folders than were searched, or some cannot be listed. */
  readonly isCut: boolean;
}

/** Finds the files of one name in a folder and below it. Links are not followed. */
export function findFilesNamed(folder: string, name: string, maxFolders: number): FoundFiles {
  const paths: string[] = [];
  const pending = [folder];
  let isCut = false;
  for (let seen = 0, at = pending.pop(); at !== undefined; at = pending.pop(), seen += 1) {
    if (seen >= maxFolders) return { paths: paths.sort(), isCut: true };
    const listing = listDirectory(at);
    if (listing.type === 'failed') isCut = true;
    else {
      if (listing.others.includes(name)) paths.push(`${at}/${name}`);
      pending.push(...listing.folders.map((below) => `${at}/${below}`));
    }
  }
  return { paths: paths.sort(), isCut };
}

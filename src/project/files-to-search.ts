import { compareText } from '../core/diagnostic.ts';
import { compileGlob } from '../core/glob.ts';
import type { RelativePath } from '../core/path.ts';
import type { OpenFailed } from '../platform/fs/directory-handle.ts';
import { entriesIn, isPassedOver } from './folder-entries.ts';
import type { PlacedPath } from './places.ts';

export interface SearchLimits {
  /** Files that are searched; 10,000. */
  readonly maxFiles: number;
  /** Names that are looked at to find them; 100,000. */
  readonly maxNames: number;
}

export interface FilesToSearchOptions extends Partial<SearchLimits> {
  readonly glob?: string | undefined;
  readonly isAllowed?: (shown: string) => boolean;
  readonly signal?: AbortSignal;
}

export type FilesToSearch =
  | {
      readonly type: 'files';
      readonly files: readonly RelativePath[];
      /** Files that a rule keeps back. */
      readonly keptBack: number;
      readonly isCut: boolean;
      /** A file as `read_file` takes it. */
      readonly shownPath: (file: RelativePath) => string;
    }
  | OpenFailed;

/**
 * The files below a folder, or the one file that was named. Links are not followed: what they lead to is found at its own place. Breathes
 * between folders, so that a large tree holds nobody up.
 */
export async function filesToSearch(
  placed: PlacedPath,
  { glob, isAllowed = () => true, maxFiles = 10_000, maxNames = 100_000, signal }: FilesToSearchOptions,
): Promise<FilesToSearch> {
  const { root, relative, shown } = placed;
  // `shown` ends with the path below the root; what comes before it is the same for every file of the place.
  const scheme = relative === '' ? (shown === '.' ? '' : shown) : shown.slice(0, shown.length - relative.length);
  const shownPath = (file: RelativePath): string => `${scheme}${file}`;
  const isMeant = matcherOf(glob, relative);
  const files: RelativePath[] = [];
  const pending: (RelativePath | '')[] = [relative];
  let keptBack = 0;
  let names = 0;
  let isCut = false;
  for (let at = 0; at < pending.length; at += 1) {
    if (names >= maxNames || files.length >= maxFiles) {
      isCut = true;
      break;
    }
    const folder = pending[at] ?? '';
    const listed = entriesIn(root, folder, maxNames - names);
    if (listed.type === 'failed') {
      if (at > 0) {
        isCut = true;
        continue;
      }
      if (listed.code !== 'file/exists' || relative === '') return listed;
      const isKept = !isAllowed(shown);
      return { type: 'files', files: isKept ? [] : [relative], keptBack: isKept ? 1 : 0, isCut: false, shownPath };
    }
    isCut ||= listed.isCut;
    names += listed.entries.length;
    for (const entry of listed.entries) {
      const { name, path, kind } = entry;
      if (kind === 'folder' && !isPassedOver(entry)) pending.push(path);
      if (kind !== 'file' || !isMeant(path, name)) continue;
      if (!isAllowed(shownPath(path))) keptBack += 1;
      else if (files.length < maxFiles) files.push(path);
      else isCut = true;
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    signal?.throwIfAborted();
  }
  return { type: 'files', files: files.toSorted(compareText), keptBack, isCut, shownPath };
}

/** A pattern without a slash is for names, at any depth; one with a slash starts at the folder that is searched. */
function matcherOf(glob: string | undefined, folder: string): (path: string, name: string) => boolean {
  if (glob === undefined || glob === '') return () => true;
  const compiled = compileGlob(glob.replace(/^(?:\.?\/)+/, ''), { hidden: true });
  const start = folder === '' ? 0 : folder.length + 1;
  return (path, name) => compiled.matches(glob.includes('/') ? path.slice(start) : name);
}

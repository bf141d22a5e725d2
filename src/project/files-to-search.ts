import { compareText, compileGlob, type RelativePath } from '#core';
import type { OpenFailed } from '#platform';
import { entriesIn, isSkipped, type IsClosed } from './folder-entries.ts';
import { ignoredBelow } from './ignored-files.ts';
import type { ResolvedPath } from './resolve-path.ts';

export interface SearchLimits {
  readonly maxFiles: number;
  readonly maxNames: number;
}

export interface FilesToSearchOptions extends Partial<SearchLimits> {
  readonly glob?: string | undefined;
  readonly isAllowed?: (shown: string) => boolean;
  readonly isClosed?: IsClosed;
  readonly signal?: AbortSignal;
}

export type FilesToSearch =
  | {
      readonly type: 'files';
      readonly files: readonly RelativePath[];
      readonly excluded: number;
      readonly isCut: boolean;
      /** The path of a file for `read_file`. */
      readonly shownPath: (file: RelativePath) => string;
    }
  | OpenFailed;

/**
 * The files below a folder, or the one named file. Links are not followed: their targets are found at their own paths. Yields to the
 * event loop between folders.
 */
export async function filesToSearch(
  placed: ResolvedPath,
  {
    glob,
    isAllowed = () => true,
    isClosed = () => false,
    maxFiles = 10_000,
    maxNames = 100_000,
    signal,
  }: FilesToSearchOptions,
): Promise<FilesToSearch> {
  const { root, relative, shown } = placed;
  // `shown` ends with the path below the root; the part before it is the same for every file.
  const scheme = relative === '' ? (shown === '.' ? '' : shown) : shown.slice(0, shown.length - relative.length);
  const shownPath = (file: RelativePath): string => `${scheme}${file}`;
  const matches = compileMatcher(glob, relative);
  const isIgnored = ignoredBelow(placed);
  const files: RelativePath[] = [];
  const pending: (RelativePath | '')[] = [relative];
  let excluded = 0;
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
      // The action was decided by all names of this file, and a person may have said yes.
      return { type: 'files', files: [relative], excluded: 0, isCut: false, shownPath };
    }
    isCut ||= listed.isCut;
    names += listed.entries.length;
    for (const entry of listed.entries) {
      const { name, path, kind } = entry;
      if (kind === 'folder' && !isSkipped(entry) && !isClosed(path) && !isIgnored(path, true)) pending.push(path);
      if (kind !== 'file' || !matches(path, name) || isIgnored(path, false)) continue;
      if (!isAllowed(shownPath(path))) excluded += 1;
      else if (files.length < maxFiles) files.push(path);
      else isCut = true;
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    signal?.throwIfAborted();
  }
  return { type: 'files', files: files.toSorted(compareText), excluded, isCut, shownPath };
}

/** A pattern without a slash matches names at any depth; one with a slash is relative to the searched folder. */
function compileMatcher(glob: string | undefined, folder: string): (path: string, name: string) => boolean {
  if (glob === undefined || glob === '') return () => true;
  const compiled = compileGlob(glob.replace(/^(?:\.?\/)+/, ''), { hidden: true });
  const start = folder === '' ? 0 : folder.length + 1;
  return (path, name) => compiled.matches(glob.includes('/') ? path.slice(start) : name);
}

import type { ActionOfKind, Observation, RelativePath } from '#core';
import { grep } from './grep.ts';
import { openLinkedNames } from './linked-names.ts';
import { listDirectory } from './list-directory.ts';
import { networkRequest, type NetworkRequestOptions } from './network/network-request.ts';
import { readFile } from './read-file.ts';
import type { ResolvedPath } from './resolve-path.ts';
import { deleteFile } from './trash.ts';
import { writeFile, type WritePreview } from './write-file.ts';

/** What was decided about an action before it is performed. */
interface ActionRights {
  /** Whether a search may read a file, by all of its names. */
  readonly maySearch: (names: readonly { readonly shown: string; readonly absolute: string }[]) => boolean;
  readonly request: Pick<NetworkRequestOptions, 'grants' | 'decideHost'> | undefined;
  /** What the person saw before a write. */
  readonly preview: WritePreview | undefined;
  /** Whether a folder must not be entered by a listing or a search. */
  readonly isClosed: (place: { readonly absolute: string; readonly shown: string }) => boolean;
  readonly signal: AbortSignal | undefined;
}

/** Performs an action on project files or on the network. `path` is absent for network requests. */
export async function performHostAction(
  action: ActionOfKind<'host'>,
  path: ResolvedPath | undefined,
  rights: ActionRights,
): Promise<Observation> {
  const { request, preview, signal } = rights;
  if (action.type === 'network_request' && request !== undefined) return networkRequest(action, { ...request, signal });
  if (path === undefined) throw new TypeError(`${action.type} needs a path`);
  const { place, root, relative, shown } = path;
  const absolute = (name: string): string => `${root}/${name}`;
  // Only folders of the project are closed; the workspace and loaded skills are open.
  const isClosed = (folder: RelativePath): boolean =>
    place === 'project' && rights.isClosed({ absolute: absolute(folder), shown: folder });
  switch (action.type) {
    case 'read_file':
      return readFile(action, path);
    case 'list_dir':
      return listDirectory(action, path, { isClosed });
    case 'grep': {
      const linked = place === 'project' ? openLinkedNames(root) : () => [];
      // `shown` ends with the path below the root, and is `.` for the project itself.
      const scheme = place === 'project' ? 0 : shown.length - relative.length;
      const isAllowed = (file: string): boolean => {
        const found = absolute(file.slice(scheme));
        return rights.maySearch([
          { shown: file, absolute: found },
          ...linked(found).map((name) => ({ shown: name.slice(root.length + 1), absolute: name })),
        ]);
      };
      return grep(action, path, { isAllowed, isClosed, signal });
    }
    case 'write_file':
      // If the file changed after the person saw it, it is not replaced.
      return writeFile(action, path, { seen: preview });
    case 'delete_file':
      return deleteFile(action, path);
    default:
      throw new TypeError(`${action.type} is not performed on files`);
  }
}

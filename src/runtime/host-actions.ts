import type { Access, ActionOfKind, Observation, RelativePath } from '#core';
import { decide, requestRights, type Policy } from '#policy';
import {
  deleteFile,
  grep,
  listDirectory,
  networkRequest,
  openLinkedNames,
  readFile,
  writeFile,
  type previewWrite,
} from '#project';

type ResolvedPath = Parameters<typeof previewWrite>[0];

export interface HostRights {
  /** Decides about further files of a search and further hosts of a request. */
  readonly policy: Policy;
  /** Whether a person approved exactly this action. */
  readonly isApproved: boolean;
  /** What the person saw before a write. */
  readonly preview: ReturnType<typeof previewWrite> | undefined;
  /** Whether a folder must not be entered by a listing or a search. */
  readonly isClosed: (place: { readonly absolute: string; readonly shown: string }) => boolean;
  readonly signal: AbortSignal | undefined;
}

/** Performs an action on project files or on the network. `path` is absent for network requests. */
export async function performHostAction(
  action: ActionOfKind<'host'>,
  path: ResolvedPath | undefined,
  rights: HostRights,
): Promise<Observation> {
  if (action.type === 'network_request') {
    const { policy, isApproved, signal } = rights;
    return networkRequest(action, { ...requestRights(policy, action, isApproved), signal });
  }
  if (path === undefined) throw new TypeError(`${action.type} needs a path`);
  switch (action.type) {
    case 'read_file':
      return readFile(action, path);
    case 'list_dir':
      return listDirectory(action, path, { isClosed: closedIn(path, rights) });
    case 'grep': {
      const { policy, signal } = rights;
      const linked = path.place === 'project' ? openLinkedNames(path.root) : () => [];
      const isAllowed = (file: string): boolean => {
        const names = [file, ...linked(`${path.root}/${file}`).map((name) => name.slice(path.root.length + 1))];
        const accesses = names.map((name): Access => ({
          tool: 'grep',
          subject: { kind: 'path', path: name, ...toAbsolutePath(name, path) },
        }));
        return decide(policy, accesses).effect === 'allow';
      };
      return grep(action, path, {
        isAllowed,
        isClosed: closedIn(path, rights),
        signal,
      });
    }
    case 'write_file':
      // If the file changed after the person saw it, it is not replaced.
      return writeFile(action, path, rights.preview === undefined ? {} : { seen: rights.preview });
    case 'edit_file':
      throw new TypeError('an edit is performed as a write');
    case 'delete_file':
      return deleteFile(action, path);
  }
}

/** Only folders of the project are closed; the workspace and loaded skills are open. */
function closedIn({ place, root }: ResolvedPath, { isClosed }: HostRights): (folder: RelativePath) => boolean {
  return (folder) => place === 'project' && isClosed({ absolute: `${root}/${folder}`, shown: folder });
}

/** Rules may name absolute paths, which only project files have. */
function toAbsolutePath(shown: string, { place, root }: ResolvedPath): { readonly absolute?: string } {
  return place === 'project' ? { absolute: `${root}/${shown}` } : {};
}

import { statSync } from 'node:fs';

import { hostAccess } from '../policy/action-access.ts';
import type { Access, Effect } from '../core/access.ts';
import type { ActionOfKind, NetworkRequest } from '../core/action.ts';
import { isSkillError } from '../core/errors.ts';
import { failure } from '../core/failure-codes.ts';
import type { Failure } from '../core/failure-codes.ts';
import type { Observation } from '../core/observation.ts';
import { writeAuthority } from '../core/network/host-pattern.ts';
import type { SkillEntry } from '../core/skill.ts';
import { grep } from '../project/grep.ts';
import { listDirectory } from '../project/list-directory.ts';
import { networkRequest } from '../project/network/network-request.ts';
import { placePath } from '../project/places.ts';
import type { PlacedPath } from '../project/places.ts';
import { readFile } from '../project/read-file.ts';
import { deleteFile } from '../project/trash.ts';
import { previewWrite, writeFile } from '../project/write-file.ts';
import type { Execution } from './execution/execution.ts';

/** The actions on files of the project and on the network. */
type HostAction = ActionOfKind<'host'>;

export interface HostOptions {
  /** The folder whose files may be used; the runtime's own where nothing is said. */
  readonly project?: string;
  /** Servers may be asked, as far as rules allow; true. */
  readonly network?: boolean;
}

/** An action on files or servers with its place found, before it is decided about. */
export interface PlacedAction {
  /** Absent for what has no path. */
  readonly place?: { readonly shown: string; readonly absolute: string };
  /** The text that a write would replace. */
  readonly before?: () => string | undefined;
  /** The size of what would be deleted. */
  readonly bytes?: () => number;
  perform(rights: HostRights): Promise<Observation>;
}

/** What an action may do besides what was decided about it as a whole: other files of a search, other hosts of a request. */
export interface HostRights {
  readonly signal: AbortSignal | undefined;
  readonly effectOf: (access: Access) => Effect;
  /** Hosts that rules name, those in private networks included. */
  readonly grantedHosts: readonly string[];
  /** A person said yes to this very action. */
  readonly isApproved: boolean;
}

export interface HostFiles {
  readonly hasNetwork: boolean;
  place(action: HostAction, active: readonly SkillEntry[]): Promise<PlacedAction | Failure>;
}

/** Files of the project, of the workspace and of loaded skills, and servers: whatever is not a program. */
export function openHostFiles(options: HostOptions & { readonly project: string }, execution?: Execution): HostFiles {
  return {
    hasNetwork: options.network ?? true,
    async place(action, active) {
      if (action.type === 'network_request') return { perform: (rights) => request(action, rights) };
      const isInWorkspace = action.path.startsWith('workspace://') && execution !== undefined;
      const workspace = isInWorkspace ? await workspaceRoot(execution) : undefined;
      if (typeof workspace === 'object') return workspace;
      const places = {
        project: options.project,
        ...(workspace === undefined ? {} : { workspace }),
        skills: active.map(({ name, dir }) => ({ name, dir })),
      };
      const isWriting = action.type === 'write_file' || action.type === 'delete_file';
      const placed = placePath(action.path, places, isWriting ? 'write' : 'read');
      return placed.type === 'refused' ? placed.failure : onFile(action, placed);
    },
  };
}

async function workspaceRoot(execution: Execution): Promise<string | Failure> {
  try {
    return (await execution.openWorkspace()).place.root;
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return failure('execution/failed', error.message, { hint: error.hint });
  }
}

function onFile(action: Exclude<HostAction, NetworkRequest>, placed: PlacedPath): PlacedAction {
  const { shown, absolute } = placed;
  let seen: ReturnType<typeof previewWrite> | undefined;
  return {
    place: { shown, absolute },
    before() {
      seen ??= previewWrite(placed);
      return seen.before;
    },
    bytes: () => statSync(absolute, { throwIfNoEntry: false })?.size ?? 0,
    async perform({ signal, effectOf }) {
      switch (action.type) {
        case 'read_file':
          return readFile(action, placed);
        case 'list_dir':
          return listDirectory(action, placed);
        case 'grep': {
          const isAllowed = (path: string): boolean =>
            effectOf({ tool: 'grep', subject: { kind: 'path', path, ...absoluteOf(path, placed) } }) === 'allow';
          return grep(action, placed, { isAllowed, ...(signal === undefined ? {} : { signal }) });
        }
        case 'write_file':
          // What a person was shown is what is replaced, or nothing is.
          return writeFile(action, placed, seen === undefined ? {} : { seen });
        case 'delete_file':
          return deleteFile(action, placed);
      }
    },
  };
}

/** Rules may be written with absolute paths: files of the project have one. */
function absoluteOf(shown: string, { place, root }: PlacedPath): { readonly absolute?: string } {
  return place === 'project' ? { absolute: `${root}/${shown}` } : {};
}

/**
 * The first address was decided about, by a rule or a person; each one after it needs a rule. Who says yes to an address in numbers, or
 * to this machine by its name, has named a private place; a name that only leads there has not.
 */
function request(action: NetworkRequest, rights: HostRights): Promise<Observation> {
  const { signal, effectOf, grantedHosts, isApproved } = rights;
  const { subject } = hostAccess(action.url, action.method ?? 'GET');
  const { host, port } = subject.kind === 'host' ? subject : { host: undefined, port: 0 };
  const isNamed = isApproved && host !== undefined && (host.isAddress || host.name === 'localhost');
  return networkRequest(action, {
    grants: isNamed ? [...grantedHosts, `private://${writeAuthority(host, port)}`] : grantedHosts,
    decideHost: (name, at) =>
      (name === host?.name && at === port) ||
      effectOf(hostAccess(`https://${name.includes(':') ? `[${name}]` : name}:${String(at)}/`, 'GET')) === 'allow',
    ...(signal === undefined ? {} : { signal }),
  });
}

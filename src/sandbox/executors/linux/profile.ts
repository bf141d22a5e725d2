import type { Mount } from './mounts.ts';
import type { HostMount } from '../../program-types.ts';

/**
 * One step in building the file system that a program sees. Steps are applied in order: later ones cover earlier ones. Missing parent
 * folders of a target are created. A target must not be below a writable bind, where an earlier program may have left a link.
 */
export type SandboxEntry =
  | { readonly type: 'bind'; readonly source: string; readonly target: string; readonly access: 'read' | 'write' }
  | { readonly type: 'link'; readonly linkTarget: string; readonly target: string }
  | { readonly type: 'folder'; readonly target: string }
  | { readonly type: 'file'; readonly content: string; readonly target: string }
  /** A new /proc of the PID namespace; `sys` is read-only, and process 1, which belongs to the launcher, is covered. */
  | { readonly type: 'proc'; readonly target: string }
  /** The usual devices and a private `pts`. */
  | { readonly type: 'devices'; readonly target: string }
  /** An empty file system in memory that every user may write to. */
  | { readonly type: 'tmpfs'; readonly target: string; readonly bytes: number }
  /** Makes the file system at the target read-only, without those mounted below it. */
  | { readonly type: 'read-only'; readonly target: string };

/** What a program may reach, independent of the tool that builds the sandbox. */
export interface SandboxProfile {
  /** Allow-list of system files that programs see. */
  readonly system: readonly Mount[];
  /** The skills, below `/workspace/skills`. */
  readonly skills: readonly Mount[];
  /** Folders of the workspace that programs may write, by name. */
  readonly writable: readonly { readonly name: string; readonly source: string }[];
  /** Further folders of the host. */
  readonly mounts: readonly HostMount[];
  readonly temporaryBytes: number;
  readonly sharedMemoryBytes: number;
  /** Socket of the proxy for granted hosts, mounted at `BRIDGE_SOCKET`. */
  readonly bridgeSocket?: string;
}

export const SANDBOX_ROOT = '/workspace';
export const BRIDGE_SOCKET = '/run/skillwright/proxy.sock';

/** The one user inside, whatever the user outside is. Never 0. */
export const SANDBOX_ID = 1000;
export const SANDBOX_HOST = 'skill';

/** One page: the folders in an empty folder that others are mounted on. */
const EMPTY_BYTES = 4096;

/** Files of /etc with content of our own. Landlock cannot replace a file: programs read those of the machine there. */
export const ETC_FILES: Readonly<Record<string, string>> = {
  passwd: `skill:x:${String(SANDBOX_ID)}:${String(SANDBOX_ID)}:skill:${SANDBOX_ROOT}/home:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
  group: `skill:x:${String(SANDBOX_ID)}:\nnogroup:x:65534:\n`,
  hosts: `127.0.0.1 localhost ${SANDBOX_HOST}\n::1 localhost\n`,
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/**
 * The file system of a sandbox: the one description of mounts for every launcher. Pure: every change of what programs can reach shows
 * in a golden file.
 */
export function sandboxEntries(profile: SandboxProfile): readonly SandboxEntry[] {
  const { bridgeSocket } = profile;
  return [
    { type: 'folder', target: '/etc' },
    ...profile.system.map(readOnly),
    ...Object.entries(ETC_FILES).map(([name, content]) => ({ type: 'file', content, target: `/etc/${name}` }) as const),
    { type: 'proc', target: '/proc' },
    { type: 'devices', target: '/dev' },
    { type: 'tmpfs', target: '/tmp', bytes: profile.temporaryBytes },
    { type: 'tmpfs', target: '/dev/shm', bytes: profile.sharedMemoryBytes },
    { type: 'folder', target: SANDBOX_ROOT },
    { type: 'folder', target: `${SANDBOX_ROOT}/skills` },
    ...profile.writable.map(
      ({ name, source }) => ({ type: 'bind', source, target: `${SANDBOX_ROOT}/${name}`, access: 'write' }) as const,
    ),
    ...profile.skills.map(readOnly),
    ...profile.mounts.map((mount) => ({ type: 'bind', ...mount }) as const),
    ...(bridgeSocket === undefined
      ? []
      : [{ type: 'bind', source: bridgeSocket, target: BRIDGE_SOCKET, access: 'write' } as const]),
    ...profile.system.flatMap(({ type, target }) => (type === 'empty' ? [{ type: 'read-only', target } as const] : [])),
    // Folders created for targets are on file systems in memory without a limit.
    { type: 'read-only', target: '/dev' },
    { type: 'read-only', target: '/' },
  ];
}

function readOnly(mount: Mount): SandboxEntry {
  if (mount.type === 'empty') return { type: 'tmpfs', target: mount.target, bytes: EMPTY_BYTES };
  return mount.type === 'bind' ? { ...mount, access: 'read' } : mount;
}

import { quoted } from '../../../core/text/text.ts';
import { invalidInput } from '../program-spec.ts';
import type { Mount } from './mounts.ts';

export interface SandboxProfile {
  /** Allow-list of system files that programs see. */
  readonly system: readonly Mount[];
  /** The skills, below `/workspace/skills`. */
  readonly skills: readonly Mount[];
  /** Folders of the workspace that programs may write, by name. */
  readonly writable: readonly { readonly name: string; readonly source: string }[];
  /** Relative to the workspace. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly descriptors: SandboxDescriptors;
  readonly temporaryBytes: number;
  readonly sharedMemoryBytes: number;
  /** Socket of the proxy for granted hosts, mounted at `BRIDGE_SOCKET`. */
  readonly bridgeSocket?: string;
}

/** Descriptors from which bubblewrap reads the files that exist only inside. */
export interface SandboxDescriptors {
  readonly seccomp: number;
  readonly passwd: number;
  readonly group: number;
  readonly hosts: number;
  readonly names: number;
  readonly words?: number;
}

export const SANDBOX_ROOT = '/workspace';
export const BRIDGE_SOCKET = '/run/skillwright/proxy.sock';
/** Holds the arguments of a program that are too many for the command line of bubblewrap. */
export const WORDS_FILE = '/run/skillwright/words';

/** The one user inside, whatever the user outside is. Never 0. */
export const SANDBOX_ID = 1000;

export const SANDBOX_FILES = {
  passwd: `skill:x:${String(SANDBOX_ID)}:${String(SANDBOX_ID)}:skill:${SANDBOX_ROOT}/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
  group: `skill:x:${String(SANDBOX_ID)}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost skill\n::1 localhost\n',
  names: 'passwd: files\ngroup: files\nhosts: files dns\n',
} as const;

/** Every option used here. The executor is unavailable where the installed bubblewrap lacks one. */
export const NEEDED_OPTIONS: readonly string[] = [
  ['--args', '--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
  ['--cap-drop', '--hostname', '--uid', '--gid', '--clearenv', '--setenv', '--ro-bind', '--bind', '--symlink', '--dir'],
  ['--proc', '--dev', '--size', '--tmpfs', '--perms', '--file', '--remount-ro', '--chdir', '--seccomp'],
].flat();

/**
 * The arguments of bubblewrap, without the command. Pure: every change of what programs can reach shows in a golden file. The order
 * matters: later mounts cover earlier ones, and the read-only remounts come last.
 */
export function sandboxArguments(profile: SandboxProfile): readonly string[] {
  const { descriptors } = profile;
  return [
    // A new namespace of every kind, no nested ones, killed with its parent, detached from the terminal.
    ['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ['--cap-drop', 'ALL', '--uid', String(SANDBOX_ID), '--gid', String(SANDBOX_ID), '--hostname', 'skill'],
    ['--clearenv', ...Object.entries(profile.env).flatMap(([name, value]) => ['--setenv', name, value])],
    ['--perms', '0755', '--dir', '/etc'],
    profile.system.flatMap(mountArguments),
    file(descriptors.passwd, '/etc/passwd'),
    file(descriptors.group, '/etc/group'),
    file(descriptors.hosts, '/etc/hosts'),
    file(descriptors.names, '/etc/nsswitch.conf'),
    descriptors.words === undefined ? [] : file(descriptors.words, WORDS_FILE),
    // /proc/sys checks for user 0 instead of capabilities, so it has to be read-only.
    ['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys', '--dev', '/dev'],
    ['--size', String(profile.temporaryBytes), '--perms', '1777', '--tmpfs', '/tmp'],
    ['--size', String(profile.sharedMemoryBytes), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ['--perms', '0755', '--dir', SANDBOX_ROOT, '--perms', '0755', '--dir', `${SANDBOX_ROOT}/skills`],
    profile.writable.flatMap(({ name, source }) => ['--bind', source, `${SANDBOX_ROOT}/${name}`]),
    profile.skills.flatMap(mountArguments),
    profile.bridgeSocket === undefined ? [] : ['--bind', profile.bridgeSocket, BRIDGE_SOCKET],
    // Folders that bubblewrap creates are on an unlimited tmpfs.
    ['--remount-ro', '/dev', '--remount-ro', '/'],
    ['--chdir', profile.cwd === '.' ? SANDBOX_ROOT : `${SANDBOX_ROOT}/${profile.cwd}`],
    ['--seccomp', String(descriptors.seccomp)],
  ].flat();
}

function mountArguments(mount: Mount): readonly string[] {
  return mount.type === 'bind'
    ? ['--ro-bind', mount.source, mount.target]
    : ['--symlink', mount.linkTarget, mount.target];
}

function file(descriptor: number, target: string): readonly string[] {
  return ['--perms', '0644', '--file', String(descriptor), target];
}

/** Encodes arguments for `--args`, which hides them from process lists and from the program. */
export function encodeArguments(args: readonly string[]): Uint8Array {
  const withNul = args.find((arg) => arg.includes('\0'));
  // A NUL would end one argument and start another one of the attacker's choice.
  if (withNul !== undefined) throw invalidInput(`${quoted(withNul)} contains a NUL`, 'text without NUL characters');
  return new TextEncoder().encode(args.map((arg) => `${arg}\0`).join(''));
}

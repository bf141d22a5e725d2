import { SkillError } from '../../../core/errors.ts';
import { quoted } from '../../../core/text/text.ts';

/** Something of the host that programs see, read-only, or a link made for them. */
export type Shown =
  | { readonly type: 'bind'; readonly source: string; readonly target: string }
  | { readonly type: 'link'; readonly leadsTo: string; readonly target: string };

export interface SandboxProfile {
  /** What programs see of the system: an allow-list. */
  readonly system: readonly Shown[];
  /** The skills, below `/workspace/skills`. */
  readonly skills: readonly Shown[];
  /** Folders of the workspace on the host that programs may write, by their name there. */
  readonly writable: readonly { readonly name: string; readonly source: string }[];
  /** Below the workspace. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly descriptors: SandboxDescriptors;
  readonly temporaryBytes: number;
  readonly sharedMemoryBytes: number;
  /** A socket that leads to the proxy of granted hosts, shown at `BRIDGE_SOCKET`. */
  readonly bridgeSocket?: string;
}

/** Where bubblewrap finds the bytes of files that exist only inside. */
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
/** The words of a program that are too many for a command line of bubblewrap. */
export const WORDS_FILE = '/run/skillwright/words';

/** Inside there is one user, whoever that is outside; never 0. */
export const SANDBOX_ID = 1000;

export const SANDBOX_FILES = {
  passwd: `skill:x:${String(SANDBOX_ID)}:${String(SANDBOX_ID)}:skill:${SANDBOX_ROOT}/work:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
  group: `skill:x:${String(SANDBOX_ID)}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost skill\n::1 localhost\n',
  names: 'passwd: files\ngroup: files\nhosts: files dns\n',
} as const;

/** Every option used here; one that the installed bubblewrap lacks is a reason to refuse, never to leave it out. */
export const NEEDED_OPTIONS: readonly string[] = [
  ['--args', '--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
  ['--cap-drop', '--hostname', '--uid', '--gid', '--clearenv', '--setenv', '--ro-bind', '--bind', '--symlink', '--dir'],
  ['--proc', '--dev', '--size', '--tmpfs', '--perms', '--file', '--remount-ro', '--chdir', '--seccomp'],
].flat();

/**
 * The arguments of bubblewrap, without the command: pure, so that a change of what programs may reach is a change of a golden file.
 * The order matters: what is mounted later lies above, and read-only comes last.
 */
export function sandboxArguments(profile: SandboxProfile): readonly string[] {
  const { descriptors } = profile;
  return [
    // Namespaces for everything, the network too; none can be made inside; all dies with us; no terminal of ours.
    ['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ['--cap-drop', 'ALL', '--uid', String(SANDBOX_ID), '--gid', String(SANDBOX_ID), '--hostname', 'skill'],
    ['--clearenv', ...Object.entries(profile.env).flatMap(([name, value]) => ['--setenv', name, value])],
    ['--perms', '0755', '--dir', '/etc'],
    profile.system.flatMap(shownArguments),
    file(descriptors.passwd, '/etc/passwd'),
    file(descriptors.group, '/etc/group'),
    file(descriptors.hosts, '/etc/hosts'),
    file(descriptors.names, '/etc/nsswitch.conf'),
    descriptors.words === undefined ? [] : file(descriptors.words, WORDS_FILE),
    // /proc/sys asks for user 0 and not for capabilities: read-only whoever we are.
    ['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys', '--dev', '/dev'],
    ['--size', String(profile.temporaryBytes), '--perms', '1777', '--tmpfs', '/tmp'],
    ['--size', String(profile.sharedMemoryBytes), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ['--perms', '0755', '--dir', SANDBOX_ROOT, '--perms', '0755', '--dir', `${SANDBOX_ROOT}/skills`],
    profile.writable.flatMap(({ name, source }) => ['--bind', source, `${SANDBOX_ROOT}/${name}`]),
    profile.skills.flatMap(shownArguments),
    profile.bridgeSocket === undefined ? [] : ['--bind', profile.bridgeSocket, BRIDGE_SOCKET],
    // The folders bubblewrap made itself are memory without a bound.
    ['--remount-ro', '/dev', '--remount-ro', '/'],
    ['--chdir', profile.cwd === '.' ? SANDBOX_ROOT : `${SANDBOX_ROOT}/${profile.cwd}`],
    ['--seccomp', String(descriptors.seccomp)],
  ].flat();
}

function shownArguments(shown: Shown): readonly string[] {
  return shown.type === 'bind' ? ['--ro-bind', shown.source, shown.target] : ['--symlink', shown.leadsTo, shown.target];
}

function file(descriptor: number, target: string): readonly string[] {
  return ['--perms', '0644', '--file', String(descriptor), target];
}

/** For `--args`: there they are neither in a list of processes nor visible inside. */
export function encodeArguments(args: readonly string[]): Uint8Array {
  const broken = args.find((arg) => arg.includes('\0'));
  // A NUL would end an argument and begin another, of the attacker's choice.
  if (broken !== undefined) throw invalidInput(`a NUL is in ${quoted(broken)}`, 'text without NUL characters');
  return new TextEncoder().encode(args.map((arg) => `${arg}\0`).join(''));
}

export function invalidInput(message: string, expected: string): SkillError<'input/invalid'> {
  return new SkillError({ code: 'input/invalid', message, hint: `give ${expected}`, data: { expected } });
}

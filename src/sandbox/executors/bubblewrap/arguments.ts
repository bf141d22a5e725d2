import { SANDBOX_HOST, SANDBOX_ID, type SandboxEntry } from '../linux/profile.ts';

export interface BubblewrapArguments {
  readonly entries: readonly SandboxEntry[];
  /** Absolute path inside. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptor of the seccomp filter. */
  readonly filter: number;
  /** Descriptors of the files, in the order of the entries. */
  readonly files: readonly number[];
}

/** Every option used here. The executor is unavailable where the installed bubblewrap lacks one. */
export const NEEDED_OPTIONS: readonly string[] = [
  ['--args', '--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
  ['--cap-drop', '--hostname', '--uid', '--gid', '--clearenv', '--setenv', '--ro-bind', '--bind', '--symlink', '--dir'],
  ['--proc', '--dev', '--size', '--tmpfs', '--perms', '--file', '--remount-ro', '--chdir', '--seccomp'],
].flat();

/** The arguments of bubblewrap, without the command. Pure: every change shows in a golden file. */
export function sandboxArguments({ entries, cwd, env, filter, files }: BubblewrapArguments): readonly string[] {
  const descriptors = files.values();
  return [
    // A new namespace of every kind, no nested ones, killed with its parent, detached from the terminal.
    ['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ['--cap-drop', 'ALL', '--uid', String(SANDBOX_ID), '--gid', String(SANDBOX_ID), '--hostname', SANDBOX_HOST],
    ['--clearenv', ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])],
    entries.flatMap((entry) => entryArguments(entry, descriptors)),
    ['--chdir', cwd, '--seccomp', String(filter)],
  ].flat();
}

function entryArguments(entry: SandboxEntry, files: Iterator<number, undefined>): readonly string[] {
  const { target } = entry;
  switch (entry.type) {
    case 'bind':
      return [entry.access === 'read' ? '--ro-bind' : '--bind', entry.source, target];
    case 'link':
      return ['--symlink', entry.linkTarget, target];
    case 'folder':
      return ['--perms', '0755', '--dir', target];
    case 'file': {
      const descriptor = files.next().value;
      if (descriptor === undefined) throw new TypeError(`no descriptor for ${target}`);
      return ['--perms', '0644', '--file', String(descriptor), target];
    }
    case 'proc':
      return [
        // /proc/sys checks for user 0 instead of capabilities, so it has to be read-only.
        ['--proc', target, '--ro-bind', '/proc/sys', `${target}/sys`],
        // Covers process 1, the init process of bubblewrap: a program could write to its memory.
        ['--size', '4096', '--perms', '0555', '--tmpfs', `${target}/1`, '--remount-ro', `${target}/1`],
      ].flat();
    case 'devices':
      return ['--dev', target];
    case 'tmpfs':
      return ['--size', String(entry.bytes), '--perms', '1777', '--tmpfs', target];
    case 'read-only':
      return ['--remount-ro', target];
  }
}

/**
 * Exchanges two folders atomically, so that a skill is never missing while it is replaced. Linux supports this with `renameat2`, which Node
 * does not expose; perl can call it and is installed on nearly every Linux. The caller must not rely on it: it checks the result and moves
 * the remaining folders one by one.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

import { STATE_FOLDER, type RootHandle } from './root-paths.ts';

/** System call numbers of `renameat2`. */
const CALLS: Readonly<Record<string, number>> = { x64: 316, arm64: 276, riscv64: 276, loong64: 276 };
const PROGRAM = '/usr/bin/perl';
const MAX_MS = 20_000;

/**
 * -100 is AT_FDCWD, 2 is RENAME_EXCHANGE. Names come in pairs, each followed by NUL. The parent process may be killed while this runs: the
 * lock on the state folder lets the next process wait for it, and an orphan that starts late does nothing.
 */
const TEXT = `
  my ($call, $parent) = @ARGV; local $/; my @names = split /\\0/, <STDIN>;
  open(my $state, '<', '${STATE_FOLDER}') && flock($state, 2) or exit 1;
  getppid() == $parent or exit 1;
  while (@names) { my ($a, $b) = splice @names, 0, 2; syscall($call + 0, -100, $a, -100, $b, 2) == 0 or exit 1 }`;

/** Two paths relative to the root. */
export type Pair = readonly [string, string];

/** Exchanges pairs in one process. Pairs that cannot be exchanged are left as they are. */
export async function exchangeFolders(handle: RootHandle, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length > 0) await run(handle, pairs);
}

/** Waits for an exchange whose parent process died. Returns false on timeout. */
export async function isExchangeOver(handle: RootHandle): Promise<boolean> {
  return (await run(handle, [])) !== 'killed';
}

function run(handle: RootHandle, pairs: readonly Pair[]): Promise<'ended' | 'killed'> {
  const call = process.platform === 'linux' ? CALLS[process.arch] : undefined;
  if (call === undefined || !existsSync(PROGRAM)) return Promise.resolve('ended');
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ['-e', TEXT, String(call), String(process.pid)], {
      cwd: toOwnPath(handle),
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: MAX_MS,
    });
    child.on('error', () => resolve('ended'));
    child.on('close', (_code, signal) => resolve(signal === null ? 'ended' : 'killed'));
    // The program may exit before reading all names. The caller checks the result.
    child.stdin.on('error', () => undefined);
    child.stdin.end(pairs.map(([a, b]) => `${a}\0${b}\0`).join(''));
  });
}

/** `/proc/self` would be the child process. */
function toOwnPath({ place }: RootHandle): string {
  return place.replace('/proc/self/', `/proc/${String(process.pid)}/`);
}

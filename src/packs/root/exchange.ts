/**
 * Two folders change places in one moment, so that a skill that is replaced is never missing. Linux can, Node cannot ask for it: perl can,
 * which nearly every Linux has. Nothing relies on it: whoever calls looks at what came of it, and moves the rest one after the other.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

import { STATE_FOLDER } from './root-paths.ts';
import type { RootHandle } from './root-paths.ts';

/** Numbers of `renameat2`. */
const CALLS: Readonly<Record<string, number>> = { x64: 316, arm64: 276, riscv64: 276, loong64: 276 };
const PROGRAM = '/usr/bin/perl';
const MAX_MS = 20_000;

/**
 * -100: from where the process stands. 2: RENAME_EXCHANGE. Names come in pairs, a NUL behind each. Whoever started it may be killed and the
 * root be opened by the next: the flag on the state folder lets that one wait for the end, and what comes too late does nothing.
 */
const TEXT = `
  my ($call, $parent) = @ARGV; local $/; my @names = split /\\0/, <STDIN>;
  open(my $state, '<', '${STATE_FOLDER}') && flock($state, 2) or exit 1;
  getppid() == $parent or exit 1;
  while (@names) { my ($a, $b) = splice @names, 0, 2; syscall($call + 0, -100, $a, -100, $b, 2) == 0 or exit 1 }`;

/** Two places of the root, relative to it. */
export type Pair = readonly [string, string];

/** Exchanges as many pairs as can be, in one process; what cannot be is left as it is. */
export async function exchangeFolders(handle: RootHandle, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length > 0) await run(handle, pairs);
}

/** Waits for an exchange that outlived whoever began it. False: it does not end. */
export async function isExchangeOver(handle: RootHandle): Promise<boolean> {
  return (await run(handle, [])) !== 'killed';
}

function run(handle: RootHandle, pairs: readonly Pair[]): Promise<'ended' | 'killed'> {
  const call = process.platform === 'linux' ? CALLS[process.arch] : undefined;
  if (call === undefined || !existsSync(PROGRAM)) return Promise.resolve('ended');
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ['-e', TEXT, String(call), String(process.pid)], {
      cwd: ownPlace(handle),
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: MAX_MS,
    });
    child.on('error', () => resolve('ended'));
    child.on('close', (_code, signal) => resolve(signal === null ? 'ended' : 'killed'));
    // A program that ends early does not read all of it; what it did not do is seen afterwards.
    child.stdin.on('error', () => undefined);
    child.stdin.end(pairs.map(([a, b]) => `${a}\0${b}\0`).join(''));
  });
}

/** `/proc/self` is another process in the child. */
function ownPlace({ place }: RootHandle): string {
  return place.replace('/proc/self/', `/proc/${String(process.pid)}/`);
}

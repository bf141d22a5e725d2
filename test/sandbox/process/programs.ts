import { readFileSync, readdirSync } from 'node:fs';

import { DEFAULT_LIMITS, type ProgramEnd, type RunLimits } from '../../../src/core/execution.ts';
import { runChild, type ChildSpec } from '../../../src/sandbox/process/child-process.ts';

export const PATH = '/usr/local/bin:/usr/bin:/bin';

export interface Outcome extends Omit<ProgramEnd, 'durationMs'> {
  readonly stdout: string;
  readonly stderr: string;
}

/** A sink that keeps what it gets. */
export function keeping(): { write(chunk: Uint8Array): boolean; text(): string; bytes(): Buffer } {
  const chunks: Uint8Array[] = [];
  return {
    write: (chunk) => chunks.push(Uint8Array.from(chunk)) > 0,
    text: () => Buffer.concat(chunks).toString('utf8'),
    bytes: () => Buffer.concat(chunks),
  };
}

export interface RunOptions extends Partial<Omit<ChildSpec, 'argv' | 'stdin'>> {
  readonly stdin?: string | Uint8Array;
  readonly limits?: Partial<RunLimits>;
  readonly signal?: AbortSignal;
}

/** Runs a program and gives all that can be compared of its end. */
export async function runIt(
  argv: readonly string[],
  { stdin = '', limits = {}, signal, ...more }: RunOptions = {},
): Promise<Outcome> {
  const stdout = keeping();
  const stderr = keeping();
  const { durationMs: _, ...end } = await runChild(
    { argv, cwd: '/tmp', env: { PATH }, ...more },
    {
      stdin: typeof stdin === 'string' ? Buffer.from(stdin) : stdin,
      limits: { ...DEFAULT_LIMITS, ...limits },
      streams: { stdout, stderr, signal },
    },
  );
  return { ...end, stdout: stdout.text(), stderr: stderr.text() };
}

/** Numbers of the living processes with this word among their arguments. */
export function processesWith(word: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
        const isZombie = 'ZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2));
        return (
          !isZombie &&
          readFileSync(`/proc/${String(pid)}/cmdline`, 'latin1')
            .split('\0')
            .includes(word)
        );
      } catch {
        return false;
      }
    });
}

/** A number of seconds that no other process sleeps for: it names the sleepers of one test. */
export function oddSeconds(): string {
  return `${String(1000 + Math.floor(Math.random() * 1000))}.${String(100_000 + Math.floor(Math.random() * 900_000))}`;
}

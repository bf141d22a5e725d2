import { constants } from 'node:os';

import type { ProgramEnd } from '#core';

/**
 * Signals that end programs. Engines and bubblewrap report them the way shells do: exit code 128 plus the signal number. SIGHUP is not one
 * of them: nothing sends it to programs in a sandbox, and 129 is what Git exits with after wrong usage.
 */
const FATAL_SIGNALS: ReadonlyMap<number, string> = new Map(
  (
    [
      ['SIGINT', 'SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGKILL'],
      ['SIGUSR1', 'SIGSEGV', 'SIGUSR2', 'SIGPIPE', 'SIGALRM', 'SIGTERM', 'SIGXCPU', 'SIGXFSZ', 'SIGSYS'],
    ] as const
  )
    .flat()
    .map((name) => [constants.signals[name], name]),
);

const REASONS: Readonly<Partial<Record<string, ProgramEnd['reason']>>> = {
  SIGSYS: 'denied',
  SIGXFSZ: 'disk',
  SIGXCPU: 'timeout',
};

/** Turns an exit code above 128 into the signal that it stands for. */
export function withExitSignal(end: ProgramEnd): ProgramEnd {
  const signal =
    end.reason === 'exited' && end.exitCode !== undefined ? FATAL_SIGNALS.get(end.exitCode - 128) : undefined;
  if (signal === undefined) return end;
  return { reason: REASONS[signal] ?? 'signal', signal, durationMs: end.durationMs, warnings: end.warnings };
}

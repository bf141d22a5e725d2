import type { EndReason, ProgramEnd } from '../../core/execution.ts';

/** Signals that end programs. Engines and bubblewrap hand them on the way shells do: 128 and the number. */
const SIGNALS: Readonly<Partial<Record<number, string>>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
};

const REASONS: Readonly<Partial<Record<string, EndReason>>> = {
  SIGSYS: 'denied',
  SIGXFSZ: 'disk',
  SIGXCPU: 'timeout',
};

/** What an exit status says about the end. */
export function withExitSignal(end: ProgramEnd): ProgramEnd {
  const signal = end.reason === 'exited' && end.exitCode !== undefined ? SIGNALS[end.exitCode - 128] : undefined;
  if (signal === undefined) return end;
  return { reason: REASONS[signal] ?? 'signal', signal, durationMs: end.durationMs, warnings: end.warnings };
}

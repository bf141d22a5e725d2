import { expect, test } from 'vitest';

import { withExitSignal } from '../../../src/sandbox/executors/exit-signal.ts';

test.each([
  [139, 'signal', 'SIGSEGV'],
  [137, 'signal', 'SIGKILL'],
  [159, 'denied', 'SIGSYS'],
  // Git exits with it after wrong usage, and nothing sends SIGHUP to programs in a sandbox.
  [129, 'exited', undefined],
  [1, 'exited', undefined],
])('exit code %i means %s', (exitCode, reason, signal) => {
  const end = withExitSignal({ reason: 'exited', exitCode, durationMs: 1, warnings: [] });
  expect([end.reason, end.signal]).toEqual([reason, signal]);
});

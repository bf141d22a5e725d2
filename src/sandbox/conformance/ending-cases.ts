import assert from 'node:assert/strict';

import { isSkillError } from '#core';
import { assertExit, type CaseDefinition, conform, type Fixture, pickStableEnd } from './fixture.ts';

function exitCase(status: number): CaseDefinition {
  return conform(
    'EXEC-3',
    `a program that exits with ${String(status)} has ended by itself with that status`,
    async (fixture) => {
      assertExit(await fixture.shell(`exit ${String(status)}`), status);
    },
  );
}

function signalCase(signal: string): CaseDefinition {
  return conform('EXEC-3', `a program that dies of ${signal} has ended by that signal`, async (fixture) => {
    const { end } = await fixture.shell(`kill -${signal.slice(3)} $$; sleep 30`);
    assert.deepEqual(pickStableEnd(end), { reason: 'signal', signal });
  });
}

/** A shell reports it by exit code, the system by failing to start the program. */
async function assertNotRun(fixture: Fixture, argv: readonly string[], statuses: readonly number[]): Promise<void> {
  try {
    const { end } = await fixture.run(argv);
    assert.equal(end.reason, 'exited');
    assert(statuses.includes(end.exitCode ?? -1), `status ${String(end.exitCode)}`);
  } catch (error) {
    if (!isSkillError(error)) throw error;
    assert.equal(error.code, 'executor/failed');
  }
}

export const ENDING_CASES: readonly CaseDefinition[] = [
  ...[0, 1, 2, 127, 255].map(exitCase),
  ...['SIGKILL', 'SIGTERM', 'SIGSEGV'].map(signalCase),
  conform('EXEC-3', 'a program that is not there is said to be missing', async (fixture) => {
    await assertNotRun(fixture, ['no-such-program-anywhere'], [127]);
  }),
  conform('EXEC-3', 'a file without the permission to be executed is not run', async (fixture) => {
    await assertNotRun(fixture, ['scripts/plain.sh'], [126, 127]);
  }),
  conform('EXEC-3', 'a program runs again after one that could not be started', async (fixture) => {
    await assertNotRun(fixture, ['./no/such/program'], [126, 127]);
    assert.equal(await fixture.print('echo alive'), 'alive\n');
  }),
  conform('EXEC-3', 'no words at all are refused', async (fixture) => {
    await fixture.mustRefuse([]);
    await fixture.mustRefuse(['']);
  }),
  conform('EXEC-3', 'a NUL in a word is refused and cuts nothing', async (fixture) => {
    await fixture.mustRefuse(['sh', '-c', ': > "$RUN_DIR/ran"\0 true']);
  }),
  conform('EXEC-3', 'the time that is told is the time that passed', async (fixture) => {
    const began = performance.now();
    const { end } = await fixture.mustSucceed('sleep 0.4');
    const passed = performance.now() - began;
    assert(end.durationMs >= 390 && end.durationMs <= passed + 1, `${String(end.durationMs)} of ${String(passed)}`);
  }),
];

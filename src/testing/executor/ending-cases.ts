import assert from 'node:assert/strict';

import { isSkillError } from '../../core/errors.ts';
import { assertExit, endOf } from './bench.ts';
import type { Bench } from './bench.ts';
import type { CaseDefinition } from './definition.ts';

function exitCase(status: number): CaseDefinition {
  return {
    name: `a program that exits with ${String(status)} has ended by itself with that status`,
    requirement: 'EXEC-3',
    async run(bench) {
      assertExit(await bench.shell(`exit ${String(status)}`), status);
    },
  };
}

function signalCase(signal: string): CaseDefinition {
  return {
    name: `a program that dies of ${signal} has ended by that signal`,
    requirement: 'EXEC-3',
    async run(bench) {
      const { end } = await bench.shell(`kill -${signal.slice(3)} $$; sleep 30`);
      assert.deepEqual(endOf(end), { reason: 'signal', signal });
    },
  };
}

/** A shell says it by a status, the system by refusing to start it. */
async function assertNotRun(bench: Bench, argv: readonly string[], statuses: readonly number[]): Promise<void> {
  try {
    const { end } = await bench.run(argv);
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
  {
    name: 'a program that is not there is said to be missing',
    requirement: 'EXEC-3',
    async run(bench) {
      await assertNotRun(bench, ['no-such-program-anywhere'], [127]);
    },
  },
  {
    name: 'a file without the permission to be executed is not run',
    requirement: 'EXEC-3',
    async run(bench) {
      await assertNotRun(bench, ['scripts/plain.sh'], [126, 127]);
    },
  },
  {
    name: 'a program runs again after one that could not be started',
    requirement: 'EXEC-3',
    async run(bench) {
      await assertNotRun(bench, ['./no/such/program'], [126, 127]);
      assert.equal((await bench.must('echo alive')).stdout.toString('utf8'), 'alive\n');
    },
  },
  {
    name: 'no words at all are refused',
    requirement: 'EXEC-3',
    async run(bench) {
      const isRefused = (error: unknown): boolean => isSkillError(error) && error.code === 'input/invalid';
      await assert.rejects(bench.run([]), isRefused);
      await assert.rejects(bench.run(['']), isRefused);
    },
  },
  {
    name: 'a NUL in a word is refused and cuts nothing',
    requirement: 'EXEC-3',
    async run(bench) {
      const prepared = bench.prepare(['sh', '-c', ': > "$RUN_DIR/ran"\0 true']);
      await assert.rejects(
        bench.runPrepared(prepared),
        (error) => isSkillError(error) && error.code === 'input/invalid',
      );
      assert.equal(bench.read(`${prepared.runFolder}/ran`), undefined);
    },
  },
  {
    name: 'the time that is told is the time that passed',
    requirement: 'EXEC-3',
    async run(bench) {
      const began = performance.now();
      const { end } = await bench.must('sleep 0.4');
      const passed = performance.now() - began;
      assert(end.durationMs >= 390 && end.durationMs <= passed + 1, `${String(end.durationMs)} of ${String(passed)}`);
    },
  },
];

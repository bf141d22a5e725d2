import assert from 'node:assert/strict';

import { assertExit, type CaseDefinition, conform, pickStableEnd } from './fixture.ts';
import { makeHeartbeat, type Heartbeat } from './heartbeat.ts';

/** Time limits that are tried one after the other: on a busy machine a program may not have begun before the first is over. */
const LIMITS_MS = [800, 5_000, 40_000];
/** A program that occupies a processor gets a short limit first. */
const BUSY_LIMITS_MS = [300, ...LIMITS_MS];

/** A program that exceeds its time limit, with the processes that it started. */
function timeoutCase(
  about: string,
  script: (heartbeat: Heartbeat) => string,
  { program, limitsMs = LIMITS_MS }: { readonly program?: string; readonly limitsMs?: readonly number[] } = {},
): CaseDefinition {
  return conform(
    'EXEC-8',
    `when its time is over, ${about} is gone`,
    { needs: { limits: ['wallMs'], programs: program === undefined ? undefined : [program] } },
    async (fixture) => {
      for (const wallMs of limitsMs) {
        const heartbeat = makeHeartbeat();
        const { end, runFolder } = await fixture.shell(script(heartbeat), { limits: { wallMs } });
        assert.equal(end.reason, 'timeout');
        if (!heartbeat.hasBeaten(fixture, runFolder) && wallMs !== limitsMs.at(-1)) continue;
        await heartbeat.assertGone(fixture, runFolder);
        return;
      }
    },
  );
}

/** A program that exits before the processes that it started. */
function leftBehindCase(about: string, script: (heartbeat: Heartbeat) => string, program?: string): CaseDefinition {
  return conform(
    'EXEC-8',
    `a program that leaves ${about} behind has ended, and that is gone too`,
    { needs: program === undefined ? {} : { programs: [program] } },
    async (fixture) => {
      const heartbeat = makeHeartbeat();
      const ran = await fixture.shell(`${script(heartbeat)}\n${heartbeat.awaited}; echo done`);
      assertExit(ran, 0);
      assert.equal(ran.text, 'done\n');
      await heartbeat.assertGone(fixture, ran.runFolder);
    },
  );
}

const TIMED = { needs: { limits: ['wallMs'] } } as const;
const FORKS = { needs: { programs: ['setsid'] } } as const;

export const TIME_CASES: readonly CaseDefinition[] = [
  conform('EXEC-8', 'a program is ended when its time is over, and the time is told', TIMED, async (fixture) => {
    for (const wallMs of LIMITS_MS) {
      const { end, stdout } = await fixture.shell('echo begun; sleep 60; echo no', { limits: { wallMs } });
      if (stdout.length === 0 && wallMs !== LIMITS_MS.at(-1)) continue;
      assert.deepEqual([end.reason, end.exitCode, stdout.toString('utf8')], ['timeout', undefined, 'begun\n']);
      assert(end.durationMs >= wallMs - 10 && end.durationMs < 60_000, `${String(end.durationMs)} ms`);
      return;
    }
  }),
  timeoutCase('a program in the background', ({ command }) => `${command} & sleep 60`),
  timeoutCase('a grandchild in a session of its own', ({ command }) => `(setsid ${command} &) ; sleep 60`, {
    program: 'setsid',
  }),
  timeoutCase('a process that was forked twice', ({ command }) => `( ( ${command} & ) & ) ; sleep 60`),
  timeoutCase(
    'a process that does not listen to SIGTERM, SIGHUP and SIGINT',
    ({ command }) => `trap '' TERM HUP INT; ${command}`,
  ),
  timeoutCase(
    'a process whose parent has stopped itself',
    ({ command, awaited }) => `${command} & ${awaited}; kill -STOP $$; sleep 60`,
  ),
  timeoutCase('a busy loop', ({ command }) => `while :; do :; done & ${command}`, {
    limitsMs: BUSY_LIMITS_MS,
  }),
  leftBehindCase('a daemon that holds its output open', ({ command }) => `(setsid ${command} < /dev/null &)`, 'setsid'),
  leftBehindCase(
    'a daemon that closed everything',
    ({ command }) => `(setsid ${command} < /dev/null > /dev/null 2>&1 &)`,
    'setsid',
  ),
  leftBehindCase('a process in the background', ({ command }) => `${command} &`),
  conform('EXEC-8', 'a program that was cancelled before its start is not started', async (fixture) => {
    const prepared = fixture.prepare(['sh', '-c', ': > "$RUN_DIR/ran"']);
    const { end } = await fixture.runPrepared(prepared, { signal: AbortSignal.abort() });
    assert.deepEqual(
      [pickStableEnd(end), fixture.read(`${prepared.runFolder}/ran`)],
      [{ reason: 'cancelled' }, undefined],
    );
  }),
  conform('EXEC-8', 'a program that is cancelled is gone with all it started', FORKS, async (fixture) => {
    const heartbeat = makeHeartbeat();
    const stop = new AbortController();
    const { running, runFolder } = await fixture.startReady(heartbeat.forked, { signal: stop.signal });
    stop.abort();
    const { end } = await running;
    assert.deepEqual([end.reason, end.exitCode], ['cancelled', undefined]);
    await heartbeat.assertGone(fixture, runFolder);
  }),
  conform('EXEC-8', 'cancelling one program leaves the others of the workspace alone', async (fixture) => {
    const stop = new AbortController();
    const other = fixture.print('sleep 1.5; echo whole');
    const { running } = await fixture.startReady('echo ready; sleep 60', { signal: stop.signal });
    stop.abort();
    assert.equal((await running).end.reason, 'cancelled');
    assert.equal(await other, 'whole\n');
  }),
];

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { OutputSink } from '#core';
import { assertExit, captureOutput, type CaseDefinition, conform, pickStableEnd } from './fixture.ts';

const FLOOD = 32 * 1024 * 1024;
/** Bytes between two memory measurements, which start in the second half. */
const MEASURE_EVERY = 8 * 1024 * 1024;
/** Share of the passed bytes. An executor that buffers holds all of them at every measurement; other cases only briefly. */
const BUFFERED_SHARE = 0.6;

/** Memory in use, which includes everything that the executor buffers, and garbage. */
function usedBytes(): number {
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

/** Memory in use after a garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return usedBytes();
}

/** Waits for the file `go` in the folder of the run. */
const WAIT_FOR_GO =
  'i=0; while [ ! -e "$RUN_DIR/go" ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i + 1)); done; [ -e "$RUN_DIR/go" ]';

/** Counts bytes, measures the memory at intervals, and says when everything has come. */
function countingSink(everythingCame: () => void): OutputSink & { bytes: number; leastShare: number } {
  const before = heldBytes();
  let nextMeasurement = FLOOD / 2;
  const sink = {
    bytes: 0,
    /** The smallest share of the passed bytes that was in memory at any measurement. */
    leastShare: Infinity,
    write(chunk: Uint8Array): boolean {
      sink.bytes += chunk.length;
      if (sink.bytes === FLOOD) everythingCame();
      if (sink.bytes < nextMeasurement || sink.leastShare < BUFFERED_SHARE) return true;
      nextMeasurement += MEASURE_EVERY;
      // Collecting garbage is expensive and can only lower the share.
      for (const measure of [usedBytes, heldBytes])
        if (sink.leastShare >= BUFFERED_SHARE)
          sink.leastShare = Math.min(sink.leastShare, (measure() - before) / sink.bytes);
      return true;
    },
  };
  return sink;
}

const HELD = { needs: { limits: ['outputBytes'] } } as const;

export const OUTPUT_CASES: readonly CaseDefinition[] = [
  conform('EXEC-8', 'thirty-two megabytes of output are handed on and not gathered', async (fixture) => {
    // The program ends only after all of its output has come, so an executor that gathers it first never gets there.
    const prepared = fixture.prepare(['sh', '-c', `head -c ${String(FLOOD)} /dev/zero; ${WAIT_FOR_GO}`], {
      limits: { outputBytes: 2 * FLOOD },
    });
    const stdout = countingSink(() => {
      writeFileSync(fixture.onHost(`${prepared.runFolder}/go`), '', { mode: 0o644, flag: 'wx' });
    });
    assertExit(await fixture.runPrepared(prepared, { stdout }), 0);
    assert.equal(stdout.bytes, FLOOD);
    const { leastShare } = stdout;
    assert(
      leastShare < BUFFERED_SHARE,
      `at every measurement at least ${leastShare.toFixed(2)} of the passed bytes were in memory`,
    );
  }),
  conform('EXEC-3', 'output comes while the program runs', async (fixture) => {
    const prepared = fixture.prepare(['sh', '-c', `echo ready; ${WAIT_FOR_GO} && echo went`]);
    const stdout = captureOutput();
    const running = fixture.runPrepared(prepared, { stdout });
    await Promise.race([stdout.until('ready\n'), running]);
    writeFileSync(fixture.onHost(`${prepared.runFolder}/go`), '', { mode: 0o644, flag: 'wx' });
    assertExit(await running, 0);
    assert.equal(stdout.bytes().toString('utf8'), 'ready\nwent\n');
  }),
  conform('EXEC-8', 'a program that prints without end is ended for its output', HELD, async (fixture) => {
    const { end, stdout } = await fixture.run(['yes'], { limits: { outputBytes: 100_000 } });
    assert.equal(end.reason, 'output');
    assert(stdout.length <= 100_000, `${String(stdout.length)} bytes came`);
    assert.equal(end.exitCode, undefined);
  }),
  conform('EXEC-8', 'the limit of output holds for both streams together', HELD, async (fixture) => {
    const { end, stdout, stderr } = await fixture.shell(
      'head -c 60000 /dev/zero; head -c 60000 /dev/zero >&2; sleep 30',
      { limits: { outputBytes: 100_000 } },
    );
    assert.equal(end.reason, 'output');
    assert(stdout.length + stderr.length <= 100_000, `${String(stdout.length + stderr.length)} bytes came`);
  }),
  conform('EXEC-8', 'exactly as much output as is allowed is no reason to be ended', async (fixture) => {
    const { end, stdout } = await fixture.run(['head', '-c', '100000', '/dev/zero'], {
      limits: { outputBytes: 100_000 },
    });
    assert.deepEqual([pickStableEnd(end), stdout.length], [{ reason: 'exited', exitCode: 0 }, 100_000]);
  }),
  conform('EXEC-8', 'a program is ended when its output is no longer taken', async (fixture) => {
    let bytes = 0;
    const stdout: OutputSink = {
      write: (chunk) => {
        bytes += chunk.length;
        return bytes < 1000;
      },
    };
    const { end } = await fixture.run(['yes'], { stdout });
    assert.equal(end.reason, 'output');
  }),
];

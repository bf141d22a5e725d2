import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { namesIn } from '#platform';
import type { Fixture } from './fixture.ts';
import { readProcFile } from '../process/proc.ts';

/** A living process writes every 50 ms, so it is gone after this much silence. */
const SILENCE_MS = 400;

/** About two minutes, so that a process that escapes a broken executor ends eventually. */
const MAX_BEATS = 2400;

/** A process that writes to a file while it lives and that the host finds by a mark in its command line. */
export interface Heartbeat {
  /** Shell command that outlives every case. */
  readonly command: string;
  /** Shell command that waits for the first beat. */
  readonly awaited: string;
  /** Script that starts the process in a session of its own, prints `ready` and waits. */
  readonly forked: string;
  hasBeaten(fixture: Fixture, runFolder: string): boolean;
  /** Throws if the process is still alive. */
  assertGone(fixture: Fixture, runFolder: string): Promise<void>;
}

export function makeHeartbeat(): Heartbeat {
  const mark = `conformance-${randomBytes(8).toString('hex')}`;
  const beats = (fixture: Fixture, runFolder: string): number => fixture.read(`${runFolder}/${mark}`)?.length ?? 0;
  const command = `sh -c 'i=0; while [ $i -lt ${String(MAX_BEATS)} ]; do echo x >> "$RUN_DIR/$1"; sleep 0.05; i=$((i + 1)); done' sh ${mark}`;
  const awaited = `i=0; while [ ! -s "$RUN_DIR/${mark}" ] && [ $i -lt 400 ]; do sleep 0.05; i=$((i + 1)); done`;
  return {
    command,
    awaited,
    forked: `(setsid ${command} &); ${awaited}; echo ready; sleep 40`,
    hasBeaten: (fixture, runFolder) => beats(fixture, runFolder) > 0,
    async assertGone(fixture, runFolder) {
      // No grace period: all processes must be gone when the end of the program is reported.
      const alive = processesWith(mark);
      const before = beats(fixture, runFolder);
      assert(before > 0, 'the heartbeat process never ran');
      await delay(SILENCE_MS);
      assert.deepEqual({ alive, beats: beats(fixture, runFolder) }, { alive: [], beats: before });
    },
  };
}

/** Processes on the host, which also sees those in namespaces. Linux only. */
function processesWith(mark: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  return namesIn('/proc').filter(
    (name) => /^\d+$/.test(name) && (readProcFile(Number(name), 'cmdline') ?? '').includes(mark),
  );
}

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { isSystemError } from '../../platform/fs/paths.ts';
import type { Bench } from './bench.ts';

/** How long nothing may be written any more. A process that lives writes every twentieth of a second. */
const SILENCE_MS = 400;

/** About two minutes: an executor that lets it get away does not leave it on the machine for ever. */
const MAX_BEATS = 2400;

/** A process that shows that it lives, by writing to a file, and that the host finds by a word in its command line. */
export interface Heartbeat {
  /** For `sh`: ends by itself only long after every case. */
  readonly command: string;
  /** For `sh`: waits until the first beat. */
  readonly awaited: string;
  /** Throws where it lives. */
  assertGone(bench: Bench, runFolder: string): Promise<void>;
}

export function makeHeartbeat(): Heartbeat {
  const mark = `conformance-${randomBytes(8).toString('hex')}`;
  const beats = (bench: Bench, runFolder: string): number => bench.read(`${runFolder}/${mark}`)?.length ?? 0;
  return {
    command: `sh -c 'i=0; while [ $i -lt ${String(MAX_BEATS)} ]; do echo x >> "$RUN_DIR/$1"; sleep 0.05; i=$((i + 1)); done' sh ${mark}`,
    awaited: `i=0; while [ ! -s "$RUN_DIR/${mark}" ] && [ $i -lt 400 ]; do sleep 0.05; i=$((i + 1)); done`,
    async assertGone(bench, runFolder) {
      // At once: the end of a program is told when every process of it is gone.
      const alive = processesWith(mark);
      const before = beats(bench, runFolder);
      assert(before > 0, 'the process that was to be ended never ran');
      await delay(SILENCE_MS);
      assert.deepEqual({ alive, beats: beats(bench, runFolder) }, { alive: [], beats: before });
    },
  };
}

/** Seen from the host, where it is one that can be asked; namespaces hide nothing from there. */
function processesWith(mark: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLine(name).includes(mark));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch (error) {
    // It ended between two looks.
    if (isSystemError(error)) return '';
    throw error;
  }
}

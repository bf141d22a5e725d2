import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { createRun } from '../src/journal/journal-writer.ts';
import { verifyRun } from '../src/journal/verify.ts';
import type { RunEvent, RunStart } from '../src/core/run-events.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const EVENTS = 20_000;
const SYNCED = 200;
const ROUNDS = 5;
const LEAST = 20_000;

const START: RunStart = {
  request: 'measure the journal',
  version: '0.0.0',
  indexHash: 'none',
  index: [],
  policyHash: 'none',
};

/** Events a second into a journal, left to the system and forced to the disk one by one; and what a check of it takes. */
export function benchJournal({ workDir }: { readonly workDir: string }): BenchRow[] {
  const directory = path.join(workDir, 'journal');
  mkdirSync(directory, { recursive: true });
  const plain: number[] = [];
  const synced: number[] = [];
  const verified: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const written = writeEvents(directory, EVENTS, 'none');
    plain.push(written.perSecond);
    synced.push(writeEvents(directory, SYNCED, 'each').perSecond);
    const start = performance.now();
    if (verifyRun(written.path).status !== 'intact') throw new Error('the journal is not what was written');
    verified.push(EVENTS / ((performance.now() - start) / 1000));
  }
  const rate = median(plain);
  return [
    {
      name: 'journal, ordinary events, left to the system',
      value: rate,
      unit: 'events/s',
      bound: `>= ${String(LEAST)}`,
      ok: rate >= LEAST,
    },
    { name: 'the same, each on the disk before the next', value: median(synced), unit: 'events/s' },
    { name: 'the first over the second', value: rate / median(synced), unit: 'x' },
    { name: 'verify of a run of 20,000 events', value: median(verified), unit: 'events/s' },
  ];
}

function writeEvents(
  directory: string,
  count: number,
  sync: 'none' | 'each',
): { readonly perSecond: number; readonly path: string } {
  const run = createRun(directory, START, { sync });
  const start = performance.now();
  for (let call = 1; call <= count; call += 1) run.append(ordinaryEvent(call));
  const seconds = (performance.now() - start) / 1000;
  run.end('done', 'measured');
  return { perSecond: count / seconds, path: run.path };
}

/** An action, what was decided about it, what came of it, and a remark: about 300 bytes each. */
function ordinaryEvent(call: number): RunEvent {
  switch (call % 4) {
    case 0:
      return {
        type: 'action',
        call,
        action: { type: 'read_file', path: `src/module-${String(call)}/file.ts` },
        askedBy: 'model',
      };
    case 1:
      return {
        type: 'decision',
        call,
        decision: {
          effect: 'allow',
          tool: 'read_file',
          risk: 'low',
          rule: 'read_file(src/**)',
          origin: { layer: 'project', where: '.agent/config.json' },
          reason: 'the rule read_file(src/**) of the project allows it',
        },
      };
    case 2:
      return {
        type: 'observation',
        call,
        observation: {
          type: 'file-written',
          action: 'write_file',
          path: `out/report-${String(call)}.md`,
          bytes: call,
          digest: `sha256:${'0123456789abcdef'.repeat(4)}`,
        },
      };
    default:
      return {
        type: 'note',
        message: `step ${String(call)} of many: a remark as long as most remarks are, with “quotes”`,
      };
  }
}

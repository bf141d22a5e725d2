/** The events of a run as server-sent events, from the database, while any worker writes them. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';

import { frameLine } from '#server';
import { storedLines, storedRecords } from './run-store.ts';
import { readRow } from './run-table.ts';

const POLL_MS = 100;
const HEARTBEAT_MS = 15_000;

/**
 * One frame for each line, over all attempts: an attempt that continues another one repeats its events, so a reader sees the hand-over. The
 * id is `attempt-number`. Long texts are references to contents, as they are in the record. The last frame is `end`: a stream that ends
 * without it was cut off.
 */
export async function* followStored(
  pool: Pool,
  { run, project }: { readonly run: string; readonly project: string },
  { signal, lastEventId }: { readonly signal: AbortSignal; readonly lastEventId: string | undefined },
): AsyncGenerator<string> {
  const [, fromAttempt = '0', fromSeq = '0'] = /^(\d{1,9})-(\d{1,9})$/.exec(lastEventId ?? '') ?? [];
  let attempt = Number(fromAttempt);
  let seq = Number(fromSeq);
  let silentMs = 0;
  while (!signal.aborted) {
    // Read before the lines, so that lines written before the end are still sent.
    const row = await readRow(pool, project, run);
    const records = (await storedRecords(pool, run)).filter((one) => !one.isChild && one.attempt >= attempt);
    let hasSent = false;
    for (const stored of records) {
      const after = stored.attempt === attempt ? seq : 0;
      for await (const page of storedLines(pool, { run, ...stored }, { after })) {
        for (const one of page) {
          ({ attempt } = stored);
          ({ seq } = one);
          hasSent = true;
          yield frameLine(readEventType(one.line), one.line, `${String(attempt)}-${String(seq)}`);
        }
      }
    }
    if (row === undefined) return;
    if (row.state === 'ended' && !hasSent) return void (yield frameLine('end', '{}'));
    silentMs = hasSent ? 0 : silentMs + POLL_MS;
    if (hasSent) continue;
    // A comment without an empty line is no frame of its own.
    if (silentMs % HEARTBEAT_MS === 0) yield ': \n';
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

function readEventType(line: string): string {
  return /"event":\{"type":"([a-z-]+)"/.exec(line)?.[1] ?? 'message';
}

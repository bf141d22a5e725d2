import type { RunEvent } from '#core';
import { restoredValue, startText } from './references.ts';
import { affectsSummary } from './run-info.ts';
import { isRunEvent } from './shape.ts';

/** A flush that is due before the program waits; cleared when the run ends. */
export interface DueFlush {
  flush: (() => void) | undefined;
}

/** A separate function, because a closure in the queue would keep the run in memory. */
export function flushDue(due: DueFlush): void {
  due.flush?.();
}

/** Fields that this program creates and reads again. They are exempt from redaction, because hashes look like secrets. */
export function ownFields(event: RunEvent): object {
  const { type } = event;
  switch (type) {
    case 'run-start':
      return { type, run: event.run, ...pickHashes(event), process: event.process };
    case 'scan':
      return { type, indexHash: event.indexHash };
    case 'content-keep':
      return { type, path: event.path };
    case 'model-call':
      return { type, request: event.request };
    default:
      return { type };
  }
}

function pickHashes(event: Extract<RunEvent, { readonly type: 'run-start' }>): object {
  const { indexHash, indexDigest, scanDigest, policyHash } = event;
  return { indexHash, indexDigest, policyHash, scanDigest };
}

/** Returns the event as a reader restores it, so that both derive the same summary. */
export function asRead(event: RunEvent, stored: object): RunEvent {
  if (stored === event || !affectsSummary(event)) return event;
  const read = restoredValue(JSON.parse(JSON.stringify(stored)), startText);
  return isRunEvent(read) ? read : event;
}

/** The current time as text. Several events happen within a millisecond, and formatting takes longer than asking. */
export function openTimeText(now: () => Date): () => string {
  let [known, text] = [Number.NaN, ''];
  return () => {
    const time = now();
    if (time.getTime() !== known) [known, text] = [time.getTime(), time.toISOString()];
    return text;
  };
}

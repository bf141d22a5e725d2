/** Prepares an event for the journal. */
import type { RunEvent } from '../core/run-events.ts';
import { restoredValue, startText } from './references.ts';
import { isTelling } from './run-info.ts';
import { isRunEvent } from './shape.ts';

/** Fields that this program creates and reads again. They are exempt from redaction, because hashes look like secrets. */
export function ownFields(event: RunEvent): object {
  const { type } = event;
  switch (type) {
    case 'run-start':
      return { type, run: event.run, ...hashesOf(event), process: event.process };
    case 'content-keep':
      return { type, path: event.path };
    case 'model-call':
      return { type, request: event.request };
    default:
      return { type };
  }
}

function hashesOf({ indexHash, indexDigest, policyHash }: Extract<RunEvent, { readonly type: 'run-start' }>): object {
  return { indexHash, indexDigest, policyHash };
}

/** Returns the event as a reader restores it, so that both derive the same summary. */
export function asRead(event: RunEvent, stored: object): RunEvent {
  if (stored === event || !isTelling(event)) return event;
  const read = restoredValue(JSON.parse(JSON.stringify(stored)), startText);
  return isRunEvent(read) ? read : event;
}

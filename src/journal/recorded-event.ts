/** An event on its way into the journal. */
import type { RunEvent } from '../core/run-events.ts';
import { restoredValue, startText } from './references.ts';
import { isTelling } from './run-info.ts';
import { isRunEvent } from './shape.ts';

/** What this program made itself and reads again: hashes look like secrets to who looks for secrets. */
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

/** An event as a reader finds it, so that both make the same summary of it. What is stored as it came is read as it came. */
export function asRead(event: RunEvent, stored: object): RunEvent {
  if (stored === event || !isTelling(event)) return event;
  const read = restoredValue(JSON.parse(JSON.stringify(stored)), startText);
  return isRunEvent(read) ? read : event;
}

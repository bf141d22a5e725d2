/** The events of runs as rows for queries: who asked for what, what was decided, and what came of it. A fleet has the same rows as a view. */
import path from 'node:path';

import { readField, type RunEvent } from '#core';
import { listRuns, readRun } from '#journal';

export interface EventIndexRow {
  readonly run: string;
  readonly seq: number;
  readonly at: string;
  readonly type: RunEvent['type'];
  /** The number of the action. */
  readonly call: number | null;
  /** The tool, skill or model that the event is about. */
  readonly subject: string | null;
  /** The decision, answer, failure or outcome. */
  readonly result: string | null;
}

/** All events of the readable runs of a directory, oldest run first. */
export function* eventIndex(directory: string): Generator<EventIndexRow> {
  for (const { id, reading } of listRuns(directory).toReversed()) {
    if (reading.type !== 'run') continue;
    for (const { seq, time, event } of readRun(path.join(directory, id), { content: 'start' }).lines)
      yield { run: id, seq, at: time, type: event.type, ...indexedEvent(event) };
  }
}

function indexedEvent(event: RunEvent): Pick<EventIndexRow, 'call' | 'subject' | 'result'> {
  const call = readField(event, 'call');
  return {
    call: typeof call === 'number' ? call : null,
    subject: first(event, [
      ['action', 'type'],
      ['decision', 'tool'],
      ['observation', 'action'],
      ['request', 'tool'],
      ['skill', 'id'],
      ['skill'],
      ['model'],
    ]),
    result: first(event, [
      ['decision', 'effect'],
      ['answer', 'verdict'],
      ['observation', 'code'],
      ['observation', 'type'],
      ['outcome'],
    ]),
  };
}

function first(event: RunEvent, places: readonly (readonly string[])[]): string | null {
  for (const place of places) {
    const value = place.reduce<unknown>(readField, event);
    if (typeof value === 'string') return value;
  }
  return null;
}

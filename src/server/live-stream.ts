/** Streams of the page: the rows of a run as they are recorded, with what is not recorded between them, and changes of the server. */
import type { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import { isSkillError } from '#core';
import { openEventRows, type PriceAnswer, type RecordLine } from './event-row.ts';
import type { LiveMessage } from './run-starter.ts';
import { frameEvent } from './server-sent-events.ts';

/** `attempt-number` in a fleet, else the number. */
function lineId({ attempt, seq }: RecordLine): string {
  return attempt === undefined ? String(seq) : `${String(attempt)}-${String(seq)}`;
}

/** Reads the id of the last line that a page has. */
export function readLineId(id: string): { readonly attempt?: number; readonly after: number } | undefined {
  const [, attempt, seq] = /^(?:(\d{1,9})-)?(\d{1,15})$/.exec(id) ?? [];
  if (seq === undefined) return undefined;
  return { after: Number(seq), attempt: attempt === undefined ? undefined : Number(attempt) };
}

export interface LiveOptions {
  /** The events that the page does not have. */
  readonly follow: (signal: AbortSignal) => AsyncIterable<RecordLine>;
  readonly live: EventEmitter | undefined;
  readonly price?: PriceAnswer;
  readonly signal: AbortSignal;
}

/** Rows wait while this many characters are not sent, and messages are dropped: the record has the whole text. */
const MAX_WAITING = 1_000_000;

/** `row` for each event, `delta` and `output` while the run is in progress here, `end` at the end. */
export async function* liveRows({ follow: events, live, price, signal }: LiveOptions): AsyncGenerator<string> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const waiting: string[] = [];
  let [wake, isOver, characters] = [(): void => undefined, false, 0];
  let failure: { readonly error: unknown } | undefined;
  const push = (text: string): void => {
    waiting.push(text);
    characters += text.length;
    wake();
  };
  push('retry: 1000\n\n');
  const isFull = (): boolean => characters >= MAX_WAITING;
  const listen = (message: LiveMessage): void => {
    if (!isFull()) push(frameEvent(message.type, message));
  };
  const follow = async (): Promise<void> => {
    const toRow = openEventRows(price);
    for await (const line of events(either)) {
      push(frameEvent('row', toRow(line), lineId(line)));
      while (isFull() && !either.aborted) await wait(10);
    }
    push(frameEvent('end', {}));
  };
  live?.on('message', listen);
  signal.addEventListener('abort', () => wake(), { once: true });
  const followed = follow()
    .catch((error: unknown) => {
      // Kept until the reader takes it: as a rejection that nothing awaits yet, it would end the process.
      if (isSkillError(error) && error.raised === undefined) push(frameEvent('problem', { message: error.message }));
      else failure = { error };
    })
    .finally(() => {
      isOver = true;
      wake();
    });
  try {
    for (;;) {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        characters -= next.length;
        yield next;
      }
      if (failure !== undefined) throw failure.error;
      if (isOver || signal.aborted) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    live?.off('message', listen);
    over.abort();
    await followed;
  }
}

/** Sends `change` whenever the state differs from the last one that was sent. The state is read only while a page listens. */
export async function* changes(
  read: () => Readonly<Record<string, string | number>> | Promise<Readonly<Record<string, string | number>>>,
  { signal, pollMs }: { readonly signal: AbortSignal; readonly pollMs: number },
): AsyncGenerator<string> {
  let last = '';
  yield 'retry: 1000\n\n';
  while (!signal.aborted) {
    const state = await read();
    const text = JSON.stringify(state);
    if (text !== last) yield frameEvent('change', state);
    last = text;
    await wait(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

import { useEffect, useRef, useState } from 'preact/hooks';

import { address } from './client.ts';
import { EMPTY_RUN, lastId, withMessages, type LiveMessage, type LiveRun } from './live-run.ts';

/** Follows a run. Messages are shown together, at most once per frame. */
export function useLiveRun(id: string, connection: string): LiveRun {
  const [run, setRun] = useState(EMPTY_RUN);
  const last = useRef('0');
  useEffect(() => {
    let waiting: LiveMessage[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = (): void => {
      timer = undefined;
      const messages = waiting;
      waiting = [];
      setRun((now) => {
        const next = withMessages(now, messages);
        last.current = lastId(next);
        return next;
      });
    };
    const take = (message: LiveMessage): void => {
      waiting.push(message);
      timer ??= setTimeout(flush, 16);
    };
    const source = new EventSource(address('/runs/{id}/live', { id, after: last.current }));
    const on = (name: string, read: (data: string) => LiveMessage): void =>
      source.addEventListener(name, ({ data }: MessageEvent<string>) => take(read(data)));
    on('row', (data) => ({ type: 'row', row: JSON.parse(data) }));
    on('delta', (data) => ({ type: 'delta', text: textIn(data) }));
    on('output', (data) => ({ type: 'output', text: textIn(data) }));
    on('withdraw', () => ({ type: 'withdraw' }));
    on('end', () => {
      source.close();
      return { type: 'end' };
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [id, connection]);
  return run;
}

const TICK_MS = 250;

/** How long a run has taken by now. `startedAt` is absent if the clock of another machine wrote it: then the last event counts. */
export function useElapsed({ elapsedMs, last, isOver }: LiveRun, startedAt: string | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const read = useRef({ last, at: now });
  if (read.current.last !== last) read.current = { last, at: Date.now() };
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isOver]);
  if (isOver || last === 0) return elapsedMs;
  const start = startedAt === undefined ? read.current.at - elapsedMs : Date.parse(startedAt);
  return Math.max(elapsedMs, now - start);
}

function textIn(data: string): string {
  const { text }: { readonly text: string } = JSON.parse(data);
  return text;
}

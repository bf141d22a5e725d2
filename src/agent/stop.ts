/** What ends a run from outside: whoever started it, or its time. */

export interface Stop {
  readonly signal: AbortSignal;
  /** Its time was up before anybody else ended it. */
  readonly isTimeUp: boolean;
  close(): void;
}

/** Timers of JavaScript take no longer times. */
const LONGEST_TIMER = 2 ** 31 - 1;

export function openStop(outer: AbortSignal | undefined, wallMs: number): Stop {
  const controller = new AbortController();
  let isTimeUp = false;
  const timer = setTimeout(
    () => {
      isTimeUp = !controller.signal.aborted;
      controller.abort(new DOMException('the time of the run is up', 'TimeoutError'));
    },
    Math.min(wallMs, LONGEST_TIMER),
  );
  timer.unref();
  const abort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    get isTimeUp() {
      return isTimeUp;
    },
    close() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

/** The value, or the reason of the signal as soon as it is aborted, however long the other takes to notice. */
export async function untilStopped<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  // Where the signal is first, nobody waits for the value any more.
  value.catch(() => undefined);
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const stopped = new Promise<'stopped'>((resolve) => {
    stop = (): void => resolve('stopped');
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    const first = await Promise.race([value.then((settled) => ({ settled })), stopped]);
    if (first !== 'stopped') return first.settled;
    signal.throwIfAborted();
    throw new TypeError('a signal that is not aborted has stopped something');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

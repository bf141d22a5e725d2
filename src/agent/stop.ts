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
export function untilStopped<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    const leave = (): void => signal.removeEventListener('abort', stop);
    // Where the signal is first, what comes of the value later is of no interest to anybody.
    value.then(resolve, reject).finally(leave);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** What ends a run from outside: whoever started it, or its time. */

export interface Stop {
  readonly signal: AbortSignal;
  /** Its time was up before anybody else ended it. */
  readonly isTimeUp: boolean;
  /** The value, or the reason of the signal as soon as it is aborted, however long the other takes to notice. */
  until<Value>(value: Promise<Value>): Promise<Value>;
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
  const { signal } = controller;
  // One listener for all that is waited for: every turn waits twice, and to come and go at a signal takes longer than to wait.
  const waiting = new Set<(reason: unknown) => void>();
  signal.addEventListener('abort', () => waiting.forEach((stop) => stop(signal.reason)), { once: true });
  return {
    signal,
    until: (value) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        waiting.add(reject);
        // Where the signal is first, what comes of the value later is of no interest to anybody.
        value.then(
          (come) => {
            waiting.delete(reject);
            resolve(come);
          },
          (error: unknown) => {
            waiting.delete(reject);
            reject(error);
          },
        );
      }),
    get isTimeUp() {
      return isTimeUp;
    },
    close() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

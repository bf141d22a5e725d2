/** Stops a run from outside: by the caller's signal or by the time limit. */
import { timerMs } from '#platform';

export interface Stop {
  readonly signal: AbortSignal;
  /** True if the time limit stopped the run. */
  readonly isTimeUp: boolean;
  /** Returns the value, or rejects with the reason of the signal as soon as it is aborted. */
  until<Value>(value: Promise<Value>): Promise<Value>;
  close(): void;
}

export function openStop(outer: AbortSignal | undefined, wallMs: number): Stop {
  const controller = new AbortController();
  let isTimeUp = false;
  const timer = setTimeout(() => {
    isTimeUp = !controller.signal.aborted;
    controller.abort(new DOMException('the run exceeded its time limit', 'TimeoutError'));
  }, timerMs(wallMs));
  timer.unref();
  const abort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort, { once: true });
  const { signal } = controller;
  // One listener serves all waits, because every turn waits several times.
  const waiting = new Set<(reason: unknown) => void>();
  signal.addEventListener('abort', () => waiting.forEach((stop) => stop(signal.reason)), { once: true });
  return {
    signal,
    until: (value) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        waiting.add(reject);
        // After an abort the value is ignored.
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

/** A flush that is due before the program waits; cleared when the run ends. */
export interface DueFlush {
  flush: (() => void) | undefined;
}

/** A separate function, because a closure in the queue would keep the run in memory. */
export function flushDue(due: DueFlush): void {
  due.flush?.();
}

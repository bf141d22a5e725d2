import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';

/** Collects what nothing refers to; without it, the heap shows when the collector last ran. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Finalizers of the first run free more.
  collect();
  collect();
}

export function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

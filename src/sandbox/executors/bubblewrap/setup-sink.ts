import type { OutputSink } from '../../../core/execution.ts';
import { READY } from './gate.ts';

/** What bubblewrap may say before the program begins. */
const MAX_SAID = 4096;

/** A sink for stderr that keeps what comes before the gate's mark to itself: that is the sandbox speaking, not the program. */
export interface SetupSink extends OutputSink {
  /** Resolves when the gate is reached; never where it is not. */
  readonly ready: Promise<void>;
  isReady(): boolean;
  /** What the sandbox said. */
  said(): string;
}

export function setupSink(target: OutputSink): SetupSink {
  let isReady = false;
  let said = Buffer.alloc(0);
  let announce = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    announce = resolve;
  });
  return {
    ready,
    isReady: () => isReady,
    said: () => said.toString('utf8').trim(),
    write: (chunk) => {
      if (isReady) return target.write(chunk);
      const mark = chunk.indexOf(READY);
      const before = mark === -1 ? chunk : chunk.subarray(0, mark);
      said = Buffer.concat([said, before]).subarray(0, MAX_SAID);
      if (mark === -1) return true;
      isReady = true;
      announce();
      return mark + 1 === chunk.length ? true : target.write(chunk.subarray(mark + 1));
    },
  };
}

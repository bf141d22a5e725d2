import type { OutputSink } from '#core';

/** Written to stderr when the sandbox is set up: the launcher wrote everything before it, the program everything after it. */
const READY = 0x06;

const MAX_BYTES = 4096;

/** A sink for stderr that keeps everything before the READY byte: the launcher wrote that, not the program. */
export interface SetupOutput extends OutputSink {
  /** Resolves when the gate is reached; stays pending if it never is. */
  readonly ready: Promise<void>;
  isReady(): boolean;
  /** The output of the launcher. */
  text(): string;
}

export function setupOutput(target: OutputSink): SetupOutput {
  let isReady = false;
  let output = Buffer.alloc(0);
  let announce = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    announce = resolve;
  });
  return {
    ready,
    isReady: () => isReady,
    text: () => output.toString('utf8').trim(),
    write: (chunk) => {
      if (isReady) return target.write(chunk);
      const mark = chunk.indexOf(READY);
      const before = mark === -1 ? chunk : chunk.subarray(0, mark);
      output = Buffer.concat([output, before]).subarray(0, MAX_BYTES);
      if (mark === -1) return true;
      isReady = true;
      announce();
      return mark + 1 === chunk.length ? true : target.write(chunk.subarray(mark + 1));
    },
  };
}

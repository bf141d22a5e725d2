import type { OutputSink } from '#core';

/** Collects the output of a small program as text. */
export function textSink(): OutputSink & { text(): string } {
  const chunks: Uint8Array[] = [];
  return {
    write: (chunk) => chunks.push(Uint8Array.from(chunk)) > 0,
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}

/** Accepts output and forgets it. */
export const NO_OUTPUT: OutputSink = { write: () => true };

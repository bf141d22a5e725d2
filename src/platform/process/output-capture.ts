import type { OutputSink } from '#core';

/** The length without an incomplete character at the end. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

export function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

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

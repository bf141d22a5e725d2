import { scan, type PatternTable } from './redact-scan.ts';

/** Redacts output that arrives in chunks. */
export interface RedactedStream {
  /** Returns the output that is final after this chunk; the end is held back while a secret could start there. */
  write(chunk: Uint8Array): Uint8Array;
  /** Returns the rest. Nothing may be written afterwards. */
  end(): Uint8Array;
}

/** Redacts complete data. Returns the same array if nothing was found. */
export function redactBytes(table: PatternTable, data: Uint8Array): Uint8Array {
  const { pieces } = scan(table, { data, before: -1, isLast: true, covered: 0 });
  return pieces === undefined ? data : Buffer.concat(pieces);
}

/** Finds secrets that are split over any number of chunks. The output adds up to that of `redactBytes` for the whole. */
export function redactedStream(table: PatternTable): RedactedStream {
  let held: Uint8Array = new Uint8Array();
  let covered = 0;
  let before = -1;
  const take = (chunk: Uint8Array, isLast: boolean): Uint8Array => {
    const data = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const found = scan(table, { data, before, isLast, covered });
    before = found.decided === 0 ? before : (data[found.decided - 1] ?? before);
    covered = found.covered;
    // A copy, because the caller may reuse the memory.
    held = Uint8Array.from(data.subarray(found.decided));
    return found.pieces === undefined ? data.subarray(0, found.decided) : Buffer.concat(found.pieces);
  };
  return { write: (chunk) => take(chunk, false), end: () => take(new Uint8Array(), true) };
}

/** Chains several streams. */
export function joinedStreams(streams: readonly RedactedStream[]): RedactedStream {
  return {
    write: (chunk) => streams.reduce((data, stream) => stream.write(data), chunk),
    end: () =>
      streams.reduce<Uint8Array>((data, stream) => Buffer.concat([stream.write(data), stream.end()]), new Uint8Array()),
  };
}

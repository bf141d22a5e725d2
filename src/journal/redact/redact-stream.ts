import { scan } from './redact-scan.ts';
import type { PatternTable } from './redact-scan.ts';

/** Output that comes in pieces and goes on with marks for secrets in it. */
export interface RedactedStream {
  /** What can be said for sure after this piece: the end of it stays here as long as a secret could have begun there. */
  write(chunk: Uint8Array): Uint8Array;
  /** The rest. Nothing may be written afterwards. */
  end(): Uint8Array;
}

/** All at once. The same array where nothing was found. */
export function redactBytes(table: PatternTable, data: Uint8Array): Uint8Array {
  const { pieces } = scan(table, { data, before: -1, isLast: true, covered: 0 });
  return pieces === undefined ? data : Buffer.concat(pieces);
}

/** Finds what is split over any number of pieces, and gives together what `redactBytes` gives for the whole. */
export function redactedStream(table: PatternTable): RedactedStream {
  let held: Uint8Array = new Uint8Array();
  let covered = 0;
  let before = -1;
  const take = (chunk: Uint8Array, isLast: boolean): Uint8Array => {
    const data = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const found = scan(table, { data, before, isLast, covered });
    before = found.decided === 0 ? before : (data[found.decided - 1] ?? before);
    covered = found.covered;
    // A copy: who writes may use the same memory for the next piece.
    held = Uint8Array.from(data.subarray(found.decided));
    return found.pieces === undefined ? data.subarray(0, found.decided) : Buffer.concat(found.pieces);
  };
  return { write: (chunk) => take(chunk, false), end: () => take(new Uint8Array(), true) };
}

/** One after the other. */
export function joinedStreams(streams: readonly RedactedStream[]): RedactedStream {
  return {
    write: (chunk) => streams.reduce((data, stream) => stream.write(data), chunk),
    end: () =>
      streams.reduce<Uint8Array>((data, stream) => Buffer.concat([stream.write(data), stream.end()]), new Uint8Array()),
  };
}

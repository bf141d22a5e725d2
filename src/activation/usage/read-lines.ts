/** Reads a file line by line with bounded memory. The file may grow or shrink meanwhile. */
import { open } from 'node:fs/promises';

import { OPEN_FLAGS } from '#platform';

export interface LineReader {
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
  /** A line longer than the limit. */
  readonly onSkipped: () => void;
  /** Awaited before the next piece is read. */
  readonly onPiece: (bytes: number) => Promise<void>;
}

const CHUNK_BYTES = 1024 * 1024;
/** Images in transcripts take a few megabytes. */
const MAX_LINE_BYTES = 16 * CHUNK_BYTES;
const LINE_FEED = 10;

/** Throws the error of the system. An unfinished line at the end, which the agent is still writing, is passed on as well. */
export async function readLines(file: string, { signal, onLine, onSkipped, onPiece }: LineReader): Promise<void> {
  const handle = await open(file, OPEN_FLAGS.foreignFile);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return;
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let pending: Buffer[] = [];
    let pendingBytes = 0;
    let isTooLong = false;
    const end = (last: Buffer): void => {
      if (isTooLong || pendingBytes + last.length > MAX_LINE_BYTES) onSkipped();
      else if (pendingBytes + last.length > 0)
        onLine((pending.length === 0 ? last : Buffer.concat([...pending, last])).toString('utf8'));
      [pending, pendingBytes, isTooLong] = [[], 0, false];
    };
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      let start = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, start)) {
        end(chunk.subarray(start, at));
        start = at + 1;
      }
      const rest = chunk.subarray(start);
      pendingBytes += rest.length;
      isTooLong ||= pendingBytes > MAX_LINE_BYTES;
      if (isTooLong) pending = [];
      // The buffer is used again for the next chunk.
      else if (rest.length > 0) pending.push(Buffer.from(rest));
      await onPiece(bytesRead);
    }
    end(Buffer.alloc(0));
  } finally {
    await handle.close();
  }
}

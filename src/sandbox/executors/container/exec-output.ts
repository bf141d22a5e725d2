import type { Duplex } from 'node:stream';

import type { OutputSink } from '#core';

/** The output of a program in a container on its way to the sinks. */
export interface ExecOutput {
  /** Resolves when the engine has sent everything. */
  readonly closed: Promise<void>;
  /** Resolves when a sink refuses more data or the limit is exceeded; otherwise stays pending. */
  readonly refused: Promise<void>;
  /** `performance.now()` of the last bytes. */
  lastBytesAt(): number;
  /** The engine's message in place of the program's output, if that is all that arrived. */
  engineMessage(): string | undefined;
  /** Flushes held output and closes the stream. Throws what a sink threw. */
  finish(): void;
}

/** Start of the message that the engine writes into the output when it could not start the program. */
const ENGINE_MESSAGE = 'OCI runtime ';
const MAX_MESSAGE_BYTES = 4096;

interface ExecStreams {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  readonly isTerminal: boolean;
  readonly maxBytes: number;
}

/** Passes every chunk to its sink immediately; nothing is buffered. */
export function takeExecOutput(socket: Duplex, head: Buffer, streams: ExecStreams): ExecOutput {
  let received = 0;
  let lastBytesAt = performance.now();
  let held: { bytes: Buffer; sink: OutputSink } | undefined;
  let hasSpoken = false;
  let thrown: { readonly error: unknown } | undefined;
  let refuse: () => void;
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  const give = (sink: OutputSink, chunk: Buffer): boolean => {
    const room = streams.maxBytes - received;
    received += chunk.length;
    return sink.write(chunk.length > room ? chunk.subarray(0, room) : chunk) && chunk.length <= room;
  };
  const flush = (): boolean => {
    hasSpoken = true;
    const last = held;
    held = undefined;
    return last === undefined || give(last.sink, last.bytes);
  };
  const counted = (sink: OutputSink): OutputSink => ({
    write: (bytes) => {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (hasSpoken) return give(sink, chunk);
      if (held !== undefined && held.sink !== sink) return flush() && give(sink, chunk);
      // The chunk is a view of a buffer that will be reused.
      held = { sink, bytes: Buffer.concat([held?.bytes ?? Buffer.alloc(0), chunk]) };
      return mayBeEngineMessage(held.bytes) ? true : flush();
    },
  });
  const sinks = { stdout: counted(streams.stdout), stderr: counted(streams.stderr) };
  const readFrames = frameReader(sinks);
  const take = (chunk: Buffer): void => {
    if (thrown !== undefined || chunk.length === 0) return;
    lastBytesAt = performance.now();
    let isTaken = false;
    try {
      isTaken = streams.isTerminal ? sinks.stdout.write(chunk) : readFrames(chunk) === 'more';
    } catch (error) {
      // Rethrown by `finish`: thrown here it would crash the process.
      thrown = { error };
    }
    if (isTaken) return;
    // Close it instead of pausing: an engine that cannot deliver output cannot remove the program either.
    socket.off('data', take);
    socket.destroy();
    refuse();
  };
  const closed = new Promise<void>((resolve) => {
    socket.once('end', resolve);
    socket.once('close', resolve);
  });
  socket.on('error', () => socket.destroy());
  take(head);
  socket.on('data', take);
  return {
    closed,
    refused,
    lastBytesAt: () => lastBytesAt,
    engineMessage: () => (held === undefined ? undefined : held.bytes.toString('utf8').trim()),
    finish: () => {
      socket.off('data', take);
      socket.destroy();
      if (thrown !== undefined) throw thrown.error;
      flush();
    },
  };
}

function mayBeEngineMessage(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, ENGINE_MESSAGE.length);
  return bytes.length <= MAX_MESSAGE_BYTES && (start === ENGINE_MESSAGE || ENGINE_MESSAGE.startsWith(start));
}

const HEADER_BYTES = 8;
const STDERR = 2;
const SYSTEM_ERROR = 3;

/**
 * Demultiplexes the output of a program without a terminal: frames of an eight-byte header (stream, three zeros, length) and a payload.
 * Only an incomplete header is buffered: a frame of a gigabyte passes through in the chunks that it arrives in. `garbled`: the data is
 * not such a stream; `refused`: a sink accepts no more.
 */
export function frameReader(
  sinks: Pick<ExecStreams, 'stdout' | 'stderr'>,
): (chunk: Buffer) => 'more' | 'refused' | 'garbled' {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerLength = 0;
  let rest = 0;
  let sink = sinks.stdout;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (rest > 0) {
        const piece = chunk.subarray(at, at + rest);
        at += piece.length;
        rest -= piece.length;
        if (!sink.write(piece)) return 'refused';
        continue;
      }
      const copied = chunk.copy(header, headerLength, at);
      headerLength += copied;
      at += copied;
      if (headerLength < HEADER_BYTES) continue;
      headerLength = 0;
      const first = header.readUInt32BE(0);
      const stream = first >>> 24;
      if ((first & 0xff_ff_ff) !== 0 || stream > SYSTEM_ERROR) return 'garbled';
      // Messages of the engine itself go to stderr.
      sink = stream >= STDERR ? sinks.stderr : sinks.stdout;
      rest = header.readUInt32BE(4);
    }
    return 'more';
  };
}

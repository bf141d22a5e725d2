import type { OutputSink } from '#core';

/**
 * Demultiplexes the output of a program without a terminal: frames of an eight-byte header (stream, three zeros, length) and a payload.
 * Only an incomplete header is buffered: a frame of a gigabyte passes through in the chunks that it arrives in.
 */
export class FrameReader {
  readonly #sinks: { readonly stdout: OutputSink; readonly stderr: OutputSink };
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerLength = 0;
  #rest = 0;
  #sink: OutputSink;

  constructor(sinks: { readonly stdout: OutputSink; readonly stderr: OutputSink }) {
    this.#sinks = sinks;
    this.#sink = sinks.stdout;
  }

  /** `garbled`: the data is not such a stream; `refused`: a sink accepts no more. */
  read(chunk: Buffer): 'more' | 'refused' | 'garbled' {
    let at = 0;
    while (at < chunk.length) {
      if (this.#rest > 0) {
        const piece = chunk.subarray(at, at + this.#rest);
        at += piece.length;
        this.#rest -= piece.length;
        if (!this.#sink.write(piece)) return 'refused';
        continue;
      }
      const wanted = Math.min(HEADER_BYTES - this.#headerLength, chunk.length - at);
      chunk.copy(this.#header, this.#headerLength, at, at + wanted);
      this.#headerLength += wanted;
      at += wanted;
      if (this.#headerLength < HEADER_BYTES) continue;
      this.#headerLength = 0;
      const stream = this.#header.readUInt32BE(0) >>> 24;
      if ((this.#header.readUInt32BE(0) & 0xff_ff_ff) !== 0 || stream > SYSTEM_ERROR) return 'garbled';
      // Messages of the engine itself go to stderr.
      this.#sink = stream >= STDERR ? this.#sinks.stderr : this.#sinks.stdout;
      this.#rest = this.#header.readUInt32BE(4);
    }
    return 'more';
  }
}

const HEADER_BYTES = 8;
const STDERR = 2;
const SYSTEM_ERROR = 3;

import { PackRefused, packRefusal } from '../problems.ts';

export interface Blob {
  /** The name of the object, in hex. */
  readonly object: string;
  readonly bytes: number;
}

const NEW_LINE = 0x0a;
const MAX_HEADER = 200;

/**
 * Takes what `git cat-file --batch` prints, in pieces of any size: for each object that was asked for, in turn, a line and its bytes.
 * Memory is that of one object. What is done with a blob may throw: the program is ended, and `finish` throws it.
 */
export class BlobReader<T extends Blob> {
  readonly #blobs: readonly T[];
  readonly #found: (blob: T, bytes: Buffer, done: number) => void;
  #next = 0;
  #header = '';
  #content: Buffer | undefined;
  #length = 0;
  #problem: { readonly error: unknown } | undefined;

  constructor(blobs: readonly T[], found: (blob: T, bytes: Buffer, done: number) => void) {
    this.#blobs = blobs;
    this.#found = found;
  }

  /** False where nothing more is wanted. */
  take(chunk: Uint8Array): boolean {
    if (this.#problem !== undefined) return false;
    try {
      for (let at = 0; at < chunk.length;)
        at += this.#content === undefined ? this.#readHeader(chunk, at) : this.#readContent(chunk, at);
      return true;
    } catch (error) {
      this.#problem = { error };
      return false;
    }
  }

  /** Throws where not all that was asked for came. */
  finish(): void {
    if (this.#problem !== undefined) throw this.#problem.error;
    if (this.#next < this.#blobs.length) throw damaged();
  }

  #readHeader(chunk: Uint8Array, from: number): number {
    const end = chunk.indexOf(NEW_LINE, from);
    this.#header += Buffer.from(chunk.subarray(from, end === -1 ? undefined : end)).toString('latin1');
    if (this.#header.length > MAX_HEADER) throw damaged();
    if (end === -1) return chunk.length - from;
    const blob = this.#blobs[this.#next];
    if (blob === undefined || this.#header !== `${blob.object} blob ${String(blob.bytes)}`) throw damaged();
    this.#header = '';
    this.#length = 0;
    // A line end follows the bytes.
    this.#content = Buffer.allocUnsafe(blob.bytes + 1);
    return end + 1 - from;
  }

  #readContent(chunk: Uint8Array, from: number): number {
    const blob = this.#blobs[this.#next];
    const content = this.#content;
    if (blob === undefined || content === undefined) throw damaged();
    const piece = chunk.subarray(from, from + content.length - this.#length);
    content.set(piece, this.#length);
    this.#length += piece.length;
    if (this.#length === content.length) {
      this.#content = undefined;
      this.#next += 1;
      this.#found(blob, content.subarray(0, blob.bytes), this.#next);
    }
    return piece.length;
  }
}

function damaged(): PackRefused {
  return new PackRefused(packRefusal('source/failed', 'git printed something else than the files that were asked for'));
}

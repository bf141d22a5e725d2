/** The fields of a document, in the order in which their counts and lengths are stored: `avoid` is what it says it is not for. */
export const NAME_FIELD = 0;
export const USE_FIELD = 1;
export const AVOID_FIELD = 2;
export const BODY_FIELD = 3;
export const FIELD_COUNT = 4;

/** Four counts of four bits each make one number; a term that stands fifteen times in a field has made its point. */
export const COUNT_BITS = 4;
export const MAX_COUNT = 15;

/** An index as it lies in memory and in bytes: flat arrays only, so that reading one back costs no rebuilding. */
export interface IndexData {
  /** How many documents there are. */
  readonly size: number;
  /** Whether any of them came with a body. */
  readonly deep: boolean;
  /** The vocabulary, sorted by code unit. A term's number is its place here. */
  readonly terms: readonly string[];
  /** For each term, how many documents have it, in any field. */
  readonly frequencies: Uint32Array;
  /** For each term, where its list begins in `postings`; one more entry than there are terms. */
  readonly postingOffsets: Uint32Array;
  /** For each term, its documents in rising order: the step from the last one, then the four counts. */
  readonly postings: Uint8Array;
  /** `FIELD_COUNT` lengths for each document, in terms. */
  readonly lengths: Uint32Array;
  /** The place of each document's name among all names in order; equal names have equal rank. Breaks ties. */
  readonly nameRanks: Uint32Array;
  /** For each document, where its list begins in `sequences`; one more entry than there are documents. */
  readonly sequenceOffsets: Uint32Array;
  /** For each document the terms of name and description as they follow each other, each plus one; zero ends a clause. */
  readonly sequences: Uint8Array;
}

/** A list of whole numbers that grows: less memory than an array that may hold anything, and no work for the collector. */
export class NumberList {
  #numbers = new Uint32Array(1 << 12);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#numbers.length) {
      const grown = new Uint32Array(this.#numbers.length * 2);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[this.#length] = value;
    this.#length += 1;
  }

  /** The numbers so far, not copied. */
  view(): Uint32Array {
    return this.#numbers.subarray(0, this.#length);
  }
}

/** A byte array that grows as numbers are written to it, seven bits to a byte, small numbers shorter. */
export class ByteWriter {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  writeByte(value: number): void {
    if (this.#length === this.#bytes.length) {
      const grown = new Uint8Array(this.#bytes.length * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  writeNumber(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.writeByte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.writeByte(rest);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}

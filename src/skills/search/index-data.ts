/** The fields of a document, in the order of their stored counts and lengths. `avoid` is what the skill is not for. */
export const NAME_FIELD = 0;
export const USE_FIELD = 1;
export const AVOID_FIELD = 2;
export const BODY_FIELD = 3;
export const FIELD_COUNT = 4;

/** Four counts of four bits each are packed into one number; counts above fifteen make no difference. */
export const COUNT_BITS = 4;
export const MAX_COUNT = 15;

/** An index in memory and in bytes: flat arrays only, so that loading needs no conversion. */
export interface IndexData {
  /** Number of documents. */
  readonly size: number;
  /** Whether any document has a body. */
  readonly deep: boolean;
  /** The vocabulary, sorted by code unit. The number of a term is its index here. */
  readonly terms: Terms;
  /** For each term, the number of documents that contain it in any field. */
  readonly frequencies: Uint32Array;
  /** For each term, where its list begins in `postings`; one more entry than there are terms. */
  readonly postingOffsets: Uint32Array;
  /** For each term, its documents in rising order: the step from the last one, then the four counts. */
  readonly postings: Uint8Array;
  /** `FIELD_COUNT` lengths for each document, in terms. */
  readonly lengths: Uint32Array;
  /** The rank of each document's name among all sorted names; equal names have equal rank. Breaks ties. */
  readonly nameRanks: Uint32Array;
  /** For each document, where its list begins in `sequences`; one more entry than there are documents. */
  readonly sequenceOffsets: Uint32Array;
  /** For each document, the terms of name and description in order, each plus one; zero ends a clause. */
  readonly sequences: Uint16Array | Uint32Array;
}

/** An array, or the terms of a stored index, of which a search decodes only some. */
export type Terms = Pick<readonly string[], 'length' | 'at'>;

/** Whether two bytes hold every term, plus one. The width is fixed, because decoding takes most of the time of the first search. */
export function isNarrow(terms: number): boolean {
  return terms < 0xff_ff;
}

/** A growing list of integers that needs less memory than an array and no garbage collection. */
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

/** A growing byte array of variable-length integers, seven bits per byte. */
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

/** Removes secrets from everything that is shown or written. */
export interface Redactor {
  /** Replaces every spelling of every secret by `[secret NAME]`. Returns the same array if nothing was found. */
  bytes(data: Uint8Array): Uint8Array;
  text(text: string): string;
  /** For output in chunks: finds secrets that are split over several of them. */
  stream(): RedactedStream;
  /** True if there are no secrets to search for. */
  readonly isEmpty: boolean;
}

/** Redacts output that arrives in chunks. */
interface RedactedStream {
  /** Returns the output that is final after this chunk; the end is held back while a secret could start there. */
  write(chunk: Uint8Array): Uint8Array;
  /** Returns the rest. Nothing may be written afterwards. */
  end(): Uint8Array;
}

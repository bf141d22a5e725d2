/** An append-only file of whole lines. Each append is written completely, or it throws. */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, lstatSync, openSync, writeSync } from 'node:fs';

import { OPEN_FLAGS, quietly } from '#platform';

export class AppendFile {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #identity: { readonly ino: number; readonly dev: number };
  #length = 0;
  #isOpen = true;

  /** Throws the system's error, also if the file exists. */
  constructor(file: string) {
    this.#file = file;
    this.#descriptor = openSync(file, OPEN_FLAGS.newGrowingFile, 0o600);
    const { ino, dev } = fstatSync(this.#descriptor);
    this.#identity = { ino, dev };
  }

  /**
   * Appends with one write. Throws if the write was incomplete, or if the path no longer leads to this file: writing to a removed or
   * replaced file succeeds silently. The file is then truncated to its last whole line.
   */
  append(lines: string): void {
    const size = Buffer.byteLength(lines, 'utf8');
    const expected = this.#length + size;
    try {
      const written = writeSync(this.#descriptor, lines, null, 'utf8');
      if (written !== size) throw new IncompleteWrite('the write was incomplete');
      const stats = lstatSync(this.#file, { throwIfNoEntry: false });
      if (stats === undefined) throw new IncompleteWrite('the file was removed');
      if (stats.ino !== this.#identity.ino || stats.dev !== this.#identity.dev)
        throw new IncompleteWrite('another file replaced it');
      if (stats.size !== expected) throw new IncompleteWrite('another process writes to it');
    } catch (error) {
      this.#cutBack();
      throw error;
    }
    this.#length = expected;
  }

  sync(): void {
    fdatasyncSync(this.#descriptor);
  }

  /** For waits that are not blocking; valid until `close`. */
  get descriptor(): number {
    return this.#descriptor;
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #cutBack(): void {
    // Readers handle a torn last line.
    quietly(() => ftruncateSync(this.#descriptor, this.#length));
  }
}

/** The write reported success, but the bytes are not in the file. */
export class IncompleteWrite extends Error {
  override readonly name = 'IncompleteWrite';
}

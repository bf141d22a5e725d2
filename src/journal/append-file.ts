/** A file that only grows, by whole lines. What is in it after an append is all that was appended, or the append throws. */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, lstatSync, openSync, writeSync } from 'node:fs';

import { isSystemError } from '../platform/fs/paths.ts';
import { NEW_GROWING_FILE } from '../platform/fs/open-flags.ts';

export class AppendFile {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #identity: { readonly ino: number; readonly dev: number };
  #length = 0;
  #isOpen = true;

  /** Throws the system's error, also where something is there already. */
  constructor(file: string) {
    this.#file = file;
    this.#descriptor = openSync(file, NEW_GROWING_FILE, 0o600);
    const { ino, dev } = fstatSync(this.#descriptor);
    this.#identity = { ino, dev };
  }

  /**
   * One write. Throws where it did not all go in, or where the name no longer leads to what was written: a removed or replaced file
   * takes bytes gladly. Then the file ends with the last whole line.
   */
  append(lines: string): void {
    const size = Buffer.byteLength(lines, 'utf8');
    const expected = this.#length + size;
    try {
      const written = writeSync(this.#descriptor, lines, null, 'utf8');
      if (written !== size) throw new IncompleteWrite('the disk took only a part of it');
      const stats = lstatSync(this.#file, { throwIfNoEntry: false });
      if (stats === undefined) throw new IncompleteWrite('the file was removed');
      if (stats.ino !== this.#identity.ino || stats.dev !== this.#identity.dev)
        throw new IncompleteWrite('another file is in its place');
      if (stats.size !== expected) throw new IncompleteWrite('somebody else writes to it');
    } catch (error) {
      this.#cutBack();
      throw error;
    }
    this.#length = expected;
  }

  sync(): void {
    fdatasyncSync(this.#descriptor);
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #cutBack(): void {
    try {
      ftruncateSync(this.#descriptor, this.#length);
    } catch (error) {
      // A reader sees a torn line then, and knows what to make of it.
      if (!isSystemError(error)) throw error;
    }
  }
}

/** The system reported no error and the bytes are not where they belong. */
export class IncompleteWrite extends Error {
  override readonly name = 'IncompleteWrite';
}

import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync, rmdir, rmdirSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { isSystemError } from '#platform';

/** One output of a program. The receiver closes `writer` once the program has inherited it. */
export interface OutputPipe {
  readonly writer: number;
  /** The reading side; call once. Removes the name of the pipe, so it is called after the program was started. */
  read(): Readable;
}

/** Most workspaces run one program, so the first batch is for one; the batches grow with the programs. */
const FIRST_BATCH = 2;
const GROWTH = 4;
const MAX_BATCH = 64;
const MAKE_MS = 5_000;

/**
 * Pipes for the outputs of programs. Node uses sockets, which Linux does not open by path: `echo x > /dev/stderr` fails with one. Node
 * cannot create a pipe but can open a named one. `mkfifo` creates several at a time; each loses its name when the program has started.
 */
export class OutputPipes {
  readonly #folder: string;
  #ready: string[] = [];
  #making: Promise<void> | undefined;
  #isFolderThere = false;
  /** Pending removal of the folder. */
  #leaving: Promise<void> | undefined;
  /** Pipes with a name: being created, ready, or taken and not yet read. */
  #names = 0;
  #made = 0;

  /** The parent of `folder` exists. The folder exists while pipes have names; `close` removes it. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Two pipes; `undefined` if the system has no `mkfifo`. */
  async take(): Promise<readonly [OutputPipe, OutputPipe] | undefined> {
    if (process.platform !== 'linux') return undefined;
    while (this.#ready.length < 2) {
      const before = this.#made;
      await this.#begin();
      if (this.#made === before) return undefined;
    }
    const [first, second] = this.#ready.splice(0, 2);
    const forget = (): void => this.#forget(1);
    return first === undefined || second === undefined ? undefined : [opened(first, forget), opened(second, forget)];
  }

  /** Creates the first pipes in the background. */
  prepare(): void {
    if (process.platform === 'linux' && this.#made === 0) this.#begin().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#making?.catch(() => undefined);
    await this.#leaving;
    if (!this.#isFolderThere) return;
    const left = this.#ready.splice(0);
    try {
      for (const name of left) unlinkSync(name);
      rmdirSync(this.#folder);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // Partly created, or other files are in it.
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  /**
   * Removes the folder with its last name, while the program runs. At the end the caller would wait for it: with a disk that discards
   * freed blocks synchronously, removing a folder takes milliseconds.
   */
  #forget(names: number): void {
    this.#names -= names;
    if (this.#names > 0) return;
    this.#leaving = new Promise((resolve) => {
      rmdir(this.#folder, (error) => {
        if (error === null) this.#isFolderThere = false;
        resolve();
      });
    });
  }

  #begin(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<void> {
    await this.#leaving;
    try {
      if (!this.#isFolderThere) mkdirSync(this.#folder, { mode: 0o700 });
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (error.code !== 'EEXIST') return;
    }
    this.#isFolderThere = true;
    const length = this.#made === 0 ? FIRST_BATCH : Math.min(MAX_BATCH, GROWTH * this.#made);
    const names = Array.from({ length }, (_, number) => path.join(this.#folder, String(this.#made + number)));
    this.#names += length;
    // Mode 666: a program may pass its output on to other users. The folder itself is private.
    const child = spawn('mkfifo', ['-m', '666', ...names], {
      stdio: 'ignore',
      timeout: MAKE_MS,
      env: { PATH: '/usr/bin:/bin' },
    });
    const isMade = await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
    });
    if (!isMade) {
      this.#forget(length);
      return;
    }
    this.#made += length;
    this.#ready.push(...names);
  }
}

function opened(name: string, forget: () => void): OutputPipe {
  // The reader is opened first: opening a writer alone would block.
  const descriptor = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writer = openSync(name, constants.O_WRONLY);
    return {
      writer,
      read: () => {
        unlinkSync(name);
        forget();
        return new Socket({ fd: descriptor, readable: true, writable: false });
      },
    };
  } catch (error) {
    closeSync(descriptor);
    unlinkSync(name);
    forget();
    throw error;
  }
}

import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync, rmdir, rmdirSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';

import { isSystemError } from '../fs/paths.ts';

/** One output of a program: we read, it writes. Whoever gets it closes the descriptor once the program has its own. */
export interface OutputPipe {
  readonly writer: number;
  /** Our side, to be asked for once, which takes its name from the pipe. After the start of the program: it need not wait for that. */
  read(): Readable;
}

/** Most workspaces run one program; those that run a second one are likely to run many. */
const FIRST_BATCH = 2;
const BATCH = 64;
const MAKE_MS = 5_000;

/**
 * Real pipes for the outputs of programs. Node's own are sockets, and Linux lets nobody open a socket by name: `echo x > /dev/stderr`
 * fails on one. Node can make no pipe, but it can open one that has a name; those are made several at a time, and none has its name for
 * longer than a start takes.
 */
export class OutputPipes {
  readonly #folder: string;
  #ready: string[] = [];
  #making: Promise<void> | undefined;
  #isFolderThere = false;
  /** The folder on its way out. */
  #leaving: Promise<void> | undefined;
  /** Names in the folder, or soon there: of pipes that are being made, ready, or taken and not read yet. */
  #names = 0;
  #made = 0;

  /** The folder is made in one that exists, and there while pipes in it have names; `close` removes what is left. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Two pipes; nothing where the system has no `mkfifo`. */
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

  /** Makes the first ones while others work, for a program that is likely to come. */
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
      // Made in part, or somebody was there.
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  /**
   * With its last name the folder goes, while the program runs. At the end somebody would wait for it: where the disk is told at once
   * of every block that is free again, a folder takes milliseconds.
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
    const length = this.#made === 0 ? FIRST_BATCH : BATCH;
    const names = Array.from({ length }, (_, number) => path.join(this.#folder, String(this.#made + number)));
    this.#names += length;
    // Everybody may open what a program passes on as its output; by name nobody else gets here.
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
  // The reader first: a writer alone would wait for one.
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

import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync, rmdir, rmdirSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { isSystemError } from '#platform';

/** One output of a program. The receiver closes `writer` once the program has inherited it. */
interface OutputPipe {
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
export interface OutputPipes {
  /** Two pipes; `undefined` outside of Linux and without `mkfifo`. */
  take(): Promise<readonly [OutputPipe, OutputPipe] | undefined>;
  /** Creates the first pipes in the background. */
  prepare(): void;
  close(): Promise<void>;
}

/** The parent of `folder` exists. The folder exists while pipes have names; `close` removes it. */
export function openPipes(folder: string): OutputPipes {
  const isLinux = process.platform === 'linux';
  const ready: string[] = [];
  let making: Promise<void> | undefined;
  let isFolderThere = false;
  /** Pending removal of the folder. */
  let leaving: Promise<void> | undefined;
  /** Pipes with a name: being created, ready, or taken and not yet read. */
  let named = 0;
  let created = 0;

  /**
   * Removes the folder with its last name, while the program runs. At the end the caller would wait for it: with a disk that discards
   * freed blocks synchronously, removing a folder takes milliseconds.
   */
  const forget = (names: number): void => {
    named -= names;
    if (named > 0) return;
    leaving = new Promise((resolve) => {
      rmdir(folder, (error) => {
        if (error === null) isFolderThere = false;
        resolve();
      });
    });
  };
  const make = async (): Promise<void> => {
    await leaving;
    try {
      if (!isFolderThere) mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (error.code !== 'EEXIST') return;
    }
    isFolderThere = true;
    const length = created === 0 ? FIRST_BATCH : Math.min(MAX_BATCH, GROWTH * created);
    const names = Array.from({ length }, (_, number) => path.join(folder, String(created + number)));
    named += length;
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
      forget(length);
      return;
    }
    created += length;
    ready.push(...names);
  };
  const begin = (): Promise<void> => {
    making ??= make().finally(() => {
      making = undefined;
    });
    return making;
  };

  return {
    async take() {
      if (!isLinux) return undefined;
      while (ready.length < 2) {
        const before = created;
        await begin();
        if (created === before) return undefined;
      }
      const [first = '', second = ''] = ready.splice(0, 2);
      return [opened(first, () => forget(1)), opened(second, () => forget(1))];
    },
    prepare() {
      if (isLinux && created === 0) begin().catch(() => undefined);
    },
    async close() {
      await making?.catch(() => undefined);
      await leaving;
      if (!isFolderThere) return;
      try {
        for (const name of ready.splice(0)) unlinkSync(name);
        rmdirSync(folder);
      } catch (error) {
        if (!isSystemError(error)) throw error;
        // Partly created, or other files are in it.
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
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

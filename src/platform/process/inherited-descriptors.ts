import { closeSync, constants, openSync, readSync, readdirSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { descriptorPath } from '../fs/directory-handle.ts';
import { isSystemError } from '../fs/paths.ts';
import { temporaryName } from '../fs/atomic-replace.ts';

/** What the kernel says of a descriptor that does not survive `exec`. */
const CLOSE_ON_EXEC = 0o2000000;

/** Slots of a child's table that are still filled one by one; a descriptor above is a reason not to start. */
const MAX_SLOT = 4096;

const FLAGS = /^flags:\s*([0-7]+)/m;

/**
 * Descriptors of this process that every child would get: whoever started us may have left a key or a socket open, and Node marks
 * only the lowest ones. Linux alone says which they are; elsewhere none are known. Found out once, when this file is loaded: Node
 * opens none of that kind by itself, and hundreds of programs at once have thousands of descriptors to be looked at.
 */
export const LEAKING_DESCRIPTORS: readonly number[] =
  process.platform === 'linux'
    ? openDescriptors().filter((descriptor) => descriptor > 2 && survivesExec(descriptor))
    : [];

/** What a child finds at one descriptor: these bytes, or a file that is opened for it. */
export type Inherited = Uint8Array | InheritedFile;

export interface InheritedFile {
  readonly file: string;
  readonly access: 'read' | 'write';
}

/** Bytes for many children, one after another or at once. Whoever keeps them closes them. */
export interface KeptBytes {
  readonly inherited: InheritedFile;
  close(): void;
}

/** Linux: the file is opened anew by the name of our descriptor, so that each child reads it from its start. */
export function keepBytes(bytes: Uint8Array): KeptBytes {
  const descriptor = openBytes(bytes);
  return {
    inherited: { file: descriptorPath(descriptor), access: 'read' },
    close: () => closeSync(descriptor),
  };
}

/**
 * What a child finds at 3, 4, and so on: the given bytes and files, and `/dev/null` in every slot that would show a descriptor of ours.
 * `close` ends our side of them, once the child has been started.
 */
export interface ChildSlots {
  /** The standard input, where it is known from the start. */
  readonly input: number | 'ignore' | 'pipe';
  /** From 3 on. */
  readonly stdio: readonly (number | 'ignore')[];
  /** Descriptors too high to be covered. */
  readonly uncovered: readonly number[];
  close(): void;
}

export function childSlots(inherited: readonly Inherited[], stdin?: Uint8Array): ChildSlots {
  const opened: number[] = [];
  const close = (): void => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
  };
  try {
    for (const one of inherited) opened.push(one instanceof Uint8Array ? openBytes(one) : openFile(one));
    const stdio: (number | 'ignore')[] = [...opened];
    const leaking = LEAKING_DESCRIPTORS.filter((descriptor) => descriptor >= 3 + inherited.length);
    const covered = leaking.filter((descriptor) => descriptor < MAX_SLOT);
    if (covered.length > 0) {
      const nothing = openSync('/dev/null', 'r');
      opened.push(nothing);
      const last = Math.max(...covered);
      while (stdio.length <= last - 3) stdio.push('ignore');
      for (const descriptor of covered) stdio[descriptor - 3] = nothing;
    }
    let input: ChildSlots['input'] = stdin === undefined ? 'pipe' : 'ignore';
    if (stdin !== undefined && stdin.length > 0) opened.push((input = openBytes(stdin)));
    return { input, stdio, uncovered: leaking.filter((descriptor) => descriptor >= MAX_SLOT), close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * A descriptor at the start of these bytes. A file without a name and not a pipe: the child has all of it at once, however busy our
 * own loop is, and can open it again by `/dev/fd/N`.
 */
function openBytes(bytes: Uint8Array): number {
  const name = temporaryName(path.join(tmpdir(), 'skillwright-bytes'), '.tmp');
  const writing = openSync(name, 'wx', 0o600);
  try {
    for (let written = 0; written < bytes.length;)
      written += writeSync(writing, bytes, written, bytes.length - written);
    return openSync(name, 'r');
  } finally {
    closeSync(writing);
    unlinkSync(name);
  }
}

function openFile({ file, access }: InheritedFile): number {
  return openSync(file, access === 'read' ? constants.O_RDONLY : constants.O_WRONLY);
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch (error) {
    // A container may come without /proc.
    if (isSystemError(error)) return [];
    throw error;
  }
}

function survivesExec(descriptor: number): boolean {
  try {
    const flags = FLAGS.exec(startOf(`/proc/self/fdinfo/${String(descriptor)}`))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch (error) {
    // Closed since: the one that listed the folder, for a start.
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** The second line is asked for. There are a dozen such files at every start, and to read one whole takes twice the calls. */
function startOf(file: string): string {
  const bytes = Buffer.alloc(256);
  const descriptor = openSync(file, 'r');
  try {
    return bytes.toString('latin1', 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

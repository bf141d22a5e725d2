import { closeSync, constants, fchownSync, openSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { descriptorPath, namesIn, temporaryName, writeAll } from '#platform';
import type { Identity } from '../program-types.ts';
import { tryRead } from './proc.ts';

/** O_CLOEXEC, as /proc/self/fdinfo shows it. */
const CLOSE_ON_EXEC = 0o2000000;

/** Descriptors below this are covered one by one; with a leaking descriptor above it, no child is started. */
const MAX_SLOT = 4096;

const FLAGS = /^flags:\s*([0-7]+)/m;

/**
 * Descriptors of this process that every child would inherit: the parent of this process may have left a key file or a socket open, and
 * Node sets close-on-exec only for the lowest ones. Known on Linux only. Computed once, when this module is loaded: Node opens none of
 * that kind itself, and scanning for each of hundreds of programs would be slow.
 */
export const LEAKING_DESCRIPTORS: readonly number[] =
  process.platform === 'linux'
    ? namesIn('/proc/self/fd')
        .map(Number)
        .filter((descriptor) => descriptor > 2 && survivesExec(descriptor))
    : [];

/** The content of one descriptor of a child: these bytes, or a file that is opened for it. */
export type Inherited = Uint8Array | InheritedFile;

interface InheritedFile {
  readonly file: string;
  readonly access: 'read' | 'write';
}

/** Bytes for many children, also concurrent ones. The owner closes them. */
export interface KeptBytes {
  readonly inherited: InheritedFile;
  close(): void;
}

/** Linux only: each child opens the file again by the path of the descriptor and so reads it from the start. */
export function keepBytes(bytes: Uint8Array): KeptBytes {
  const descriptor = openBytes(bytes);
  return {
    inherited: { file: descriptorPath(descriptor), access: 'read' },
    close: () => closeSync(descriptor),
  };
}

/**
 * The descriptors 3, 4, ... of a child: the given bytes and files, and `/dev/null` in place of leaking descriptors. Call `close` once the
 * child was started.
 */
export interface ChildSlots {
  /** Standard input: a file if the input is known. */
  readonly input: number | 'ignore' | 'pipe';
  /** From descriptor 3 on. */
  readonly stdio: readonly (number | 'ignore')[];
  /** Leaking descriptors that are too high to be covered. */
  readonly uncovered: readonly number[];
  close(): void;
}

/** `owner` may open the input again by `/dev/stdin`. */
export function childSlots(inherited: readonly Inherited[], stdin?: Uint8Array, owner?: Identity): ChildSlots {
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
    if (stdin !== undefined && stdin.length > 0) opened.push((input = openBytes(stdin, owner)));
    return { input, stdio, uncovered: leaking.filter((descriptor) => descriptor >= MAX_SLOT), close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * A descriptor at the start of these bytes: an unlinked file, not a pipe. The child has all of it at once, however busy this event loop
 * is, and can reopen it by `/dev/fd/N`.
 */
function openBytes(bytes: Uint8Array, owner?: Identity): number {
  const name = temporaryName(path.join(tmpdir(), 'skillwright-bytes'), '.tmp');
  const writing = openSync(name, 'wx', 0o600);
  try {
    writeAll(writing, bytes);
    if (owner !== undefined && process.getuid?.() === 0) fchownSync(writing, owner.uid, owner.gid);
    return openSync(name, 'r');
  } finally {
    closeSync(writing);
    unlinkSync(name);
  }
}

function openFile({ file, access }: InheritedFile): number {
  return openSync(file, access === 'read' ? constants.O_RDONLY : constants.O_WRONLY);
}

function survivesExec(descriptor: number): boolean {
  // Some were closed since, for example the descriptor that listed the folder.
  const flags = FLAGS.exec(tryRead(`/proc/self/fdinfo/${String(descriptor)}`) ?? '')?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

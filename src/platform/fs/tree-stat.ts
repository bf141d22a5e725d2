/** The fingerprint of a tree: file metadata without file contents. Any change that is older than one tick of the clock alters it. */
import { lstatSync, statSync, type Stats } from 'node:fs';

import { sha256 } from '../hash.ts';
import { walkTree } from './tree-file.ts';
import type { WalkOptions } from './tree-walk.ts';
import { quietly } from '../system-error.ts';

const FIELDS = 5;
const INITIAL_CAPACITY = 16;

/** Collects the metadata of the entries of a tree, in the order of the walk. */
export class TreeFingerprint {
  readonly #paths: string[];
  /** `FIELDS` numbers for each path: formatting the times of thousands of files as text takes longer than reading them. */
  #numbers: Float64Array;

  /** Empty, or the `paths` of another fingerprint and bytes that begin with its `numbers`. */
  constructor(paths: readonly string[] = [], bytes: Uint8Array = new Uint8Array()) {
    this.#paths = [...paths];
    this.#numbers = new Float64Array(FIELDS * Math.max(paths.length, INITIAL_CAPACITY));
    new Uint8Array(this.#numbers.buffer).set(bytes.subarray(0, FIELDS * 8 * paths.length));
  }

  get paths(): readonly string[] {
    return this.#paths;
  }

  /** The numbers of all paths, as bytes in the order of this machine. */
  get numbers(): Uint8Array {
    return new Uint8Array(this.#numbers.buffer, 0, this.#paths.length * FIELDS * 8);
  }

  /** The fingerprint of a tree as it is now. Raises a `TreeRefusal`. */
  static read(root: string, options: WalkOptions): TreeFingerprint {
    const fingerprint = new TreeFingerprint();
    for (const { path, stats } of walkTree(root, options)) fingerprint.append(path, stats);
    return fingerprint;
  }

  /** Reserves a position for an entry whose metadata is known later. */
  reserve(): number {
    const position = this.#paths.push('') - 1;
    if ((position + 1) * FIELDS > this.#numbers.length) {
      const longer = new Float64Array(this.#numbers.length * 2);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    return position;
  }

  set(position: number, path: string, { mode, size, mtimeMs, ctimeMs, ino }: Stats): void {
    this.#paths[position] = path;
    this.#numbers.set([mode, size, mtimeMs, ctimeMs, ino], position * FIELDS);
  }

  append(path: string, stats: Stats): void {
    this.set(this.reserve(), path, stats);
  }

  get size(): number {
    return this.#paths.length;
  }

  /**
   * Whether all entries below the root have the same metadata now. It costs a fraction of a walk and notices as much: an entry that was
   * added, removed or renamed changed the metadata of its folder.
   */
  isCurrent(root: string): boolean {
    return quietly(
      () =>
        this.#paths.every((path, position) => {
          const stats = path === '' ? statSync(root, QUIET) : lstatSync(`${root}/${path}`, QUIET);
          const at = position * FIELDS;
          return (
            stats !== undefined &&
            stats.mode === this.#numbers[at] &&
            stats.size === this.#numbers[at + 1] &&
            stats.mtimeMs === this.#numbers[at + 2] &&
            stats.ctimeMs === this.#numbers[at + 3] &&
            stats.ino === this.#numbers[at + 4]
          );
        }),
      false,
    );
  }

  digest(): string {
    // Paths contain no NUL and each has the same number of fields, so the encoding is unambiguous.
    const paths = Buffer.from(this.#paths.join('\0'), 'utf8');
    return sha256(Buffer.concat([new Uint8Array(Float64Array.of(paths.length).buffer), this.numbers, paths]));
  }
}

const QUIET = { throwIfNoEntry: false } as const;

/**
 * The identity of a tree: `sha256-tree:<hex>`, the same for equal trees on every machine. It covers the path, executable bit and bytes
 * of every file, the target of every link, and every folder. It does not cover times, owners, other permission bits and `.git`.
 */
import type { Stats } from 'node:fs';

import { parseJson, quoted } from '#core';
import { writeFileAtomically } from './atomic-replace.ts';
import { isSettled } from './file-stamp.ts';
import { sha256 } from '../hash.ts';
import { readPrivateFile } from './read-file.ts';
import { walkOpened } from './tree-file.ts';
import { TreeFingerprint } from './tree-stat.ts';
import {
  findTreeRefusal,
  treeRefused,
  orRefusal,
  refuseLinksOutside,
  type TreeRefusal,
  type WalkOptions,
} from './tree-walk.ts';
import { withoutUnusable, type Usable } from './usable-tree.ts';
import { quietly } from '../system-error.ts';

/** `content`: SHA-256 of the bytes of a file, in hex or as bytes; the target of a link; empty for a folder. */
export interface DigestEntry {
  readonly kind: 'file' | 'program' | 'folder' | 'link';
  readonly path: string;
  readonly content: Uint8Array | string;
}

const PREFIX = 'sha256-tree:';
const HEAD = Buffer.from('skillwright tree 1\n');
/** One mark byte and two 32-bit lengths. */
const LENGTHS = 9;
/** The letters f, x, d and l. */
const MARKS = { file: 0x66, program: 0x78, folder: 0x64, link: 0x6c } as const;

/** Entries are sorted by the bytes of their paths; lengths before each part make the encoding unambiguous. */
export function digestOfEntries(entries: readonly DigestEntry[]): string {
  const sorted = entries.length < 2 ? entries : sortedByBytes(entries);
  let size = HEAD.length;
  // A UTF-16 unit takes at most three bytes.
  for (const { path, content } of sorted) size += LENGTHS + path.length * 3 + content.length;
  // One allocation: three for each entry took longer than hashing.
  const bytes = Buffer.allocUnsafe(size);
  bytes.set(HEAD);
  let at = HEAD.length;
  for (const { kind, path, content } of sorted) {
    const nameAt = at + LENGTHS;
    const contentAt = nameAt + bytes.write(path, nameAt);
    if (typeof content === 'string') bytes.write(content, contentAt, 'hex');
    else bytes.set(content, contentAt);
    const length = typeof content === 'string' ? content.length / 2 : content.length;
    bytes[at] = MARKS[kind];
    bytes.writeUInt32BE(contentAt - nameAt, at + 1);
    bytes.writeUInt32BE(length, at + 5);
    at = contentAt + length;
  }
  return PREFIX + sha256(bytes.subarray(0, at));
}

function sortedByBytes(entries: readonly DigestEntry[]): readonly DigestEntry[] {
  const named = entries.map((entry) => ({ entry, name: Buffer.from(entry.path, 'utf8') }));
  return named.sort((a, b) => Buffer.compare(a.name, b.name)).map(({ entry }) => entry);
}

function isTreeDigest(text: string): boolean {
  return /^sha256-tree:[0-9a-f]{64}$/.test(text);
}

/** The digest without its prefix, usable as a folder name. */
export function digestName(digest: string): string {
  if (!isTreeDigest(digest)) throw new TypeError(`${JSON.stringify(digest)} is not a tree digest`);
  return digest.slice(PREFIX.length);
}

export interface TreeDigest {
  readonly type: 'digest';
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  /** Fingerprint of the tree when its bytes were read. */
  readonly fingerprint: string;
  /** The metadata behind the fingerprint. */
  readonly entries: TreeFingerprint;
  /** False if a file changed so recently that it could change again without a different fingerprint. */
  readonly isSettled: boolean;
}

const NOTHING = new Uint8Array();

/** Collects the entries of a walk for a digest and a fingerprint. */
export class TreeReading {
  readonly #entries: DigestEntry[] = [];
  readonly #links = new Map<string, string>();
  readonly #folders = new Set<string>();
  readonly #names = new Map<number, { readonly path: string; readonly all: number; found: number }>();
  readonly #startedAt: number;
  readonly #fingerprint = new TreeFingerprint();
  #isSettled = true;
  #files = 0;
  #bytes = 0;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  folder(path: string, stats: Stats): void {
    this.#record(path, stats);
    this.#folders.add(path);
    if (path !== '') this.#entries.push({ kind: 'folder', path, content: NOTHING });
  }

  link(path: string, stats: Stats, target: string): void {
    this.#record(path, stats);
    this.#links.set(path, target);
    this.#entries.push({ kind: 'link', path, content: Buffer.from(target, 'utf8') });
  }

  /** `hash` is SHA-256 in hex. `stats` belong to the opened file before it was read; `refuseChanged` compares them later. */
  file(path: string, stats: Stats, hash: string): void {
    this.#record(path, stats);
    this.#entries.push({ kind: isProgram(stats) ? 'program' : 'file', path, content: hash });
    this.#files += 1;
    this.#bytes += stats.size;
    if (stats.nlink > 1) {
      const known = this.#names.get(stats.ino);
      if (known === undefined) this.#names.set(stats.ino, { path, all: stats.nlink, found: 1 });
      else known.found += 1;
    }
  }

  /**
   * Call after all files were read. Raises a `TreeRefusal` for links that lead outside, for files with a second name outside, and if the
   * tree changed.
   */
  refuseChanged(root: string, options: WalkOptions): void {
    refuseLinksOutside(this.#links, this.#folders);
    for (const { path, all, found } of this.#names.values())
      if (found < all)
        throw treeRefused('hard-link', path, `${quoted(path)} has a second name (hard link) outside of the tree`);
    if (TreeFingerprint.read(root, options).digest() !== this.#fingerprint.digest())
      throw treeRefused('changed', '', 'it changed while it was read');
  }

  /** Call after `refuseChanged`. */
  finish(): TreeDigest {
    return {
      type: 'digest',
      digest: digestOfEntries(this.#entries),
      files: this.#files,
      bytes: this.#bytes,
      fingerprint: this.#fingerprint.digest(),
      entries: this.#fingerprint,
      isSettled: this.#isSettled,
    };
  }

  #record(path: string, stats: Stats): void {
    this.#fingerprint.append(path, stats);
    this.#isSettled &&= isSettled(stats, this.#startedAt);
  }
}

export function isProgram(stats: Stats): boolean {
  return (stats.mode & 0o111) !== 0;
}

/** Entries between two pauses, in which the event loop runs. */
const SLICE = 64;

export interface ReadTreeOptions extends WalkOptions {
  readonly signal?: AbortSignal;
}

/** Reads a whole tree for its digest; retries once if it changed meanwhile. */
export async function readTreeDigest(root: string, options: ReadTreeOptions = {}): Promise<TreeDigest | TreeRefusal> {
  return twiceIfChanged(() => orRefusal(() => readOnce(root, options)));
}

/** The digest of the usable part of a tree. */
export function readUsableTree(root: string, options: ReadTreeOptions = {}): Promise<Usable<TreeDigest> | TreeRefusal> {
  return withoutUnusable((usable) => readTreeDigest(root, { ...options, ...usable }));
}

/** Retries once: a tree that is being written may be complete a moment later. */
export async function twiceIfChanged<T extends { readonly type: string }>(
  act: () => Promise<T | TreeRefusal>,
): Promise<T | TreeRefusal> {
  const first = await act();
  return first.type === 'refused' && 'problem' in first && first.problem === 'changed' ? act() : first;
}

async function readOnce(root: string, options: ReadTreeOptions): Promise<TreeDigest> {
  const reading = new TreeReading(Date.now());
  let count = 0;
  for (const entry of walkOpened(root, options)) {
    if (entry.type === 'folder') reading.folder(entry.path, entry.stats);
    else if (entry.type === 'link') reading.link(entry.path, entry.stats, entry.target);
    else reading.file(entry.path, entry.stats, entry.hash());
    count += 1;
    if (count % SLICE === 0) await pause(options.signal);
  }
  reading.refuseChanged(root, options);
  return reading.finish();
}

export async function pause(signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  signal?.throwIfAborted();
}

/** A cache of digests, validated by fingerprints. */
export interface TreeDigests {
  /** The digest of the usable part, from the cache if the fingerprint is unchanged. */
  of(
    root: string,
    options?: ReadTreeOptions,
  ): Promise<{ readonly type: 'digest'; readonly digest: string } | TreeRefusal>;
  /** From the cache alone. */
  known(root: string, options?: WalkOptions): string | undefined;
  remember(trees: readonly KnownTree[]): void;
}

interface KnownTree {
  readonly root: string;
  readonly digest: string;
  readonly fingerprint: string;
}

const MAX_KNOWN = 1_000;
/** Larger trees are walked each time. */
const MAX_ENTRIES = 256;
const MAX_FILE_BYTES = 1024 * 1024;

/** `file` shares the cache between processes; it may be deleted at any time. */
export function openTreeDigests({ file }: { readonly file?: string } = {}): TreeDigests {
  let known = readKnown(file);
  /** The metadata behind the fingerprints of small trees. */
  const entries = new WeakMap<KnownTree, TreeFingerprint>();
  const remember: TreeDigests['remember'] = (trees) => {
    // Other processes may have added entries meanwhile.
    const all = new Map([...known, ...readKnown(file)]);
    for (const { root, digest, fingerprint } of trees) {
      all.delete(root);
      all.set(root, { root, digest, fingerprint });
    }
    for (const oldest of all.keys()) {
      if (all.size <= MAX_KNOWN) break;
      all.delete(oldest);
    }
    known = all;
    if (file !== undefined) keep(file, known);
  };
  const recall: TreeDigests['known'] = (root, options = {}) => {
    const tree = known.get(root);
    if (tree === undefined) return undefined;
    const isWhole = Object.keys(options).every((name) => name === 'signal');
    if (isWhole && entries.get(tree)?.isCurrent(root) === true) return tree.digest;
    try {
      const now = TreeFingerprint.read(root, options);
      if (now.digest() !== tree.fingerprint) return undefined;
      if (isWhole && now.size <= MAX_ENTRIES) entries.set(tree, now);
      return tree.digest;
    } catch (error) {
      if (findTreeRefusal(error) !== undefined) return undefined;
      throw error;
    }
  };
  return {
    async of(root, options = {}) {
      const digest = recall(root, options);
      if (digest !== undefined) return { type: 'digest', digest };
      const read = await readUsableTree(root, options);
      // The fingerprint does not cover entries that were left out, which may be repaired any time.
      if (read.type === 'digest' && read.isSettled && read.omitted.length === 0) remember([{ root, ...read }]);
      return read;
    },
    known: recall,
    remember,
  };
}

function readKnown(file: string | undefined): Map<string, KnownTree> {
  const read = file === undefined ? undefined : readPrivateFile(file, { maxBytes: MAX_FILE_BYTES });
  const parsed = read?.type === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  const trees = Array.isArray(parsed) ? parsed.filter(isKnownTree) : [];
  return new Map(trees.map((tree) => [tree.root, tree]));
}

function isKnownTree(value: unknown): value is KnownTree {
  if (typeof value !== 'object' || value === null) return false;
  const { root, digest, fingerprint } = { root: '', digest: '', fingerprint: '', ...value };
  return (
    typeof root === 'string' && typeof fingerprint === 'string' && typeof digest === 'string' && isTreeDigest(digest)
  );
}

function keep(file: string, known: ReadonlyMap<string, KnownTree>): void {
  // The cache is optional: the next process reads the tree again.
  quietly(() => writeFileAtomically(file, Buffer.from(JSON.stringify([...known.values()]), 'utf8')));
}

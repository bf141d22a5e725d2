/**
 * The identity of a tree: `sha256-tree:<hex>`, the same for equal trees on every machine. It covers of every file its path, whether
 * it is executable and its bytes; of every link its target; and every folder. Not covered are times, owners, the other permission
 * bits, and whatever is called `.git`.
 */
import { closeSync } from 'node:fs';
import type { Stats } from 'node:fs';

import { parseJson } from '../../core/json/parse-json.ts';
import { quoted } from '../../core/text/text.ts';
import { writeFileAtomically } from './atomic-replace.ts';
import { isSettled } from './file-stamp.ts';
import { sha256 } from '../hash.ts';
import { isSystemError } from './paths.ts';
import { readPrivateFile } from './read-file.ts';
import { SMALL_FILE, hashOpened } from './tree-file.ts';
import { TreeFingerprint, fingerprintTree } from './tree-stat.ts';
import { TreeRefused, orRefusal, refuseLinksOutside, walkOpened } from './tree-walk.ts';
import type { TreeRefusal, WalkOptions } from './tree-walk.ts';

/** One entry as the digest sees it. `content`: SHA-256 of the bytes of a file, the target of a link, nothing for a folder. */
export interface DigestEntry {
  readonly kind: 'file' | 'program' | 'folder' | 'link';
  readonly path: string;
  readonly content: Uint8Array;
}

const PREFIX = 'sha256-tree:';
const HEAD = Buffer.from('skillwright tree 1\n');
/** A mark and two lengths. */
const LENGTHS = 9;
/** The letters f, x, d and l. */
const MARKS = { file: 0x66, program: 0x78, folder: 0x64, link: 0x6c } as const;

/** Each part is preceded by its length, so that no two lists of entries are written alike. Sorted by the bytes of paths. */
export function digestOfEntries(entries: readonly DigestEntry[]): string {
  const named = entries.map(({ kind, path, content }) => ({ kind, content, name: Buffer.from(path, 'utf8') }));
  named.sort((a, b) => Buffer.compare(a.name, b.name));
  const size = named.reduce((sum, { name, content }) => sum + LENGTHS + name.length + content.length, HEAD.length);
  // One piece of memory for all: three for each entry took longer than to hash them.
  const bytes = Buffer.allocUnsafe(size);
  let at = HEAD.copy(bytes);
  for (const { kind, name, content } of named) {
    bytes[at] = MARKS[kind];
    bytes.writeUInt32BE(name.length, at + 1);
    bytes.writeUInt32BE(content.length, at + 5);
    bytes.set(name, at + LENGTHS);
    bytes.set(content, at + LENGTHS + name.length);
    at += LENGTHS + name.length + content.length;
  }
  return PREFIX + sha256(bytes);
}

export function isTreeDigest(text: string): boolean {
  return /^sha256-tree:[0-9a-f]{64}$/.test(text);
}

/** The digest without its prefix: safe as the name of a folder. */
export function digestName(digest: string): string {
  if (!isTreeDigest(digest)) throw new TypeError(`${JSON.stringify(digest)} is no digest of a tree`);
  return digest.slice(PREFIX.length);
}

export interface TreeDigest {
  readonly type: 'digest';
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  /** What the tree looked like from outside when its bytes were read. */
  readonly fingerprint: string;
  /** No file changed so short a time ago that it could change again and look the same. */
  readonly isSettled: boolean;
}

const NOTHING = new Uint8Array();

/** Gathers what a walk meets into a digest and a fingerprint. */
export class TreeReading {
  readonly #entries: { kind: DigestEntry['kind']; path: string; content: Uint8Array }[] = [];
  readonly #links = new Map<string, string>();
  readonly #folders = new Set<string>();
  readonly #names = new Map<number, { readonly path: string; readonly all: number; found: number }>();
  readonly #startedAt: number;
  readonly #fingerprint = new TreeFingerprint();
  #isSettled = true;
  #files = 0;
  #unhashed = 0;
  #bytes = 0;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  folder(path: string, stats: Stats): void {
    this.#look(path, stats);
    this.#folders.add(path);
    if (path !== '') this.#entries.push({ kind: 'folder', path, content: NOTHING });
  }

  link(path: string, stats: Stats, target: string): void {
    this.#look(path, stats);
    this.#links.set(path, target);
    this.#entries.push({ kind: 'link', path, content: Buffer.from(target, 'utf8') });
  }

  /**
   * `stats` are those of the opened file before it was read: `refuseChanged` refuses where they have become others. Gives the place
   * where `hashed` puts what is known later.
   */
  file(path: string, stats: Stats): number {
    this.#look(path, stats);
    const place = this.#entries.push({ kind: isProgram(stats) ? 'program' : 'file', path, content: NOTHING }) - 1;
    this.#files += 1;
    this.#unhashed += 1;
    this.#bytes += stats.size;
    if (stats.nlink > 1) {
      const known = this.#names.get(stats.ino);
      if (known === undefined) this.#names.set(stats.ino, { path, all: stats.nlink, found: 1 });
      else known.found += 1;
    }
    return place;
  }

  hashed(place: number, hash: Uint8Array): void {
    const entry = this.#entries[place];
    if (entry === undefined || entry.content !== NOTHING) throw new Error(`no hash is expected at ${String(place)}`);
    entry.content = hash;
    this.#unhashed -= 1;
  }

  /**
   * Once all files were read, their hashes known or not. Throws `TreeRefused` for links that lead out, for files with a name elsewhere,
   * and where the tree is not what it was.
   */
  refuseChanged(root: string, options: WalkOptions): void {
    refuseLinksOutside(this.#links, this.#folders);
    for (const { path, all, found } of this.#names.values())
      if (found < all)
        throw new TreeRefused('hard-link', path, `${quoted(path)} has another name outside, which may be anybody's`);
    if (fingerprintTree(root, options) !== this.#fingerprint.digest())
      throw new TreeRefused('changed', '', 'it changed while it was read');
  }

  /** Of a tree that is no other, once all hashes are known. */
  finish(): TreeDigest {
    if (this.#unhashed > 0) throw new Error(`${String(this.#unhashed)} files were not hashed`);
    return {
      type: 'digest',
      digest: digestOfEntries(this.#entries),
      files: this.#files,
      bytes: this.#bytes,
      fingerprint: this.#fingerprint.digest(),
      isSettled: this.#isSettled,
    };
  }

  #look(path: string, stats: Stats): void {
    this.#fingerprint.append(path, stats);
    this.#isSettled &&= isSettled(stats, this.#startedAt);
  }
}

export function isProgram(stats: Stats): boolean {
  return (stats.mode & 0o111) !== 0;
}

/** Entries between two pauses, in which timers and others have their turn. */
const SLICE = 64;

export interface ReadTreeOptions extends WalkOptions {
  readonly signal?: AbortSignal;
}

/** Reads a whole tree for its digest. Looked at a second time where it changed meanwhile. */
export async function readTreeDigest(root: string, options: ReadTreeOptions = {}): Promise<TreeDigest | TreeRefusal> {
  return twiceIfChanged(() => orRefusal(() => readOnce(root, options)));
}

/** A tree that somebody is writing may be at rest a moment later. */
export async function twiceIfChanged<T extends { readonly type: string }>(
  act: () => Promise<T | TreeRefusal>,
): Promise<T | TreeRefusal> {
  const first = await act();
  return first.type === 'refused' && 'problem' in first && first.problem === 'changed' ? act() : first;
}

async function readOnce(root: string, options: ReadTreeOptions): Promise<TreeDigest> {
  const reading = new TreeReading(Date.now());
  const buffer = Buffer.allocUnsafe(SMALL_FILE);
  let count = 0;
  for (const entry of walkOpened(root, options)) {
    if (entry.type === 'folder') reading.folder(entry.path, entry.stats);
    else if (entry.type === 'link') reading.link(entry.path, entry.stats, entry.target);
    else {
      const { path, stats, descriptor } = entry;
      try {
        const hash = hashOpened(path, { descriptor, size: stats.size, buffer });
        reading.hashed(reading.file(path, stats), hash);
      } finally {
        closeSync(descriptor);
      }
    }
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

/** Digests that are known, by what the trees looked like from outside. */
export interface TreeDigests {
  /** The digest, from memory where the tree looks as it did. */
  of(
    root: string,
    options?: ReadTreeOptions,
  ): Promise<{ readonly type: 'digest'; readonly digest: string } | TreeRefusal>;
  /** From memory alone. */
  known(root: string, options?: WalkOptions): string | undefined;
  remember(trees: readonly KnownTree[]): void;
}

export interface KnownTree {
  readonly root: string;
  readonly digest: string;
  readonly fingerprint: string;
}

const MAX_KNOWN = 1_000;
const MAX_FILE_BYTES = 1024 * 1024;

/** `file` keeps them for other processes; it can be lost at any time. */
export function openTreeDigests({ file }: { readonly file?: string } = {}): TreeDigests {
  // Of a file with a thousand trees a process needs one or two.
  const text = file === undefined ? '' : textOf(file);
  let known = new Map<string, KnownTree>();
  const knownAt = (root: string): KnownTree | undefined => {
    const tree = known.get(root) ?? knownIn(text, root);
    if (tree !== undefined) known.set(root, tree);
    return tree;
  };
  const remember: TreeDigests['remember'] = (trees) => {
    // What other processes have found out meanwhile is not lost.
    const others = file === undefined ? [] : allKnown(textOf(file)).filter(({ root }) => !known.has(root));
    const all = new Map([...others, ...known.values()].map((tree) => [tree.root, tree]));
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
    const tree = knownAt(root);
    if (tree === undefined) return undefined;
    try {
      return fingerprintTree(root, options) === tree.fingerprint ? tree.digest : undefined;
    } catch (error) {
      if (error instanceof TreeRefused) return undefined;
      throw error;
    }
  };
  return {
    async of(root, options = {}) {
      const digest = recall(root, options);
      if (digest !== undefined) return { type: 'digest', digest };
      const read = await readTreeDigest(root, options);
      if (read.type === 'digest' && read.isSettled) remember([{ root, ...read }]);
      return read;
    },
    known: recall,
    remember,
  };
}

function textOf(file: string): string {
  const read = readPrivateFile(file, { maxBytes: MAX_FILE_BYTES });
  return read.type === 'read' ? read.bytes.toString('utf8') : '';
}

function allKnown(text: string): readonly KnownTree[] {
  const parsed = parseJson(text);
  return Array.isArray(parsed) ? parsed.filter(isKnownTree) : [];
}

/** One of them as `keep` writes it. In a JSON text nothing else reads like its start, and neither a digest nor a fingerprint has a brace. */
function knownIn(text: string, root: string): KnownTree | undefined {
  const beginning = `{"root":${JSON.stringify(root)},`;
  const start = text.indexOf(beginning);
  if (start === -1) return undefined;
  const tree = parseJson(text.slice(start, text.indexOf('}', start + beginning.length) + 1));
  return isKnownTree(tree) ? tree : undefined;
}

function isKnownTree(value: unknown): value is KnownTree {
  if (typeof value !== 'object' || value === null) return false;
  const { root, digest, fingerprint } = { root: '', digest: '', fingerprint: '', ...value };
  return (
    typeof root === 'string' && typeof fingerprint === 'string' && typeof digest === 'string' && isTreeDigest(digest)
  );
}

function keep(file: string, known: ReadonlyMap<string, KnownTree>): void {
  try {
    writeFileAtomically(file, Buffer.from(JSON.stringify([...known.values()]), 'utf8'));
  } catch (error) {
    // What is not kept is read again; a full disk shows where it matters.
    if (!isSystemError(error)) throw error;
  }
}

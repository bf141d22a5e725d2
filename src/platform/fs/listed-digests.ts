/** Digests of many trees, for listings. One cache file holds the metadata of all their entries, so that unchanged trees are not read. */
import { existsSync } from 'node:fs';

import { sha256 } from '../hash.ts';
import { cacheEntry } from './cache-entry.ts';
import { readPrivateFile } from './read-file.ts';
import { readUsableTree, type TreeDigests } from './tree-digest.ts';
import { TreeFingerprint } from './tree-stat.ts';

export interface ListedDigests extends Pick<TreeDigests, 'of'> {
  /** From the cache file alone; undefined if the tree changed since. */
  known(root: string): string | undefined;
  /** Writes the cache file if a tree was read since. */
  save(): void;
}

interface ListedTree {
  readonly digest: string;
  readonly entries: TreeFingerprint;
}

/** About half a million entries. A larger cache is not written. */
const MAX_BYTES = 32 * 1024 * 1024;
const CHECKSUM_LENGTH = 64;

/** `file` may be missing, damaged, or deleted at any time: its trees are then read again. */
export function openListedDigests(file: string | undefined): ListedDigests {
  const known = readListed(file);
  let hasNews = false;
  const recall = (root: string): string | undefined => {
    const tree = known.get(root);
    return tree?.entries.isCurrent(root) === true ? tree.digest : undefined;
  };
  return {
    known: recall,
    async of(root, options = {}) {
      const digest = recall(root);
      if (digest !== undefined) return { type: 'digest', digest };
      hasNews = known.delete(root) || hasNews;
      const read = await readUsableTree(root, options);
      // The fingerprint does not cover entries that were left out, which may be repaired any time.
      if (read.type !== 'digest' || !read.isSettled || read.omitted.length > 0) return read;
      known.set(root, read);
      hasNews = true;
      return read;
    },
    save() {
      if (!hasNews) return;
      hasNews = false;
      const bytes = listedBytes([...known].filter(([root]) => existsSync(root)));
      if (bytes.length <= MAX_BYTES) cacheEntry(file).write(bytes);
    },
  };
}

/** A checksum; the length of the JSON and a line feed; roots, digests and paths as JSON; the numbers of all entries. */
function listedBytes(trees: readonly (readonly [root: string, tree: ListedTree])[]): Buffer {
  const named = trees.map(([root, { digest, entries }]) => [root, digest, entries.paths]);
  const text = Buffer.from(JSON.stringify(named));
  const content = Buffer.concat([
    Buffer.from(`${String(text.length)}\n`),
    text,
    ...trees.map(([, { entries }]) => entries.numbers),
  ]);
  return Buffer.concat([Buffer.from(sha256(content)), content]);
}

function readListed(file: string | undefined): Map<string, ListedTree> {
  const trees = new Map<string, ListedTree>();
  const read = file === undefined ? undefined : readPrivateFile(file, { maxBytes: MAX_BYTES });
  if (read?.type !== 'read') return trees;
  const content = read.bytes.subarray(CHECKSUM_LENGTH);
  if (read.bytes.toString('latin1', 0, CHECKSUM_LENGTH) !== sha256(content)) return trees;
  // The checksum has verified that these bytes were written by `listedBytes`.
  const start = content.indexOf('\n') + 1;
  let at = start + Number(content.toString('latin1', 0, start));
  const named: [string, string, string[]][] = JSON.parse(content.toString('utf8', start, at));
  for (const [root, digest, paths] of named) {
    const entries = new TreeFingerprint(paths, content.subarray(at));
    at += entries.numbers.length;
    trees.set(root, { digest, entries });
  }
  return trees;
}

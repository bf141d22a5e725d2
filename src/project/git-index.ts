/** What git knows of a project, read from its files: starting git here would run what its settings name. */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { isPresent, quietly, readPrivateFile } from '#platform';
import type { ResolvedPath } from './resolve-path.ts';

/** Larger indexes belong to repositories of half a million files. Their files count as untracked. */
const MAX_BYTES = 64 * 1024 * 1024;
const HEADER = 12;
/** Times, ids, mode, size and a SHA-1 before the flags of an entry. */
const BEFORE_FLAGS = 60;
const EXTENDED = 0x40_00;
/** Looking at more files would delay the first request. */
const MAX_COMPARED = 5_000;

/** Whether the file is in a repository, and whether its index names the file. */
export function gitState({ root, relative, place }: ResolvedPath): 'tracked' | 'untracked' | 'outside' {
  if (place !== 'project' || relative === '') return 'outside';
  const found = findRepository(root);
  if (found === undefined) return 'outside';
  const name = path.relative(found.top, path.join(root, relative)).split(path.sep).join('/');
  const wanted = Buffer.from(name);
  for (const entry of readEntries(found.index)) if (entry.name.equals(wanted)) return 'tracked';
  return 'untracked';
}

export interface RepositoryState {
  /** Absent if no branch is checked out. */
  readonly branch: string | undefined;
  /** Tracked files that differ from the index by size or time, or are gone; absent if there are too many to look at. */
  readonly changed: number | undefined;
  readonly operation: 'merge' | 'rebase' | 'cherry-pick' | 'bisect' | undefined;
}

/** The state of the repository of a folder; undefined outside of one. */
export function repositoryState(folder: string): RepositoryState | undefined {
  const found = findRepository(folder);
  if (found === undefined) return undefined;
  const { top, git, index } = found;
  const head = readPrivateFile(path.join(git, 'HEAD'), { maxBytes: 4096 });
  const [, branch] = /^ref: refs\/heads\/(.+?)\n?$/.exec(head.type === 'read' ? head.bytes.toString('utf8') : '') ?? [];
  const operation = OPERATIONS.find(([file]) => isPresent(path.join(git, file)))?.[1];
  if (index.readUInt32BE(8) > MAX_COMPARED) return { branch, changed: undefined, operation };
  let changed = 0;
  for (const { name, seconds, size, isFile } of readEntries(index)) {
    if (!isFile) continue;
    const stats = quietly(() => lstatSync(path.join(top, name.toString('utf8')), { throwIfNoEntry: false }));
    if (
      stats === undefined ||
      (stats.size & 0xff_ff_ff_ff) !== (size | 0) ||
      Math.floor(stats.mtimeMs / 1000) !== seconds
    )
      changed += 1;
  }
  return { branch, changed, operation };
}

const OPERATIONS = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['BISECT_LOG', 'bisect'],
] as const;

interface Repository {
  readonly top: string;
  readonly git: string;
  readonly index: Buffer;
}

function findRepository(folder: string): Repository | undefined {
  for (let top = folder; ; top = path.dirname(top)) {
    const git = gitFolder(path.join(top, '.git'));
    const read = readPrivateFile(path.join(git, 'index'), { maxBytes: MAX_BYTES });
    const index = read.type === 'read' ? read.bytes : undefined;
    if (index !== undefined && index.length > HEADER && index.toString('latin1', 0, 4) === 'DIRC')
      return { top, git, index };
    if (path.dirname(top) === top) return undefined;
  }
}

/** In a worktree, `.git` is a file that names its folder. */
function gitFolder(git: string): string {
  const pointer = readPrivateFile(git, { maxBytes: 4096 });
  const [, linked] = /^gitdir: (.+?)\n?$/.exec(pointer.type === 'read' ? pointer.bytes.toString('utf8') : '') ?? [];
  return linked === undefined ? git : path.resolve(path.dirname(git), linked);
}

interface IndexEntry {
  readonly name: Buffer;
  readonly seconds: number;
  readonly size: number;
  /** A regular file, not a link or a submodule. */
  readonly isFile: boolean;
}

/** Versions 2 to 4 with SHA-1. Of a damaged index, those before the damage. */
function* readEntries(index: Buffer): Generator<IndexEntry> {
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return;
  let before = Buffer.alloc(0);
  for (let entry = 0, at = HEADER; entry < count && at + BEFORE_FLAGS + 4 < index.length; entry += 1) {
    const isExtended = (index.readUInt16BE(at + BEFORE_FLAGS) & EXTENDED) !== 0;
    const start = at + BEFORE_FLAGS + (isExtended ? 4 : 2);
    const dropped = version === 4 ? readOffset(index, start) : { value: 0, end: start };
    const end = index.indexOf(0, dropped.end);
    if (end === -1) return;
    const shared = version === 4 ? before.subarray(0, Math.max(0, before.length - dropped.value)) : Buffer.alloc(0);
    before = Buffer.concat([shared, index.subarray(dropped.end, end)]);
    const isFile = index.readUInt32BE(at + 24) >>> 12 === 0o10;
    yield { name: before, seconds: index.readUInt32BE(at + 8), size: index.readUInt32BE(at + 36), isFile };
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
}

/** How many bytes of the previous path version 4 drops. */
function readOffset(index: Buffer, start: number): { readonly value: number; readonly end: number } {
  let at = start;
  let byte = index[at] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    at += 1;
    byte = index[at] ?? 0;
    value = ((value + 1) << 7) | (byte & 0x7f);
  }
  return { value, end: at + 1 };
}

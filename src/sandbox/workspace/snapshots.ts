/**
 * Read-only copies of skills by digest: `<base>/snapshots/<digest>/<name>`. A snapshot is completed in a temporary folder and then renamed
 * into place, so there are no partial ones. It is verified at every use, and none of its files are hard-linked elsewhere.
 */
import { chmodSync, lstatSync, mkdirSync, readlinkSync, renameSync, utimesSync } from 'node:fs';
import path from 'node:path';

import { quoted, SkillError, toRelativePath, toSlug } from '#core';
import {
  digestName,
  isSystemError,
  quietly,
  readTreeDigest,
  removeTree,
  sha256,
  type openTreeDigests,
  copyUsableTree,
} from '#platform';
import { SKILL_LINKS, SKILL_LINK_NAMES, ioFailed, isRoot, makeTemporary, type Base } from './layout.ts';

type TreeDigests = ReturnType<typeof openTreeDigests>;

export interface SkillSource {
  readonly name: string;
  /** Folder on the host. */
  readonly dir: string;
}

export interface Snapshot {
  readonly name: string;
  readonly digest: string;
  /** Path on the host. */
  readonly path: string;
}

export interface Snapshots {
  /** Throws `skill/invalid` where the skill cannot be staged, `io/failed` where the disk fails. */
  take(skill: SkillSource, options?: { readonly signal?: AbortSignal }): Promise<Snapshot>;
  /** Returns an existing snapshot if it is intact. */
  find(name: string, digest: string): Promise<Snapshot | undefined>;
  /** Whether the files of the skill still have this digest. */
  isCurrent(skill: SkillSource, digest: string, signal?: AbortSignal): Promise<boolean>;
}

/** Hidden names, characters of patterns, and device names of Windows. */
const NO_FOLDER = /^\.|[/*?[\]{}]|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** A longer name leaves no room for what folders append. */
const MAX_FOLDER_BYTES = 200;
const DIGITS = 8;

/** Whether a name can be a folder of a workspace as it is. Also for names that break the rules of the format, such as `PyMath` or `my_skill`. */
function isFolderName(name: string): boolean {
  if (name !== name.trim() || NO_FOLDER.test(name)) return false;
  return toRelativePath(name) === name && Buffer.byteLength(name) <= MAX_FOLDER_BYTES;
}

/**
 * The folder of a skill in a workspace. A declared name that cannot be a folder, such as `a/b`, or that a skill of another source has there,
 * gives way to the name of its folder with digits that no other skill has, so that two skills never share a folder.
 */
export function stagedName({ name, dir }: SkillSource, isTaken: (name: string) => boolean): string {
  if (isFolderName(name) && !isTaken(name)) return name;
  const slug = toSlug(path.basename(dir), DIGITS + 1) ?? toSlug(name, DIGITS + 1) ?? 'skill';
  return `${slug}-${sha256(JSON.stringify([name, dir])).slice(0, DIGITS)}`;
}

export function openSnapshots(base: Base, digests: TreeDigests): Snapshots {
  const underWay = new Map<string, PendingSnapshot>();
  return {
    async find(name, digest) {
      return findStored({ base, digests, signal: undefined }, name, digest);
    },
    async isCurrent({ dir }, digest, signal) {
      const read = await digests.of(dir, { signal });
      return read.type === 'digest' && read.digest === digest;
    },
    take,
  };

  function take(skill: SkillSource, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Snapshot> {
    const key = JSON.stringify([skill.name, skill.dir]);
    const running = underWay.get(key);
    if (running !== undefined)
      return running.snapshot.catch((error: unknown) => {
        // Another caller cancelled the shared copy; this one still wants it.
        if (running.signal?.aborted === true && signal?.aborted !== true) return take(skill, { signal });
        throw error;
      });
    const snapshot = takeOne({ base, digests, signal }, skill).finally(() => underWay.delete(key));
    underWay.set(key, { snapshot, signal });
    return snapshot;
  }
}

interface PendingSnapshot {
  readonly snapshot: Promise<Snapshot>;
  readonly signal: AbortSignal | undefined;
}

interface Store {
  readonly base: Base;
  readonly digests: TreeDigests;
  readonly signal: AbortSignal | undefined;
}

async function takeOne(store: Store, skill: SkillSource): Promise<Snapshot> {
  const digest = store.digests.known(skill.dir);
  if (digest !== undefined) {
    const stored = await findStored(store, skill.name, digest);
    if (stored !== undefined) return stored;
  }
  try {
    return await make(store, skill);
  } catch (error) {
    if (isSystemError(error)) throw ioFailed(store.base.snapshots, error);
    throw error;
  }
}

async function findStored(store: Store, name: string, digest: string): Promise<Snapshot | undefined> {
  const folder = path.join(store.base.snapshots, digestName(digest));
  const snapshot: Snapshot = { name, digest, path: path.join(folder, name) };
  const options = { leaveOut: addedLinks(snapshot.path) };
  // Earlier versions made snapshots read-only.
  if (((lstatSync(snapshot.path, { throwIfNoEntry: false })?.mode ?? 0o200) & 0o200) === 0) {
    await discard(store.base, snapshot.path);
    return undefined;
  }
  if (store.digests.known(snapshot.path, options) !== digest) {
    const read = await readTreeDigest(snapshot.path, options);
    if (read.type === 'refused' && read.problem === 'gone') return undefined;
    if (read.type === 'refused' || read.digest !== digest) {
      await discard(store.base, snapshot.path);
      return undefined;
    }
    store.digests.remember([{ root: snapshot.path, ...read }]);
  }
  const now = new Date();
  utimesSync(folder, now, now);
  return snapshot;
}

/** Links that staging added. A skill cannot contain them itself, because they lead outside its folder. */
export function addedLinks(snapshot: string): readonly string[] {
  return SKILL_LINK_NAMES.filter(
    (name) => quietly(() => readlinkSync(path.join(snapshot, name)), undefined) === SKILL_LINKS[name],
  );
}

async function make(store: Store, skill: SkillSource): Promise<Snapshot> {
  const temporary = makeTemporary(store.base);
  try {
    let attempts = 0;
    const parcel = (): string => path.join(temporary, String(attempts));
    const copied = await copyUsableTree(skill.dir, {
      nextTarget: () => {
        attempts += 1;
        mkdirSync(parcel());
        // Whatever the umask is: programs of another user traverse it.
        chmodSync(parcel(), isRoot() ? 0o711 : 0o700);
        return path.join(parcel(), skill.name);
      },
      // Mounts protect a snapshot. Read-only modes would not: `cp` keeps them, and a copied template must be writable.
      permissions: 'writable',
      links: SKILL_LINKS,
      signal: store.signal,
    });
    if (copied.type === 'refused') throw refused(skill, copied.message);
    const snapshot = await putInPlace(store, parcel(), { name: skill.name, digest: copied.digest });
    const { digest } = copied;
    store.digests.remember([
      { root: snapshot.path, digest, fingerprint: copied.copyFingerprint },
      ...(copied.isSettled && copied.omitted.length === 0
        ? [{ root: skill.dir, digest, fingerprint: copied.fingerprint }]
        : []),
    ]);
    return snapshot;
  } finally {
    await removeTree(temporary);
  }
}

async function putInPlace(
  store: Store,
  parcel: string,
  { name, digest }: { readonly name: string; readonly digest: string },
): Promise<Snapshot> {
  const folder = path.join(store.base.snapshots, digestName(digest));
  const snapshot: Snapshot = { name, digest, path: path.join(folder, name) };
  if (isRenamed(parcel, folder)) return snapshot;
  // The same tree exists already, under another name or created by another process meanwhile.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    if (isRenamed(path.join(parcel, name), snapshot.path)) return snapshot;
    const theirs = await findStored(store, name, digest);
    if (theirs !== undefined) return theirs;
  }
  throw new SkillError({
    code: 'io/failed',
    message: `the snapshot ${quoted(snapshot.path, 200)} cannot be moved into place`,
    hint: 'make sure that no other program writes to this folder',
    data: { path: snapshot.path, cause: 'EEXIST' },
  });
}

export function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')) return false;
    throw error;
  }
}

/** Moves a folder away atomically, then removes it. */
export async function discard(base: Base, folder: string): Promise<boolean> {
  const temporary = makeTemporary(base);
  const isTaken = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isTaken) chmodSync(folder, 0o755);
  try {
    renameSync(folder, path.join(temporary, 'discarded'));
  } catch (error) {
    // Another process was faster.
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
  }
  return removeTree(temporary);
}

function refused(skill: SkillSource, message: string): SkillError {
  return new SkillError({
    code: 'skill/invalid',
    message: `the skill ${quoted(skill.name)} cannot be staged: ${message}`,
    hint: 'keep only files, folders and links that stay inside the folder of the skill, and do not change it while it is staged',
    data: { path: skill.dir },
  });
}

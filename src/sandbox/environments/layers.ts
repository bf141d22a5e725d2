/**
 * Installed packages by key: `<folder>/<key>/layer.json` and `<folder>/<key>/tree/`. A layer is completed in a temporary folder and renamed
 * into place, so a killed build leaves the old state. Two processes that need the same layer build it once. Nothing of a layer is ever
 * run or imported outside of a sandbox.
 */
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';

import { isProblem, parseJson, SkillError, type ActionProblem, type PackageLayer } from '#core';
import {
  acquireLock,
  isSystemError,
  makeFolders,
  namesIn,
  ownerName,
  ownerOfName,
  ownerState,
  readPrivateFile,
  readTreeDigest,
  removeTree,
  thisProcess,
  findTreeRefusal,
  type walkOpened,
  TreeFingerprint,
} from '#platform';
import type { Identity } from '../program-types.ts';

/** A layer on disk. */
export interface StoredLayer extends PackageLayer {
  /** Host path of the files. */
  readonly tree: string;
  /** What was requested, as on the command line. */
  readonly requested: readonly string[];
  /** Names of the skills that used it. */
  readonly skills: readonly string[];
  /** Where the packages came from, without credentials. */
  readonly index: string;
  readonly builtAt: string;
  readonly files: number;
  readonly bytes: number;
  /** Cheap check for changes: the metadata of all files, or of the folders alone where there are many files. */
  readonly fingerprint: string;
}

/** What a build reports about the tree that it filled. */
export type BuiltTree = Pick<StoredLayer, 'ecosystem' | 'lockDigest' | 'packages' | 'requested' | 'skills' | 'index'>;

/** Gets an empty folder that programs may write, and its later path. */
type FillTree = (tree: string, final: string) => Promise<BuiltTree | ActionProblem>;

export interface Layers {
  /** Returns an intact layer. One that changed since it was built is removed. */
  find(key: string): Promise<StoredLayer | undefined>;
  /** Builds a layer unless another process has built it meanwhile. If `fill` fails, nothing is left. */
  build(key: string, fill: FillTree, signal?: AbortSignal): Promise<StoredLayer | ActionProblem>;
  list(): Promise<readonly (StoredLayer & { readonly usedAt: string })[]>;
  /** Removes layers that were not used since a time, and what killed builds left. Returns the removed keys. */
  prune(options: { readonly unusedSince: number; readonly skill?: string }): Promise<readonly string[]>;
}

const KEY = /^[0-9a-f]{64}$/;
const MAX_RECORD_BYTES = 4 * 1024 * 1024;
/** Above this number of entries, the check before a run reads the metadata of folders only. */
const SMALL_LAYER = 4_000;
const LIMITS = { maxEntries: 1_000_000, maxBytes: 64 * 1024 * 1024 * 1024, maxDepth: 64 };
const LOCK_MS = 30 * 60_000;
const HEARTBEAT_MS = 2_000;

/** `identity` is the user of programs, where it is not the current user. */
export function openLayers(folder: string, identity: Identity | undefined): Layers {
  const owner = process.getuid?.() === 0 ? identity : undefined;
  const place = (key: string): string => path.join(folder, checkedKey(key));
  const discard = async (key: string): Promise<void> => {
    const temporary = makeTemporary(folder, 0o700);
    const target = place(key);
    try {
      chmodSync(target, 0o755);
      renameSync(target, path.join(temporary, 'layer'));
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    }
    await removeTree(temporary);
  };
  const find = async (key: string): Promise<StoredLayer | undefined> => {
    const layer = readRecord(place(key), key);
    if (layer === undefined) return undefined;
    if (!(await isIntact(layer))) {
      await discard(key);
      return undefined;
    }
    const now = new Date();
    utimesSync(path.join(place(key), RECORD), now, now);
    return layer;
  };
  return {
    find,
    async build(key, fill, signal) {
      makeFolders(folder, owner === undefined ? 0o700 : 0o711);
      if (owner !== undefined) chmodSync(folder, 0o711);
      const lock = await acquireLock(`${place(key)}.lock`, {
        timeoutMs: LOCK_MS,
        staleMs: LOCK_MS,
        heartbeatMs: HEARTBEAT_MS,
        signal,
      });
      if (lock === undefined) throw failed(place(key), 'another process has been building it for 30 minutes');
      try {
        const theirs = await find(key);
        if (theirs !== undefined) return theirs;
        // A layer without its record was deleted in part: the rest would be in the way.
        await discard(key);
        return await buildOne(folder, key, owner, fill);
      } finally {
        lock.release();
      }
    },
    list() {
      const layers = namesIn(folder)
        .filter((name) => KEY.test(name))
        .flatMap((key) => readRecord(path.join(folder, key), key) ?? []);
      const usedAt = (key: string): string => statSync(path.join(folder, key, RECORD)).mtime.toISOString();
      return Promise.resolve(layers.map((layer) => ({ ...layer, usedAt: usedAt(layer.key) })));
    },
    async prune({ unusedSince, skill }) {
      const removed: string[] = [];
      for (const name of namesIn(folder)) {
        const target = path.join(folder, name);
        const layer = KEY.test(name) ? readRecord(target, name) : undefined;
        const usedAt = lstatSync(layer === undefined ? target : path.join(target, RECORD), { throwIfNoEntry: false });
        const isUnused = (usedAt?.mtimeMs ?? 0) < unusedSince;
        const isUnwanted =
          layer === undefined ? skill === undefined : isUnused && (skill === undefined || layer.skills.includes(skill));
        if (KEY.test(name) && isUnwanted) {
          await discard(name);
          removed.push(name);
        }
      }
      await removeDeadBuilds(folder);
      return removed;
    },
  };
}

const RECORD = 'layer.json';

function checkedKey(key: string): string {
  if (!KEY.test(key)) throw new TypeError(`${JSON.stringify(key)} is not a layer key`);
  return key;
}

async function buildOne(
  folder: string,
  key: string,
  owner: Identity | undefined,
  fill: FillTree,
): Promise<StoredLayer | ActionProblem> {
  const place = path.join(folder, key);
  await removeDeadBuilds(folder);
  const temporary = makeTemporary(folder, owner === undefined ? 0o700 : 0o711);
  try {
    const parcel = path.join(temporary, 'layer');
    const tree = path.join(parcel, 'tree');
    mkdirSync(parcel);
    chmodSync(parcel, owner === undefined ? 0o700 : 0o711);
    mkdirSync(tree);
    chmodSync(tree, 0o755);
    if (owner !== undefined) lchownSync(tree, owner.uid, owner.gid);
    const built = await fill(tree, path.join(place, 'tree'));
    if (isProblem(built)) return built;
    // The programs have ended; from here on only this process may change the files.
    chmodSync(temporary, 0o700);
    seal(tree);
    const digest = await readTreeDigest(tree, WALK);
    if (digest.type === 'refused') throw failed(place, `it cannot be digested: ${digest.message}`);
    const { files, bytes } = digest;
    const layer: Omit<StoredLayer, 'tree' | 'fingerprint'> = {
      key,
      ...built,
      layerDigest: digest.digest,
      builtAt: new Date().toISOString(),
      files,
      bytes,
    };
    const fingerprint = fingerprintLayer(tree, files);
    writeFileSync(path.join(parcel, RECORD), JSON.stringify({ schema: 1, layer: { ...layer, fingerprint } }), {
      mode: 0o600,
    });
    renameSync(parcel, place);
    return { ...layer, fingerprint, tree: path.join(place, 'tree') };
  } catch (error) {
    if (isSystemError(error)) throw failed(place, error.code);
    throw error;
  } finally {
    await removeTree(temporary);
  }
}

/** The links of a virtual environment to its interpreter, which lead out of the tree. */
const WALK: NonNullable<Parameters<typeof walkOpened>[1]> = {
  limits: LIMITS,
  skip: (file) => /^(?:bin\/python[\d.]*|lib64)$/.test(file),
};

/** Makes all files read-only and gives them to the current user. Writable files of another user could be changed by its programs. */
function seal(tree: string): void {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const folders: string[] = [];
  for (const entry of readdirSync(tree, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (uid === 0) lchownSync(file, uid, gid);
    if (entry.isDirectory()) folders.push(file);
    else if (entry.isFile()) chmodSync(file, (lstatSync(file).mode & 0o111) === 0 ? 0o444 : 0o555);
  }
  for (const folder of [tree, ...folders]) {
    if (uid === 0) lchownSync(folder, uid, gid);
    chmodSync(folder, 0o555);
  }
}

function fingerprintLayer(tree: string, files: number): string {
  const skip: typeof WALK.skip = (file, isFolder) => !isFolder() || WALK.skip?.(file, isFolder) === true;
  return TreeFingerprint.read(tree, files <= SMALL_LAYER ? WALK : { ...WALK, skip }).digest();
}

/** Compares metadata, and the whole content only where it differs. */
async function isIntact({ tree, files, fingerprint, layerDigest }: StoredLayer): Promise<boolean> {
  try {
    if (fingerprintLayer(tree, files) === fingerprint) return true;
  } catch (error) {
    if (findTreeRefusal(error) === undefined) throw error;
    return false;
  }
  const read = await readTreeDigest(tree, WALK);
  return read.type === 'digest' && read.digest === layerDigest;
}

function readRecord(place: string, key: string): StoredLayer | undefined {
  const read = readPrivateFile(path.join(place, RECORD), { maxBytes: MAX_RECORD_BYTES });
  const parsed = read.type === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  return isRecord(parsed) && parsed.layer.key === key ? { ...parsed.layer, tree: path.join(place, 'tree') } : undefined;
}

/** This program wrote the file for itself; the check finds files of other versions. */
function isRecord(value: unknown): value is { readonly layer: StoredLayer } {
  return typeof value === 'object' && value !== null && 'schema' in value && value.schema === 1 && 'layer' in value;
}

/** The name identifies this process, so that the next build can remove the folder if this process dies. */
function makeTemporary(folder: string, mode: number): string {
  const temporary = path.join(folder, `.build-${randomBytes(6).toString('hex')}-${ownerName(thisProcess())}`);
  mkdirSync(temporary);
  // Whatever the umask is: programs of another user build in it.
  chmodSync(temporary, mode);
  return temporary;
}

async function removeDeadBuilds(folder: string): Promise<void> {
  for (const name of namesIn(folder)) {
    const owner = ownerOfName(/^\.build-[0-9a-f]{12}-(.+)$/.exec(name)?.[1] ?? '');
    if (owner !== undefined && ownerState(owner) === 'dead') await removeTree(path.join(folder, name));
  }
}

function failed(place: string, cause: string): SkillError {
  return new SkillError({
    code: 'io/failed',
    message: `the package layer cannot be stored: ${cause}`,
    hint: 'free some disk space, or remove layers with: skillwright prepare --prune',
    data: { path: place, cause },
  });
}

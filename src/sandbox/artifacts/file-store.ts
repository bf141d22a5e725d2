/**
 * Artifacts in a folder:
 *
 *     blobs/<sha256>                  the bytes, stored once
 *     names/<hash of name>/<version>/ record.json and content, a hard link to the blob
 *     incoming/                       unfinished versions
 *
 * A version is a folder that is prepared in `incoming` and moved to its number by one rename. A rename onto a folder that is not empty
 * fails, so two processes never get the same number, and a killed process leaves a complete version or nothing. A deleted version keeps
 * its folder with a tombstone record, and its number is not reused. Because `content` is a hard link, blobs can be removed while other
 * processes save: a process that has linked the bytes keeps them.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';

import { compareText, SkillError } from '#core';
import {
  isPresent,
  isSystemError,
  isWithoutHardLinks,
  makeFolders,
  readPrivateFile,
  sha256,
  temporaryName,
  writeAll,
  writeFileAtomically,
} from '#platform';
import { MAX_ARTIFACT_BYTES, damagedArtifact, tooLarge, unknownArtifact } from './artifact-errors.ts';
import { readArtifactName, type ArtifactName } from './artifact-name.ts';
import { namesIn, readRecord, recordBytes, removeOldIncoming, versionsIn, type ArtifactRecord } from './file-record.ts';
import type { ArtifactStore, ArtifactVersion, LoadedArtifact, SaveArtifactOptions } from './store.ts';

export interface FileArtifactsOptions {
  /** The folder for names with `user:` (default: the same folder). */
  readonly userDirectory?: string;
  /** Maximum size of one artifact (default: 64 MiB). */
  readonly maxBytes?: number;
  readonly now?: () => Date;
}

/** Attempts to claim a version number while other processes save. */
const MAX_CLAIMS = 10_000;

/** Opens a store. Creates nothing before the first save. */
export function openFileArtifacts(directory: string, options: FileArtifactsOptions = {}): ArtifactStore {
  return new FileArtifacts(directory, options);
}

class FileArtifacts implements ArtifactStore {
  readonly #directory: string;
  readonly #userDirectory: string;
  readonly #maxBytes: number;
  readonly #now: () => Date;

  constructor(
    directory: string,
    { userDirectory = directory, maxBytes = MAX_ARTIFACT_BYTES, now }: FileArtifactsOptions,
  ) {
    this.#directory = directory;
    this.#userDirectory = userDirectory;
    this.#maxBytes = maxBytes;
    this.#now = now ?? (() => new Date());
  }

  async save(
    text: string,
    content: Uint8Array | Iterable<Uint8Array>,
    { mediaType }: SaveArtifactOptions,
  ): Promise<ArtifactVersion> {
    const name = readArtifactName(text);
    const base = this.#baseOf(name);
    return withFailures(base, () => {
      for (const folder of ['blobs', 'incoming', path.join('names', toFolderName(name))])
        makeFolders(path.join(base, folder), 0o700);
      const now = this.#now();
      removeOldIncoming(path.join(base, 'incoming'), now.getTime());
      const staging = temporaryName(path.join(base, 'incoming', 'version'), '.new');
      const written = temporaryName(path.join(base, 'incoming', 'blob'), '.tmp');
      try {
        const { digest, bytes } = this.#write(written, content, name);
        const record = { name: name.name, digest, bytes, mediaType, savedAt: now.toISOString() };
        mkdirSync(staging, { mode: 0o700 });
        linkBlob(written, path.join(base, 'blobs', digest), path.join(staging, 'content'));
        writeFileAtomically(path.join(staging, 'record.json'), recordBytes(record), { sync: true });
        const version = claim(staging, path.join(base, 'names', toFolderName(name)));
        return { ...record, digest: `sha256:${digest}`, version };
      } finally {
        rmSync(staging, { recursive: true, force: true });
        rmSync(written, { force: true });
      }
    });
  }

  async load(text: string, version?: number): Promise<LoadedArtifact> {
    const name = readArtifactName(text);
    return withFailures(this.#baseOf(name), () => {
      const found = this.#find(name, version);
      const file = path.join(this.#folderOf(name), String(found.version), 'content');
      const read = readPrivateFile(file, { maxBytes: Math.max(found.bytes, this.#maxBytes) });
      if (read.type === 'absent') throw this.#unknown(name, version);
      if (read.type === 'failed' || `sha256:${sha256(read.bytes)}` !== found.digest)
        throw damagedArtifact(file, read.type === 'failed' ? read.reason : 'its digest does not match');
      return { ...found, content: read.bytes };
    });
  }

  async list(): Promise<readonly ArtifactVersion[]> {
    return withFailures(this.#directory, () =>
      this.#names()
        .flatMap((name) => this.#latest(name) ?? [])
        .toSorted((a, b) => compareText(a.name, b.name)),
    );
  }

  async versions(text: string): Promise<readonly ArtifactVersion[]> {
    const name = readArtifactName(text);
    return withFailures(this.#baseOf(name), () => this.#some(name));
  }

  async delete(text: string, version?: number): Promise<readonly number[]> {
    const name = readArtifactName(text);
    const base = this.#baseOf(name);
    return withFailures(base, () =>
      (version === undefined ? this.#some(name) : [this.#find(name, version)]).map((target) => {
        const folder = path.join(this.#folderOf(name), String(target.version));
        const gone = { name: target.name, deletedAt: this.#now().toISOString() };
        writeFileAtomically(path.join(folder, 'record.json'), recordBytes(gone), { sync: true });
        rmSync(path.join(folder, 'content'), { force: true });
        removeUnused(path.join(base, 'blobs', target.digest.slice('sha256:'.length)));
        return target.version;
      }),
    );
  }

  #baseOf({ scope }: ArtifactName): string {
    return scope === 'user' ? this.#userDirectory : this.#directory;
  }

  #folderOf(name: ArtifactName): string {
    return path.join(this.#baseOf(name), 'names', toFolderName(name));
  }

  #some(name: ArtifactName): readonly ArtifactVersion[] {
    const versions = this.#live(name);
    if (versions.length === 0) throw this.#unknown(name, undefined);
    return versions;
  }

  #find(name: ArtifactName, version: number | undefined): ArtifactVersion {
    const found = version === undefined ? this.#latest(name) : this.#read(name, version);
    if (found === undefined) throw this.#unknown(name, version);
    return found;
  }

  #live(name: ArtifactName): readonly ArtifactVersion[] {
    return versionsIn(this.#folderOf(name)).flatMap((version) => this.#read(name, version) ?? []);
  }

  #latest(name: ArtifactName): ArtifactVersion | undefined {
    for (const version of versionsIn(this.#folderOf(name)).toReversed()) {
      const found = this.#read(name, version);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** `undefined` if it was deleted or never existed. */
  #read(name: ArtifactName, version: number): ArtifactVersion | undefined {
    const record = readRecord(path.join(this.#folderOf(name), String(version)));
    if (!isLive(record) || record.name !== name.name) return undefined;
    return { ...record, digest: `sha256:${record.digest}`, version };
  }

  #names(): readonly ArtifactName[] {
    const bases = new Set([this.#directory, this.#userDirectory]);
    return [...bases].flatMap((base) => namesIn(path.join(base, 'names'))).map(readArtifactName);
  }

  #unknown(name: ArtifactName, version: number | undefined): SkillError {
    const own = version === undefined ? [] : this.#live(name).map((one) => `${name.name}@${String(one.version)}`);
    const others = this.#names()
      .filter((other) => this.#latest(other) !== undefined)
      .map((other) => other.name);
    return unknownArtifact(name, version, { own, others });
  }

  #write(
    file: string,
    content: Uint8Array | Iterable<Uint8Array>,
    { name }: ArtifactName,
  ): { readonly digest: string; readonly bytes: number } {
    const hash = createHash('sha256');
    let bytes = 0;
    const descriptor = openSync(file, 'wx', 0o600);
    try {
      for (const piece of content instanceof Uint8Array ? [content] : content) {
        bytes += piece.length;
        if (bytes > this.#maxBytes) throw tooLarge(name, this.#maxBytes);
        hash.update(piece);
        writeAll(descriptor, piece);
      }
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return { digest: hash.digest('hex'), bytes };
  }
}

/** A safe file name on every system. */
function toFolderName({ name }: ArtifactName): string {
  return sha256(name);
}

function isLive(record: ArtifactRecord | undefined): record is Extract<ArtifactRecord, { readonly digest: string }> {
  return record !== undefined && 'digest' in record;
}

/** Links to the blob of equal bytes; if it was just removed, or has the maximum number of links, links to the new file instead. */
function linkBlob(written: string, blob: string, content: string): void {
  try {
    linkSync(written, blob);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // Without hard links equal bytes are stored twice. The staging folder belongs to this process, so the name is free.
    if (isWithoutHardLinks(error)) return renameSync(written, content);
    if (error.code !== 'EEXIST') throw error;
  }
  try {
    if (lstatSync(blob).size === lstatSync(written).size) {
      linkSync(blob, content);
      return;
    }
  } catch (error) {
    if (!isSystemError(error) || (error.code !== 'ENOENT' && error.code !== 'EMLINK')) throw error;
  }
  linkSync(written, content);
}

/** Moves a finished version to the next free number. */
function claim(staging: string, folder: string): number {
  const first = (versionsIn(folder).at(-1) ?? -1) + 1;
  for (let version = first; version < first + MAX_CLAIMS; version += 1) {
    const target = path.join(folder, String(version));
    try {
      renameSync(staging, target);
      return version;
    } catch (error) {
      // ENOTEMPTY, EEXIST or EPERM, depending on the system.
      if (!isSystemError(error) || !isPresent(target)) throw error;
    }
  }
  throw new SkillError({
    code: 'io/failed',
    message: `cannot claim a version number in ${JSON.stringify(folder)}`,
    hint: 'too many processes save under this name; use another name',
    data: { path: folder, cause: 'EEXIST' },
  });
}

/** Removes a blob without other links. A process that links it at this moment keeps the bytes. */
function removeUnused(blob: string): void {
  try {
    if (lstatSync(blob, { throwIfNoEntry: false })?.nlink === 1) unlinkSync(blob);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
  }
}

function withFailures<Result>(directory: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `cannot access the artifacts in ${JSON.stringify(directory)}: ${error.code}`,
      hint: 'check the free disk space and the permissions of the folder',
      data: { path: directory, cause: error.code },
      cause: error,
    });
  }
}

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
  readdirSync,
} from 'node:fs';
import path from 'node:path';

import { compareText, SkillError, parseJson, quoted, readField, shape } from '#core';
import {
  findLink,
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
import { MAX_ARTIFACT_BYTES, openArtifacts, type ArtifactStore, type ArtifactVersion } from './store.ts';

/** Attempts to claim a version number while other processes save. */
const MAX_CLAIMS = 10_000;

interface FileArtifactsOptions {
  readonly maxBytes?: number;
  readonly now?: () => Date;
  /** The folder that the store belongs to. Links below it are not followed: the author of the project made them. */
  readonly project?: string;
}

/** Opens a store. Creates nothing before the first save. */
export function openFileArtifacts(
  directory: string,
  { maxBytes, now = () => new Date(), project = directory }: FileArtifactsOptions = {},
): ArtifactStore {
  /** The name is hashed, which is a safe file name on every system. */
  const folder = (name: string): string => path.join(directory, 'names', sha256(name));
  /** `undefined` if it was deleted or never existed. */
  const read = (name: string, version: number): ArtifactVersion | undefined => {
    const record = readRecord(path.join(folder(name), String(version)));
    if (record === undefined || !('digest' in record) || record.name !== name) return undefined;
    return { ...record, digest: `sha256:${record.digest}`, version };
  };
  const access = <Result>(act: () => Result): Result => {
    const link = ['blobs', 'incoming', 'names'].map((each) => findLink(path.join(directory, each), project));
    refuseLink(link.find((found) => found !== undefined));
    return withFailures(directory, act);
  };
  const versions = (name: string): readonly ArtifactVersion[] =>
    versionsIn(folder(name)).flatMap((version) => read(name, version) ?? []);
  const latest = (name: string): readonly ArtifactVersion[] => {
    for (const version of versionsIn(folder(name)).toReversed()) {
      const found = read(name, version);
      if (found !== undefined) return [found];
    }
    return [];
  };
  return openArtifacts(
    {
      save: async (name, content, mediaType) =>
        access(() => {
          for (const each of ['blobs', 'incoming', path.join('names', sha256(name))])
            makeFolders(path.join(directory, each), 0o700);
          refuseLink(findLink(folder(name), project));
          const time = now();
          removeOldIncoming(path.join(directory, 'incoming'), time.getTime());
          const staging = temporaryName(path.join(directory, 'incoming', 'version'), '.new');
          const written = temporaryName(path.join(directory, 'incoming', 'blob'), '.tmp');
          try {
            const { digest, bytes } = writeBlob(written, content);
            const record = { name, digest, bytes, mediaType, savedAt: time.toISOString() };
            mkdirSync(staging, { mode: 0o700 });
            linkBlob(written, path.join(directory, 'blobs', digest), path.join(staging, 'content'));
            writeRecord(staging, record);
            return { ...record, digest: `sha256:${digest}`, version: claim(staging, folder(name)) };
          } finally {
            rmSync(staging, { recursive: true, force: true });
            rmSync(written, { force: true });
          }
        }),
      load: async ({ name, version, bytes }) =>
        access(() => {
          const place = path.join(folder(name), String(version), 'content');
          const found = readPrivateFile(place, { maxBytes: Math.max(bytes, MAX_ARTIFACT_BYTES) });
          return found.type === 'read'
            ? { place, bytes: found.bytes }
            : { place, cause: found.type === 'failed' ? found.reason : undefined };
        }),
      list: async () =>
        access(() =>
          namesIn(path.join(directory, 'names'))
            .flatMap(latest)
            .toSorted((a, b) => compareText(a.name, b.name)),
        ),
      versions: async (name, only) =>
        access(() => {
          if (only === undefined) return versions(name);
          const one = only === 'latest' ? undefined : read(name, only);
          return only === 'latest' ? latest(name) : one === undefined ? [] : [one];
        }),
      delete: async (targets) =>
        access(() => {
          for (const { name, version, digest } of targets) {
            const own = path.join(folder(name), String(version));
            writeRecord(own, { name, deletedAt: now().toISOString() });
            rmSync(path.join(own, 'content'), { force: true });
            removeUnused(path.join(directory, 'blobs', digest.slice('sha256:'.length)));
          }
        }),
    },
    maxBytes,
  );
}

function refuseLink(link: string | undefined): void {
  if (link === undefined) return;
  throw new SkillError({
    code: 'io/failed',
    message: `artifacts are not kept behind the link ${quoted(link, 200)}, which could lead to files of other tools`,
    hint: 'replace the link by a folder',
    data: { path: link, cause: 'ELOOP' },
  });
}

function writeRecord(folder: string, record: ArtifactRecord): void {
  const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
  writeFileAtomically(path.join(folder, 'record.json'), bytes, { sync: true });
}

function writeBlob(file: string, content: Iterable<Uint8Array>): { readonly digest: string; readonly bytes: number } {
  const hash = createHash('sha256');
  let bytes = 0;
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    for (const piece of content) {
      bytes += piece.length;
      hash.update(piece);
      writeAll(descriptor, piece);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return { digest: hash.digest('hex'), bytes };
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

/** A version, or the tombstone of a deleted one. */
type ArtifactRecord =
  | {
      readonly name: string;
      /** SHA-256 in hex. */
      readonly digest: string;
      readonly bytes: number;
      readonly mediaType: string;
      readonly savedAt: string;
    }
  | { readonly name: string; readonly deletedAt: string };

const MAX_RECORD_BYTES = 16 * 1024;
/** Writing a version never takes this long. */
const STALE_MS = 60 * 60 * 1000;

/** `undefined` if there is no valid record. */
function readRecord(folder: string): ArtifactRecord | undefined {
  const read = readPrivateFile(path.join(folder, 'record.json'), { maxBytes: MAX_RECORD_BYTES });
  const value = read.type === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  return isRecord(value) ? value : undefined;
}

const VERSION = shape({ text: 'name digest mediaType savedAt', number: 'bytes' });
const TOMBSTONE = shape({ text: 'name deletedAt' });

function isRecord(value: unknown): value is ArtifactRecord {
  if (TOMBSTONE(value)) return true;
  return VERSION(value) && /^[0-9a-f]{64}$/.test(String(readField(value, 'digest')));
}

/** Ascending, deleted versions included. */
function versionsIn(folder: string): readonly number[] {
  return listEntries(folder)
    .filter((name) => /^(?:0|[1-9]\d{0,14})$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

/** The names with versions, deleted versions included. */
function namesIn(folder: string): readonly string[] {
  return listEntries(folder).flatMap((key) => {
    const own = path.join(folder, key);
    const latest = versionsIn(own).at(-1);
    const record = latest === undefined ? undefined : readRecord(path.join(own, String(latest)));
    return record === undefined ? [] : [record.name];
  });
}

/** Removes unfinished files of killed processes. */
function removeOldIncoming(folder: string, now: number): void {
  for (const name of listEntries(folder)) {
    const place = path.join(folder, name);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats !== undefined && stats.mtimeMs < now - STALE_MS) rmSync(place, { recursive: true, force: true });
  }
}

function listEntries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return [];
    throw error;
  }
}

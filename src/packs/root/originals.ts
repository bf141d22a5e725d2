/**
 * The text files of installed skills as their sources had them: the base of a merge. Each version has one compressed file, named by its
 * tree digest, and keeps it as long as the lock or a backup refers to it. An entry that cannot be read counts as absent; callers verify
 * each file against the digest of the lock.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { gunzip as gunzipCallback, gzip as gzipCallback } from 'node:zlib';

import type { LockFile, LockedFile } from '../lock/lock-file.ts';
import { isObject, parseJson, toRelativePath, isProblem } from '#core';
import { namesIn, openConfined, readPrivateFile, writeFileAtomically, quietly } from '#platform';
import { listBackups } from './skill-backups.ts';
import type { PutChange } from './plan.ts';
import { BACKUP_PARTS, statePath, type RootHandle } from './root-paths.ts';

const [gzip, gunzip] = [promisify(gzipCallback), promisify(gunzipCallback)];

/** The size limit of a file to merge. Larger files are not kept. */
export const MAX_MERGED_BYTES = 4 * 1024 * 1024;
/** The limit for all texts of one skill. SKILL.md is kept first. */
const MAX_SKILL_BYTES = 32 * 1024 * 1024;
/** Escaping can make a text six times as long. */
const MAX_JSON_BYTES = 6 * MAX_SKILL_BYTES + 1024 * 1024;
const SCHEMA = 1;

/** Texts by SHA-256 in hex. */
export type OriginalTexts = ReadonlyMap<string, string>;

/** Stores the versions that a commit installs. Returns the absolute paths of new entries. Throws system errors. */
export async function storeOriginals(handle: RootHandle, staged: readonly PutChange[]): Promise<readonly string[]> {
  const added: string[] = [];
  for (const { lock, from, original = from } of staged) {
    const place = statePath(handle, entryPath(lock.digest));
    // A power failure can leave an empty file.
    if ((lstatSync(place, { throwIfNoEntry: false })?.size ?? 0) > 0) continue;
    const files = readTexts(original, lock.files);
    const text = JSON.stringify({ schema: SCHEMA, files });
    writeFileAtomically(place, await gzip(text, { level: 1 }), { mode: 0o600 });
    added.push(place);
  }
  return added;
}

/** Binary files are never merged by lines, so they are not kept. */
function readTexts(folder: string, files: Readonly<Record<string, LockedFile>>): Readonly<Record<string, string>> {
  const opened = openConfined(folder);
  if (opened.type === 'failed') return {};
  const texts: [string, string][] = [];
  let room = MAX_SKILL_BYTES;
  try {
    const sorted = Object.entries(files).toSorted(([a], [b]) => Number(b === 'SKILL.md') - Number(a === 'SKILL.md'));
    for (const [at, { sha256, bytes }] of sorted) {
      const relative = toRelativePath(at);
      if (isProblem(relative) || bytes > Math.min(MAX_MERGED_BYTES, room)) continue;
      const read = opened.directory.read(relative, { maxBytes: bytes, followLinks: false });
      if (read.type !== 'read' || !isMergeable(read.bytes)) continue;
      texts.push([sha256, read.bytes.toString('utf8')]);
      room -= bytes;
    }
  } finally {
    opened.directory.close();
  }
  return Object.fromEntries(texts);
}

/** Whether bytes can be merged by lines: UTF-8 without NUL. */
export function isMergeable(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && isUtf8(bytes);
}

/** Reads the texts of a version. Empty if the entry is absent or damaged. */
export async function readOriginals(handle: RootHandle, digest: string): Promise<OriginalTexts> {
  const read = readPrivateFile(statePath(handle, entryPath(digest)), { maxBytes: MAX_JSON_BYTES });
  if (read.type !== 'read') return new Map();
  const value = parseJson(await unpacked(read.bytes));
  if (!isObject(value) || value['schema'] !== SCHEMA || !isObject(value['files'])) return new Map();
  return new Map(
    Object.entries(value['files']).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])),
  );
}

async function unpacked(bytes: Uint8Array): Promise<string> {
  try {
    return (await gunzip(bytes, { maxOutputLength: MAX_JSON_BYTES })).toString('utf8');
  } catch (error) {
    // The errors of zlib have a code: damaged bytes, or more of them than the limit.
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

/** Removes the versions that neither the lock nor a backup refers to. What cannot be removed stays until the next change of the root. */
export function pruneOriginals(handle: RootHandle, lock: LockFile): void {
  const folder = statePath(handle, 'originals');
  const locked = new Set([...lock.skills.values()].map(({ digest }) => entryPath(digest)));
  const unlocked = namesIn(folder).filter((name) => !locked.has(`originals/${name}`));
  if (unlocked.length === 0) return;
  const backups = BACKUP_PARTS.flatMap((part) => listBackups(handle, part));
  const kept = new Set(backups.flatMap((backup) => (backup.lock === undefined ? [] : entryPath(backup.lock.digest))));
  for (const name of unlocked.filter((one) => !kept.has(`originals/${one}`)))
    quietly(() => rmSync(`${folder}/${name}`, { force: true, recursive: true }));
}

/** Relative to the state folder. */
function entryPath(digest: string): string {
  return `originals/${digest.slice(digest.indexOf(':') + 1)}.json.gz`;
}

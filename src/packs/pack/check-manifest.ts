/** Compares an unpacked pack with its manifest: each file that was changed, is missing or was added is named. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import type { Drift, LockedFile } from '../lock/lock.ts';
import { MANIFEST_NAME } from './manifest.ts';
import type { ManifestSkill, PackManifest } from './manifest.ts';
import { PackRefused, readRefusal, treeRefusal, refused } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { foldersOf } from '../../core/path.ts';
import { quoted } from '../../core/text/text.ts';
import { digestOfEntries, pause } from '../../platform/fs/tree-digest.ts';
import type { DigestEntry } from '../../platform/fs/tree-digest.ts';
import { SMALL_FILE, hashOpened, withEntryNow } from '../../platform/fs/tree-file.ts';
import { TreeRefused, walkTree } from '../../platform/fs/tree-walk.ts';
import { lockedFile } from './pack-files.ts';

export interface CheckManifestOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (path: string) => void;
}

export type ManifestCheck = { readonly type: 'same' } | { readonly type: 'drift'; readonly drift: Drift } | PackRefusal;

/** `folder` holds `<skill>/…` for each skill; paths of the drift start there, folders end with `/`. */
export async function checkManifest(
  folder: string,
  { skills }: PackManifest,
  options: CheckManifestOptions = {},
): Promise<ManifestCheck> {
  const drift: Gathered = { changed: [], missing: [], added: [] };
  try {
    drift.added.push(...extraEntries(folder, skills));
    for (const skill of skills) await checkSkill(path.join(folder, skill.name), skill, drift, options);
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    throw error;
  }
  const { changed, missing, added } = drift;
  for (const list of [changed, missing, added]) list.sort(compareText);
  return changed.length + missing.length + added.length === 0 ? { type: 'same' } : { type: 'drift', drift };
}

interface Gathered {
  readonly changed: string[];
  readonly missing: string[];
  readonly added: string[];
}

/** What lies beside the skills. */
function extraEntries(folder: string, skills: readonly ManifestSkill[]): readonly string[] {
  const known = new Set([MANIFEST_NAME, ...skills.map(({ name }) => name)]);
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !known.has(name))
      .map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`);
  } catch (error) {
    throw new PackRefused(readRefusal(error, folder));
  }
}

interface Found {
  readonly files: ReadonlyMap<string, LockedFile>;
  readonly folders: ReadonlySet<string>;
  readonly digest: string;
}

async function checkSkill(
  dir: string,
  { name, files, digest }: ManifestSkill,
  drift: Gathered,
  options: CheckManifestOptions,
): Promise<void> {
  const found = await readFolder(dir, options);
  const expected = new Map(Object.entries(files));
  const folders = new Set([...expected.keys()].flatMap(foldersOf));
  const before = drift.changed.length + drift.missing.length + drift.added.length;
  for (const [at, file] of expected) {
    const there = found?.files.get(at);
    if (there === undefined) drift.missing.push(`${name}/${at}`);
    else if (!isSame(there, file)) drift.changed.push(`${name}/${at}`);
  }
  for (const at of found?.files.keys() ?? []) if (!expected.has(at)) drift.added.push(`${name}/${at}`);
  for (const at of found?.folders ?? []) if (!folders.has(at)) drift.added.push(`${name}/${at}/`);
  const isWhole = drift.changed.length + drift.missing.length + drift.added.length === before;
  if (isWhole && found?.digest !== digest)
    throw refused('pack/manifest', `the digest of ${quoted(name)} is not that of its files`, MANIFEST_NAME);
}

function isSame(a: LockedFile, b: LockedFile): boolean {
  return a.sha256 === b.sha256 && a.bytes === b.bytes && a.executable === b.executable;
}

/** Files between two pauses. */
const SLICE = 64;

/** Nothing where there is no such folder. */
async function readFolder(dir: string, { signal, onProgress }: CheckManifestOptions): Promise<Found | undefined> {
  const files = new Map<string, LockedFile>();
  const folders = new Set<string>();
  const entries: DigestEntry[] = [];
  const buffer = Buffer.allocUnsafe(SMALL_FILE);
  try {
    for (const entry of walkTree(dir)) {
      if (files.size % SLICE === SLICE - 1) await pause(signal);
      if (entry.path === '') continue;
      if (entry.type === 'link') {
        const at = `${path.basename(dir)}/${entry.path}`;
        throw refused('archive/link', `${quoted(at, 120)} is a link`, at);
      }
      if (entry.type === 'folder') {
        folders.add(entry.path);
        entries.push({ kind: 'folder', path: entry.path, content: new Uint8Array() });
        continue;
      }
      const { value: hash } = withEntryNow(entry, (descriptor, { size }) =>
        hashOpened(entry.path, { descriptor, size, buffer }),
      );
      const file = lockedFile(entry, hash);
      files.set(entry.path, file);
      entries.push({ kind: file.executable === true ? 'program' : 'file', path: entry.path, content: hash });
      onProgress?.(entry.path);
    }
  } catch (error) {
    if (!(error instanceof TreeRefused)) throw error;
    if (error.refusal.problem === 'gone') return undefined;
    throw new PackRefused(treeRefusal(error.refusal, dir));
  }
  return { files, folders, digest: digestOfEntries(entries) };
}

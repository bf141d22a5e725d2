/** Selects, validates and hashes the files of one skill for a pack. Writes nothing. */
import path from 'node:path';

import { listParentFolders, printable, problemError, quoted, openIgnores } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import {
  digestOfEntries,
  isProgram,
  pause,
  readTextFile,
  findTreeRefusal,
  walkOpened,
  type TreeEntry,
} from '#platform';
import { whyLeftOut } from '../sources/skill-folders.ts';
import type { LockedFile } from '../lock/lock-file.ts';
import { openPathValidator } from '../sources/portable-name.ts';
import { refused, treeRefusal } from '../problems.ts';
import { secretFileKind, secretsInText } from './secrets-in-files.ts';

/** Files that exclude files from packs; later files take precedence. */
const IGNORE_FILES = ['.gitignore', '.skillignore'] as const;

/** Files of repositories, editors, systems and interpreters, one a line. An ignore file can include them with `!`. */
export const BUILT_IN_IGNORES = (
  '.git .hg/ .svn/ .gitignore .gitattributes .gitmodules .skillignore .DS_Store ._* __MACOSX/ ' +
  'Thumbs.db desktop.ini *~ *.sw[op] .idea/ .vscode/ node_modules/ __pycache__/ *.py[co] .venv/ .pytest_cache/'
).replaceAll(' ', '\n');

export interface PackFiles {
  /** By path relative to the skill, sorted. */
  readonly files: Readonly<Record<string, LockedFile>>;
  /** Names on disk by path, where they are not in NFC. */
  readonly spellings: ReadonlyMap<string, string>;
  /** `sha256-tree:<hex>` of the packed files. */
  readonly digest: string;
  /** Files that are not packed, relative to the skill, each with the rule. */
  readonly leftOut: readonly string[];
  /** SKILL.md, or plugin.json of a plugin. */
  readonly mainText: string;
}

export interface PackFilesOptions {
  readonly limits: ArchiveLimits;
  /** Whether an absolute path is the pack that is being written. */
  readonly isOwn: (file: string) => boolean;
  readonly allowSecrets?: boolean;
  /** The file that makes the folder what it is (default: SKILL.md). */
  readonly main?: 'SKILL.md' | 'plugin.json';
  readonly signal?: AbortSignal;
  readonly onFile?: (path: string) => void;
}

const MAX_IGNORE_BYTES = 64 * 1024;
/** Files to read before yielding to the event loop. */
const SLICE = 64;

/** Throws a refusal. Refuses links, because their targets would be missing or different after an install. */
export async function readPackFiles(dir: string, name: string, options: PackFilesOptions): Promise<PackFiles> {
  try {
    return await gather(dir, name, options);
  } catch (error) {
    const refusal = findTreeRefusal(error);
    throw refusal === undefined ? error : problemError(treeRefusal(refusal, dir));
  }
}

async function gather(dir: string, name: string, options: PackFilesOptions): Promise<PackFiles> {
  const { limits, signal, onFile, main = 'SKILL.md' } = options;
  const choice = chooser(dir, options);
  const names = openPathValidator(limits);
  const files: [string, LockedFile][] = [];
  const spellings = new Map<string, string>();
  let mainText: string | undefined;
  // The pack adds one level for the skill's own folder.
  const walk = { limits: { ...limits, maxDepth: limits.maxDepth - 1 }, skip: choice.skip };
  for (const entry of walkOpened(dir, walk)) {
    if (files.length % SLICE === SLICE - 1) await pause(signal);
    if (entry.type === 'folder') continue;
    const at = `${name}/${entry.path}`;
    if (entry.type === 'link') throw refused('archive/link', `${quoted(at, 120)} is a link`, at);
    const inside = names.check(at, 'file').slice(name.length + 1);
    if (inside !== entry.path) spellings.set(inside, entry.path);
    if (entry.stats.size > limits.maxFileBytes)
      throw refused('archive/too-large', `${quoted(at, 120)} has more than ${String(limits.maxFileBytes)} bytes`, at);
    const { hash, bytes } = readWhole(entry);
    if (options.allowSecrets !== true) refuseSecrets(at, bytes);
    if (entry.path === main) mainText = bytes.toString('utf8');
    files.push([inside, lockedFile(entry, hash)]);
    onFile?.(at);
  }
  if (mainText === undefined) throw refused('pack/no-skill', `${quoted(dir, 200)} has no ${main}`, dir);
  const sorted = Object.fromEntries(files.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { files: sorted, spellings, digest: digestFiles(sorted), leftOut: choice.leftOut(), mainText };
}

type FileEntry = Extract<TreeEntry, { type: 'file' }>;

/** Reads the file at the current position of a walk. Raises a `TreeRefusal` if it was replaced. */
function readWhole(entry: FileEntry): { readonly hash: string; readonly bytes: Buffer } {
  const pieces: Buffer[] = [];
  // The chunks share one buffer.
  const hash = entry.hash((bytes) => pieces.push(Buffer.from(bytes)));
  return { hash, bytes: Buffer.concat(pieces) };
}

function lockedFile({ stats }: FileEntry, sha256: string): LockedFile {
  return { sha256, bytes: stats.size, ...(isProgram(stats) ? { executable: true } : {}) };
}

/** Includes only the folders of the packed files, as an unpacked pack has them. */
function digestFiles(files: Readonly<Record<string, LockedFile>>): string {
  const folders = new Set(Object.keys(files).flatMap(listParentFolders));
  const entries: Parameters<typeof digestOfEntries>[0][number][] = [...folders].map((at) => ({
    kind: 'folder',
    path: at,
    content: new Uint8Array(),
  }));
  for (const [at, { executable, sha256 }] of Object.entries(files))
    entries.push({ kind: executable === true ? 'program' : 'file', path: at, content: Buffer.from(sha256, 'hex') });
  return digestOfEntries(entries);
}

interface Chooser {
  readonly skip: (at: string, isFolder: () => boolean) => boolean;
  readonly leftOut: () => readonly string[];
}

/** Applies the ignore files of a folder and its parents. They are read on first use. */
function chooser(dir: string, { isOwn: isOwnFile, allowSecrets = false }: PackFilesOptions): Chooser {
  const findRule = openIgnores({
    names: IGNORE_FILES,
    read: (file) => readIgnore(dir, file),
    before: BUILT_IN_IGNORES,
  });
  const leftOut = new Map<string, string>();
  return {
    skip(at, askFolder) {
      const isFolder = askFolder();
      const isOwn = isOwnFile(path.join(dir, at));
      const rule = isOwn ? undefined : findRule(at, isFolder);
      // Files that are never installed are not packed, whatever an ignore file says.
      const hidden = whyLeftOut(path.posix.basename(at), isFolder ? 'folder' : 'file');
      if (!isOwn && rule === undefined && hidden === undefined) return false;
      // Reports a secret file to its author even though it is excluded.
      if (!isOwn && rule === undefined && !isFolder && !allowSecrets) refuseSecretName(at);
      const why = isOwn
        ? 'the pack itself'
        : rule === undefined
          ? `never installed: ${hidden ?? ''}`
          : rule.from || 'never packed';
      leftOut.set(at, `${printable(at)}${isFolder ? '/' : ''} (${printable(why)})`);
      return true;
    },
    leftOut: () => [...leftOut.values()],
  };
}

/** Refuses an unreadable ignore file, because its files would be published. */
function readIgnore(dir: string, file: string): string | undefined {
  const read = readTextFile(path.join(dir, file), MAX_IGNORE_BYTES);
  if (read.type === 'absent') return undefined;
  if (read.type === 'failed')
    throw refused('source/failed', `${quoted(file, 120)} cannot be used: ${read.reason}`, file);
  return read.text;
}

function refuseSecretName(at: string): void {
  const byName = secretFileKind(at);
  if (byName !== undefined) throw refused('pack/secret', `${quoted(at, 120)} is ${byName}`, at);
}

function refuseSecrets(at: string, bytes: Buffer): void {
  refuseSecretName(at);
  const [secret] = secretsInText(decoded(bytes));
  if (secret === undefined) return;
  throw refused('pack/secret', `line ${String(secret.line)} of ${quoted(at, 120)} has ${secret.kind}`, at);
}

/** Decodes byte by byte, because the searched patterns are ASCII. A byte order mark indicates UTF-16, which Windows writes. */
function decoded(bytes: Buffer): string {
  return bytes[0] === 0xff && bytes[1] === 0xfe ? bytes.toString('utf16le') : bytes.toString('latin1');
}

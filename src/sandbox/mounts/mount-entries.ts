import { chmodSync, lstatSync, mkdirSync, writeFileSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { quoted, SkillError, printable, typedWord } from '#core';
import { isInside, isPresent, tryRealPath, isSystemError, quietly } from '#platform';
import { listDirents, filesBelow, linkedInode } from './hard-links.ts';
import type { CheckedMount } from './check-mount.ts';
import type { HostMount } from '../program-types.ts';

export interface MountedFolder {
  /** The folder, then what covers parts of it. */
  readonly mounts: readonly HostMount[];
  /** Where programs see the folder. */
  readonly target: string;
  /** Relative paths of files and folders that programs see as empty. */
  readonly hidden: readonly string[];
  /** Folders of installed packages, as programs see them, in which nothing is hidden. */
  readonly free: readonly string[];
  /** To be called after the program: sets aside what it created under protected names, and returns warnings. */
  readonly finish: () => readonly string[];
}

export interface MountEntriesOptions {
  /** The workspace on the host, for the empty file and folder that cover others. */
  readonly workspace: string;
  /** Where programs see the workspace; the folder must not cover it. */
  readonly root: string;
  /** Whether programs see other files than this machine's. Otherwise nothing can be covered. */
  readonly isIsolating: boolean;
  /** Whether programs could connect to sockets in the folder, which lead out of the sandbox. */
  readonly hasSockets: boolean;
  readonly isHidden: (relative: string) => boolean;
  /** Whether a file, by its absolute path, is hidden by what is in it. */
  readonly isSecretDocument: (file: string) => boolean;
  /** Files that other tools run or obey: read-only also in a writable folder. */
  readonly isProtected: (relative: string) => boolean;
  readonly skillRoots: readonly string[];
  /** Real paths of our own folders, hidden wherever they are. */
  readonly records: readonly string[];
}

/** Beyond these limits the folder is not mounted: a secret that was not found would be shown. */
const MAX_ENTRIES = 200_000;
/** Each hidden file costs every program a mount. */
const MAX_COVERED = 2_000;
/** Installed packages, which are neither the user's secrets nor instructions. */
const UNSEARCHED: ReadonlySet<string> = new Set(['node_modules', '.git', '.venv', 'venv', '.tox', '__pycache__']);

/**
 * The mounts of one folder for one program. The folder is searched each time, because a program may move files in a writable one. Links
 * are not followed: in the sandbox they lead to the files of the sandbox.
 */
export function mountEntries(mount: CheckedMount, options: MountEntriesOptions): MountedFolder {
  const { source, access } = mount;
  const { root, isIsolating, workspace } = options;
  const clashes = isIsolating && (isInside(source, root) || isInside(root, source));
  const target = clashes ? `/mnt/${path.basename(source)}` : source;
  const first: HostMount = { source, target, access };
  if (!isIsolating) return { mounts: [first], target, hidden: [], free: [], finish: () => [] };
  const found = search(mount, options);
  coverSecondNames(found, mount);
  const empty = found.hidden.length === 0 ? undefined : emptyEntries(workspace);
  return {
    target,
    hidden: found.hidden.map(({ path: relative }) => relative),
    free: found.free.map((relative) => `${target}/${relative}`),
    finish: () => (access === 'write' ? setAside(source, found.names, search(mount, options).names) : []),
    mounts: [
      first,
      ...found.protected.map((relative) => ({
        source: `${source}/${relative}`,
        target: `${target}/${relative}`,
        access: 'read' as const,
      })),
      ...found.hidden.map(({ path: relative, isFolder }) => ({
        source: (isFolder ? empty?.folder : empty?.file) ?? '',
        target: `${target}/${relative}`,
        access: 'read' as const,
      })),
    ],
  };
}

interface Found {
  protected: string[];
  /** Protected names in a writable folder, also of links and of what is hidden. */
  readonly names: Map<string, string | undefined>;
  hidden: { readonly path: string; readonly isFolder: boolean }[];
  free: string[];
}

/** Throws `policy/refused` for a folder that is too large to search. */
function search(
  { source, access }: CheckedMount,
  { isHidden, isProtected, isSecretDocument, hasSockets, skillRoots, records }: MountEntriesOptions,
): Found {
  const isWritable = access === 'write';
  const found: Found = { protected: [], names: new Map(), hidden: [], free: [] };
  const roots = new Set(skillRoots.map((root) => tryRealPath(root) ?? root));
  /** Real paths that are hidden whatever they are called. */
  const targets = [...records];
  const waiting = [''];
  let count = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of listDirents(path.join(source, folder))) {
      count += 1;
      if (count > MAX_ENTRIES) throw tooLarge(source, `it has more than ${String(MAX_ENTRIES)} files`);
      if (found.hidden.length + found.protected.length >= MAX_COVERED)
        throw tooLarge(
          source,
          `more than ${String(MAX_COVERED)} of its files hold secrets or are run or obeyed by other tools`,
        );
      const relative = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const isNamed = isWritable && (isProtected(relative) || roots.has(path.join(source, relative)));
      if (isNamed) found.names.set(relative, linkTarget(path.join(source, relative)));
      if (entry.isSymbolicLink()) {
        // A link is not a mount point, but the file behind a hidden or protected name is hidden or protected like it.
        const isSecret = isHidden(relative);
        const real = isNamed || isSecret ? tryRealPath(path.join(source, relative)) : undefined;
        if (isSecret && real !== undefined) targets.push(real);
        else if (real !== undefined && real !== source && isInside(real, source))
          found.protected.push(path.relative(source, real));
        continue;
      }
      const isFolder = entry.isDirectory();
      const isDocument = entry.isFile() && isSecretDocument(path.join(source, relative));
      // Named pipes and devices lead out of the sandbox too, and a read-only mount does not keep programs from writing to them.
      const leadsOut = entry.isSocket() ? hasSockets : !isFolder && !entry.isFile();
      if (isHidden(relative) || isDocument || leadsOut) {
        found.hidden.push({ path: relative, isFolder });
        continue;
      }
      if (isNamed) {
        found.protected.push(relative);
        continue;
      }
      if (isFolder) (UNSEARCHED.has(entry.name) ? found.free : waiting).push(relative);
    }
  }
  for (const target of targets) hideTarget(found, source, target);
  return found;
}

/** Hides a file or folder of the mounted folder by its real path, instead of what is in it. */
function hideTarget(found: Found, source: string, real: string): void {
  const target = path.relative(source, real);
  if (real === source || !isInside(real, source)) return;
  if (found.hidden.some(({ path: name }) => isInside(target, name))) return;
  const stats = quietly(() => lstatSync(real), undefined);
  if (stats === undefined) return;
  found.hidden = found.hidden.filter(({ path: name }) => !isInside(name, target));
  found.protected = found.protected.filter((name) => !isInside(name, target));
  found.free = found.free.filter((name) => !isInside(name, target));
  found.hidden.push({ path: target, isFolder: stats.isDirectory() });
}

/** Hides and protects the other names of files that are hidden or protected by one, and of the user's keys. */
function coverSecondNames({ hidden, protected: kept }: Found, { source, linkedKeys }: CheckedMount): void {
  const inodes = (names: readonly string[]): readonly string[] =>
    names.flatMap((name) => linkedInode(path.join(source, name)) ?? []);
  const secrets = new Set([
    ...linkedKeys,
    ...hidden.flatMap(({ path: name, isFolder }) =>
      isFolder ? inodes([...filesBelow(path.join(source, name))].map((file) => `${name}/${file}`)) : inodes([name]),
    ),
  ]);
  const fixed = new Set(inodes(kept));
  if (secrets.size + fixed.size === 0) return;
  const known = new Set([...hidden.map(({ path: name }) => name), ...kept]);
  let count = 0;
  for (const file of filesBelow(source, (name) => hidden.some(({ path: each }) => each === name))) {
    count += 1;
    if (count > MAX_ENTRIES) throw tooLarge(source, `it has more than ${String(MAX_ENTRIES)} files`);
    const inode = known.has(file) ? undefined : linkedInode(path.join(source, file));
    if (inode === undefined) continue;
    if (secrets.has(inode)) hidden.push({ path: file, isFolder: false });
    else if (fixed.has(inode)) kept.push(file);
  }
}

function tooLarge(source: string, reason: string): SkillError<'policy/refused'> {
  return new SkillError({
    code: 'policy/refused',
    message: `the folder ${quoted(source, 200)} cannot be mounted: ${reason}`,
    hint: 'mount a smaller folder, or run without the project (--project none)',
    data: { rule: 'mount', approval: '', command: '' },
  });
}

/** An empty file and an empty folder that programs can neither fill nor replace. */
function emptyEntries(workspace: string): { readonly file: string; readonly folder: string } {
  const file = path.join(workspace, '.empty-file');
  const folder = path.join(workspace, '.empty-folder');
  if (!isPresent(file)) writeFileSync(file, '', { flag: 'wx', mode: 0o444 });
  if (!isPresent(folder)) mkdirSync(folder);
  if ((lstatSync(folder).mode & 0o777) !== 0o555) chmodSync(folder, 0o555);
  return { file, folder };
}

/** The protected names of a folder: those that exist, and where links among them lead. */
type ProtectedEntries = ReadonlyMap<string, string | undefined>;

/** Where the protected name of an entry leads, if it is a link. */
function linkTarget(file: string): string | undefined {
  return quietly(() => readlinkSync(file), undefined);
}

/**
 * Renames what a program created under a protected name, so that no tool runs or obeys it before the user has seen it. Mounts cannot
 * prevent this: they would have to create the name first. Returns warnings with the command that accepts each entry.
 */
function setAside(source: string, before: ProtectedEntries, after: ProtectedEntries): readonly string[] {
  return [...after]
    .filter(([name, link]) => !before.has(name) || before.get(name) !== link)
    .map(([name]) => setOneAside(source, name, before.get(name)));
}

function setOneAside(source: string, name: string, link: string | undefined): string {
  const file = path.join(source, name);
  const shown = printable(file);
  // Another program could have replaced a folder above it by a link.
  if (tryRealPath(path.dirname(file)) !== path.dirname(file))
    return `${shown} was created by the program and not set aside`;
  const held = freeName(`${file}.held`);
  try {
    renameSync(file, held);
    if (link !== undefined) symlinkSync(link, file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `the program created ${shown}, which other tools run or obey, and it cannot be renamed (${error.code}): check it before you go on`;
  }
  return `the program created ${shown}, which other tools run or obey; it was renamed. To accept it, run: mv ${typedWord(held)} ${typedWord(file)}`;
}

function freeName(base: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${String(number)}`;
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
}

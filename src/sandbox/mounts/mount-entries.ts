import { chmodSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { quoted, SkillError } from '#core';
import { isInside, isPresent, tryRealPath, quietly } from '#platform';
import { openNamedFiles, type NameRules } from './named-files.ts';
import { filesBelow, identifyFile, linkedInode, type FileIdentity } from './hard-links.ts';
import { listFolder } from './list-folder.ts';
import { setAside, toProtectedEntry, type ProtectedEntry, type SetAside } from './set-aside.ts';
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
  /** Files of all mounted folders that stay hidden under any name, as `FileIdentity.created`. */
  readonly secrets: readonly string[];
  /** To be called after the program: sets aside what it created under protected names. */
  readonly finish: () => SetAside;
}

export interface MountEntriesOptions extends NameRules {
  /** The workspace on the host, for the empty file and folder that cover others. */
  readonly workspace: string;
  /** Where programs see the workspace; the folder must not cover it. */
  readonly root: string;
  /** Whether programs see other files than this machine's. Otherwise nothing can be covered. */
  readonly isIsolating: boolean;
  /** Whether programs could connect to sockets in the folder, which lead out of the sandbox. */
  readonly hasSockets: boolean;
  /** Whether files are hidden by their names when they are opened, also where no mount covers them. */
  readonly hidesNames: boolean;
  readonly isHidden: (relative: string) => boolean;
  /** Whether a file, by its absolute path, is hidden by what is in it. */
  readonly isSecretDocument: (file: string) => boolean;
  /** Real paths of our own folders, hidden wherever they are. */
  readonly records: readonly string[];
}

/** Beyond these limits the folder is not mounted: a secret that was not found would be shown. */
const MAX_ENTRIES = 200_000;
/** Each hidden file costs every program a mount. */
const MAX_COVERED = 2_000;
/** Files that a program is told to keep hidden under other names. */
const MAX_SECRETS = 5_000;
const NOTHING_LEFT: SetAside = { warnings: [], isLeft: false };
/** Installed packages, which are neither the user's secrets nor instructions. */
const UNSEARCHED: ReadonlySet<string> = new Set(['node_modules', '.git', '.venv', 'venv', '.tox', '__pycache__']);

/**
 * The mounts of the folders of one program. They are searched each time, because a program may move files in a writable one. Links
 * are not followed: in the sandbox they lead to the files of the sandbox.
 */
export function mountEntries(
  mounts: readonly CheckedMount[],
  optionsFor: (mount: CheckedMount) => MountEntriesOptions,
): readonly MountedFolder[] {
  const searched = mounts.map((mount) => {
    const options = optionsFor(mount);
    return { mount, options, found: options.isIsolating ? search(mount, options) : undefined };
  });
  // A file that is hidden in one folder is hidden by its other names in all of them.
  const files = [false, true].flatMap((isFolder) => [
    ...searched.flatMap(({ mount, found }) => secretFiles(mount, found, isFolder)),
    ...(isFolder ? [] : searched.flatMap(({ mount }) => mount.keys)),
  ]);
  const linked = new Set(files.flatMap(({ inode, isLinked }) => (isLinked ? [inode] : [])));
  const secrets = [...new Set(files.map(({ created }) => created))].slice(0, MAX_SECRETS);
  return searched.map(({ mount, options, found }) => {
    if (found !== undefined) {
      refuseUnnamed(mount.source, found);
      coverSecondNames(found, mount, linked);
    }
    return { ...toMounts(mount, options, found), secrets };
  });
}

function toMounts(
  mount: CheckedMount,
  options: MountEntriesOptions,
  found: Found | undefined,
): Omit<MountedFolder, 'secrets'> {
  const { source, access } = mount;
  const { root, isIsolating, workspace } = options;
  const clashes = isIsolating && (isInside(source, root) || isInside(root, source));
  const target = clashes ? `/mnt/${path.basename(source)}` : source;
  const first: HostMount = { source, target, access };
  if (found === undefined) return { mounts: [first], target, hidden: [], free: [], finish: () => NOTHING_LEFT };
  const empty = found.hidden.length === 0 ? undefined : emptyEntries(workspace);
  return {
    target,
    hidden: found.hidden.map(({ path: relative }) => relative),
    free: found.free.map((relative) => `${target}/${relative}`),
    finish: () =>
      access === 'write'
        ? setAside(source, {
            before: found.names,
            unreadable: found.unreadable,
            unsearched: UNSEARCHED,
            names: openNamedFiles(source, options),
          })
        : NOTHING_LEFT,
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
  /** Of a writable folder, also links and what is hidden. */
  readonly names: Map<string, ProtectedEntry>;
  hidden: { readonly path: string; readonly isFolder: boolean }[];
  free: string[];
  /** Entries that no mount covers, because their name or that of their folder is not UTF-8. */
  readonly unnamed: Buffer[];
  readonly unreadable: string[];
}

/** Throws `policy/refused` for a folder that is too large to search. */
function search(
  { source, access }: CheckedMount,
  { isHidden, isSecretDocument, hasSockets, records, ...rules }: MountEntriesOptions,
): Found {
  const isWritable = access === 'write';
  const found: Found = { protected: [], names: new Map(), hidden: [], free: [], unnamed: [], unreadable: [] };
  const files = openNamedFiles(source, rules);
  const isUncovered = (relative: string): boolean =>
    (isWritable && rules.isProtected(relative)) || ((isWritable || !rules.hidesNames) && isHidden(relative));
  /** Real paths that are hidden whatever they are called. */
  const targets = [...records];
  const waiting = [''];
  let count = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const place = path.join(source, folder);
    const { entries, unnamed, isUnreadable, failed } = listFolder(place);
    if (isUnreadable) found.unreadable.push(folder);
    // By a path that is too long, a file could be hidden when it is opened, but not protected.
    if (failed !== undefined && (isWritable || !rules.hidesNames))
      throw notMountable(source, `its folder ${quoted(folder, 200)} cannot be listed (${failed})`);
    const identity = isWritable ? folderIdentity(place) : '';
    const isRunOrObeyed = isWritable ? files.enter(folder, new Set(entries.map(({ name }) => name))) : () => false;
    for (const { name, isFolder } of unnamed) {
      const file = Buffer.concat([Buffer.from(`${place}/`), name]);
      const relative = folder === '' ? name.toString('latin1') : `${folder}/${name.toString('latin1')}`;
      if (isUncovered(relative)) found.unnamed.push(file);
      else if (isFolder) found.unnamed.push(...uncoveredBelow(file, isUncovered));
    }
    for (const entry of entries) {
      count += 1;
      if (count > MAX_ENTRIES) throw notMountable(source, `it has more than ${String(MAX_ENTRIES)} files`);
      if (found.hidden.length + found.protected.length >= MAX_COVERED)
        throw notMountable(
          source,
          `more than ${String(MAX_COVERED)} of its files hold secrets or are run or obeyed by other tools`,
        );
      const relative = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const isNamed = isRunOrObeyed(relative, entry.name);
      const remember = (isSecret: boolean): void => {
        if (isWritable)
          found.names.set(`${identity}/${entry.name}`, toProtectedEntry(source, relative, isSecret && !isNamed));
      };
      if (isNamed) remember(false);
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
        remember(true);
        continue;
      }
      if (isNamed) {
        found.protected.push(relative);
        continue;
      }
      if (isFolder) (UNSEARCHED.has(entry.name) ? found.free : waiting).push(relative);
    }
  }
  const covered = (relative: string): boolean =>
    found.protected.some((each) => isInside(relative, each)) ||
    found.hidden.some(({ path: each }) => isInside(relative, each));
  // Named by a repository that was found after the folder of the file.
  for (const relative of isWritable ? files.ofGit : []) {
    const [place, name] = [path.join(source, path.dirname(relative)), path.basename(relative)];
    const key = `${folderIdentity(place)}/${name}`;
    if (found.names.has(key) || covered(relative) || tryRealPath(place) !== place) continue;
    if (!isPresent(path.join(place, name))) continue;
    const entry = toProtectedEntry(source, relative, false);
    found.names.set(key, entry);
    if (entry.link === undefined) found.protected.push(relative);
  }
  for (const target of targets) hideTarget(found, source, target);
  return found;
}

/** `device:inode` of a folder, which it keeps when it is renamed. */
function folderIdentity(folder: string): string {
  const stats = quietly(() => lstatSync(folder, { bigint: true }), undefined);
  return stats === undefined ? folder : `${String(stats.dev)}:${String(stats.ino)}`;
}

/** Entries below a folder whose name is not UTF-8 that would have to be covered. */
function uncoveredBelow(folder: Buffer, isUncovered: (relative: string) => boolean): readonly Buffer[] {
  const found: Buffer[] = [];
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { entries, unnamed } = listFolder(at);
    const all = [
      ...entries.map((entry) => ({ name: Buffer.from(entry.name), isFolder: entry.isDirectory() })),
      ...unnamed,
    ];
    for (const { name, isFolder } of all) {
      const file = Buffer.concat([at, Buffer.from('/'), name]);
      if (isUncovered(file.subarray(folder.length + 1).toString('latin1'))) found.push(file);
      else if (isFolder) waiting.push(file);
    }
  }
  return found;
}

function refuseUnnamed(source: string, { unnamed: [file] }: Found): void {
  if (file !== undefined)
    throw notMountable(
      source,
      `no mount can protect ${quoted(file.toString('latin1'), 200)}, because its name or that of its folder is not UTF-8`,
    );
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

/** Files of a folder that are hidden themselves, or in a hidden folder. */
function secretFiles({ source }: CheckedMount, found: Found | undefined, isFolder: boolean): readonly FileIdentity[] {
  return (found?.hidden ?? [])
    .filter((entry) => entry.isFolder === isFolder)
    .flatMap(({ path: name }) => {
      const place = path.join(source, name);
      const files = isFolder ? [...filesBelow(place)].map((file) => path.join(place, file)) : [place];
      return files.flatMap((file) => identifyFile(file) ?? []);
    });
}

/** Hides and protects the other names of files that are hidden or protected by one, and of the user's keys. */
function coverSecondNames(
  { hidden, protected: kept }: Found,
  { source }: CheckedMount,
  secrets: ReadonlySet<string>,
): void {
  const fixed = new Set(kept.flatMap((name) => linkedInode(path.join(source, name)) ?? []));
  if (secrets.size + fixed.size === 0) return;
  const known = new Set([...hidden.map(({ path: name }) => name), ...kept]);
  let count = 0;
  for (const file of filesBelow(source, (name) => hidden.some(({ path: each }) => each === name))) {
    count += 1;
    if (count > MAX_ENTRIES) throw notMountable(source, `it has more than ${String(MAX_ENTRIES)} files`);
    const inode = known.has(file) ? undefined : linkedInode(path.join(source, file));
    if (inode === undefined) continue;
    if (secrets.has(inode)) hidden.push({ path: file, isFolder: false });
    else if (fixed.has(inode)) kept.push(file);
  }
}

function notMountable(source: string, reason: string): SkillError<'policy/refused'> {
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

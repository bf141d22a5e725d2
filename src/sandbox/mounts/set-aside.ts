/**
 * Renames what a program created under a protected name, so that no tool runs or obeys it before the user has seen it. Mounts cannot prevent
 * this: they would have to create the name first, and they move with a folder that the program renames.
 *
 * The program chose everything that is read here. One entry that cannot be renamed keeps no other from being renamed, and there is no limit.
 */
import { lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { printable, quoted, typedWord } from '#core';
import { quietly } from '#platform';
import {
  attempt,
  MAX_FOLDER_BYTES,
  OpenedFolders,
  isText,
  toBytes,
  toText,
  type FolderFailure,
} from './opened-folders.ts';

export interface ProtectedEntry {
  readonly path: string;
  /** Where it leads, if it is a link. */
  readonly link: string | undefined;
  /** Hidden, and otherwise free to be written. */
  readonly isSecret: boolean;
}

/**
 * Protected entries of a writable folder, by the identity of their folder and their name. Within the same folder a program cannot replace a
 * protected entry, because a mount covers it. A renamed folder takes its entries along.
 */
type ProtectedEntries = ReadonlyMap<string, ProtectedEntry>;

export interface AsideRules {
  /** Entries before the program. */
  readonly before: ProtectedEntries;
  /** Folders that could not be read before the program. */
  readonly unreadable: readonly string[];
  /** Folders of installed packages, by name. */
  readonly unsearched: ReadonlySet<string>;
  readonly names: NamedFiles;
}

/** Decides which entries of a folder other tools run or obey. All paths are relative to it. */
export interface NamedFiles {
  /** Is to be called for each folder, with the names in it; returns the decision for an entry by its path and name. */
  readonly enter: (folder: string, names: ReadonlySet<string>) => (relative: string, name: string) => boolean;
  /** What the settings of the repositories found so far name, perhaps in folders that were entered before. */
  readonly ofGit: ReadonlySet<string>;
}

/** What was done after a program. */
export interface SetAside {
  readonly warnings: readonly string[];
  /** Whether something that the program created is still in its place. */
  readonly isLeft: boolean;
}

/** An entry in a folder, both as bytes. */
interface CreatedEntry {
  readonly folder: string;
  readonly name: string;
  /** Where the link led that the program replaced. */
  readonly link?: string | undefined;
  readonly isUnreadable?: boolean;
}

/** That many renamed entries are named; what could not be renamed always is. */
const MAX_NAMED = 100;
const MAX_NAME_BYTES = 255;

export function toProtectedEntry(source: string, relative: string, isSecret: boolean): ProtectedEntry {
  return { path: relative, link: quietly(() => readlinkSync(path.join(source, relative)), undefined), isSecret };
}

/** Searches a folder after a program, and renames. Warnings have the command that accepts an entry. */
export function setAside(source: string, rules: AsideRules): SetAside {
  const folders = new OpenedFolders();
  try {
    const { created, moved, left } = findCreated(toBytes(source), rules, folders);
    const renamed: string[] = [];
    const refused: [CreatedEntry, string][] = [];
    for (const entry of created) {
      const held = renameEntry(entry, folders);
      if (typeof held === 'string') renamed.push(renamedText(entry, held));
      else if (held.failed !== 'ENOENT') refused.push([entry, held.failed]);
    }
    for (const [entry, code] of refused) {
      // Nothing in its folder can be renamed, but perhaps the folder itself can.
      const folder = { folder: path.posix.dirname(entry.folder), name: path.posix.basename(entry.folder) };
      const isMovable = entry.folder !== toBytes(source);
      const held = isMovable ? renameEntry(folder, folders) : { failed: code };
      if (typeof held === 'string') renamed.push(folderText(entry, folder, held));
      // Renamed with the same folder, because of another entry.
      else if (!(isMovable && held.failed === 'ENOENT')) left.push(leftText(entry, code));
    }
    const rest = renamed.length - MAX_NAMED;
    return {
      isLeft: left.length > 0,
      warnings: [
        ...left,
        ...moved,
        ...renamed.slice(0, MAX_NAMED),
        ...(rest > 0
          ? [
              `${String(rest)} more entries that the program created in ${printable(source)} and that other tools run or obey were renamed: .held was added to their names`,
            ]
          : []),
      ],
    };
  } finally {
    folders.restore();
  }
}

interface Created {
  readonly created: readonly CreatedEntry[];
  readonly moved: readonly string[];
  readonly left: string[];
}

function findCreated(
  source: string,
  { before, unreadable, unsearched, names }: AsideRules,
  folders: OpenedFolders,
): Created {
  const [created, moved, left]: [CreatedEntry[], string[], string[]] = [[], [], []];
  const secrets = new Set([...before.values()].filter(({ isSecret }) => isSecret).map((entry) => entry.path));
  const known = new Set(unreadable);
  const waiting = [source];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const below = toText(folder.slice(source.length + 1));
    const found = folders.list(folder);
    if ('failed' in found) {
      if (found.failed === 'ENOENT' || known.has(below)) continue;
      const entry = { folder: path.posix.dirname(folder), name: path.posix.basename(folder), isUnreadable: true };
      if (folder === source) left.push(leftText(entry, found.failed));
      else created.push(entry);
      continue;
    }
    const isRunOrObeyed = names.enter(below, new Set(found.entries.map(({ name }) => toText(name))));
    for (const entry of found.entries) {
      const { name } = entry;
      const text = toText(name);
      const relative = below === '' ? text : `${below}/${text}`;
      const old = before.get(`${found.identity}/${text}`);
      const isRun = isRunOrObeyed(relative, text);
      if (old !== undefined || isRun || secrets.has(relative)) {
        const file = `${folder}/${name}`;
        const link = entry.isLink ? attempt(() => readlinkSync(Buffer.from(file, 'latin1'))) : undefined;
        // Programs create files such as `.env` freely, but not in place of one that they must not see.
        if (old === undefined || old.link !== link) created.push({ folder, name, link: old?.link });
        else if (old.path !== relative) moved.push(movedText(toText(source), old.path, relative));
        continue;
      }
      if (!entry.isFolder || unsearched.has(text)) continue;
      const place = `${folder}/${name}`;
      if (place.length <= MAX_FOLDER_BYTES) waiting.push(place);
      else {
        const raised = raiseFolder({ folder, name }, source, folders);
        if (typeof raised === 'string') waiting.push(`${source}/${raised}`);
        else left.push(leftText({ folder, name, isUnreadable: true }, raised.failed));
      }
    }
  }
  const found = new Set(created.map(({ folder, name }) => `${folder}/${name}`));
  for (const file of names.ofGit) {
    const [folder, name] = [path.posix.dirname(`${source}/${toBytes(file)}`), path.posix.basename(toBytes(file))];
    if (found.has(`${folder}/${name}`)) continue;
    const isNew = folders.use(
      folder,
      0o100,
      ({ at, identity }) =>
        lstatSync(Buffer.from(`${at}/${name}`, 'latin1'), { throwIfNoEntry: false }) !== undefined &&
        !before.has(`${identity}/${toText(name)}`),
    );
    if (isNew === true) created.push({ folder, name });
  }
  return { created, moved, left };
}

/** Moves a folder whose path is too long to the top, so that it can be searched. Returns its new name. */
function raiseFolder({ folder, name }: CreatedEntry, source: string, folders: OpenedFolders): string | FolderFailure {
  // A folder that gets another parent must be writable itself.
  const given = folders.use(`${folder}/${name}`, 0o300, () => '');
  if (typeof given !== 'string' && given.failed !== 'ENAMETOOLONG') return given;
  return folders.use(folder, 0o300, ({ at }) =>
    folders.use(source, 0o300, (top) => moveEntry(`${at}/${name}`, top.at, 'too-deep')),
  );
}

/** Returns the new name. */
function renameEntry({ folder, name, link }: CreatedEntry, folders: OpenedFolders): string | FolderFailure {
  return folders.use(folder, 0o300, ({ at }) => {
    const held = moveEntry(`${at}/${name}`, at, name);
    if (typeof held === 'string' && link !== undefined) {
      const restored = attempt(() => symlinkSync(link, Buffer.from(`${at}/${name}`, 'latin1')));
      if (restored !== undefined) return restored;
    }
    return held;
  });
}

/** Renames to `NAME.held`, or to the next name that is free. A long name is cut. */
function moveEntry(file: string, folder: string, name: string): string | FolderFailure {
  const stem = name.length > MAX_NAME_BYTES - '.held-1000000000'.length ? cutText(name, 100) : name;
  for (let number = 1; ; number += 1) {
    const held = number === 1 ? `${stem}.held` : `${stem}.held-${String(number)}`;
    const target = Buffer.from(`${folder}/${held}`, 'latin1');
    const moved = attempt(() => {
      if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return undefined;
      renameSync(Buffer.from(file, 'latin1'), target);
      return held;
    });
    if (moved !== undefined) return moved;
  }
}

/** The start of a name, without half a character at its end. */
function cutText(bytes: string, length: number): string {
  return bytes.slice(0, length).replace(/[\xc0-\xff][\x80-\xbf]*$/, '');
}

function shown({ folder, name }: CreatedEntry): string {
  const file = `${folder}/${name}`;
  return isText(file) ? printable(toText(file)) : quoted(file, 500);
}

function renamedText(entry: CreatedEntry, held: string): string {
  const to = { folder: entry.folder, name: held };
  if (entry.isUnreadable === true)
    return `the program created ${shown(entry)}, which cannot be searched; it was renamed to ${shown(to)}`;
  const words = [to, entry].map(({ folder, name }) => `${folder}/${name}`);
  const hint = words.every((word) => isText(word))
    ? `. To accept it, run: mv ${words.map((word) => typedWord(toText(word))).join(' ')}`
    : ` to ${quoted(toText(held), 300)}`;
  return `the program created ${shown(entry)}, which other tools run or obey; it was renamed${hint}`;
}

function folderText(entry: CreatedEntry, folder: CreatedEntry, held: string): string {
  return `the program created ${shown(entry)}, which other tools run or obey and which cannot be renamed; its folder was renamed to ${shown({ folder: folder.folder, name: held })}`;
}

function leftText(entry: CreatedEntry, code: string): string {
  const what = entry.isUnreadable === true ? 'which cannot be searched' : 'which other tools run or obey';
  return `the program created ${shown(entry)}, ${what}, and it cannot be renamed (${code}): check it before you go on`;
}

function movedText(source: string, from: string, to: string): string {
  const [old, now] = [from, to].map((name) => printable(path.join(source, name)));
  return `the program moved ${String(old)}, which is protected, to ${String(now)} with its folder`;
}

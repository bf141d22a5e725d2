import type { SkillEntry } from '#core';
import type { SkillIndex } from './index-skills.ts';
import { statSync, watch } from 'node:fs';
import { isSystemError } from '#platform';

/** A change of the index. Entries are those of `index.all`, identified by source and folder. */
export interface RegistryChange {
  readonly index: SkillIndex;
  readonly added: readonly SkillEntry[];
  /** The new entries. */
  readonly changed: readonly SkillEntry[];
  /** The old entries. */
  readonly removed: readonly SkillEntry[];
}

export interface WatchOptions {
  /** Ends the watch and releases every handle and timer. */
  readonly signal: AbortSignal;
  /** Quiet time in ms before a rescan (default: 100). After ten times as long, the rescan happens anyway. */
  readonly debounceMs?: number;
  /** Polling interval in ms for directories without file system events (default: 1,000). */
  readonly pollMs?: number;
  /** Called for errors of a rescan or of the listener; the watch continues. */
  readonly onError?: (error: unknown) => void;
}

interface WatchedRegistry {
  readonly index: SkillIndex;
  refresh(): Promise<SkillIndex>;
}

export interface WatchInput extends WatchOptions {
  readonly registry: WatchedRegistry;
  /** Directories of the latest scan in which skills may appear. */
  readonly directories: () => readonly string[];
  readonly listener: (change: RegistryChange) => void;
}

/** Further directories are polled, because inotify watches are limited and shared by all programs of a user. */
const MAX_WATCHES = 1_000;

/** Rescans after file system events and, because events can be missing, at intervals. */
export function watchRegistry({
  registry,
  directories,
  listener,
  signal,
  debounceMs = 100,
  pollMs = 1_000,
  onError = ignore,
}: WatchInput): void {
  if (signal.aborted) return;
  const watches = new Map<string, DirectoryWatch>();
  let before = registry.index;
  let covered = false;
  let quiet: NodeJS.Timeout | undefined;
  let latest: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;
  let running = false;
  let again = false;

  const rescan = async (): Promise<void> => {
    clearTimeout(quiet);
    clearTimeout(latest);
    clearTimeout(poll);
    quiet = undefined;
    latest = undefined;
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      const index = await registry.refresh();
      if (signal.aborted) return;
      // Changes between the scan and a new watch sent no event.
      if (attach(index)) again = true;
      const change = compareIndexes(before, index);
      before = index;
      if (change !== undefined) listener(change);
    } catch (error) {
      if (!signal.aborted) onError(error);
    } finally {
      running = false;
    }
    schedule();
  };
  const startRescan = (): void => void rescan();
  const schedule = (): void => {
    if (signal.aborted) return;
    if (again) {
      again = false;
      onEvent();
    }
    // Events can be lost even if every directory is watched, so a slow poll continues. Its interval grows with the duration of a
    // scan, so that scans of very many skills do not use all the time.
    const rest = before.report.durationMs * 20;
    poll = setTimeout(startRescan, Math.max(rest, covered ? pollMs * 10 : pollMs));
  };
  const onEvent = (): void => {
    if (signal.aborted) return;
    if (running) {
      again = true;
      return;
    }
    clearTimeout(quiet);
    quiet = setTimeout(startRescan, debounceMs);
    latest ??= setTimeout(startRescan, debounceMs * 10);
  };
  /** Watches the directories of a scan; true if one of them was not watched before. */
  const attach = (index: SkillIndex): boolean => {
    const current = listDirectories(index, directories());
    for (const [directory, watch] of watches) {
      if (current.has(directory) && watch.isCurrent()) continue;
      watch.close();
      watches.delete(directory);
    }
    let [missing, added] = [0, 0];
    for (const directory of current) {
      if (watches.has(directory)) continue;
      const lost = (): void => {
        watches.delete(directory);
        covered = false;
        onEvent();
      };
      const watch = watches.size < MAX_WATCHES ? watchDirectory(directory, { onEvent, onLost: lost }) : undefined;
      if (watch === undefined) missing += 1;
      else {
        watches.set(directory, watch);
        added += 1;
      }
    }
    covered = missing === 0;
    return added > 0;
  };

  signal.addEventListener(
    'abort',
    () => {
      for (const timer of [quiet, latest, poll]) clearTimeout(timer);
      for (const watch of watches.values()) watch.close();
      watches.clear();
    },
    { once: true },
  );
  attach(before);
  // Changes between the latest scan and the first watch sent no event.
  onEvent();
  schedule();
}

function ignore(): void {}

/** Skill folders and the folders above them. A root that does not exist yet is polled. */
function listDirectories(index: SkillIndex, groups: readonly string[]): ReadonlySet<string> {
  const directories = new Set(groups);
  for (const { dir } of index.all) directories.add(dir);
  for (const { path } of index.report.leftOut) directories.add(path.slice(0, path.lastIndexOf('/')));
  return directories;
}

/** The difference between two indexes; `undefined` if they are equal. */
function compareIndexes(before: SkillIndex, index: SkillIndex): RegistryChange | undefined {
  const old = new Map(before.all.map((entry) => [toLocationKey(entry), entry]));
  const added: SkillEntry[] = [];
  const changed: SkillEntry[] = [];
  for (const entry of index.all) {
    const place = toLocationKey(entry);
    const known = old.get(place);
    old.delete(place);
    if (known === undefined) added.push(entry);
    else if (!isSameEntry(known, entry)) changed.push(entry);
  }
  const removed = [...old.values()];
  if (added.length === 0 && changed.length === 0 && removed.length === 0 && before.indexHash === index.indexHash)
    return undefined;
  return { index, added, changed, removed };
}

function toLocationKey({ source, dir }: SkillEntry): string {
  return `${source}\0${dir}`;
}

function isSameEntry(a: SkillEntry, b: SkillEntry): boolean {
  return a.digest === b.digest && a.file === b.file && a.state === b.state && a.id === b.id;
}

interface DirectoryWatch {
  /** False if another directory has the name now: the system watches the old one, wherever it went. */
  isCurrent(): boolean;
  close(): void;
}

interface DirectoryWatchEvents {
  /** An entry of the directory may have changed. */
  readonly onEvent: () => void;
  /** No more events follow: the directory was removed, or the system has no watches left. */
  readonly onLost: () => void;
}

/** Watches the entries of one directory; `undefined` if the system refuses (no such directory, no inotify watches left). */
function watchDirectory(directory: string, { onEvent, onLost }: DirectoryWatchEvents): DirectoryWatch | undefined {
  try {
    // Before the watch: a directory that is replaced in between is found out later.
    const watched = identityOf(directory);
    const watcher = watch(directory, { persistent: true });
    watcher.on('change', onEvent);
    watcher.on('error', () => {
      watcher.close();
      onLost();
    });
    return { isCurrent: () => identityOf(directory) === watched, close: () => watcher.close() };
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Inode numbers are used again, so the time of birth counts too. */
function identityOf(directory: string): string | undefined {
  try {
    const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : `${String(stats.dev)}:${String(stats.ino)}:${String(stats.birthtimeNs)}`;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

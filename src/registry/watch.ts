import type { SkillIndex } from './index-skills.ts';
import type { SkillEntry } from '../core/skill.ts';
import { watchDirectory } from '../platform/fs/watch-directory.ts';
import type { DirectoryWatch } from '../platform/fs/watch-directory.ts';

/** What a watch saw. Entries are those of `index.all`, told apart by source and folder. */
export interface RegistryChange {
  readonly index: SkillIndex;
  readonly added: readonly SkillEntry[];
  /** As they are now. */
  readonly changed: readonly SkillEntry[];
  /** As they were. */
  readonly removed: readonly SkillEntry[];
}

export interface WatchOptions {
  /** Ends the watch and releases every handle and timer. */
  readonly signal: AbortSignal;
  /** Quiet time before a rescan; 100. A disk that is never quiet is looked at after ten times as long. */
  readonly debounceMs?: number;
  /** Time between looks at what the system sends no events for; 1,000. */
  readonly pollMs?: number;
  /** Called for what goes wrong in a rescan or in the listener; the watch goes on. */
  readonly onError?: (error: unknown) => void;
}

interface WatchedRegistry {
  readonly index: SkillIndex;
  refresh(): Promise<SkillIndex>;
}

export interface WatchInput extends WatchOptions {
  readonly registry: WatchedRegistry;
  /** Those of the last scan that skills may appear in. */
  readonly directories: () => readonly string[];
  readonly listener: (change: RegistryChange) => void;
}

/** Beyond so many directories events are left to the poll: inotify watches are few and shared by all programs of a user. */
const MAX_WATCHES = 1_000;

/** Rescans after events of the system and, for what those do not cover, from time to time. */
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

  const look = async (): Promise<void> => {
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
      attach(index);
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
  const lookAgain = (): void => void look();
  const schedule = (): void => {
    if (signal.aborted) return;
    if (again) {
      again = false;
      onEvent();
    }
    // Even where every directory is watched an event can be lost: a slow look from time to time puts that right.
    // Looks at very many skills keep a distance, so that they do not become all that is done.
    const rest = before.report.durationMs * 20;
    poll = setTimeout(lookAgain, Math.max(rest, covered ? pollMs * 10 : pollMs));
  };
  const onEvent = (): void => {
    if (signal.aborted) return;
    if (running) {
      again = true;
      return;
    }
    clearTimeout(quiet);
    quiet = setTimeout(lookAgain, debounceMs);
    latest ??= setTimeout(lookAgain, debounceMs * 10);
  };
  const attach = (index: SkillIndex): void => {
    const wanted = directoriesOf(index, directories());
    for (const [directory, watch] of watches) {
      if (wanted.has(directory)) continue;
      watch.close();
      watches.delete(directory);
    }
    let missing = 0;
    for (const directory of wanted) {
      if (watches.has(directory)) continue;
      const lost = (): void => {
        watches.delete(directory);
        covered = false;
        onEvent();
      };
      const watch = watches.size < MAX_WATCHES ? watchDirectory(directory, { onEvent, onLost: lost }) : undefined;
      if (watch === undefined) missing += 1;
      else watches.set(directory, watch);
    }
    covered = missing === 0;
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
  // What changed between the last scan and the first watch has sent no event.
  onEvent();
  schedule();
}

function ignore(): void {}

/** Skill folders and the folders above them. A root that is not there yet is left to the poll. */
function directoriesOf(index: SkillIndex, groups: readonly string[]): ReadonlySet<string> {
  const directories = new Set(groups);
  for (const { dir } of index.all) directories.add(dir);
  for (const { path } of index.report.leftOut) directories.add(path.slice(0, path.lastIndexOf('/')));
  return directories;
}

/** What differs between two indexes; nothing where they show the same. */
export function compareIndexes(before: SkillIndex, index: SkillIndex): RegistryChange | undefined {
  const old = new Map(before.all.map((entry) => [placeOf(entry), entry]));
  const added: SkillEntry[] = [];
  const changed: SkillEntry[] = [];
  for (const entry of index.all) {
    const place = placeOf(entry);
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

function placeOf({ source, dir }: SkillEntry): string {
  return `${source}\0${dir}`;
}

function isSameEntry(a: SkillEntry, b: SkillEntry): boolean {
  return a.digest === b.digest && a.file === b.file && a.state === b.state && a.id === b.id;
}

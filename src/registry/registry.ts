import type { SkillIndex } from './index-skills.ts';
import { nameHash } from '../platform/hash.ts';
import { openState, scanOnce } from './scan-once.ts';
import type { ScanSettings } from './scan-once.ts';
import { watchRegistry } from './watch.ts';
import type { RegistryChange, WatchOptions } from './watch.ts';

export type { ScanProgress } from './scan-once.ts';
export type { RegistryChange, WatchOptions } from './watch.ts';

/** Where to look and how; only `roots` is needed. */
export type RegistryOptions = ScanSettings;

/** A live registry: `index` is the latest snapshot; a snapshot itself never changes (REG-8). */
export interface Registry {
  readonly index: SkillIndex;
  /** Looks again; what has not changed on disk is not read again. */
  refresh(): Promise<SkillIndex>;
  /** Calls back, one call at a time, after each change on disk that changes the index. */
  watch(listener: (change: RegistryChange) => void, options: WatchOptions): void;
}

/** Scans once. */
export async function buildIndex(options: RegistryOptions): Promise<SkillIndex> {
  const { index } = await scanOnce(options, openState(options));
  return index;
}

/** Scans, and keeps what was read so that `refresh` and `watch` are cheap. */
export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  let { index, state } = await scanOnce(options, openState(options));
  let last: Promise<unknown> = Promise.resolve();
  const rescan = async (): Promise<SkillIndex> => {
    ({ index, state } = await scanOnce(options, state));
    return index;
  };
  const registry: Registry = {
    get index() {
      return index;
    },
    // One after the other: a scan that began before a change must not answer for it.
    refresh() {
      const next = last.then(rescan, rescan);
      last = next;
      return next;
    },
    watch(listener, watchOptions) {
      watchRegistry({ registry, directories: () => state.groups, listener, ...watchOptions });
    },
  };
  return registry;
}

/** A name for the cache file of these options, so that no two sets of them overwrite each other's. */
export function cacheFileName(options: RegistryOptions): string {
  const { roots, mode, blockAngleBrackets, visibility, maxDepth, maxDirectories, nestedInSkills, followLinks } =
    options;
  const key = JSON.stringify([
    roots,
    mode,
    blockAngleBrackets,
    visibility,
    maxDepth,
    maxDirectories,
    nestedInSkills,
    followLinks,
  ]);
  return `skills-${nameHash(key)}.cache`;
}

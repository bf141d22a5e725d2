import type { SkillRoot } from '#core';
import type { SkillIndex } from './index-skills.ts';
import { checksum } from './checksum.ts';
import { openState, scanOnce } from './scan-once.ts';
import type { ScanSettings } from './scan-settings.ts';
import { watchRegistry, type RegistryChange, type WatchOptions } from './watch.ts';

export type { RegistryChange } from './watch.ts';

/** Scan options; only `roots` is required. */
export type RegistryOptions = ScanSettings;

/** A live registry: `index` is the latest snapshot; snapshots are immutable (REG-8). */
export interface Registry {
  readonly index: SkillIndex;
  /** Scans again; unchanged files are not read again. */
  refresh(): Promise<SkillIndex>;
  /** Calls the listener, one call at a time, after each change on disk that changes the index. */
  watch(listener: (change: RegistryChange) => void, options: WatchOptions): void;
}

/** A folder, of the source `option` unless it names another. A root without a priority is above those after it. */
export type IndexRoot = string | (Pick<SkillRoot, 'source' | 'path'> & Partial<SkillRoot>);

/** Scans once. The roots are an option, or a list of their own, highest priority first. */
export async function buildIndex(
  rootsOrOptions: RegistryOptions | readonly IndexRoot[],
  more: Omit<RegistryOptions, 'roots'> = {},
): Promise<SkillIndex> {
  const options = 'roots' in rootsOrOptions ? rootsOrOptions : { ...more, roots: rootsOrOptions.map(toRoot) };
  const { index } = await scanOnce(options, openState(options));
  return index;
}

function toRoot(root: IndexRoot, place: number, { length }: readonly IndexRoot[]): SkillRoot {
  const named = typeof root === 'string' ? { source: 'option', path: root } : root;
  return { priority: length - place, explicit: true, ...named };
}

/** Scans, and keeps the result so that `refresh` and `watch` are cheap. */
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
    // Serialized: a scan that began before a change must not be returned for it.
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

/** The cache file name for these options, so that different options use different files. */
export function cacheFileName(options: RegistryOptions): string {
  const { roots, mode, blockAngleBrackets, tolerated, visibility, maxDepth, maxDirectories, nestedInSkills } = options;
  const { projectVisibility } = options;
  const relevant = [roots, mode, blockAngleBrackets, tolerated, visibility, maxDepth, maxDirectories, nestedInSkills];
  return `skills-${checksum(Buffer.from(JSON.stringify([...relevant, projectVisibility])))}.cache`;
}

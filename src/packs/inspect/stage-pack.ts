/** Turns a typed source into staged and inspected skills. */
import path from 'node:path';

import { isRefusal, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { readSource } from '../sources/source-text.ts';
import type { StagedSource, PackSource, SourceSkill, StageProgress, ExtractArchive } from '../sources/source.ts';
import { quoted } from '../../core/text/text.ts';
import { stageSource } from '../sources/stage-source.ts';
import { placeOf } from '../sources/folder.ts';
import { isDirectory, isPresent } from '../../platform/fs/paths.ts';
import { inspectSkill } from './inspect-skill.ts';
import type { InspectOptions, InspectedSkill } from './inspect-skill.ts';
import type { PackSettings } from '../pack-settings.ts';

export interface StagePackOptions {
  readonly settings: PackSettings;
  /** An empty staging folder of the root. */
  readonly to: string;
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: StageProgress) => void;
  /** From a lock: exactly this revision and archive. */
  readonly expect?: { readonly revision?: string; readonly archive?: string };
  /** Names of the wanted skills (default: all). */
  readonly only?: readonly string[];
}

/** Parses a typed source. An existing path takes precedence over a repository shorthand. */
export function readTypedSource(text: string, { surroundings, network }: PackSettings): PackSource | PackRefusal {
  const { cwd, home = cwd } = surroundings;
  return readSource(text, {
    looksLikeFolder(typed) {
      const place = placeOf(typed, { cwd, home });
      if (isDirectory(place)) return 'folder';
      return isPresent(place) ? 'file' : 'absent';
    },
    allowHttp: network.allowHttp,
  });
}

/**
 * The source as it is written into the lock. Relative paths are rewritten relative to the root, so that the lock has the same meaning in
 * every working directory and clone.
 */
export function lockedSource(source: PackSource, { surroundings: { cwd }, root }: PackSettings): PackSource {
  if (source.type !== 'folder' && source.type !== 'archive') return source;
  if (path.isAbsolute(source.path) || source.path.startsWith('~')) return source;
  const below = path.relative(root, path.resolve(cwd, source.path)).split(path.sep).join('/');
  return { ...source, path: below.startsWith('..') ? below : `./${below}` };
}

/** Settings for reading sources from the lock: paths are relative to the root. */
export function settingsForLock(settings: PackSettings): PackSettings {
  return { ...settings, surroundings: { ...settings.surroundings, cwd: settings.root } };
}

export function stagePack(source: PackSource, options: StagePackOptions): Promise<StagedSource | PackRefusal> {
  return stageSource(source, stageOptions(options));
}

function stageOptions({ settings, ...rest }: StagePackOptions) {
  const { cwd, home = cwd, env } = settings.surroundings;
  return { ...rest, cwd, home, env, limits: settings.limits, network: settings.network, extract: extractArchive };
}

/** The current revision of a source; undefined if it is not known without staging the source. */
export async function currentRevision(source: PackSource, options: StagePackOptions): Promise<string | undefined> {
  if (source.type !== 'git' || options.offline === true) return undefined;
  const { remoteCommit } = await import('../sources/git-repository.ts');
  return await remoteCommit(source, { ...stageOptions(options), tree: options.to });
}

/** Loads the archive reader on first use. */
const extractArchive: ExtractArchive = async (file, to, options) => {
  const { openArchive } = await import('../archive/archive.ts');
  const opened = await openArchive(file, options);
  if (isRefusal(opened)) return opened;
  try {
    const extracted = await opened.extract(to, options);
    return isRefusal(extracted) ? extracted : { ...extracted, leftOut: opened.leftOut };
  } finally {
    opened.close();
  }
};

export interface InspectedSource {
  readonly type: 'inspected';
  /** The requested skills, or all if none was requested. */
  readonly wanted: readonly InspectedSkill[];
  /** The other skills of the source. */
  readonly others: readonly SourceSkill[];
}

export interface InspectSourceOptions extends InspectOptions {
  /** Names of skills (default: all). */
  readonly names: readonly string[];
  readonly onProgress?: (done: number, total: number) => void;
}

/** Inspects the wanted skills of a source. Refuses two skills with the same name. */
export async function inspectSource(
  { skills }: StagedSource,
  options: InspectSourceOptions,
): Promise<InspectedSource | PackRefusal> {
  const { names, onProgress, signal } = options;
  const present = new Set(skills.map(({ name }) => name));
  const unknown = names.find((name) => !present.has(name));
  if (unknown !== undefined) {
    const known = skills.map(({ name }) => quoted(name, 64)).slice(0, 20);
    return packRefusal('pack/unknown-skill', `the source has no ${quoted(unknown)}; it has ${known.join(', ')}`);
  }
  const asked = new Set(names);
  const isWanted = ({ name }: SourceSkill): boolean => asked.size === 0 || asked.has(name);
  const chosen = skills.filter(isWanted);
  const met = new Set<string>();
  const repeated = chosen.find(({ name }) => met.size === met.add(name).size);
  if (repeated !== undefined) {
    const places = chosen.filter(({ name }) => name === repeated.name).map(({ folder }) => quoted(folder, 100));
    return packRefusal('pack/two-skills', `${quoted(repeated.name)} is in ${places.join(' and ')}`);
  }
  const wanted: InspectedSkill[] = [];
  for (const skill of chosen) {
    if (wanted.length % INSPECTED_AT_ONCE === 0) await new Promise(setImmediate);
    signal?.throwIfAborted();
    const inspected = inspectSkill(skill, options);
    if (isRefusal(inspected)) return inspected;
    wanted.push(inspected);
    onProgress?.(wanted.length, chosen.length);
  }
  return { type: 'inspected', wanted, others: skills.filter((skill) => !isWanted(skill)) };
}

/** Skills to inspect before yielding to the event loop, so that an abort takes effect. */
const INSPECTED_AT_ONCE = 32;

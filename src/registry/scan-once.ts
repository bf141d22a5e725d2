import { sortDiagnostics } from '../core/diagnostic.ts';
import type { Diagnostic, Mode } from '../core/diagnostic.ts';
import { indexSkills } from './index-skills.ts';
import type { CacheReport, ScanReport, SkillIndex } from './index-skills.ts';
import type { SkillRoot, Visibility } from '../core/skill.ts';
import { openTextHash } from '../platform/hash.ts';
import { assemble, toPlaced } from './assemble.ts';
import { loadCache, saveCache } from './cache.ts';
import { NOTHING_KNOWN, remember } from './head-record.ts';
import type { Memory, PlacedRecord } from './head-record.ts';
import { Scan } from './scan.ts';
import { toKept } from './skill-folder.ts';
import { lazily, restoreIndex, storeIndex } from './stored-index.ts';
import type { FreshFacts } from './stored-index.ts';
import type { PendingHead, ReadSkill, Walked } from './walked.ts';

export interface ScanSettings {
  readonly roots: readonly SkillRoot[];
  /** `lenient` where nothing is said. */
  readonly mode?: Mode;
  readonly blockAngleBrackets?: boolean;
  /** Where to keep what was read; without it nothing is kept on disk. `cacheFileName` gives a fitting name. */
  readonly cacheFile?: string;
  /** Keys: a name, `source/name`, or either with `*`; exact beats glob. */
  readonly visibility?: Readonly<Record<string, Visibility>>;
  /** Folders below a root that are looked into; 6. */
  readonly maxDepth?: number;
  /** Folders of a root that hold no SKILL.md themselves; 20,000. Skill folders are not counted. */
  readonly maxDirectories?: number;
  /** Look for skills inside skills too. */
  readonly nestedInSkills?: boolean;
  /** Follow links to directories; true. */
  readonly followLinks?: boolean;
  /** Say in `index.explain` what was decided about each directory. */
  readonly explain?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ScanProgress) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface ScanProgress {
  readonly directories: number;
  readonly skills: number;
}

/** What one scan leaves for the next. */
export interface ScanState {
  /** Made when it is asked for: a single scan without a cache file needs none. */
  readonly memory: () => Memory;
  /** The index of the same files, where a scan that finds nothing changed may take it. */
  readonly previous: PreviousIndex | undefined;
  /** What came of the cache file so far. */
  readonly cache: CacheReport;
  /** Directories of the last walk that skills may appear in. */
  readonly groups: readonly string[];
}

interface PreviousIndex {
  readonly options: string;
  readonly walk: string;
  restore(facts: FreshFacts): SkillIndex;
}

/** The state to begin with: what the cache file holds, or nothing. */
export function openState({ cacheFile, mode = 'lenient', blockAngleBrackets = false }: ScanSettings): ScanState {
  if (cacheFile === undefined)
    return { memory: () => NOTHING_KNOWN, previous: undefined, cache: { status: 'off' }, groups: [] };
  const load = loadCache(cacheFile, { mode, blockAngleBrackets });
  if (load.type === 'unusable') {
    return {
      memory: () => NOTHING_KNOWN,
      previous: undefined,
      cache: { status: 'rebuilt', path: cacheFile, reason: load.reason },
      groups: [],
    };
  }
  const { memory, records, index } = load;
  const previous =
    index === undefined
      ? undefined
      : {
          options: index.options,
          walk: index.walk,
          restore: (facts: FreshFacts) => restoreIndex(index, records, facts),
        };
  return { memory: () => memory, previous, cache: { status: 'used', path: cacheFile }, groups: [] };
}

export interface ScanOutcome {
  readonly index: SkillIndex;
  readonly state: ScanState;
}

/** One look at the disk: the previous index where nothing changed, else a new one, made from what was read now and what is remembered. */
export async function scanOnce(settings: ScanSettings, state: ScanState): Promise<ScanOutcome> {
  const { roots, mode = 'lenient', blockAngleBrackets = false, explain = false, now = Date.now } = settings;
  const {
    maxDepth = 6,
    maxDirectories = 20_000,
    nestedInSkills = false,
    followLinks = true,
    visibility = {},
  } = settings;
  const started = performance.now();
  const { previous } = state;
  const memory = state.memory();
  const scan = new Scan({
    roots,
    mode,
    blockAngleBrackets,
    maxDepth,
    maxDirectories,
    nestedInSkills,
    followLinks,
    explain,
    memory,
    now,
  });
  await walkInSlices(scan, settings);

  const { walked } = scan;
  const walk = walkKey(walked);
  const options = optionsKey([
    roots,
    mode,
    blockAngleBrackets,
    maxDepth,
    maxDirectories,
    nestedInSkills,
    followLinks,
    visibility,
  ]);
  const isUnchanged = walked.unchanged === memory.count && walked.fresh.length === 0;
  const isSameWalk = previous?.options === options && previous.walk === walk;
  const measured = (cache: CacheReport): FreshFacts => ({
    durationMs: performance.now() - started,
    bytesRead: scan.reader.bytesRead,
    fromCache: walked.unchanged,
    cache,
  });
  if (previous !== undefined && isUnchanged && isSameWalk && !explain) {
    return { index: previous.restore(measured(state.cache)), state: { ...state, groups: walked.groups } };
  }

  const skills = await readPending(scan, settings, memory);
  const assembled = assemble(walked, skills, { mode, explain });
  const told = lazily(() => {
    for (let at = 0; at < skills.length; at += 1) {
      const skill = skills[at];
      if (skill !== undefined) scan.reader.tell(skill);
    }
    return { skills, diagnostics: assembled.diagnostics() };
  });
  const sorted = lazily(() => sortDiagnostics(told().diagnostics));
  const { durationMs: _, ...facts } = measured(state.cache);
  const made = indexSkills({
    candidates: assembled.candidates,
    diagnostics: [],
    facts: { ...facts, roots: assembled.roots, leftOut: assembled.leftOut, directories: walked.directories },
    visibility,
    ...(explain ? { explain: assembled.explain } : {}),
    hash: openTextHash(),
    elapsed: () => performance.now() - started,
  });
  const placed = lazily(() => toPlaced(told().skills, made.all));
  const { stands } = assembled;
  const isOnDisk = isUnchanged && (stands ? isSameWalk : previous === undefined);
  const cache = save({
    settings,
    state,
    isOnDisk,
    placed,
    toStore: () =>
      stands
        ? storeIndex({
            index: made,
            options,
            walk,
            places: placesOf(placed(), skills),
            walkDiagnostics: walkDiagnostics(told()),
          })
        : undefined,
  });
  const index = present(made, sorted, { ...made.report, cache, durationMs: performance.now() - started });
  const restore = (fresh: FreshFacts): SkillIndex => present(made, sorted, { ...index.report, ...fresh });
  return {
    index,
    state: {
      memory: isUnchanged ? state.memory : lazily(() => remember(placed())),
      previous: stands ? { options, walk, restore } : undefined,
      cache:
        cache.status === 'rebuilt'
          ? { status: 'used', ...(cache.path === undefined ? {} : { path: cache.path }) }
          : cache,
      groups: walked.groups,
    },
  };
}

/** The index with these diagnostics, which are made when they are first asked for, and this report. */
function present(
  { skills, all, shadowed, indexHash, explain }: SkillIndex,
  diagnostics: () => readonly Diagnostic[],
  report: ScanReport,
): SkillIndex {
  return {
    skills,
    all,
    shadowed,
    get diagnostics() {
      return diagnostics();
    },
    report,
    indexHash,
    ...(explain === undefined ? {} : { explain }),
  };
}

/** Walks in slices, so that others, the signal among them, have their turn. */
async function walkInSlices(scan: Scan, settings: ScanSettings): Promise<void> {
  settings.signal?.throwIfAborted();
  for (const _ of scan.walk()) await pause(scan, settings);
}

async function pause({ walked }: Scan, { signal, onProgress }: ScanSettings): Promise<void> {
  onProgress?.({ directories: walked.directories, skills: walked.skills });
  await new Promise((resolve) => void setImmediate(resolve));
  signal?.throwIfAborted();
}

/** Every skill of the walk; what the readers at hand left is read with the whole parser, loaded only now. */
async function readPending(scan: Scan, settings: ScanSettings, memory: Memory): Promise<readonly ReadSkill[]> {
  const { fresh, pending, kept } = scan.walked;
  // Taken away from the walk: of very many skills nothing should be held twice.
  if (pending.length > 0) await readEach(scan, settings, pending.splice(0));
  const skills = fresh.splice(0);
  for (const place of kept) {
    for (const number of place.numbers) skills.push(toKept(place, memory.name(number), memory.record(number)));
  }
  return skills;
}

async function readEach(scan: Scan, settings: ScanSettings, pending: readonly PendingHead[]): Promise<void> {
  const read = await scan.reader.loadParser();
  let sliceEnd = performance.now() + SLICE_MS;
  for (const head of pending) {
    read(head);
    if (performance.now() < sliceEnd) continue;
    await pause(scan, settings);
    sliceEnd = performance.now() + SLICE_MS;
  }
}

const SLICE_MS = 20;

interface SaveInput {
  readonly settings: ScanSettings;
  readonly state: ScanState;
  /** The file holds all of this already. */
  readonly isOnDisk: boolean;
  readonly placed: () => readonly PlacedRecord[];
  readonly toStore: () => ReturnType<typeof storeIndex> | undefined;
}

function save({ settings, state, isOnDisk, placed, toStore }: SaveInput): CacheReport {
  const { cacheFile, mode = 'lenient', blockAngleBrackets = false, now = Date.now } = settings;
  if (cacheFile === undefined || (isOnDisk && state.cache.status === 'used')) return state.cache;
  const reason = saveCache(cacheFile, { mode, blockAngleBrackets }, { placed: placed(), index: toStore(), now: now() });
  return reason === undefined
    ? { ...state.cache, status: state.cache.status === 'unwritable' ? 'rebuilt' : state.cache.status }
    : { status: 'unwritable', path: cacheFile, reason };
}

function optionsKey(options: readonly unknown[]): string {
  return JSON.stringify(options);
}

/** What the walk saw beside the records it remembered. */
function walkKey({ roots, failed, diagnostics, directories }: Walked): string {
  return JSON.stringify([roots, failed, diagnostics, directories]);
}

/** Source and group of each directory, numbered as the place columns number them: by first appearance. */
function placesOf(
  placed: readonly PlacedRecord[],
  skills: readonly ReadSkill[],
): readonly (readonly [source: string, group: string])[] {
  const places = new Map(skills.map(({ parent, root, group }) => [parent, [root.source, group] as const]));
  return [...new Set(placed.map(({ parent }) => parent))].map((parent) => places.get(parent) ?? ['', '']);
}

interface Told {
  readonly skills: readonly ReadSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Diagnostics that belong to no record. */
function walkDiagnostics({ skills, diagnostics }: Told): readonly Diagnostic[] {
  const ofRecords = new Set(skills.flatMap(({ diagnostics }) => diagnostics));
  return diagnostics.filter((diagnostic) => !ofRecords.has(diagnostic));
}

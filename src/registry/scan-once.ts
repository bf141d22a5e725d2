import type { Mode } from '../core/diagnostic.ts';
import { indexSkills } from './index-skills.ts';
import type { CacheReport, SkillIndex } from './index-skills.ts';
import type { SkillRoot, Visibility } from '../core/skill.ts';
import { openTextHash } from '../platform/hash.ts';
import { assemble, toLocated } from './assemble.ts';
import { lazily, loadCache, saveCache } from './cache.ts';
import type { CacheContent, MeasuredFacts, ReusableIndex } from './cache.ts';
import { NO_KNOWN_SKILLS, rememberRecords } from './known-skills.ts';
import type { KnownSkills } from './known-skills.ts';
import { Scan } from './scan.ts';
import { toUnchanged } from './skill-folder.ts';
import type { PendingHead, ScanResult, ScannedSkill } from './scan-result.ts';

export interface ScanSettings {
  readonly roots: readonly SkillRoot[];
  /** Default: `lenient`. */
  readonly mode?: Mode;
  readonly blockAngleBrackets?: boolean;
  /** The cache file (default: no cache). `cacheFileName` returns a suitable name. */
  readonly cacheFile?: string;
  /** Keys: a name, `source/name`, or either with `*`; an exact key takes precedence over a glob. */
  readonly visibility?: Readonly<Record<string, Visibility>>;
  /** How many levels of folders below a root are searched (default: 6). */
  readonly maxDepth?: number;
  /** How many folders without a SKILL.md are searched per root (default: 20,000). */
  readonly maxDirectories?: number;
  /** Search for skills inside skill folders too. */
  readonly nestedInSkills?: boolean;
  /** Follow symbolic links to directories (default: true). */
  readonly followLinks?: boolean;
  /** Report in `index.explain` what the scan decided about each directory. */
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

/** What one scan passes on to the next. */
export interface ScanState {
  /** Computed on first use: a single scan without a cache file never needs it. */
  readonly known: () => KnownSkills;
  /** The latest index, if a scan that finds no change may return it again. */
  readonly previous: ReusableIndex | undefined;
  /** The state of the cache file. */
  readonly cache: CacheReport;
  /** Directories of the latest scan in which skills may appear. */
  readonly groups: readonly string[];
}

/** The initial state: the content of the cache file, if it is usable. */
export function openState({ cacheFile, mode = 'lenient', blockAngleBrackets = false }: ScanSettings): ScanState {
  const empty = { known: () => NO_KNOWN_SKILLS, previous: undefined, groups: [] };
  if (cacheFile === undefined) return { ...empty, cache: { status: 'off' } };
  const load = loadCache(cacheFile, { mode, blockAngleBrackets });
  if (load.type === 'unusable') return { ...empty, cache: { status: 'rebuilt', path: cacheFile, reason: load.reason } };
  const { known, index } = load;
  return { known: () => known, previous: index, cache: { status: 'used', path: cacheFile }, groups: [] };
}

export interface ScanOutcome {
  readonly index: SkillIndex;
  readonly state: ScanState;
}

/** Scans the roots once. Returns the previous index if nothing changed, otherwise a new index that reuses unchanged records. */
export async function scanOnce(settings: ScanSettings, state: ScanState): Promise<ScanOutcome> {
  const { roots, mode = 'lenient', blockAngleBrackets = false, explain = false, now = Date.now } = settings;
  const { maxDepth = 6, maxDirectories = 20_000, nestedInSkills = false, followLinks = true } = settings;
  const { visibility = {} } = settings;
  const started = performance.now();
  const { previous } = state;
  const known = state.known();
  const walkOptions = { roots, mode, blockAngleBrackets, maxDepth, maxDirectories, nestedInSkills, followLinks };
  const scan = new Scan({ ...walkOptions, explain, known, now });
  await walkInSlices(scan, settings);

  const { result } = scan;
  const findings = findingsKey(result);
  const options = JSON.stringify({ ...walkOptions, visibility });
  const isUnchanged = result.unchangedCount === known.count && result.fresh.length === 0;
  const hasSameFindings = previous?.options === options && previous.findings === findings;
  const measure = (cache: CacheReport): MeasuredFacts => ({
    durationMs: performance.now() - started,
    bytesRead: scan.reader.bytesRead,
    fromCache: result.unchangedCount,
    cache,
  });
  if (previous !== undefined && isUnchanged && hasSameFindings && !explain) {
    return { index: previous.restore(measure(state.cache)), state: { ...state, groups: result.groups } };
  }

  const skills = await readPending(scan, settings, known);
  const assembled = assemble(result, skills, { mode, explain });
  const { durationMs: _, ...facts } = measure(state.cache);
  const made = indexSkills({
    candidates: assembled.candidates,
    diagnostics: assembled.diagnostics,
    facts: { ...facts, roots: assembled.roots, leftOut: assembled.leftOut, directories: result.directories },
    visibility,
    ...(explain ? { explain: assembled.explain } : {}),
    hash: openTextHash(),
    elapsed: () => performance.now() - started,
  });
  const records = lazily(() => toLocated(skills));
  const { isReusable } = assembled;
  const isOnDisk = isUnchanged && (isReusable ? hasSameFindings : previous === undefined);
  const reuse = isReusable ? { options, findings } : undefined;
  const cache = save(settings, state, isOnDisk, () => ({ records: records(), index: made, reuse }));
  const index = { ...made, report: { ...made.report, cache, durationMs: performance.now() - started } };
  const restore = (fresh: MeasuredFacts): SkillIndex => ({ ...index, report: { ...index.report, ...fresh } });
  return {
    index,
    state: {
      known: isUnchanged ? state.known : lazily(() => rememberRecords(records())),
      previous: isReusable ? { options, findings, restore } : undefined,
      cache:
        cache.status === 'rebuilt'
          ? { status: 'used', ...(cache.path === undefined ? {} : { path: cache.path }) }
          : cache,
      groups: result.groups,
    },
  };
}

/** Walks in slices, so that the event loop, including the abort signal, gets its turn. */
async function walkInSlices(scan: Scan, settings: ScanSettings): Promise<void> {
  settings.signal?.throwIfAborted();
  for (const _ of scan.walk()) await pause(scan, settings);
}

async function pause({ result }: Scan, { signal, onProgress }: ScanSettings): Promise<void> {
  onProgress?.({ directories: result.directories, skills: result.skills });
  await new Promise((resolve) => void setImmediate(resolve));
  signal?.throwIfAborted();
}

/** Returns every skill of the scan, after the YAML library has read what the plain reader could not. */
async function readPending(scan: Scan, settings: ScanSettings, known: KnownSkills): Promise<readonly ScannedSkill[]> {
  const { fresh, pending, unchanged } = scan.result;
  if (pending.length > 0) await readEach(scan, settings, pending);
  const skills = [...fresh];
  for (const place of unchanged) {
    for (const name of place.names) skills.push(toUnchanged(place, name, known.record(place.parent, name)));
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

/** Writes the cache file unless it already holds this content. */
function save(settings: ScanSettings, state: ScanState, isOnDisk: boolean, content: () => CacheContent): CacheReport {
  const { cacheFile, mode = 'lenient', blockAngleBrackets = false, now = Date.now } = settings;
  if (cacheFile === undefined || (isOnDisk && state.cache.status === 'used')) return state.cache;
  const reason = saveCache(cacheFile, { mode, blockAngleBrackets }, content(), now());
  return reason === undefined
    ? { ...state.cache, status: state.cache.status === 'unwritable' ? 'rebuilt' : state.cache.status }
    : { status: 'unwritable', path: cacheFile, reason };
}

/** Everything the scan found beside the skills themselves. */
function findingsKey({ roots, failed, diagnostics, directories }: ScanResult): string {
  return JSON.stringify([roots, failed, diagnostics, directories]);
}

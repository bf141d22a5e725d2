import { monotonicMs } from '#platform';
import { assemble, toLocated } from './assemble.ts';
import { lazily, type MeasuredFacts, type ReusableIndex } from './cache.ts';
import { indexSkills, type CacheReport, type SkillIndex } from './index-skills.ts';
import { rememberRecords } from './known-skills.ts';
import { saveCache, type CacheContent } from './save-cache.ts';
import type { Scan } from './scan.ts';
import type { ScannedSkill } from './scan-result.ts';
import type { ScanOutcome, ScanSettings, ScanState } from './scan-settings.ts';
import { toUnchanged } from './skill-folder.ts';

export interface ReindexInput {
  /** A scan whose walk has ended. */
  readonly scan: Scan;
  readonly settings: ScanSettings;
  /** The state before the scan. */
  readonly state: ScanState;
  /** Identifies scans with the same options and findings. */
  readonly key: Pick<ReusableIndex, 'options' | 'findings'>;
  /** No skill was added, changed or removed. */
  readonly isUnchanged: boolean;
  readonly hasSameFindings: boolean;
  readonly measure: (cache: CacheReport) => MeasuredFacts;
  /** Gives the event loop its turn; rejects once the scan is aborted. */
  readonly pause: () => Promise<void>;
}

/** Makes a new index from a scan that found a change, and writes the cache file. Unchanged records are reused. */
export async function reindex(input: ReindexInput): Promise<ScanOutcome> {
  const { scan, settings, state, key, isUnchanged, hasSameFindings, measure } = input;
  const { mode = 'lenient', explain = false, visibility = {} } = settings;
  const { result } = scan;
  const skills = await readPending(input);
  const assembled = assemble(result, skills, {
    mode,
    explain,
    omitInvalid: settings.omitInvalid ?? false,
    tolerated: settings.tolerated ?? [],
  });
  const { durationMs: _, ...facts } = measure(state.cache);
  const elapsed = (): number => measure(state.cache).durationMs;
  const indexed = indexSkills({
    candidates: assembled.candidates,
    diagnostics: assembled.diagnostics,
    facts: { ...facts, roots: assembled.roots, leftOut: assembled.leftOut, directories: result.directories },
    visibility,
    explain: explain ? assembled.explain : undefined,
    elapsed,
  });
  const records = lazily(() => toLocated(skills));
  const { isReusable } = assembled;
  const isOnDisk = isUnchanged && (isReusable ? hasSameFindings : state.previous === undefined);
  const reuse = isReusable ? key : undefined;
  const cache = save(settings, state, isOnDisk, () => ({ records: records(), index: indexed, reuse }));
  const index = { ...indexed, report: { ...indexed.report, cache, durationMs: elapsed() } };
  const restore = (fresh: MeasuredFacts): SkillIndex => ({ ...index, report: { ...index.report, ...fresh } });
  return {
    index,
    state: {
      known: isUnchanged ? state.known : lazily(() => rememberRecords(records())),
      previous: isReusable ? { ...key, restore } : undefined,
      cache: cache.status === 'rebuilt' ? { status: 'used', path: cache.path } : cache,
      groups: result.groups,
    },
  };
}

/** Returns every skill of the scan, after the YAML library has read what the plain reader could not. */
async function readPending({ scan, state, pause }: ReindexInput): Promise<readonly ScannedSkill[]> {
  const { reader, result } = scan;
  await reader.readWaiting();
  if (result.pending.length > 0) {
    const read = await reader.loadParser();
    let sliceEnd = monotonicMs() + SLICE_MS;
    for (const head of result.pending) {
      read(head);
      if (monotonicMs() < sliceEnd) continue;
      await pause();
      sliceEnd = monotonicMs() + SLICE_MS;
    }
  }
  const skills = [...result.fresh];
  const known = state.known();
  for (const place of result.unchanged) {
    for (const name of place.names) skills.push(toUnchanged(place, name, known.record(place.parent, name)));
  }
  return skills;
}

const SLICE_MS = 20;

/** Writes the cache file unless it already holds this content. */
function save(settings: ScanSettings, state: ScanState, isOnDisk: boolean, content: () => CacheContent): CacheReport {
  const { cacheFile, mode = 'lenient', blockAngleBrackets = false } = settings;
  if (cacheFile === undefined || (isOnDisk && state.cache.status === 'used')) return state.cache;
  const reason = saveCache(cacheFile, { mode, blockAngleBrackets }, content());
  return reason === undefined
    ? { ...state.cache, status: state.cache.status === 'unwritable' ? 'rebuilt' : state.cache.status }
    : { status: 'unwritable', path: cacheFile, reason };
}

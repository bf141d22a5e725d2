import type { CacheReport } from './index-skills.ts';
import { monotonicMs } from '#platform';
import { loadCache, type MeasuredFacts } from './cache.ts';
import { NO_KNOWN_SKILLS } from './known-skills.ts';
import { Scan } from './scan.ts';
import type { ScanResult } from './scan-result.ts';
import type { ScanOutcome, ScanSettings, ScanState } from './scan-settings.ts';

/** The initial state: the content of the cache file, if it is usable. */
export function openState({ cacheFile, mode = 'lenient', blockAngleBrackets = false }: ScanSettings): ScanState {
  const empty = { known: () => NO_KNOWN_SKILLS, previous: undefined, groups: [] };
  if (cacheFile === undefined) return { ...empty, cache: { status: 'off' } };
  const load = loadCache(cacheFile, { mode, blockAngleBrackets });
  if (load.type === 'unusable') return { ...empty, cache: { status: 'rebuilt', path: cacheFile, reason: load.reason } };
  const { known, index } = load;
  return { known: () => known, previous: index, cache: { status: 'used', path: cacheFile }, groups: [] };
}

/** Scans the roots once. Returns the previous index if nothing changed, otherwise a new index that reuses unchanged records. */
export async function scanOnce(settings: ScanSettings, state: ScanState): Promise<ScanOutcome> {
  const { roots, mode = 'lenient', blockAngleBrackets = false, explain = false, now = Date.now } = settings;
  const { maxDepth = 16, maxDirectories = 20_000, nestedInSkills = false, tolerated = [] } = settings;
  const { visibility = {}, projectVisibility = {} } = settings;
  const started = monotonicMs();
  const { previous } = state;
  const known = state.known();
  const walkOptions = { roots, mode, blockAngleBrackets, tolerated, maxDepth, maxDirectories, nestedInSkills };
  const scan = new Scan({ ...walkOptions, explain, known, now });
  await walkInSlices(scan, settings);

  const { result } = scan;
  const findings = findingsKey(result);
  const options = JSON.stringify({
    ...walkOptions,
    visibility,
    projectVisibility,
    omitInvalid: settings.omitInvalid ?? false,
  });
  const isUnchanged = result.unchangedCount === known.count && result.fresh.length === 0;
  const hasSameFindings = previous?.options === options && previous.findings === findings;
  const measure = (cache: CacheReport): MeasuredFacts => ({
    durationMs: monotonicMs() - started,
    bytesRead: scan.reader.bytesRead,
    fromCache: result.unchangedCount,
    cache,
  });
  if (previous !== undefined && isUnchanged && hasSameFindings && !explain) {
    return { index: previous.restore(measure(state.cache)), state: { ...state, groups: result.groups } };
  }

  // Most scans end above, so the code below is loaded when it is needed.
  const { reindex } = await import('./reindex.ts');
  return reindex({
    scan,
    settings,
    state,
    key: { options, findings },
    isUnchanged,
    hasSameFindings,
    measure,
    pause: () => pause(scan, settings),
  });
}

/** Walks in slices, so that the event loop, including the abort signal, gets its turn. */
async function walkInSlices(scan: Scan, settings: ScanSettings): Promise<void> {
  settings.signal?.throwIfAborted();
  for (const _ of scan.walk()) {
    await pause(scan, settings);
    await scan.reader.readWaiting();
  }
}

async function pause({ result }: Scan, { signal, onProgress }: ScanSettings): Promise<void> {
  onProgress?.({ directories: result.directories, skills: result.skills });
  await new Promise((resolve) => void setImmediate(resolve));
  signal?.throwIfAborted();
}

/** Everything the scan found beside the skills themselves. */
function findingsKey({ roots, failed, diagnostics, directories }: ScanResult): string {
  return JSON.stringify([roots, failed, diagnostics, directories]);
}

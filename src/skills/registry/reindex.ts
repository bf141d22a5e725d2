import path from 'node:path';
import { monotonicMs, isSystemError, makeFolders, writeFileAtomically } from '#platform';
import { assemble, toLocated } from './assemble.ts';
import {
  lazily,
  type MeasuredFacts,
  type ReusableIndex,
  CACHE_FORMAT,
  type CacheHeader,
  type CacheKey,
  type DiagnosticsLine,
  type FilesLine,
  type NamedFile,
} from './cache.ts';
import { indexSkills, type CacheReport, type SkillIndex } from './index-skills.ts';
import { rememberRecords, type LocatedRecord } from './known-skills.ts';
import type { Scan } from './scan.ts';
import type { ScannedSkill } from './scan-result.ts';
import type { ScanOutcome, ScanSettings, ScanState } from './scan-settings.ts';
import { toUnchanged } from './skill-folder.ts';
import { checksum } from './checksum.ts';

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
  const { mode = 'lenient', explain = false, visibility, projectVisibility } = settings;
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
    undescribed: assembled.undescribed,
    diagnostics: assembled.diagnostics,
    facts: { ...facts, roots: assembled.roots, leftOut: assembled.leftOut, directories: result.directories },
    visibility,
    projectVisibility,
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

/** A temporary file this old was left by a killed process: writing takes well under a second. */
const STALE_MS = 60_000;

const ENTRIES_PER_LINE = 2_000;

interface CacheContent {
  readonly records: readonly LocatedRecord[];
  readonly index: SkillIndex;
  /** Present if a later scan may return the index as it is. */
  readonly reuse: Pick<ReusableIndex, 'options' | 'findings'> | undefined;
}

/** Replaces the cache file atomically. Returns the reason if that fails. */
function saveCache(file: string, key: CacheKey, content: CacheContent): string | undefined {
  try {
    makeFolders(path.dirname(file), 0o700);
    // Encoded line by line: with very many skills, one text of all entries would need as much memory as the scan.
    const lines = [toFilesLine(content), toDiagnosticsLine(content), ...inParts(content.index.all)].map((line) =>
      Buffer.from(`${JSON.stringify(line)}\n`),
    );
    const header: CacheHeader = { format: CACHE_FORMAT, ...key, checksums: lines.map(checksum) };
    writeFileAtomically(file, [Buffer.from(`${JSON.stringify(header)}\n`), ...lines], { staleMs: STALE_MS });
    return undefined;
  } catch (error) {
    if (isSystemError(error)) return `the file cannot be written (${error.code})`;
    throw error;
  }
}

function inParts<T>(all: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(all.length / ENTRIES_PER_LINE);
  return Array.from({ length: count }, (_, part) => all.slice(part * ENTRIES_PER_LINE, (part + 1) * ENTRIES_PER_LINE));
}

function toFilesLine({ records, index, reuse }: CacheContent): FilesLine {
  const directories = new Map<string, NamedFile[]>();
  for (const { parent, name, file, size, mtimeMs, ctimeMs, ino, dev } of records) {
    const known: NamedFile = { name, file, size, mtimeMs, ctimeMs, ino, dev };
    const files = directories.get(parent);
    if (files === undefined) directories.set(parent, [known]);
    else files.push(known);
  }
  if (reuse === undefined) return { directories: [...directories] };
  const {
    durationMs: _time,
    bytesRead: _bytes,
    fromCache: _count,
    cache: _cache,
    conflicts: _conflicts,
    ...report
  } = index.report;
  return { directories: [...directories], index: { ...reuse, shadowed: index.shadowed, report } };
}

function toDiagnosticsLine({ records, index }: CacheContent): DiagnosticsLine {
  const reported = new Set(index.diagnostics);
  const repeated = records.flatMap((record) => record.diagnostics).filter((diagnostic) => !reported.has(diagnostic));
  return { index: index.diagnostics, repeated, undescribed: index.undescribed };
}

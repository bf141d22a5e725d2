import path from 'node:path';

import { isSystemError, makeFolders, writeFileAtomically } from '#platform';
import { checksum } from './checksum.ts';
import {
  CACHE_FORMAT,
  type CacheHeader,
  type CacheKey,
  type DiagnosticsLine,
  type FilesLine,
  type NamedFile,
  type ReusableIndex,
} from './cache.ts';
import type { SkillIndex } from './index-skills.ts';
import type { LocatedRecord } from './known-skills.ts';

/** A temporary file this old was left by a killed process: writing takes well under a second. */
const STALE_MS = 60_000;
const ENTRIES_PER_LINE = 2_000;

export interface CacheContent {
  readonly records: readonly LocatedRecord[];
  readonly index: SkillIndex;
  /** Present if a later scan may return the index as it is. */
  readonly reuse: Pick<ReusableIndex, 'options' | 'findings'> | undefined;
}

/** Replaces the cache file atomically. Returns the reason if that fails. */
export function saveCache(file: string, key: CacheKey, content: CacheContent): string | undefined {
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
  return { index: index.diagnostics, repeated };
}

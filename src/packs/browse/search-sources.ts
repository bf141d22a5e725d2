/** Searches the indexes of sources. Reads local files only. */
import path from 'node:path';

import { fingerprintFiles, cacheEntry, sha256 } from '#platform';
import { buildSearchIndex, readSearchIndex, type SearchIndex } from '#skills';
import type { AvailableSkill, SourceStore } from './source-store.ts';

export interface AvailableResult extends AvailableSkill {
  /** The user's name for the source. */
  readonly from: string;
  /** The source as `install` takes it. */
  readonly source: string;
  readonly score: number;
}

export interface SearchSourcesOptions {
  readonly store: SourceStore;
  readonly limit: number;
  /** Names that are not shown, because a skill of that name is installed. */
  readonly installed: ReadonlySet<string>;
  /** The search index is kept here; without it, each search builds the index. */
  readonly cacheDir: string | undefined;
}

export interface AvailableResults {
  readonly results: readonly AvailableResult[];
  /** Sources that cannot be searched; safe to print. */
  readonly problems: readonly string[];
}

/** Installed skills use up hits; more of them than this are unlikely to match better than the first one that is not installed. */
const MAX_SKIPPED = 100;

/** The best skills that are not installed, best first. */
export function searchSources(query: string, options: SearchSourcesOptions): AvailableResults {
  const { store, limit, installed } = options;
  const files = store.files();
  if (files.length === 0) return { results: [], problems: [] };
  // Before the files are read: an index that is replaced meanwhile must not be kept under the old fingerprint.
  const fingerprint = fingerprintFiles(files);
  const { sources, problems } = store.list();
  const all = withoutCopies(
    sources.flatMap(({ name: from, source, skills }) => skills.map((skill) => ({ ...skill, from, source }))),
  );
  if (all.length === 0) return { results: [], problems };
  const results = openIndex(all, fingerprint, options)
    .search(query, limit + Math.min(installed.size, MAX_SKIPPED))
    .flatMap(({ position, score }) => {
      const skill = all[position];
      return skill === undefined || installed.has(skill.name) ? [] : [{ ...skill, score }];
    });
  return { results: results.slice(0, limit), problems };
}

/** Collections copy skills from each other; the same files are shown once. */
function withoutCopies<T extends AvailableSkill>(skills: readonly T[]): readonly T[] {
  const seen = new Set<string>();
  return skills.filter(({ name, digest }) => {
    if (digest === undefined) return true;
    const key = `${name} ${digest}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

function openIndex(
  skills: readonly AvailableSkill[],
  { fingerprint, isSettled }: ReturnType<typeof fingerprintFiles>,
  { cacheDir }: SearchSourcesOptions,
): SearchIndex {
  const entry = cacheEntry(cacheDir && path.join(cacheDir, `sources-${sha256(fingerprint).slice(0, 32)}.bin`));
  const kept = entry.read();
  const known = kept === undefined ? undefined : readSearchIndex(kept);
  if (known?.size === skills.length) return known;
  const built = buildSearchIndex(skills.map(({ name, description }) => ({ name, description })));
  if (isSettled) entry.write(built.toBytes());
  return built;
}

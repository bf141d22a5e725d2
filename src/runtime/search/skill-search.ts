import path from 'node:path';

import { buildSearchIndex, readSearchIndex, type SearchIndex, type SkillIndex } from '#skills';
import { isForModel, type SkillEntry } from '#core';
import { sha256, cacheEntry } from '#platform';
import { openDeepIndex } from './deep-index.ts';

export interface SearchOptions {
  readonly source?: string;
  readonly forModel?: boolean;
  /** Also search skill bodies. They are indexed locally and not sent to a model. */
  readonly deep?: boolean;
  readonly signal?: AbortSignal;
}

export interface SearchResult {
  readonly name: string;
  readonly source: string;
  readonly description: string;
  /** Comparable only within one search. */
  readonly score: number;
}

export type SkillSearch = (
  index: SkillIndex,
  query: string,
  limit: number,
  options: SearchOptions,
) => Promise<readonly SearchResult[]>;

/** A search that caches the index of each snapshot, in memory and on disk. */
export function openSkillSearch(cacheDir: string | undefined): SkillSearch {
  const plain = new WeakMap<SkillIndex, SearchIndex>();
  const deep = new WeakMap<SkillIndex, Promise<SearchIndex>>();

  return async function searchSkills(index, query, limit, { source, forModel = false, deep: isDeep = false, signal }) {
    const skills = searchable(index);
    const engine = isDeep
      ? await remember(deep, index, () => openDeepIndex(skills, cacheDir, signal))
      : remember(plain, index, () => openPlainIndex(index, skills, cacheDir));
    // Filters apply after ranking, so that scores do not depend on them.
    const sourceName = source?.toLowerCase();
    const isWanted = (skill: SkillEntry): boolean =>
      (sourceName === undefined || skill.source.toLowerCase() === sourceName) && (!forModel || isForModel(skill.state));
    const unwanted = sourceName === undefined && !forModel ? 0 : skills.filter((skill) => !isWanted(skill)).length;
    const hits = engine.search(query, limit + unwanted);
    const results: SearchResult[] = [];
    for (const { position, score } of hits) {
      if (results.length >= limit) break;
      const skill = skills[position];
      if (skill === undefined || !isWanted(skill)) continue;
      results.push({ name: skill.name, source: skill.source, description: skill.description, score });
    }
    return results;
  };
}

/** All skills except disabled ones, including those hidden from the model. */
function searchable(index: SkillIndex): readonly SkillEntry[] {
  return index.skills.filter(({ state }) => state !== 'disabled');
}

function openPlainIndex(index: SkillIndex, skills: readonly SkillEntry[], cacheDir: string | undefined): SearchIndex {
  if (cacheDir === undefined || skills.length === 0) return buildSearchIndex(skills);
  // The index hash covers names, descriptions and states, so a cached file is never stale.
  const entry = cacheEntry(path.join(cacheDir, `search-${sha256(index.indexHash).slice(0, 32)}.bin`));
  const bytes = entry.read();
  const kept = bytes === undefined ? undefined : readSearchIndex(bytes);
  if (kept !== undefined && kept.size === skills.length) return kept;
  const built = buildSearchIndex(skills);
  entry.write(built.toBytes());
  return built;
}

function remember<K extends object, V>(known: WeakMap<K, V>, key: K, make: () => V): V {
  const existing = known.get(key);
  if (existing !== undefined) return existing;
  const value = make();
  known.set(key, value);
  return value;
}

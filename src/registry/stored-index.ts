import { compareDiagnostics } from '../core/diagnostic.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { sortSkills, toEntry } from './index-skills.ts';
import type { ScanReport, SkillIndex } from './index-skills.ts';
import type { ShadowedSkill, SkillEntry, SkillRoot, Visibility } from '../core/skill.ts';
import type { HeadRecord } from './head-record.ts';

/** What a scan measures anew each time, also where it finds nothing changed. */
export type FreshFacts = Pick<ScanReport, 'durationMs' | 'bytesRead' | 'fromCache' | 'cache'>;

/** An index without what the records say already. Made only where each entry is one record, in the same order. */
export interface StoredIndex {
  /** Of the options the index was made under. */
  readonly options: string;
  /** Of what the walk saw beside the records: roots, failures, links. */
  readonly walk: string;
  /** The first so many records are the entries; those after them are left out. */
  readonly entries: number;
  /** Root and group of each directory, in the order of the place columns. */
  readonly places: readonly (readonly [source: string, group: string])[];
  /** States other than `auto`, by record number. */
  readonly states: Readonly<Record<string, Visibility>>;
  readonly shadowed: readonly ShadowedSkill[];
  /** Record numbers of the shadowed ones. */
  readonly shadowedAt: readonly number[];
  /** Those of the walk; the records have their own. */
  readonly diagnostics: readonly Diagnostic[];
  readonly report: Omit<ScanReport, keyof FreshFacts | 'conflicts'>;
}

export interface StoreInput {
  readonly index: SkillIndex;
  readonly options: string;
  readonly walk: string;
  /** Directories of the records, in the order of the place columns, with the place of each. */
  readonly places: StoredIndex['places'];
  readonly walkDiagnostics: readonly Diagnostic[];
}

export function storeIndex({ index, options, walk, places, walkDiagnostics }: StoreInput): StoredIndex {
  const shadowedDirs = new Set(index.shadowed.map(({ dir }) => dir));
  const states: Record<string, Visibility> = {};
  const shadowedAt: number[] = [];
  for (const [number, { state, dir }] of index.all.entries()) {
    if (state !== 'auto') states[String(number)] = state;
    if (shadowedDirs.has(dir)) shadowedAt.push(number);
  }
  const {
    durationMs: _time,
    bytesRead: _bytes,
    fromCache: _count,
    cache: _cache,
    conflicts: _conflicts,
    ...report
  } = index.report;
  return {
    options,
    walk,
    entries: index.all.length,
    places,
    states,
    shadowed: index.shadowed,
    shadowedAt,
    diagnostics: walkDiagnostics,
    report,
  };
}

/** The records a stored index stands on; each is built when it is asked for. */
export interface StoredRecords {
  readonly count: number;
  /** Number of the record's directory. */
  within(number: number): number;
  dir(number: number): string;
  /** Without its diagnostics, which are asked for apart. */
  record(number: number): Pick<HeadRecord, 'head' | 'file' | 'digest'>;
  diagnostics(number: number): readonly Diagnostic[];
}

/** The index again. Entries and diagnostics are built on first use: who only asks whether anything changed does not pay for them. */
export function restoreIndex(stored: StoredIndex, records: StoredRecords, facts: FreshFacts): SkillIndex {
  const all = lazily(() => restoreEntries(stored, records));
  const skills = lazily(() => {
    const hidden = new Set(stored.shadowedAt);
    return sortSkills(all().filter((_, number) => !hidden.has(number)));
  });
  const diagnostics = lazily(() => {
    const gathered = [...stored.diagnostics];
    for (let number = 0; number < records.count; number += 1) gathered.push(...records.diagnostics(number));
    return gathered.sort(compareDiagnostics);
  });
  return {
    get skills() {
      return skills();
    },
    get all() {
      return all();
    },
    get diagnostics() {
      return diagnostics();
    },
    shadowed: stored.shadowed,
    report: { ...stored.report, ...facts, conflicts: stored.shadowed },
    indexHash: stored.report.indexHash,
  };
}

function restoreEntries(stored: StoredIndex, records: StoredRecords): readonly SkillEntry[] {
  const roots = new Map<string, SkillRoot>();
  const entries: SkillEntry[] = [];
  for (let number = 0; number < stored.entries; number += 1) {
    const { head, file, digest } = records.record(number);
    const [source, group] = stored.places[records.within(number)] ?? ['', ''];
    if (head === undefined) continue;
    const root = roots.get(source) ?? { source, path: '', priority: 0, explicit: false };
    roots.set(source, root);
    entries.push(
      toEntry(
        { head, root, dir: records.dir(number), file, group, digest, mtimeMs: 0 },
        stored.states[number] ?? 'auto',
      ),
    );
  }
  return entries;
}

/** Makes a value once, when it is first asked for. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

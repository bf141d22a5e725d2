import { DIAGNOSTIC_RULES, type Diagnostic, type Mode, type SkillRoot, type SkillEntry } from '#core';
import type { ReusableIndex } from './cache.ts';
import type { CacheReport, SkillIndex } from './index-skills.ts';
import type { KnownSkills } from './known-skills.ts';

export interface ScanSettings {
  readonly roots: readonly SkillRoot[];
  /** Default: `lenient`. */
  readonly mode?: Mode;
  readonly blockAngleBrackets?: boolean;
  /** Leave out every skill with an error. In strict mode these are all skills that violate the specification. */
  readonly omitInvalid?: boolean;
  /** Diagnostics that keep their lenient severity in strict mode, and leave no skill out that has a name. */
  readonly tolerated?: readonly Diagnostic['code'][];
  /** The cache file (default: no cache). `cacheFileName` returns a suitable name. */
  readonly cacheFile?: string;
  /** Keys: a name, `source/name`, or either with `*`; an exact key takes precedence over a glob. */
  readonly visibility?: Readonly<Record<string, SkillEntry['state']>>;
  /** The same from a project, which can hide every skill, but shows more only of its own, and where `visibility` says nothing. */
  readonly projectVisibility?: Readonly<Record<string, SkillEntry['state']>>;
  /** How many levels of folders below a root are searched (default: 16). */
  readonly maxDepth?: number;
  /** How many folders without a SKILL.md are searched per root (default: 20,000). */
  readonly maxDirectories?: number;
  /** Search for skills inside skill folders too. */
  readonly nestedInSkills?: boolean;
  /** Report in `index.explain` what the scan decided about each directory. */
  readonly explain?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ScanProgress) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface ScanProgress {
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

export interface ScanOutcome {
  readonly index: SkillIndex;
  readonly state: ScanState;
}

/** Diagnostics that a system tolerates keep their lenient severity. */
export function relaxDiagnostics(
  tolerated: readonly Diagnostic['code'][] = [],
  diagnostics: readonly Diagnostic[],
): readonly Diagnostic[] {
  if (tolerated.length === 0) return diagnostics;
  return diagnostics.map((one) =>
    tolerated.includes(one.code) ? { ...one, severity: DIAGNOSTIC_RULES[one.code].lenient } : one,
  );
}

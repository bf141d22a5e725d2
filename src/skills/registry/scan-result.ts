import type { Diagnostic, Mode, SkillHead, SkillRoot } from '#core';
import type { ExplainedDirectory, LeftOutSkill, RootReport } from './index-skills.ts';
import type { HeadSource } from '../format/simple-head.ts';
import type { HeadRecord, KnownSkills } from './known-skills.ts';

export interface ScanOptions {
  readonly roots: readonly SkillRoot[];
  readonly mode: Mode;
  readonly blockAngleBrackets: boolean;
  readonly tolerated: readonly Diagnostic['code'][];
  readonly maxDepth: number;
  readonly maxDirectories: number;
  readonly nestedInSkills: boolean;
  readonly explain: boolean;
  readonly known: KnownSkills;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The skill folders of one directory that are unchanged since an earlier scan. */
export interface UnchangedSkills {
  readonly root: SkillRoot;
  /** The directory that contains the skill folders. */
  readonly parent: string;
  /** Folders between the root and `parent`. */
  readonly group: string;
  /** The scan followed a symbolic link to get here. */
  readonly linked: boolean;
  /** Names of the unchanged skill folders. */
  readonly names: string[];
}

/**
 * A skill folder and its frontmatter. It stays one flat object from reading to indexing, because a scan of many skills pays for
 * every additional object per skill.
 */
export interface ScannedSkill extends HeadRecord {
  readonly root: SkillRoot;
  /** The directory that contains the folder; absent if the root itself is the skill, which is never cached. */
  readonly parent: string | undefined;
  readonly name: string;
  readonly dir: string;
  readonly group: string;
  /** The scan followed a symbolic link to get here. */
  readonly linked: boolean;
  /** The next scan may use this record without reading the file. */
  settled: boolean;
  digest: string;
  head: SkillHead | undefined;
  diagnostics: readonly Diagnostic[];
}

/** Frontmatter that needs the YAML library, which is loaded once for all such files. */
export interface PendingHead {
  /** Has no head and no diagnostics yet. */
  readonly skill: ScannedSkill;
  readonly source: HeadSource;
}

/** Everything a scan has collected so far. */
export interface ScanResult {
  /** Skills read by this scan. */
  readonly fresh: ScannedSkill[];
  readonly pending: PendingHead[];
  readonly unchanged: UnchangedSkills[];
  /** Skill folders with an unreadable file; `assemble` creates their diagnostics. */
  readonly failed: LeftOutSkill[];
  readonly diagnostics: Diagnostic[];
  readonly explained: ExplainedDirectory[];
  readonly roots: Omit<RootReport, 'skills'>[];
  /** Listed directories, including the roots. */
  readonly groups: string[];
  /** Visited directories. */
  directories: number;
  /** Skill folders found. */
  skills: number;
  unchangedCount: number;
  /** Two paths may lead to the same folder. */
  mayRepeat: boolean;
}

import type { Diagnostic, Mode } from '../core/diagnostic.ts';
import type { ExplainedDirectory, LeftOutSkill, RootReport } from './index-skills.ts';
import type { Notes } from '../format/quick-notes.ts';
import type { HeadSource } from '../format/skill-head.ts';
import type { SkillHead, SkillRoot } from '../core/skill.ts';
import type { HeadRecord, Memory } from './head-record.ts';

export interface ScanOptions {
  readonly roots: readonly SkillRoot[];
  readonly mode: Mode;
  readonly blockAngleBrackets: boolean;
  readonly maxDepth: number;
  readonly maxDirectories: number;
  readonly nestedInSkills: boolean;
  readonly followLinks: boolean;
  readonly explain: boolean;
  readonly memory: Memory;
  /** What is read will be believed later. */
  readonly now: () => number;
}

/** Where skill folders of one directory are. */
export interface Place {
  readonly root: SkillRoot;
  /** The directory they are in. */
  readonly parent: string;
  readonly group: string;
  /** A link was followed on the way to them. */
  readonly linked: boolean;
}

/**
 * A skill folder and what its frontmatter says. One flat object from the moment it is read until the index is made: in a scan of
 * many skills every further object for each of them is felt.
 */
export interface ReadSkill extends HeadRecord {
  readonly root: SkillRoot;
  /** The directory it was found in; absent for a root that is a skill itself, which is never remembered. */
  readonly parent: string | undefined;
  readonly name: string;
  readonly dir: string;
  readonly group: string;
  /** A link was followed on the way to it. */
  readonly linked: boolean;
  /** May be believed in the next scan without another read. */
  settled: boolean;
  digest: string;
  head: SkillHead | undefined;
  diagnostics: readonly Diagnostic[];
  /** Frontmatter whose diagnostics are made when somebody asks for them (`FolderReader.tell`); empty where they are there. */
  untold: string;
  /** What is to be told of it, where the quick reader noted all of that. */
  notes: Notes | undefined;
}

/** Frontmatter that needs the whole parser, which is loaded once for all such files. */
export interface PendingHead {
  /** Has no head and no diagnostics yet. */
  readonly skill: ReadSkill;
  readonly source: HeadSource;
}

/** Skill folders of one directory that are as remembered: only their numbers, because there may be very many. */
export interface KeptSkills extends Place {
  readonly numbers: number[];
}

/** What a walk has gathered so far. */
export interface Walked {
  /** Read now. */
  readonly fresh: ReadSkill[];
  readonly pending: PendingHead[];
  readonly kept: KeptSkills[];
  /** Skill folders whose file could not be read; their diagnostics are still to be made. */
  readonly failed: LeftOutSkill[];
  readonly diagnostics: Diagnostic[];
  readonly explained: ExplainedDirectory[];
  readonly roots: Omit<RootReport, 'skills'>[];
  /** Directories that were looked through, roots among them. */
  readonly groups: string[];
  directories: number;
  /** Skill folders so far. */
  skills: number;
  /** How many are as remembered. */
  unchanged: number;
  /** Two paths may lead to one folder. */
  mayRepeat: boolean;
}

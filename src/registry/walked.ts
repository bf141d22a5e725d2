import type { Diagnostic, Mode } from '../core/diagnostic.ts';
import type { ExplainedDirectory, LeftOutSkill, RootReport } from '../core/index-skills.ts';
import type { SkillRoot } from '../core/skill.ts';
import type { HeadRecord, Memory } from './head-record.ts';
import type { PendingHead } from './skill-folder.ts';

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
  readonly now: () => number;
}

/** A skill folder. */
export interface FoundSkill {
  readonly root: SkillRoot;
  /** The directory it was found in; absent for a root that is a skill itself, which is never remembered. */
  readonly parent: string | undefined;
  readonly name: string;
  readonly dir: string;
  readonly group: string;
  /** A link was followed on the way to it. */
  readonly linked: boolean;
}

/** A skill folder that was read now. `pending`: its frontmatter still needs the whole parser. */
export interface FreshSkill extends FoundSkill {
  readonly content: FreshContent;
}

/** `settled`: may be believed later without another read. */
export type FreshContent =
  | { readonly type: 'skill'; readonly record: HeadRecord; readonly settled: boolean }
  | { readonly type: 'pending'; readonly pending: PendingHead };

/** Skill folders of one directory that are as remembered: only their numbers, because there may be very many. */
export interface KeptSkills {
  readonly root: SkillRoot;
  readonly parent: string;
  readonly group: string;
  readonly linked: boolean;
  readonly numbers: number[];
}

/** What a walk has gathered so far. */
export interface Walked {
  readonly fresh: FreshSkill[];
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

/** What an install is asked for, shows before it changes anything, and returns. */
import type { AgentTarget, PlannedTarget } from '../agents/place-targets.ts';
import type { InspectedSkill } from '../inspect/inspect-skill.ts';
import type { RefusedSkill } from '../inspect/verdicts.ts';
import type { LockedSkill } from '../lock/lock-file.ts';
import type { PackSettings } from '../pack-settings.ts';
import type { CommitProgress } from '../root/commit.ts';
import type { ChangeOutcome, RootOptions } from '../root/open-root.ts';
import type { Existing } from '../root/plan.ts';
import type { ResolvedSource, StageProgress } from '../sources/source.ts';

export interface InstallProgress {
  readonly step: StageProgress['step'] | 'inspect' | CommitProgress['phase'];
  readonly done?: number;
  readonly total?: number;
}

/** What the functions that fetch skills into a root have in common. */
export interface FetchIntoRootOptions extends RootOptions {
  readonly settings: PackSettings;
  readonly offline?: boolean;
  readonly dryRun?: boolean;
  /** Trusts the skills of a project right before they are moved in, so that a crash does not lose the user's consent. */
  readonly trust?: boolean;
  readonly onProgress?: (progress: InstallProgress) => void;
  /** The time to record in the lock (default: now). */
  readonly at?: Date;
}

export interface InstallOptions extends FetchIntoRootOptions {
  /** The source as the user typed it. */
  readonly source: string;
  /** Names of the skills to install, or their folders in the source (default: all of the source). */
  readonly skills?: readonly string[];
  /** Refuses skills that violate the specification (default: `format.mode` of the configuration). */
  readonly strict?: boolean;
  /** What to do if a skill of the same name exists (default: refuse). */
  readonly existing?: Existing;
  /** Accepts older versions and versions that are no longer signed. */
  readonly force?: boolean;
  readonly targets?: readonly AgentTarget[];
  /** Copies the skills into these folders instead of linking them. */
  readonly copy?: boolean;
  /**
   * Asked what to install, and for which agents, if `skills` names none. Gets every skill that can be installed and those that cannot.
   * Undefined installs nothing.
   */
  readonly choose?: (offer: SkillOffer) => Promise<SkillChoice | undefined>;
  /** Takes over what another installer made: folders of the root and of agents that have the files of the skill. */
  readonly takeOver?: boolean;
  /** Gets the plan. The install continues only if it resolves to true. */
  readonly confirm: (plan: InstallPlan) => Promise<boolean>;
  /** Gets the plan if every skill is refused. */
  readonly onRefused?: (plan: InstallPlan) => void;
}

export interface SkillOffer {
  readonly ready: readonly InspectedSkill[];
  readonly refused: readonly RefusedSkill[];
  /** Folders of the agents in use here. A folder that cannot get links is reported when its agent is named. */
  readonly targets: readonly AgentTarget[];
}

export interface SkillChoice {
  /** Folders of offered skills. */
  readonly folders: readonly string[];
  /** Replaces `targets`. */
  readonly targets?: readonly AgentTarget[];
}

/** What an install would do, with a verdict per skill. */
export interface InstallPlan {
  readonly root: string;
  /** The source as the user typed it. */
  readonly typed: string;
  readonly resolved: ResolvedSource;
  /** Skills that go in, and those that are installed with the same bytes. */
  readonly skills: readonly PlannedSkill[];
  /** Skills that do not go in, each with the reason. Sorted by name. */
  readonly refused: readonly RefusedSkill[];
  /** Choices that were made for the user, such as one of two skills with the same name. */
  readonly notes: readonly string[];
  /** Files of the source that are not installed, each with the reason. */
  readonly leftOut: readonly string[];
  /** What happens in the folders of agents. */
  readonly places: readonly PlannedTarget[];
  readonly signedBy?: string;
}

export interface PlannedSkill {
  /** `warnings`: it violates the specification, has scan findings that do not stop an install, or a similar name. */
  readonly verdict: 'ready' | 'warnings';
  readonly skill: InspectedSkill;
  /** `same`: the lock has identical bytes, and the folder has them or was edited; with `existing`, edits are replaced. */
  readonly change: 'new' | 'replace' | 'same';
  /** The user did not name it; another skill requires it. */
  readonly isNeeded: boolean;
  readonly lock: LockedSkill;
  readonly before?: LockedSkill;
}

export interface Installed extends ChangeOutcome {
  readonly type: 'installed';
  readonly plan: InstallPlan;
}

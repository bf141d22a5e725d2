/** Parts of the shared types that only executors and workspaces name. */
import type { AttachedWorkspace, Executor, ProgramSpec } from '#core';

/** A file or folder of the host that a program sees at a fixed path. */
export type HostMount = NonNullable<ProgramSpec['mounts']>[number];
export type RunLimits = ProgramSpec['limits'];
/** A running interactive program. */
export type RunningProgram = Awaited<ReturnType<NonNullable<AttachedWorkspace['start']>>>;
export type WorkspaceFolder = Parameters<Executor['attach']>[0];
/** A skill as staged in a workspace. */
export type StagedSkill = WorkspaceFolder['skills'][number];
/** A system user. */
export type Identity = NonNullable<Executor['identity']>;

/** How a program sees the project. */
export interface ProjectView {
  readonly access: 'none' | 'read' | 'write';
  /** The folder, as the program sees it. */
  readonly folder: string;
}

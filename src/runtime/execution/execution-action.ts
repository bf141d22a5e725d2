import type { ActionOfKind, RunCommand, RunScript, StartCommand } from '../../core/action.ts';

/** The actions that start a program. */
export type ProgramAction = RunScript | RunCommand | StartCommand;

/** The actions that run a program or talk to one. */
export type ExecutionAction = ActionOfKind<'program'>;

import type { Action, RunCommand, RunScript, StartCommand } from '../../core/action.ts';

/** The actions that start a program. */
export type ProgramAction = RunScript | RunCommand | StartCommand;

/** The actions that run a program or talk to one. */
export type ExecutionAction = Extract<
  Action,
  { readonly type: 'run_script' | 'run_command' | 'start_command' | 'write_input' | 'poll_command' | 'kill_command' }
>;

export function isExecutionAction(action: Action): action is ExecutionAction {
  return EXECUTION_ACTIONS.has(action.type);
}

const EXECUTION_ACTIONS: ReadonlySet<Action['type']> = new Set([
  'run_script',
  'run_command',
  'start_command',
  'write_input',
  'poll_command',
  'kill_command',
]);

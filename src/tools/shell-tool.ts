import { jsonSchema, type Offer, type ToolRow, type Observation, type OfType, type Action } from '#core';
import { named } from './parameters.ts';
import { withPackages } from './pip-packages.ts';
import { timeout } from './run-parameters.ts';
import { hasExecution, singleAction } from './single-action.ts';

interface ShellTool {
  readonly name: string;
  readonly description: string;
  /** Commands start in the project if programs see it, not in the workspace. */
  readonly startsInProject?: boolean;
  readonly toResult: (result: OfType<Observation, 'program-ran'>['result']) => unknown;
}

/** The shell tool of a system that has one tool for all commands. Commands run in the workspace, not on the host. */
export function shellTool({ name, description, startsInProject = false, toResult }: ShellTool): ToolRow {
  return {
    ...singleAction({
      name,
      description,
      action: 'run_command',
      schema: () =>
        jsonSchema.section(
          'What to run.',
          { command: named(jsonSchema.text('The shell command.')), timeout: named(timeout) },
          ['command'],
        ),
      toAction({ command, timeout: timeoutSeconds }, offer) {
        const action = toCommand(command, offer);
        const isInProject = startsInProject && offer.execution?.project !== undefined;
        return { ...action, timeoutSeconds, ...(isInProject ? { cwd: '$PROJECT_DIR' } : {}) };
      },
      toResult: ({ result }) => toResult(result),
    }),
    isOffered: hasExecution,
  };
}

/** Programs see a copy of the skill, to which paths of its folder lead. An action stages one skill: the first that the command names. */
function toCommand(command: string, offer: Offer): OfType<Action, 'run_command'> {
  const skill = offer.locateInCommand(command);
  return {
    type: 'run_command',
    ...withPackages(command, offer),
    skill,
    cwd: skill === undefined ? undefined : '$WORK_DIR',
  };
}

import {
  actionFailed,
  failure,
  fileProblemText,
  quoted,
  type ActionFailed,
  type ActionProblem,
  type Action,
} from '#core';

/** Hints for project files, where the general hint is about skill files. */
const HINTS: Partial<Readonly<Record<ActionProblem['code'], string>>> = {
  'path/empty': 'name a file relative to the project',
  'path/absolute': 'use a path relative to the project, workspace://path or skill://name/path',
  'path/parent': 'use a path without ..',
  'path/control-character': 'use the name that list_directory shows',
  'path/too-long': 'use the name that list_directory shows',
  'path/link-outside': 'the link leads outside and is not followed',
  'path/hard-link': 'the file has a second name (hard link) elsewhere and is not read',
  'file/missing': 'list the folder to see its files',
  'file/too-large': 'search the file with grep, or process it with a program',
  'file/changed': 'another program changed it; read it again',
};

/** A failure with a hint for project and workspace files. */
export function hostFailure(code: ActionProblem['code'], message: string, hint = HINTS[code]): ActionProblem {
  return failure(code, message, hint === undefined ? {} : { hint });
}

/** The failure of one file. `shown` is its path in rules and observations. */
export function fileFailed(
  action: Action['type'],
  shown: string,
  problem: Parameters<typeof fileProblemText>[0],
): ActionFailed {
  return actionFailed(action, hostFailure(problem.code, `${quoted(shown, 200)} ${fileProblemText(problem)}`));
}

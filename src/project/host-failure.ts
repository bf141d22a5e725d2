import type { ActionType } from '../core/action.ts';
import { failure } from '../core/failure-codes.ts';
import type { Failure, FailureCode } from '../core/failure-codes.ts';
import { fileProblemText } from '../core/file-problem.ts';
import type { FileProblem } from '../core/file-problem.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed } from '../core/observation.ts';
import { quoted } from '../core/text/text.ts';

/** What to do where the general advice speaks of the files of a skill. */
const HINTS: Partial<Readonly<Record<FailureCode, string>>> = {
  'path/empty': 'name a file, relative to the project',
  'path/absolute': 'give a path relative to the project, or workspace://path, or skill://name/path',
  'path/parent': 'stay inside: no .. in a path',
  'path/control-character': 'give the name as the list of the folder shows it',
  'path/too-long': 'give the name as the list of the folder shows it',
  'path/link-outside': 'the link leaves the place that it lies in and is not followed',
  'path/hard-link': 'the file has another name elsewhere and is not read',
  'file/missing': 'list the folder to see what is there',
  'file/too-large': 'search in the file, or use a program on it',
  'file/changed': 'something else changed it meanwhile; look at it again',
};

/** A failure with advice for files of the project and the workspace. */
export function hostFailure(code: FailureCode, message: string, hint = HINTS[code]): Failure {
  return failure(code, message, hint === undefined ? {} : { hint });
}

/** The failure of one file, named as rules and observations name it. */
export function fileFailed(action: ActionType, shown: string, problem: FileProblem): ActionFailed {
  return actionFailed(action, hostFailure(problem.code, `${quoted(shown, 200)} ${fileProblemText(problem)}`));
}

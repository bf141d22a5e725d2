import { failure } from '../core/failure-codes.ts';
import type { Failure, FailureCode } from '../core/failure-codes.ts';
import { quoted } from '../core/text.ts';
import { openConfined } from '../platform/confined-directory.ts';
import type { ConfinedDirectory } from '../platform/confined-directory.ts';

/** Which skill is read: its folder, and its name for messages. */
export interface SkillPlace {
  readonly dir: string;
  readonly name: string;
}

export interface Failed {
  readonly type: 'failed';
  readonly failure: Failure;
}

export function failed(failure: Failure): Failed {
  return { type: 'failed', failure };
}

/** Does something with a skill's folder held open: whatever is exchanged meanwhile, it is one folder. */
export function inSkill<Result>(
  { dir, name }: SkillPlace,
  act: (directory: ConfinedDirectory) => Result,
): Result | Failed {
  const opening = openConfined(dir);
  if (opening.type === 'failed') {
    const problem = opening.code === 'skill/gone' ? 'is gone' : 'cannot be read';
    return failed(failure(opening.code, `the folder of the skill ${quoted(name)} ${problem}`));
  }
  try {
    return act(opening.directory);
  } finally {
    opening.directory.close();
  }
}

/** Why a file is not read. */
export interface FileProblem {
  readonly code: FailureCode;
  readonly detail?: string;
}

/** Said of a file: it `is a folder`. */
export function fileProblemText({ code, detail }: FileProblem): string {
  const text = PROBLEMS.get(code) ?? 'cannot be read';
  return detail === undefined ? text : `${text} (${detail})`;
}

const PROBLEMS: ReadonlyMap<FailureCode, string> = new Map([
  ['file/missing', 'is not there'],
  ['file/directory', 'is a folder'],
  ['file/not-regular', 'is a pipe, a socket or a device'],
  ['file/too-large', 'is too large'],
  ['file/changed', 'changed while it was read'],
  ['path/link-outside', 'is a link to a place outside its skill'],
  ['path/link-loop', 'is a link that leads to too many others'],
  ['path/hard-link', 'has another name elsewhere'],
  ['path/too-long', 'has a path that is too long'],
]);

/** The failure of one file, named as it was asked for. */
export function fileFailure(
  { name }: SkillPlace,
  file: string,
  problem: FileProblem,
  nearest: readonly string[] = [],
): Failed {
  const message = `${quoted(file, 200)} of the skill ${quoted(name)} ${fileProblemText(problem)}`;
  return failed(failure(problem.code, message, { nearest }));
}

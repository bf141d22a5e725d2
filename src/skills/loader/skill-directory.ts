import { failure, fileProblemText, quoted, type ActionProblem } from '#core';
import { inConfined, type ConfinedDirectory } from '#platform';

/** The skill to read: its folder, and its name for messages. */
export interface SkillLocation {
  readonly dir: string;
  readonly name: string;
}

export interface Failed {
  readonly type: 'failed';
  readonly failure: ActionProblem;
}

export function failed(failure: ActionProblem): Failed {
  return { type: 'failed', failure };
}

/** Runs an action with the skill's folder held open, so that all reads refer to the same folder even if it is replaced. */
export function inSkill<Result>(
  { dir, name }: SkillLocation,
  act: (directory: ConfinedDirectory) => Result,
): Result | Failed {
  return inConfined<Result | Failed>(dir, act, (code) => {
    const problem = code === 'skill/gone' ? 'is gone' : 'cannot be read';
    return failed(failure(code, `the folder of the skill ${quoted(name)} ${problem}`));
  });
}

/** The failure of one file, under the name that was requested. */
export function fileFailure(
  { name }: SkillLocation,
  file: string,
  problem: Parameters<typeof fileProblemText>[0],
  nearest: readonly string[] = [],
): Failed {
  const message = `${quoted(file, 200)} of the skill ${quoted(name)} ${fileProblemText(problem)}`;
  return failed(failure(problem.code, message, { nearest }));
}

/** A suite as a list of attempts in a fixed order, each with a key that names everything its outcome depends on. */
import path from 'node:path';

import type { EvalCase } from '../cases/case.ts';
import type { Arm } from '../report/result.ts';
import { stableJson } from '../../core/json/stable-json.ts';
import { sha256 } from '../../platform/hash.ts';
import { VERSION } from '../../version.ts';

export interface ArmSkills {
  readonly arm: Arm;
  /** Folders of all skills that are there in this arm, for a case. */
  readonly foldersFor: (evalCase: EvalCase) => readonly string[];
}

export interface Job {
  readonly evalCase: EvalCase;
  readonly arm: Arm;
  readonly attempt: number;
  /** Absolute, sorted; what the set of skills is made from. */
  readonly folders: readonly string[];
}

/** Cases in their order, of each the arms in theirs, of each the attempts: results stand so however long each took. */
export function jobsOf(
  cases: readonly EvalCase[],
  arms: readonly ArmSkills[],
  repeat: number | undefined,
): readonly Job[] {
  return cases.flatMap((evalCase) =>
    arms.flatMap(({ arm, foldersFor }) => {
      const folders = [...new Set(foldersFor(evalCase).map((folder) => path.resolve(folder)))].toSorted();
      return Array.from({ length: repeat ?? evalCase.repeat }, (_, place) => ({
        evalCase,
        arm,
        attempt: place + 1,
        folders,
      }));
    }),
  );
}

export interface JobKeyParts {
  readonly skills: string;
  readonly model: string;
  /** Contents of the case's files. */
  readonly files: readonly string[];
  /** What else was set: executor, judge. */
  readonly settings: unknown;
}

/** Two attempts with one key can only come out alike as far as we decide it; where they stand in a file does not matter. */
export function jobKey({ evalCase, arm, attempt }: Job, parts: JobKeyParts): string {
  const { place: _place, name: _name, tags: _tags, files: _files, skills, ...rest } = evalCase;
  return sha256(stableJson({ tool: VERSION, arm, attempt, case: { ...rest, target: skills.target ?? '' }, ...parts }));
}

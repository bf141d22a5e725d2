/** Expands a suite into attempts in a fixed order, each with a cache key. */
import path from 'node:path';

import type { EvalCase } from '../cases/case.ts';
import type { Arm } from '../report/result.ts';
import { stableJson } from '#core';
import { sha256 } from '#platform';
import { VERSION } from '../../version.ts';

export interface ArmSkills {
  readonly arm: Arm;
  readonly foldersFor: (evalCase: EvalCase) => readonly string[];
}

export interface Job {
  readonly evalCase: EvalCase;
  readonly arm: Arm;
  readonly attempt: number;
  /** Absolute paths of the skills, sorted. */
  readonly folders: readonly string[];
}

/** Orders by case, then arm, then attempt. */
export function buildJobs(
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

/** Covers everything that the outcome depends on; the position in the case file is not part of it. */
export function jobKey(
  { evalCase, arm, attempt }: Job,
  parts: Readonly<Record<'skills' | 'model' | 'files' | 'settings', unknown>>,
): string {
  const { place: _place, name: _name, tags: _tags, files: _files, skills, ...rest } = evalCase;
  return sha256(stableJson({ tool: VERSION, arm, attempt, case: { ...rest, target: skills.target ?? '' }, ...parts }));
}

/** Expands a suite into attempts in a fixed order, each with a cache key. */
import path from 'node:path';

import type { EvalCase } from '../cases/case.ts';
import { groupBy, type Arm } from '../report/result.ts';
import { stableJson } from '#core';
import { sha256 } from '#platform';
import { VERSION } from '../../version.ts';
import type { SkillSet } from './skill-set.ts';

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

/**
 * The places of the jobs in the order in which they run: the arms of an attempt one after the other, each as often first as the other, so that
 * a server that slows down or changes does so for both.
 */
export function orderJobs(jobs: readonly Job[]): readonly number[] {
  const pairs = groupBy(
    jobs.map((_, place) => place),
    (place) => JSON.stringify([jobs[place]?.evalCase.id, jobs[place]?.attempt]),
  );
  return [...pairs.values()].flatMap((places, pair) => (pair % 2 === 0 ? places : places.toReversed()));
}

/** What an outcome depends on besides its case. */
export interface KeyParts {
  readonly skills: SkillSet['skills'];
  /** The model with its address and parameters, or the agent with its environment. */
  readonly model: string;
  /** Digests of the input files and the checker scripts, in the order of the case. */
  readonly files: readonly string[];
  readonly executor: string;
  readonly timeoutMs: number;
  readonly stopAfter: unknown;
  readonly settings: unknown;
}

/** Covers everything that the outcome depends on. The folders of files, and where the case is written, are not part of it. */
export function jobKey({ evalCase, arm, attempt }: Omit<Job, 'folders'>, parts: KeyParts): string {
  const {
    place: _place,
    name: _name,
    tags: _tags,
    isDraft: _isDraft,
    quarantine: _quarantine,
    files,
    skills,
    ...rest
  } = evalCase;
  const named = { ...rest, files: files.map((file) => path.basename(file)), target: skills.target ?? '' };
  const machine = [process.platform, process.arch];
  return sha256(stableJson({ tool: VERSION, machine, arm, attempt, case: named, ...parts }));
}

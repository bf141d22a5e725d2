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
 * The places of the jobs in the order in which they run, grouped by case and attempt: the arms of a group run one after the other. Of two
 * neighbouring cases one runs with the skill first, the other last, and each case alternates over its attempts, so that a server that slows
 * down or changes does so for both arms. A hash of the cases decides which of the two it is. Cases in quarantine take turns of their own,
 * because they do not count.
 */
export function orderJobs(jobs: readonly Job[]): readonly (readonly number[])[] {
  const cases = new Map(jobs.map(({ evalCase }) => [evalCase.id, evalCase]));
  const seed = [...cases.keys()].join('\n');
  const isFirst = new Map(
    [true, false].flatMap((isQuarantined) =>
      [...cases.values()]
        .filter(({ quarantine }) => (quarantine !== undefined) === isQuarantined)
        .map(({ id }, place) => [id, (place + coin(seed, Math.floor(place / 2))) % 2] as const),
    ),
  );
  const groups = groupBy(
    jobs.map((job, place) => ({ job, place })),
    ({ job }) => JSON.stringify([job.evalCase.id, job.attempt]),
  );
  return [...groups.values()].map((group) => {
    const places = group.map(({ place }) => place);
    const { evalCase, attempt = 1 } = group[0]?.job ?? {};
    return ((isFirst.get(evalCase?.id ?? '') ?? 0) + attempt) % 2 === 0 ? places : places.toReversed();
  });
}

function coin(seed: string, block: number): number {
  return Number.parseInt(sha256(`${String(block)} ${seed}`).slice(0, 1), 16) % 2;
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

/** Cases to a report: what runs programs is found once, every arm has its skills, and nothing is counted that did not happen. */
import path from 'node:path';

import type { EvalCase } from './cases/case.ts';
import { compareArms, isComparison } from './report/compare-arms.ts';
import { makeReport } from './report/report.ts';
import type { Arm, CaseResult, Comparison, EvalReport } from './report/result.ts';
import { isSkillError } from '../core/errors.ts';
import type { Executor, ExecutorName } from '../core/execution.ts';
import type { Model } from '../core/model.ts';
import { containerSettings, findExecutor } from '../runtime/execution/executors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { VERSION } from '../version.ts';
import { openCaseGrader } from './run/grade-case.ts';
import { needsPrograms } from './run/needs-programs.ts';
import { findOldVersion } from './run/old-version.ts';
import { runSuite } from './run/run-suite.ts';
import type { SuiteBasis, SuiteOptions } from './run/run-suite.ts';
import { isSkillNamed, skillFoldersIn } from './run/skill-folders.ts';
import type { SkillSet } from './run/skill-set.ts';
import type { ArmSkills } from './run/suite-jobs.ts';

export interface EvaluateOptions extends SuiteBasis, Pick<SuiteOptions, 'updateCassettes'> {
  /** Folders of the skills that are there where a case names none. */
  readonly skills: readonly string[];
  /** `none`: the same cases without the target. `old` or a revision of git: with that version of it. Absent: nothing is compared. */
  readonly baseline?: string;
  /** What runs programs; `auto` takes the first that isolates, and cases that need programs are skipped where nothing does. */
  readonly executor?: 'auto' | 'none' | ExecutorName | Executor;
  /** Where programs run, as the surroundings say: those of a runtime. */
  readonly places: Pick<Runtime['executionPlaces'], 'base' | 'cacheDir' | 'engine'>;
  readonly home?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Judges what code cannot check. */
  readonly judge?: Model;
}

export async function evaluate(options: EvaluateOptions): Promise<EvalReport> {
  const startedAt = new Date();
  const { executor: _executor, ...suite } = options;
  const { directory, judge, onNote } = options;
  const found = await executorFor(options);
  if (found.reason !== '') onNote?.(found.reason);
  const { executor } = found;
  const arms = await armsOf(options);
  if (arms.length > 1 && options.cases.some(({ answers }) => answers?.type === 'script'))
    onNote?.('answers written by hand are the same with and without a skill: compare with a model, or with cassettes');
  const { results, sets, isPartial } = await runSuite({
    ...suite,
    arms,
    ...openCaseGrader({ outputs: path.join(directory, 'outputs'), ...(judge === undefined ? {} : { judge }) }),
    ...(executor === undefined ? {} : { executor }),
    settings: { judge: judge?.id ?? '' },
    reasonToSkip: (one) => (executor === undefined && needsPrograms(one) ? found.reason : undefined),
  });
  return makeReport({
    tool: `skillwright ${VERSION}`,
    startedAt: startedAt.toISOString(),
    wallMs: Date.now() - startedAt.getTime(),
    skills: skillsOf(sets),
    isPartial,
    results,
    comparisons: comparisonsOf(results, arms, onNote),
  });
}

/** Each skill that was there, by its digest; two versions of one are two. */
export function skillsOf(sets: readonly SkillSet[]): EvalReport['skills'] {
  const skills = new Map(
    sets.flatMap((set) => set.skills.map(({ name, digest }) => [`${name} ${digest}`, { name, digest }] as const)),
  );
  return [...skills.values()];
}

interface FoundPrograms {
  readonly executor?: Executor;
  /** Why nothing can be run. */
  readonly reason: string;
}

/** Once for all runs: to find out what isolates takes longer than most cases. */
async function executorFor({ executor = 'auto', places }: EvaluateOptions): Promise<FoundPrograms> {
  if (executor === 'none') return { reason: 'programs are switched off' };
  const { base, cacheDir, engine } = places;
  try {
    const settings = { bridgeFolder: base, container: containerSettings(engine, undefined) };
    return { executor: (await findExecutor(executor, settings, { cacheDir })).executor, reason: '' };
  } catch (error) {
    const isNamed = executor !== 'auto';
    if (isNamed || !isSkillError(error) || error.code !== 'executor/unavailable') throw error;
    return { reason: `no program can be run here: ${error.message}` };
  }
}

async function armsOf(options: EvaluateOptions): Promise<readonly ArmSkills[]> {
  const { baseline, skills } = options;
  const foldersFor = foldersOf(skills);
  const own: ArmSkills = { arm: 'with', foldersFor };
  if (baseline === undefined) return [own];
  if (baseline === 'none') return [own, { arm: 'without', foldersFor: (one) => withoutTarget(one, foldersFor(one)) }];
  return [own, { arm: 'old', foldersFor: await oldFolders(options, foldersFor) }];
}

type FoldersFor = ArmSkills['foldersFor'];

/** The folders that a case names, else those of the suite; each a skill, however they were named. */
export function foldersOf(skills: readonly string[]): FoldersFor {
  const known = new Map<string, readonly string[]>();
  return ({ skills: { folders } }) => {
    if (folders.length === 0) return skills;
    return folders.flatMap((folder) => {
      const inside = known.get(folder) ?? skillFoldersIn(folder);
      known.set(folder, inside);
      return inside;
    });
  };
}

/** A case about all of them is compared with none of them. */
function withoutTarget({ skills: { target } }: EvalCase, folders: readonly string[]): readonly string[] {
  return target === undefined ? [] : folders.filter((folder) => !isSkillNamed(folder, target));
}

async function oldFolders(options: EvaluateOptions, foldersFor: FoldersFor): Promise<FoldersFor> {
  const { cases, baseline = 'old', directory, home, env = {}, signal, onNote } = options;
  const targets = new Set(
    cases.flatMap((one) => foldersFor(one).filter((folder) => isSkillNamed(folder, one.skills.target ?? ''))),
  );
  const old = new Map<string, string>();
  for (const [place, folder] of [...targets].entries()) {
    const to = path.join(directory, 'baseline', String(place));
    const version = await findOldVersion(folder, { wanted: baseline, to, home, env, signal });
    onNote?.(`${path.basename(folder)} is compared with ${version.from}`);
    old.set(folder, version.folder);
  }
  return (one) => foldersFor(one).map((folder) => old.get(folder) ?? folder);
}

function comparisonsOf(
  results: readonly CaseResult[],
  arms: readonly ArmSkills[],
  onNote: EvaluateOptions['onNote'],
): readonly Comparison[] {
  const others: readonly Arm[] = arms.map(({ arm }) => arm).filter((arm) => arm !== 'with');
  return others.flatMap((against) => {
    const compared = compareArms(results, { of: 'with', against });
    if (isComparison(compared)) return [compared];
    onNote?.(`nothing is compared: ${compared.reason}`);
    return [];
  });
}

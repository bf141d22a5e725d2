/** Runs cases with one or two arms and makes the report. */
import path from 'node:path';

import { isSkillNamed, skillFoldersIn } from './cases/suite.ts';
import { compareArms, isComparison } from './report/compare-arms.ts';
import { finishReport } from './report/report.ts';
import { ARMS, isCounted, type CaseResult, type EvalReport } from './report/result.ts';
import { isObject, isSkillError, type Executor, type ExecutorName, type Model } from '#core';
import type { Runtime } from '#runtime';
import { withOwnSkills } from './subjects/open-subject.ts';
import { testJudge, testOnOtherAnswers, withoutVerdict } from './grade/judge-controls.ts';
import { identifyModel } from './run/case-model.ts';
import { countLooks, isLook } from './statistics/case-differences.ts';
import { findExecutor } from '#sandbox';
import { runAttempt, runSuite, type SuiteBasis, type SuiteOptions } from './run/run-suite.ts';
import { removeTree } from '#platform';
import { ALWAYS_FIRE, NEVER_FIRE, canaryControl, controlCases, writeControlSkills } from './trigger/controls.ts';
import { makeTriggerReport } from './trigger/trigger-score.ts';
import { findBaselineVersion } from '#packs';
import type { ActionPattern, EvalCase } from './cases/case.ts';
import type { SkillSet } from './run/skill-set.ts';
import type { ArmSkills, Job } from './run/suite-jobs.ts';

export interface EvaluateOptions extends SuiteBasis, Pick<SuiteOptions, 'updateCassettes'> {
  /** Skill folders for cases that name none. */
  readonly skills: readonly string[];
  /** `none` compares with runs without the target skill; `old` or a git revision compares with that version of it. */
  readonly baseline?: string;
  /** `auto` takes the first isolating executor; without one, cases that need programs are skipped (default: auto). */
  readonly executor?: 'auto' | 'none' | ExecutorName | Executor;
  /** The execution settings of a runtime. */
  readonly places: Pick<Runtime['executionPlaces'], 'base' | 'cacheDir' | 'engine'>;
  readonly home?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly judge?: Model;
  /** Stops after the attempt at which the difference to the baseline is decided. `repeat` is the most attempts. */
  readonly stopWhenDecided?: { readonly detect: number };
}

/** Runs cases and grades their records. */
export async function evaluate(request: EvaluateOptions): Promise<EvalReport> {
  const startedAt = new Date();
  const { directory, judge, onNote } = request;
  const controlled = await runControls(request, startedAt);
  if ('invalid' in controlled) return controlled.invalid;
  const options = { ...request, ...controlled };
  const found = await executorFor(options);
  if (found.reason !== '') onNote?.(found.reason);
  const { executor } = found;
  const { stopWhenDecided: stop } = options;
  const tested = judge === undefined ? undefined : await testJudge(judge, options.cases, options.signal);
  const wrong = tested?.controls.find(({ isKept }) => !isKept);
  const { results, sets, rounds, isPartial } = await runSuite({
    ...options,
    isDecided: stop === undefined ? undefined : (done) => isDecided(done, { ...stop, most: options.repeat ?? 1 }),
    arms: await buildArms(options),
    grading: {
      judge: judge !== undefined && wrong !== undefined ? withoutVerdict(judge, wrong) : judge,
      outputs: path.join(directory, 'outputs'),
    },
    executor,
    settings: { judge: judge === undefined ? '' : identifyModel(judge) },
    reasonToSkip: (one) =>
      executor === undefined && found.reason !== '' && options.subject === undefined && needsPrograms(one)
        ? found.reason
        : undefined,
  });
  return finishReport(startedAt, {
    skills: listSkills(sets),
    isPartial,
    results,
    prices: options.prices,
    judge:
      judge === undefined || tested === undefined
        ? undefined
        : await testOnOtherAnswers(judge, tested, options.cases, results, options.signal),
    sequential: stop === undefined ? undefined : { rounds, most: options.repeat ?? 1, detect: stop.detect },
  });
}

export type AttemptOptions = Pick<
  EvaluateOptions,
  'executor' | 'places' | 'model' | 'judge' | 'timeoutMs' | 'directory' | 'sourceOf' | 'signal'
>;

/** Runs and grades one attempt as a suite does. Its record and its files are put below `directory`. */
export async function evaluateAttempt(job: Job, options: AttemptOptions): Promise<CaseResult> {
  const { executor, reason } = await executorFor({ ...options, cases: [job.evalCase] });
  return runAttempt(job, {
    ...options,
    grading: { judge: options.judge, outputs: path.join(options.directory, 'outputs') },
    executor,
    reasonToSkip: (one) => (executor === undefined && needsPrograms(one) ? reason : undefined),
  });
}

/** Whether the sign of the difference is known, or that it is smaller than the one of interest, or that no case can be compared. */
function isDecided(
  results: readonly CaseResult[],
  { detect, most }: { readonly detect: number; readonly most: number },
): boolean {
  if (!isLook(Math.max(1, ...results.map(({ attempt }) => attempt)), most)) return false;
  const against = ARMS.find((arm) => arm !== 'with' && results.some((result) => result.arm === arm));
  if (against === undefined) return true;
  const compared = compareArms(results.filter(isCounted), { of: 'with', against, looks: countLooks(most) });
  if (!isComparison(compared)) return true;
  const { low, high } = compared.difference;
  return low > 0 || high < 0 || (low > -detect && high < detect);
}

/** All installed skills; two versions of one skill are two entries. */
export function listSkills(sets: readonly SkillSet[]): EvalReport['skills'] {
  const skills = new Map(
    sets.flatMap((set) => set.skills.map(({ name, digest }) => [`${name} ${digest}`, { name, digest }] as const)),
  );
  return [...skills.values()];
}

type ProgramOptions = Pick<EvaluateOptions, 'executor' | 'places' | 'subject' | 'cases' | 'elsewhere'>;

/** The executor, or the reason why no program can run. Probed once for all runs, because the probe takes longer than most cases. */
async function executorFor(
  options: ProgramOptions,
): Promise<{ readonly executor?: Executor; readonly reason: string }> {
  const { executor = 'auto', places, subject, cases } = options;
  if (options.elsewhere !== undefined) return { reason: '' };
  // Another agent runs programs itself; only checkers need the sandbox.
  if (subject !== undefined && !cases.some(hasChecker)) return { reason: '' };
  if (executor === 'none') return { reason: 'program execution is disabled' };
  const { base, cacheDir, engine } = places;
  try {
    const settings = { bridgeFolder: base, container: { socket: engine } };
    return { executor: (await findExecutor(executor, settings, { cacheDir })).executor, reason: '' };
  } catch (error) {
    const isNamed = executor !== 'auto';
    if (isNamed || !isSkillError(error) || error.code !== 'executor/unavailable') throw error;
    return { reason: `no executor is available: ${error.message}` };
  }
}

async function buildArms(options: EvaluateOptions): Promise<readonly ArmSkills[]> {
  const { baseline, skills } = options;
  const foldersFor = createFolderLookup(skills);
  const own: ArmSkills = { arm: 'with', foldersFor };
  if (baseline === undefined) return [own];
  if (baseline !== 'none') return [own, { arm: 'old', foldersFor: await oldFolders(options, foldersFor) }];
  // A case without a target is compared with no skills at all.
  const withoutTarget: FoldersFor = (one) => {
    const { target } = one.skills;
    return target === undefined ? [] : foldersFor(one).filter((folder) => !isSkillNamed(folder, target));
  };
  return [own, { arm: 'without', foldersFor: withoutTarget }];
}

type FoldersFor = ArmSkills['foldersFor'];

function createFolderLookup(skills: readonly string[]): FoldersFor {
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

async function oldFolders(options: EvaluateOptions, foldersFor: FoldersFor): Promise<FoldersFor> {
  const { cases, directory, onNote } = options;
  const targets = new Set(
    cases.flatMap((one) => foldersFor(one).filter((folder) => isSkillNamed(folder, one.skills.target ?? ''))),
  );
  const old = new Map<string, string>();
  for (const [place, folder] of [...targets].entries()) {
    const to = path.join(directory, 'baseline', String(place));
    // Left by an evaluation that is resumed.
    await removeTree(to);
    const version = await findBaselineVersion(folder, to, options);
    onNote?.(`comparing ${path.basename(folder)} with ${version.from}`);
    old.set(folder, version.folder);
  }
  return (one) => foldersFor(one).map((folder) => old.get(folder) ?? folder);
}

const RUNS = /^(?:run_(?:script|command)|start_command|skill_(?:run|exec)|Bash|bash)$/;

/** Whether the script of the case runs a program, or the case expects one to run. The calls of a live model are not known, so its cases are tried. */
function needsPrograms({ answers, expect }: EvalCase): boolean {
  if (answers?.type === 'script' && answers.turns.some((turn) => calledIn(turn).some((name) => RUNS.test(name))))
    return true;
  const { ordered = [], unordered = [], before = [] } = expect.actions ?? {};
  const isRun = ({ tool }: ActionPattern): boolean => RUNS.test(tool);
  return [...ordered, ...unordered, ...before.map(({ first }) => first)].some(isRun) || hasChecker({ expect });
}

function hasChecker({ expect }: Pick<EvalCase, 'expect'>): boolean {
  return (expect.output ?? []).some(({ type }) => type === 'checker');
}

function calledIn(turn: unknown): readonly string[] {
  if (!isObject(turn)) return [];
  const { toolCalls, text } = turn;
  const calls: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  const names = calls.flatMap((call) => (isObject(call) && typeof call['name'] === 'string' ? [call['name']] : []));
  const [, action] = typeof text === 'string' ? (/"type"\s*:\s*"([a-z_]+)"/.exec(text) ?? []) : [];
  return action === undefined ? names : [...names, action];
}

/**
 * A report without scores if the subject fails a control: for example, a new version of it has another transcript. The cache is not used,
 * because an older result proves nothing about the program of today.
 */
async function runControls(
  options: SuiteBasis,
  startedAt: Date,
): Promise<{ readonly invalid: EvalReport } | Pick<SuiteBasis, 'subject'>> {
  const { subject, directory } = options;
  if (subject === undefined || subject.missing !== '') return {};
  const skillsFolder = path.join(directory, 'control-skills');
  await removeTree(skillsFolder);
  const { cache: _cache, ...basis } = options;
  const { results, isPartial } = await runSuite({
    ...basis,
    cases: controlCases().slice(0, 1),
    arms: [{ arm: 'with', foldersFor: () => writeControlSkills(skillsFolder) }],
    directory: path.join(directory, 'controls'),
    settings: { controls: 1 },
  }).finally(() => removeTree(skillsFolder));
  const controls = [
    canaryControl('always-fire', ALWAYS_FIRE.name, results),
    canaryControl('never-fire', NEVER_FIRE.name, results),
  ];
  if (!isPartial && controls.every(({ isKept }) => isKept)) return { subject: withOwnSkills(subject, results) };
  const trigger = makeTriggerReport({ trials: [], controls });
  return { invalid: finishReport(startedAt, { isPartial, results, trigger }) };
}

/**
 * Whether skills fire when they should: all of them installed at once in a home of its own, the real agent, the whole record read. Controls
 * come first, and where one is not kept there is no score.
 */
import path from 'node:path';

import type { EvalCase } from '../cases/case.ts';
import { makeReport } from '../report/report.ts';
import type { CaseResult, Control, EvalReport } from '../report/result.ts';
import { canaryControl, shuffledControl } from './trigger-controls.ts';
import { makeTriggerReport } from './trigger-score.ts';
import { hasVerdict, trialsOf } from './trigger-trial.ts';
import type { TriggerTrial } from './trigger-trial.ts';
import { sha256 } from '../../platform/hash.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { VERSION } from '../../version.ts';
import { skillsOf } from '../evaluate.ts';
import { openCaseGrader } from '../run/grade-case.ts';
import { runSuite } from '../run/run-suite.ts';
import type { SuiteBasis, SuiteOutcome } from '../run/run-suite.ts';
import { ALWAYS_FIRE, controlCases, NEVER_FIRE, writeControlSkills } from './controls.ts';
import { writeDistractors } from './distractors.ts';
import { triggerCasesOf } from './trigger-cases.ts';

export interface TriggerOptions extends SuiteBasis {
  /** Folders of all skills that are there. */
  readonly skills: readonly string[];
  /** The same cases once more among so many other skills, each in turn. */
  readonly distractors?: readonly number[];
  /** Folders of real skills to take as others, instead of made-up ones. */
  readonly others?: readonly string[];
  /** A folder of recorded answers: they are played, or with `updateCassettes` made by the model. The skills must be the same. */
  readonly cassettes?: string;
  readonly updateCassettes?: boolean;
}

export async function evaluateTrigger(options: TriggerOptions): Promise<EvalReport> {
  const startedAt = new Date();
  const { cases, leftOut } = triggerCasesOf(options.cases);
  for (const [reason, ids] of byReason(leftOut)) options.onNote?.(`left out, since ${reason}: ${ids.join(', ')}`);
  const { trials: outcome, controls, sweep } = await runAll({ ...options, cases }).finally(() => cleanUp(options));
  const trials = trialsOf(cases, outcome.results);
  const trigger = makeTriggerReport({ trials, controls, sweep });
  return makeReport({
    tool: `skillwright ${VERSION}`,
    startedAt: startedAt.toISOString(),
    wallMs: Date.now() - startedAt.getTime(),
    skills: skillsOf(outcome.sets),
    isPartial: outcome.isPartial,
    results: outcome.results,
    trigger,
  });
}

function byReason(leftOut: ReturnType<typeof triggerCasesOf>['leftOut']): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, readonly string[]>();
  for (const { case: id, reason } of leftOut) reasons.set(reason, [...(reasons.get(reason) ?? []), id]);
  return reasons;
}

/** Skills that were made for this evaluation alone. */
async function cleanUp({ directory }: TriggerOptions): Promise<void> {
  for (const made of [CONTROLS, DISTRACTORS]) await removeTree(path.join(directory, made));
}

const CONTROLS = 'control-skills';
const DISTRACTORS = 'distractors';

interface RanAll {
  /** Of the controls themselves where they were not kept: nothing else was run then. */
  readonly trials: SuiteOutcome;
  readonly controls: readonly Control[];
  readonly sweep: readonly SweepStep[];
}

interface SweepStep {
  readonly distractors: number;
  readonly trials: readonly TriggerTrial[];
}

/** The controls before anything else: a harness that is broken costs five runs, and not a thousand. */
async function runAll(options: TriggerOptions): Promise<RanAll> {
  const made = path.join(options.directory, CONTROLS);
  await removeTree(made);
  makeFolders(made);
  const skills = [...options.skills, ...writeControlSkills(made)];
  const asked = await runAmong(options, { cases: controlCases(), skills, name: 'controls' });
  const always = canaryControl('always-fire', ALWAYS_FIRE.name, asked.results);
  const never = (results: readonly CaseResult[]): Control => canaryControl('never-fire', NEVER_FIRE.name, results);
  const first = [always, never(asked.results)];
  if (asked.isPartial || first.some(({ isKept }) => !isKept)) return { trials: asked, controls: first, sweep: [] };
  const trials = await runAmong(options, { cases: options.cases, skills, name: '' });
  const swept = await sweepOver(options, skills, trials.isPartial);
  const all = [...asked.results, ...verdicts([...trials.results, ...swept.flatMap(({ outcome }) => outcome.results)])];
  const controls = [always, never(all), shuffledControl(trialsOf(options.cases, trials.results))];
  const sweep = swept.map(({ distractors, outcome }) => ({
    distractors,
    trials: trialsOf(options.cases, outcome.results),
  }));
  const isPartial = trials.isPartial || swept.some(({ outcome }) => outcome.isPartial);
  return { trials: { ...trials, isPartial }, controls, sweep };
}

/** What broke in a trial is an error of its case, and counted as one; it keeps no canary from anything. */
function verdicts(results: readonly CaseResult[]): readonly CaseResult[] {
  return results.filter((result) => hasVerdict(result) || result.loaded.includes(NEVER_FIRE.name));
}

interface Among {
  readonly cases: readonly EvalCase[];
  readonly skills: readonly string[];
  /** Of its folder below that of the evaluation; empty: itself. */
  readonly name: string;
}

/** No programs: what a skill would do is not asked here. */
function runAmong(options: TriggerOptions, { cases, skills, name }: Among): Promise<SuiteOutcome> {
  const { distractors: _distractors, others: _others, skills: _skills, cassettes, ...suite } = options;
  return runSuite({
    ...suite,
    cases:
      cassettes === undefined ? cases : recorded(cases, path.join(cassettes, name === '' ? 'cases' : name), options),
    arms: [{ arm: 'with', foldersFor: () => skills }],
    directory: path.join(options.directory, name),
    settings: { trigger: 1 },
    ...openCaseGrader(),
  });
}

/** Each case with a recording of its own. What the model saw stands in it, so that other skills need another recording. */
function recorded(
  cases: readonly EvalCase[],
  folder: string,
  { updateCassettes = false }: TriggerOptions,
): readonly EvalCase[] {
  if (updateCassettes) makeFolders(folder);
  return cases.map((one) => {
    const name = `${one.id.replaceAll(/[^\w.-]+/g, '-').slice(0, 60)}-${sha256(one.id).slice(0, 8)}`;
    return { ...one, answers: { type: 'cassette', file: path.join(folder, `${name}.jsonl`) } };
  });
}

interface Swept {
  readonly distractors: number;
  readonly outcome: SuiteOutcome;
}

async function sweepOver(
  options: TriggerOptions,
  skills: readonly string[],
  isStopped: boolean,
): Promise<readonly Swept[]> {
  const swept: Swept[] = [];
  for (const count of options.distractors ?? []) {
    if (isStopped || options.signal.aborted) break;
    const folders = othersFor(options, count);
    if (folders.length < count)
      options.onNote?.(`there are only ${String(folders.length)} other skills, not ${String(count)}`);
    const among = { cases: options.cases, skills: [...skills, ...folders], name: `sweep-${String(count)}` };
    swept.push({ distractors: folders.length, outcome: await runAmong(options, among) });
  }
  return swept;
}

function othersFor({ directory, others, skills }: TriggerOptions, count: number): readonly string[] {
  if (others === undefined) return writeDistractors(path.join(directory, DISTRACTORS, String(count)), count);
  // One that is evaluated, or has its name, is no other.
  const taken = new Set(skills.map((folder) => path.basename(folder)));
  const usable = others.filter((folder) => {
    const isNew = !taken.has(path.basename(folder));
    taken.add(path.basename(folder));
    return isNew;
  });
  return usable.slice(0, count);
}

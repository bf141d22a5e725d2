/**
 * Evaluates whether skills load when they should: all skills are installed at once, the real agent runs, and whole records are read.
 * Controls run first; if one fails there are no scores.
 */
import path from 'node:path';

import { defined } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { finishReport } from '../report/report.ts';
import { groupBy, hasVerdict, type CaseResult, type Control, type EvalReport } from '../report/result.ts';
import { withOwnSkills } from '../subjects/open-subject.ts';
import { makeTriggerReport } from './trigger-score.ts';
import { toLabel, collectTrials } from './trigger-trial.ts';
import { makeFolders, removeTree, sha256 } from '#platform';
import { listSkills } from '../evaluate.ts';
import { answersFor } from '../run/case-model.ts';
import { runSuite, type SuiteBasis, type SuiteOutcome } from '../run/run-suite.ts';
import {
  ALWAYS_FIRE,
  NEVER_FIRE,
  canaryControl,
  controlCases,
  shuffledControl,
  writeControlSkills,
} from './controls.ts';
import { writeDistractors } from './distractors.ts';

export interface TriggerOptions extends SuiteBasis {
  readonly skills: readonly string[];
  /** Repeats the cases with each of these numbers of other skills. */
  readonly distractors?: readonly number[];
  /** Folders of real skills to use as distractors instead of generated ones. */
  readonly others?: readonly string[];
  /** A folder of cassettes to replay, or to record with `updateCassettes`. The skills must be the same. */
  readonly cassettes?: string;
  readonly updateCassettes?: boolean;
}

/** Measures which skill activates when all of them are installed. */
export async function evaluateTrigger(options: TriggerOptions): Promise<EvalReport> {
  const startedAt = new Date();
  const { subject } = options;
  const answering = subject ?? options.model ?? options.cassettes;
  const reason = (one: EvalCase): string => reasonToLeaveOut(one, answering) ?? '';
  for (const [why, leftOut] of groupBy(options.cases, reason))
    if (why !== '') options.onNote?.(`excluded: ${why}: ${leftOut.map(({ id }) => id).join(', ')}`);
  const limits = subject === undefined ? TRIGGER_LIMITS : {};
  const cases = options.cases.filter((one) => reason(one) === '').map((one) => asTriggerCase(one, limits));
  if (subject !== undefined && subject.missing !== '') {
    const { results, sets, isPartial } = await runAmong(options, { cases, skills: options.skills, name: '' });
    return finishReport(startedAt, { results, skills: listSkills(sets), isPartial });
  }
  const { trials: outcome, controls, sweep } = await runAll({ ...options, cases }).finally(() => cleanUp(options));
  const { results, isPartial } = outcome;
  const isControl = (name: string): boolean => name === ALWAYS_FIRE.name || name === NEVER_FIRE.name;
  return finishReport(startedAt, {
    skills: listSkills(outcome.sets).map((skill) => (isControl(skill.name) ? { ...skill, role: 'control' } : skill)),
    isPartial,
    results,
    prices: options.prices,
    trigger: makeTriggerReport({ trials: collectTrials(cases, results), controls, sweep }),
  });
}

/** Enough to search for a skill, load it and answer, also after another tool call. */
const TRIGGER_LIMITS = { turns: 4, toolCalls: 8, scriptRuns: 0 } as const;

function reasonToLeaveOut(one: EvalCase, answering: unknown): string | undefined {
  if (toLabel(one) === undefined) return 'these cases do not expect a skill';
  // Generated answers only stand in for a model.
  const isScripted = answersFor(one, answering)?.type === 'script';
  return isScripted ? 'these cases have scripted answers' : undefined;
}

/**
 * All skills are installed at once, so the cassette of a case does not apply and the suite model answers. The limits of the case are
 * replaced, so that all cases run equally long.
 */
function asTriggerCase(one: EvalCase, limits: EvalCase['limits']): EvalCase {
  const { trigger, skills } = one.expect;
  const { config: _config, protocol: _protocol, answers: _answers, ...rest } = one;
  return {
    ...rest,
    skills: { ...one.skills, folders: [] },
    expect: { ...defined({ trigger, skills }) },
    limits,
    forbidTools: [],
  };
}

/** Removes the skills that were generated for this evaluation. */
async function cleanUp({ directory }: TriggerOptions): Promise<void> {
  for (const folder of [CONTROLS, DISTRACTORS]) await removeTree(path.join(directory, folder));
}

const CONTROLS = 'control-skills';
const CONTROL_RUNS = 'controls';
const DISTRACTORS = 'distractors';

/** Runs the controls first, so that a broken harness costs five runs and not a thousand: then they are the trials, and nothing else ran. */
async function runAll(request: TriggerOptions) {
  const folder = path.join(request.directory, CONTROLS);
  await removeTree(folder);
  makeFolders(folder);
  const skills = [...request.skills, ...writeControlSkills(folder)];
  const control = await runAmong(request, { cases: controlCases(), skills, name: CONTROL_RUNS });
  const always = canaryControl('always-fire', ALWAYS_FIRE.name, control.results);
  const never = (results: readonly CaseResult[]): Control => canaryControl('never-fire', NEVER_FIRE.name, results);
  const first = [always, never(control.results)];
  if (control.isPartial || first.some(({ isKept }) => !isKept)) return { trials: control, controls: first, sweep: [] };
  const { subject } = request;
  const options = { ...request, subject: subject && withOwnSkills(subject, control.results) };
  const trials = await runAmong(options, { cases: options.cases, skills, name: '' });
  const swept = trials.isPartial ? [] : await sweepOver(options, skills);
  // A broken trial is an error of its case and does not fail a control, unless the control skill loaded.
  const judged = [...trials.results, ...swept.flatMap(({ outcome }) => outcome.results)].filter(
    (result) => hasVerdict(result) || result.loaded.includes(NEVER_FIRE.name),
  );
  const shuffled = shuffledControl(collectTrials(options.cases, trials.results));
  const controls = [always, never([...control.results, ...judged]), shuffled];
  const sweep = swept.map(({ distractors, outcome }) => ({
    distractors,
    trials: collectTrials(options.cases, outcome.results),
  }));
  const isPartial = trials.isPartial || swept.some(({ outcome }) => outcome.isPartial);
  return { trials: { ...trials, isPartial }, controls, sweep };
}

/**
 * Programs are disabled: only the loading of skills is evaluated. `name` is the subfolder for its results; empty for the folder of the
 * evaluation itself.
 */
function runAmong(
  options: TriggerOptions,
  { cases, skills, name }: Pick<TriggerOptions, 'cases' | 'skills'> & { readonly name: string },
): Promise<SuiteOutcome> {
  const { distractors: _distractors, others: _others, skills: _skills, cassettes, cache, ...suite } = options;
  // An older result of a control proves nothing about the model or the agent of today.
  const isControl = name === CONTROL_RUNS;
  return runSuite({
    ...suite,
    ...(isControl ? {} : defined({ cache })),
    cases:
      cassettes === undefined ? cases : recorded(cases, path.join(cassettes, name === '' ? 'cases' : name), options),
    arms: [{ arm: 'with', foldersFor: () => skills }],
    directory: path.join(options.directory, name),
    // Another agent has its own tools: it is ended after as many turns, and they are no limit of the case.
    stopAfter: TRIGGER_LIMITS,
    settings: { trigger: 1 },
  });
}

/** Gives each case its own cassette. A cassette contains the skill list, so other skills need other cassettes. */
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

async function sweepOver(options: TriggerOptions, skills: readonly string[]) {
  const swept: { readonly distractors: number; readonly outcome: SuiteOutcome }[] = [];
  for (const count of options.distractors ?? []) {
    if (options.signal.aborted) break;
    const folders = othersFor(options, count);
    if (folders.length < count)
      options.onNote?.(`only ${String(folders.length)} other skills are available, not ${String(count)}`);
    const among = { cases: options.cases, skills: [...skills, ...folders], name: `sweep-${String(count)}` };
    swept.push({ distractors: folders.length, outcome: await runAmong(options, among) });
  }
  return swept;
}

function othersFor({ directory, others, skills }: TriggerOptions, count: number): readonly string[] {
  if (others === undefined) return writeDistractors(path.join(directory, DISTRACTORS, String(count)), count);
  // An evaluated skill, or one with its name, cannot be a distractor.
  const usedNames = new Set(skills.map((folder) => path.basename(folder)));
  const usable = others.filter((folder) => {
    const isNew = !usedNames.has(path.basename(folder));
    usedNames.add(path.basename(folder));
    return isNew;
  });
  return usable.slice(0, count);
}

/**
 * Compares descriptions of a skill. Proposals are scored on the train part of the trigger cases; the best one meets the current description on
 * the validation part, which no proposal has seen. A difference within noise is no improvement.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { countText, invalidInput, quoted, SkillError } from '#core';
import { readHead, setDescription } from '#skills';
import { copyTree, makeFolders, removeTree } from '#platform';
import type { EvalCase } from '../cases/case.ts';
import { sumCosts } from '../report/report-text.ts';
import {
  groupBy,
  hasVerdict,
  type CaseCost,
  type CaseResult,
  type Control,
  type EvalReport,
  type Rate,
} from '../report/result.ts';
import { readRequestWords } from '../report/request-words.ts';
import { groupCases } from '../report/same-requests.ts';
import type { SuiteBasis } from '../run/run-suite.ts';
import { compareCases, type MeanInterval } from '../statistics/case-differences.ts';
import { computeRate } from '../statistics/statistics.ts';
import { writeDistractors } from '../trigger/distractors.ts';
import { evaluateTrigger } from '../trigger/run-trigger.ts';
import { isForTraining, toLabel } from '../trigger/trigger-trial.ts';

export interface TuneOptions extends SuiteBasis {
  readonly skill: string;
  /** Folders of skills that are installed beside it, or the number of generated ones. */
  readonly distractors: number | readonly string[];
  /** Returns proposals; gets what the current description got wrong on the train part. */
  readonly propose: (current: string, wrong: readonly WrongQuery[]) => Promise<readonly string[]>;
}

/** A request of the train part that loaded the skill although it should not, or did not although it should. */
export interface WrongQuery {
  readonly input: string;
  readonly shouldLoad: boolean;
}

interface Candidate {
  readonly description: string;
  readonly train: Rate;
}

export interface TuneReport {
  readonly schema: 1;
  readonly skill: string;
  readonly cases: { readonly train: number; readonly validation: number };
  readonly current: Candidate;
  readonly proposals: readonly Candidate[];
  /** Proposals that are no valid descriptions, with the reason. */
  readonly rejected: readonly { readonly description: string; readonly reason: string }[];
  /** The best proposal, if it is better than the current description on the train part. */
  readonly winner?: Candidate & {
    readonly validation: Rate;
    readonly currentValidation: Rate;
    /** Attempts of both descriptions without a verdict. The interval and p hold whatever they would have been. */
    readonly missing: number;
    readonly difference: MeanInterval;
    readonly p: number;
    readonly smallestVisible: number;
    /** The difference on the validation part is more than noise, also at the worst for attempts without a verdict. */
    readonly isImprovement: boolean;
  };
  /** Failed controls; then there are no scores. */
  readonly invalid: readonly Control[];
  readonly cost: CaseCost;
}

/** Below six pairs no difference reaches 5 %. */
const LEAST_VALIDATION = 6;
const MAX_DESCRIPTION = 1024;

/** Compares descriptions of a skill on its trigger cases. */
export async function tune(options: TuneOptions): Promise<TuneReport> {
  const { skill } = options;
  const text = readFileSync(path.join(skill, 'SKILL.md'), 'utf8');
  const name = parseHead(skill, text)?.name ?? path.basename(skill);
  const current = parseHead(skill, text)?.description ?? '';
  const cases = options.cases.filter(
    (one) => one.skills.target === name && toLabel(one) !== undefined && one.quarantine === undefined,
  );
  const [train, validation] = [
    cases.filter(({ id }) => isForTraining(id)),
    cases.filter(({ id }) => !isForTraining(id)),
  ];
  if (train.length === 0 || validation.length < LEAST_VALIDATION)
    throw invalidInput(
      `too few trigger cases to tune a description: ${String(train.length)} train, ${String(validation.length)} validation; expected at least 1 and ${String(LEAST_VALIDATION)}`,
      'about 40 trigger cases',
      'add requests that should and should not load the skill, such as trigger-eval.json; with 40 a clear difference can be seen',
    );
  const skillsFolder = path.join(options.directory, 'tune-skills');
  const run = openBench(options, skillsFolder, { text, name });
  try {
    const first = await run(current, train, 'train-0');
    const results = [...first.results];
    const candidate = (description: string, ran: EvalReport): Candidate => ({
      description,
      train: passRate(ran.results),
    });
    const report = (more: Partial<TuneReport>): TuneReport => ({
      schema: 1,
      skill: name,
      cases: { train: train.length, validation: validation.length },
      current: candidate(current, first),
      proposals: [],
      rejected: [],
      invalid: [],
      ...more,
      cost: sumCosts(results),
    });
    if (first.trigger?.isValid !== true) return report({ invalid: brokenIn(first) });
    const asked = await options.propose(current, wrongQueries(first, train));
    const all = [...new Set(asked.map((one) => one.trim()))].map((description) => ({
      description,
      reason: reasonToReject(description, current, { skill, text }) ?? repeatedText(description, validation) ?? '',
    }));
    const rejected = all.filter(({ reason }) => reason !== '');
    const valid = all.flatMap(({ description, reason }) => (reason === '' ? [description] : []));
    const proposals: Candidate[] = [];
    for (const [place, description] of valid.entries()) {
      const ran = await run(description, train, `train-${String(place + 1)}`);
      results.push(...ran.results);
      if (ran.trigger?.isValid !== true) return report({ invalid: brokenIn(ran), proposals, rejected });
      proposals.push(candidate(description, ran));
    }
    const best = proposals.toSorted((a, b) => b.train.count - a.train.count)[0];
    if (best === undefined || best.train.count <= passRate(first.results).count) return report({ proposals, rejected });
    // Each description runs first on half of the cases, so that neither gains from a server that changes meanwhile.
    const [mine, theirs]: [EvalReport[], EvalReport[]] = [[], []];
    for (const half of [0, 1]) {
      const cases = validation.filter((_one, place) => place % 2 === half);
      const own = () => run(best.description, cases, `validation-best-${String(half + 1)}`, 'fresh');
      const other = () => run(current, cases, `validation-current-${String(half + 1)}`, 'fresh');
      if (half === 0) mine.push(await own());
      theirs.push(await other());
      if (half === 1) mine.push(await own());
    }
    const resultsOf = (reports: readonly EvalReport[]) => reports.flatMap((one) => one.results);
    results.push(...resultsOf(mine), ...resultsOf(theirs));
    const broken = [...mine, ...theirs].flatMap(brokenIn);
    if (broken.length > 0) return report({ invalid: broken, proposals, rejected });
    return report({
      proposals,
      rejected,
      winner: { ...best, ...compareDescriptions(resultsOf(mine), resultsOf(theirs)) },
    });
  } finally {
    await removeTree(skillsFolder);
  }
}

function parseHead(skill: string, text: string) {
  const [file, directory] = [path.join(skill, 'SKILL.md'), path.basename(skill)];
  return readHead({ path: file, directory, fileName: 'SKILL.md', text, validUtf8: true }, { mode: 'lenient' }).head;
}

/** The text of SKILL.md with another description; undefined if the description would not be read back as it is. */
export function withDescription(skill: string, text: string, description: string): string | undefined {
  const changed = setDescription(text, description);
  return changed === undefined || parseHead(skill, changed)?.description !== description ? undefined : changed;
}

/** A description that holds the requests which compare it proves nothing for others. */
function repeatedText(description: string, validation: readonly EvalCase[]): string | undefined {
  const words = ` ${readRequestWords(description).exact} `;
  const repeated = validation.filter(({ input }) => {
    const { exact } = readRequestWords(input);
    return exact.split(' ').length >= FEWEST_REPEATED && words.includes(` ${exact} `);
  });
  const [first] = repeated;
  if (first === undefined) return undefined;
  return `it repeats ${countText(repeated.length, 'request')} of the validation part: ${quoted(first.input, 80)}`;
}

/** Fewer words may be those of the task itself. */
const FEWEST_REPEATED = 4;

function reasonToReject(
  description: string,
  current: string,
  { skill, text }: { readonly skill: string; readonly text: string },
): string | undefined {
  if (description === '') return 'it is empty';
  if (description === current) return 'it is the current description';
  if ([...description].length > MAX_DESCRIPTION) return `it has more than ${String(MAX_DESCRIPTION)} characters`;
  if (/[<>\x00-\x1f\x7f]/.test(description)) return 'it contains <, > or a control character';
  return withDescription(skill, text, description) === undefined ? 'SKILL.md cannot hold it' : undefined;
}

/** Runs cases with a copy of the skill that has another description, among the same other skills. */
function openBench(
  { skill, distractors, propose: _propose, directory, ...basis }: TuneOptions,
  skillsFolder: string,
  { text, name }: { readonly text: string; readonly name: string },
) {
  const { signal } = basis;
  const others =
    typeof distractors === 'number' ? writeDistractors(path.join(skillsFolder, 'others'), distractors) : distractors;
  return async (
    description: string,
    cases: readonly EvalCase[],
    label: string,
    age: 'any' | 'fresh' = 'any',
  ): Promise<EvalReport> => {
    const to = path.join(skillsFolder, label, path.basename(skill));
    makeFolders(path.dirname(to));
    const copied = await copyTree(skill, { to, permissions: 'writable', leaveOut: ['evals', 'eval'], signal });
    if (copied.type === 'refused')
      throw new SkillError({
        code: 'skill/invalid',
        message: `cannot copy ${quoted(name)}: ${copied.message}`,
        hint: 'run skillwright check on the skill',
        data: { path: skill },
      });
    writeFileSync(path.join(to, 'SKILL.md'), withDescription(skill, text, description) ?? text);
    const report = await evaluateTrigger({
      ...basis,
      // Results of another day beside those of today are no comparison.
      ...(age === 'fresh' ? { cache: undefined } : {}),
      cases,
      skills: [to, ...others],
      directory: path.join(directory, label),
    });
    // An interrupted part has no score.
    signal.throwIfAborted();
    return report;
  };
}

/** Each case counts once: it passes if more than half of its attempts do. */
function verdicts(results: readonly CaseResult[]): ReadonlyMap<string, boolean> {
  return new Map(
    [...groupBy(results.filter(hasVerdict), (result) => result.case)].map(([id, attempts]) => [
      id,
      attempts.filter(({ status }) => status === 'passed').length * 2 > attempts.length,
    ]),
  );
}

function passRate(results: readonly CaseResult[]): Rate {
  const all = [...verdicts(results).values()];
  return computeRate(all.filter(Boolean).length, all.length);
}

/**
 * Different cases are the unit, not attempts: the question is how the description does on other requests. Attempts without a verdict may
 * have passed or failed, and an improvement must hold either way.
 */
export function compareDescriptions(mine: readonly CaseResult[], theirs: readonly CaseResult[]) {
  const units = groupCases(mine).map((unit) => [...new Set(unit.map((result) => result.case))]);
  const compared = compareCases(
    units.map((ids) => {
      const [own, other] = [boundPasses(mine, ids), boundPasses(theirs, ids)];
      return { seen: own.seen - other.seen, low: own.low - other.high, high: own.high - other.low };
    }),
  );
  return {
    validation: passRate(mine),
    currentValidation: passRate(theirs),
    missing: [...mine, ...theirs].filter((result) => !hasVerdict(result)).length,
    ...compared,
    isImprovement: compared.p < 0.05 && compared.difference.low > 0,
  };
}

/** The share of attempts that passed; `low` and `high` if those without a verdict all failed or all passed. */
function boundPasses(results: readonly CaseResult[], ids: readonly string[]): Record<'seen' | 'low' | 'high', number> {
  const own = results.filter((result) => ids.includes(result.case));
  const passed = own.filter(({ status }) => status === 'passed').length;
  const judged = own.filter(hasVerdict).length;
  if (own.length === 0) return { seen: 0.5, low: 0, high: 1 };
  return {
    seen: judged === 0 ? 0.5 : passed / judged,
    low: passed / own.length,
    high: (passed + own.length - judged) / own.length,
  };
}

function wrongQueries({ results }: EvalReport, cases: readonly EvalCase[]): readonly WrongQuery[] {
  const isRight = verdicts(results);
  return cases
    .filter(({ id }) => isRight.get(id) === false)
    .map((one) => ({ input: one.input, shouldLoad: (toLabel(one)?.all ?? []).includes(one.skills.target ?? '') }));
}

function brokenIn({ trigger }: EvalReport): readonly Control[] {
  if (trigger === undefined || trigger.isValid) return [];
  const broken = trigger.controls.filter(({ isKept }) => !isKept);
  if (broken.length > 0) return broken;
  return [{ name: 'always-fire', asked: 'trials with a verdict', found: 'none', isKept: false }];
}

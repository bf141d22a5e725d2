/** Grades one run against one case: code first, then checker scripts, then a judge model for what code cannot check. */
import { ZERO_COST, type CaseResult, type CheckResult, type JudgeCost } from '../report/result.ts';
import { SHOWN_CHARACTERS } from './check.ts';
import { gradeByCheckers, type RunChecker } from './checker.ts';
import { withOutputs, type ReadOutput } from './output-files.ts';
import { readRunFacts } from './read-run-facts.ts';
import { brokenReason, loadedNames, type RunFacts } from './run-facts.ts';
import { defined, type Model } from '#core';
import { judgeRubric, rubricBroken, rubricSkipped } from './judge.ts';
import type { EvalCase } from '../cases/case.ts';

export interface GradeOptions {
  readonly runChecker?: RunChecker;
  /** Deadline for one checker (default: 30,000). */
  readonly checkerMs?: number;
  readonly judge?: Model;
  /** Receives what the judge cost. */
  readonly onJudged?: (cost: JudgeCost) => void;
  readonly signal?: AbortSignal;
}

export const CHECKER_MS = 30_000;

export async function gradeRun(
  one: EvalCase,
  facts: RunFacts,
  options: GradeOptions = {},
): Promise<readonly CheckResult[]> {
  const { runChecker, checkerMs = CHECKER_MS, judge, onJudged, signal = new AbortController().signal } = options;
  const { output = [], rubric = [] } = one.expect;
  const { gradeFacts } = await import('./grade-course.ts');
  const hasSchema = output.some((check) => check.type === 'json' && check.schema !== undefined);
  const checkSchema = hasSchema ? (await import('./json-schema.ts')).checkJsonSchema : undefined;
  const checks = gradeFacts(one, facts, checkSchema);
  const broken = brokenReason(one, facts);
  if (broken !== '') return [...checks, ...rubricBroken(rubric, broken)];
  const byCheckers = await gradeByCheckers(one, runChecker, { deadlineMs: checkerMs, signal });
  if (judge === undefined || rubric.length === 0)
    return [...checks, ...byCheckers, ...rubricSkipped(rubric, 'no judge model is configured (pass --judge)')];
  const judged = await judgeRubric(judge, one, facts, signal);
  onJudged?.(judged.cost);
  return [...checks, ...byCheckers, ...judged.checks];
}

export interface RecordedRun {
  readonly folder: string;
  /** The answer as it was streamed; absent if nothing listened. */
  readonly streamed?: string;
  /** Reads files that the run left, where they were kept. */
  readonly readOutput?: ReadOutput;
}

export type Graded = Pick<CaseResult, 'status' | 'reason' | 'checks' | 'loaded' | 'answer' | 'cost' | 'judged'> & {
  /** The model that answered, and the files of the run as its record has them; empty if the record is unusable. */
  readonly model: string;
  readonly files: RunFacts['files'];
};

/** A folder without a usable record is an `error`, never a verdict. */
export async function gradeFolder(
  one: EvalCase,
  { folder, streamed, readOutput }: RecordedRun,
  options: GradeOptions = {},
): Promise<Graded> {
  const reading = readRunFacts(folder);
  const empty = { checks: [], loaded: [], answer: '', cost: ZERO_COST, model: '', files: [] };
  if (reading.type === 'unusable') return { ...empty, status: 'error', reason: reading.reason };
  const { files, model, answer, cost } = reading.facts;
  const whole: RunFacts = streamed === undefined ? reading.facts : { ...reading.facts, streamed };
  const facts = readOutput === undefined ? whole : withOutputs(whole, readOutput);
  let judged: JudgeCost | undefined;
  const checks = await gradeRun(one, facts, { ...options, onJudged: (cost) => (judged = cost) });
  const verdict = caseVerdict(one, checks, brokenReason(one, facts));
  return { ...verdict, checks, loaded: loadedNames(facts), answer, cost, model, files, ...defined({ judged }) };
}

/** One failed check fails the case; otherwise one check without a verdict, such as a rubric line without a judge, leaves the case without one. */
export function caseVerdict(
  one: EvalCase,
  checks: readonly CheckResult[],
  broken = '',
): Pick<CaseResult, 'status' | 'reason'> {
  if (broken !== '') return { status: 'error', reason: broken };
  if (checks.length === 0) {
    const { file, line } = one.place;
    return { status: 'error', reason: `${file}:${String(line)}: the case has no expectations` };
  }
  if (checks.some(({ status }) => status === 'failed')) return { status: 'failed', reason: '' };
  const error = checks.find(({ status }) => status === 'error');
  if (error !== undefined) return { status: 'error', reason: `${error.id}: ${error.found.slice(0, SHOWN_CHARACTERS)}` };
  const open = checks.find(({ status }) => status === 'skipped');
  return open === undefined ? { status: 'passed', reason: '' } : { status: 'skipped', reason: open.found };
}

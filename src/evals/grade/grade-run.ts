/** Grades one run against one case: code first, then checker scripts, then a judge model for what code cannot check. */
import type { EvalCase } from '../cases/case.ts';
import { ZERO_COST } from '../report/result.ts';
import type { CaseResult, CheckResult } from '../report/result.ts';
import type { Model } from '../../core/model.ts';
import { SHOWN_CHARACTERS } from './check.ts';
import { gradeByCheckers } from './checker.ts';
import type { RunChecker } from './checker.ts';
import { judgeRubric, rubricSkipped } from './judge.ts';
import { withOutputs } from './output-files.ts';
import type { ReadOutput } from './output-files.ts';
import { readRunFacts } from './read-run-facts.ts';
import { brokenReason, loadedNames } from './run-facts.ts';
import type { RunFacts } from './run-facts.ts';

export interface GradeOptions {
  readonly runChecker?: RunChecker;
  /** Deadline for one checker (default: 30,000). */
  readonly checkerMs?: number;
  readonly judge?: Model;
  readonly signal?: AbortSignal;
}

export const CHECKER_MS = 30_000;

export async function gradeRun(
  one: EvalCase,
  facts: RunFacts,
  { runChecker, checkerMs = CHECKER_MS, judge, signal = new AbortController().signal }: GradeOptions = {},
): Promise<readonly CheckResult[]> {
  const { output = [], rubric = [] } = one.expect;
  const { gradeFacts } = await import('./grade-facts.ts');
  const hasSchema = output.some((check) => check.type === 'json' && check.schema !== undefined);
  const checkSchema = hasSchema ? (await import('./json-schema.ts')).checkJsonSchema : undefined;
  const checks = gradeFacts(one, facts, checkSchema);
  const broken = brokenReason(one, facts);
  if (broken !== '') return [...checks, ...rubricSkipped(rubric, broken)];
  const byCheckers = await gradeByCheckers(one, facts, { run: runChecker, deadlineMs: checkerMs, signal });
  const judged =
    judge === undefined
      ? rubricSkipped(rubric, 'no judge model is configured')
      : await judgeRubric(judge, one, facts, { signal });
  return [...checks, ...byCheckers, ...judged];
}

/** A run folder, with facts that the record does not hold. */
export interface RecordedRun {
  readonly folder: string;
  /** The answer as it was streamed; absent if nothing listened. */
  readonly streamed?: string;
  /** Reads files that the run left, where they were kept. */
  readonly readOutput?: ReadOutput;
}

export type Graded = Pick<CaseResult, 'status' | 'reason' | 'checks' | 'loaded' | 'answer' | 'cost'> & {
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
  if (reading.type === 'unusable')
    return {
      status: 'error',
      reason: reading.reason,
      checks: [],
      loaded: [],
      answer: '',
      cost: ZERO_COST,
      model: '',
      files: [],
    };
  const { files, model, answer, cost } = reading.facts;
  const whole: RunFacts = streamed === undefined ? reading.facts : { ...reading.facts, streamed };
  const facts = readOutput === undefined ? whole : withOutputs(whole, readOutput);
  const checks = await gradeRun(one, facts, options);
  return {
    ...caseVerdict(one, checks, brokenReason(one, facts)),
    checks,
    loaded: loadedNames(facts),
    answer,
    cost,
    model,
    files,
  };
}

/** One failed check fails the case; one check without a verdict leaves the case without one. Skipped checks do not count. */
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
  if (checks.some(({ status }) => status === 'passed')) return { status: 'passed', reason: '' };
  return { status: 'skipped', reason: checks[0]?.found ?? '' };
}

/** Finds one answer that passes most cases: a skill that always gives it looks useful. */
import { quoted, stableJson } from '#core';
import { toAskedRequest } from '../cases/asked-request.ts';
import type { OutputCheck } from '../cases/case.ts';
import { gradeAnswer } from '../grade/grade-output.ts';
import { groupBy } from '../report/result.ts';
import { groupSameRequests } from '../report/same-requests.ts';
import type { CaseFinding, LintedCase } from './finding.ts';
import { neededText } from './given-away.ts';

/** Fewer cases may agree by chance. */
const FEWEST_CASES = 4;
const MOST_ANSWERS = 20;

interface GradedCase {
  readonly linted: LintedCase;
  readonly checks: readonly OutputCheck[];
  /** The texts that its checks need. */
  readonly answer: string;
}

/** One check for unlike requests looks at the form of the answer, or wants one answer. Checkers and judges may know the request. */
export function sameCheckFindings(cases: readonly LintedCase[]): readonly (readonly [LintedCase, CaseFinding])[] {
  const decided = cases.filter(({ evalCase: { expect } }) => {
    const { output = [], rubric = [] } = expect;
    return output.length > 0 && rubric.length === 0 && output.every(({ type }) => type !== 'checker');
  });
  const groups = groupBy(decided, ({ evalCase }) => stableJson(evalCase.expect.output));
  const [most = []] = [...groups.values()].toSorted((a, b) => b.length - a.length);
  const [first] = most;
  if (first === undefined || most.length * 2 <= decided.length) return [];
  if (groupSameRequests(most.map(({ evalCase }) => toAskedRequest(evalCase))).length < FEWEST_CASES) return [];
  const [check] = first.evalCase.expect.output ?? [];
  const message = `${String(most.length)} of ${String(decided.length)} cases have the same check, ${quoted(JSON.stringify(check), 80)}`;
  const hint = 'check what is right for each request: a skill that only teaches this form looks useful';
  return [[first, { rule: 'same-check', severity: 'warning', message, hint }]];
}

/** Only cases that the answer alone decides. */
export function oneAnswerFindings(cases: readonly LintedCase[]): readonly (readonly [LintedCase, CaseFinding])[] {
  const graded = cases.flatMap((linted): readonly GradedCase[] => {
    const { output: checks = [], rubric = [] } = linted.evalCase.expect;
    const answer = checks.flatMap((check) => neededText(check) ?? []).join('\n');
    const isDecided = rubric.length === 0 && checks.every(({ type }) => type === 'contains' || type === 'matches');
    return isDecided && answer !== '' ? [{ linted, checks, answer }] : [];
  });
  const counts = new Map<string, number>();
  for (const { answer } of graded) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const answers = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MOST_ANSWERS);
  const passes = (answer: string) => graded.filter(({ checks }) => checks.every((check) => gradeAnswer(check, answer)));
  const [most] = answers
    .map(([answer]) => ({ answer, passed: passes(answer) }))
    .toSorted((a, b) => b.passed.length - a.passed.length);
  const [first] = most?.passed ?? [];
  if (most === undefined || first === undefined) return [];
  const { length } = most.passed;
  if (length < FEWEST_CASES || length * 2 <= graded.length) return [];
  const message = `one answer, ${quoted(most.answer, 60)}, passes ${String(length)} of ${String(graded.length)} cases that a text decides`;
  const hint = 'expect another answer in each case: a skill that always gives this one looks useful';
  return [[first.linted, { rule: 'one-answer', severity: 'warning', message, hint }]];
}

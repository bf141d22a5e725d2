/** How a run went as a whole: its end, what it used, and what was shown while its answer grew. */
import { BUDGET_NAMES } from '../../agent/count-budget.ts';
import type { BudgetName } from '../../core/budget.ts';
import type { EvalCase } from '../cases/case.ts';
import type { CheckResult } from '../report/result.ts';
import { quoted } from '../../core/text/text.ts';
import { judged, notJudged, SHOWN_CHARACTERS, skipped } from './check.ts';
import type { CheckHead } from './check.ts';
import type { RunFacts } from './run-facts.ts';

export function gradeOutcome({ expect: { outcome } }: EvalCase, facts: RunFacts): readonly CheckResult[] {
  if (outcome === undefined) return [];
  const isWanted = outcome.some((one) => one === facts.outcome);
  const reason = facts.reason === '' ? '' : `: ${facts.reason}`;
  const head: CheckHead = { id: 'outcome', kind: 'outcome', asked: `the run ends ${outcome.join(' or ')}` };
  return [judged(head, isWanted ? '' : `it ended ${facts.outcome}${reason}`, [facts.end])];
}

/** A limit that ended the run is not kept: more was wanted. */
export function gradeBudget({ limits }: EvalCase, facts: RunFacts): readonly CheckResult[] {
  return BUDGET_NAMES.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [gradeLimit(name, limit, facts)];
  });
}

function gradeLimit(name: BudgetName, limit: number, { used, budgetEnds, end }: RunFacts): CheckResult {
  const head: CheckHead = { id: `limits.${name}`, kind: 'budget', asked: `at most ${String(limit)} ${name}` };
  if (!Number.isFinite(limit) || limit < 0) return notJudged(head, 'the limit is no number from 0');
  const ended = budgetEnds.filter((one) => one.name === name);
  if (ended.length > 0)
    return judged(
      head,
      'the limit ended the run',
      ended.map(({ seq }) => seq),
    );
  const amount = Math.round(used[name]);
  return judged(head, used[name] <= limit ? '' : `it used ${String(amount)}`, [end]);
}

/** Deltas are not recorded: what a listener heard is a fact of whoever ran it, and cannot be graded again without it. */
export function gradeStreaming({ expect: { streaming } }: EvalCase, facts: RunFacts): readonly CheckResult[] {
  if (streaming === undefined) return [];
  const head: CheckHead = {
    id: 'streaming',
    kind: 'streaming',
    asked: 'what was shown while it grew is what was answered',
  };
  const { streamed, answer, answerSeq, said } = facts;
  if (streamed === undefined) return [skipped(head, 'nobody listened: deltas are not part of a record')];
  const events = answerSeq === undefined ? [] : [answerSeq];
  // With native tool calls all that the model says is shown, also what it says before it calls.
  if ([answer, said].some((text) => text.trim() === streamed.trim())) return [judged(head, '', events)];
  const at = firstDifference(streamed.trim(), answer.trim());
  const [shown, answered] = [streamed, answer].map((text) => quoted(text.trim().slice(at), SHOWN_CHARACTERS));
  return [
    judged(head, `from character ${String(at + 1)} on ${shown ?? ''} was shown and ${answered ?? ''} answered`, events),
  ];
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

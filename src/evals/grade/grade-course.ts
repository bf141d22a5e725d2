/**
 * Grades everything that code can check: here a run as a whole, which skills it loaded, how it ended, its budget, and its streamed answer.
 * Loaded lazily, since it loads the regular expression engine.
 */
import { BUDGET_NAMES, quoted, type Budget } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { ENDED, type CheckResult } from '../report/result.ts';
import { checked, errored, failed, listText, SHOWN_CHARACTERS, skipped, type CheckHead } from './check.ts';
import { gradeActions } from './grade-actions.ts';
import { gradeDisclosure } from './grade-disclosure.ts';
import { gradeOutput, type CheckSchema } from './grade-output.ts';
import { gradeSecurity } from './grade-security.ts';
import { brokenReason, loadedNames, type LoadFact, type RunFacts } from './run-facts.ts';

/** Equal facts give equal checks. */
export function gradeFacts(one: EvalCase, facts: RunFacts, checkSchema?: CheckSchema): readonly CheckResult[] {
  const checks = [
    ...gradeSkills(one, facts),
    ...gradeActions(one, facts),
    ...gradeDisclosure(one, facts),
    ...gradeSecurity(one, facts),
    ...gradeBudget(one, facts),
    ...gradeOutcome(one, facts),
    ...gradeEnd(one, facts),
    ...gradeOutput(one, facts, checkSchema),
    ...gradeStreaming(one, facts),
    ...gradeUngraded(one),
  ];
  // A broken run proves neither success nor failure.
  if (brokenReason(one, facts) !== '')
    return checks.map((check) => ({ ...check, status: 'error', found: facts.broken }));
  // What did not happen is shown by the end of the run.
  return checks.map((check) =>
    check.status === 'failed' && check.events.length === 0 ? { ...check, events: [facts.end] } : check,
  );
}

function gradeSkills({ expect, skills: { target } }: EvalCase, { loads }: RunFacts): readonly CheckResult[] {
  const { trigger, skills: { allOf, anyOf, noneOf, only } = {} } = expect;
  const loaded = loadedNames({ loads });
  const check = (id: string, asked: string, problem: string, names: readonly string[]): CheckResult => {
    const events = loads.filter(({ skill }) => names.includes(skill)).map(({ seq }) => seq);
    return checked({ id: `skills.${id}`, kind: 'trigger', asked }, problem, events);
  };
  const checks = trigger === undefined ? [] : [gradeTrigger(trigger, target, loads)];
  if (allOf !== undefined) {
    const missing = allOf.filter((name) => !loaded.includes(name));
    const problem = missing.length === 0 ? '' : `not loaded: ${listText(missing)}; loaded: ${listText(loaded)}`;
    checks.push(check('all_of', `all of ${listText(allOf)} are loaded`, problem, allOf));
  }
  if (anyOf !== undefined) {
    const problem = anyOf.some((name) => loaded.includes(name)) ? '' : `loaded: ${listText(loaded)}`;
    checks.push(check('any_of', `one of ${listText(anyOf)} is loaded`, problem, anyOf));
  }
  const forbid = (id: string, asked: string, wrong: readonly string[]): CheckResult =>
    check(id, asked, wrong.length === 0 ? '' : `loaded: ${listText(wrong)}`, wrong);
  if (noneOf !== undefined) {
    const wrong = noneOf.filter((name) => loaded.includes(name));
    checks.push(forbid('none_of', `none of ${listText(noneOf)} is loaded`, wrong));
  }
  if (only !== undefined) {
    const asked = only.length === 0 ? 'no skill is loaded' : `no skill except ${listText(only)} is loaded`;
    const wrong = loaded.filter((name) => !only.includes(name));
    checks.push(forbid('only', asked, wrong));
  }
  return checks;
}

/** A skill that the calling program required was not triggered by the query. */
function gradeTrigger(isWanted: boolean, target: string | undefined, loads: readonly LoadFact[]): CheckResult {
  const head: CheckHead = {
    id: 'trigger',
    kind: 'trigger',
    asked: `${target ?? 'the skill'} ${isWanted ? 'fires' : 'stays quiet'}`,
  };
  if (target === undefined) return errored(head, 'the case names no target skill: add skills.target');
  const own = loads.filter(({ skill, isRequired }) => skill === target && !isRequired);
  const fired = own.length > 0;
  const loaded = `loaded: ${listText(loadedNames({ loads }))}`;
  const events = own.map(({ seq }) => seq);
  return checked(head, fired === isWanted ? '' : `it ${fired ? 'fired' : 'did not fire'}; ${loaded}`, events);
}

function gradeOutcome({ expect: { outcome } }: EvalCase, facts: RunFacts): readonly CheckResult[] {
  if (outcome === undefined) return [];
  const isWanted = outcome.some((one) => one === facts.outcome);
  const reason = facts.reason === '' ? '' : `: ${facts.reason}`;
  const head: CheckHead = { id: 'outcome', kind: 'outcome', asked: `the run ends ${outcome.join(' or ')}` };
  return [checked(head, isWanted ? '' : `it ended ${facts.outcome}${reason}`, [facts.end])];
}

const CUTS = {
  length: 'the answer was cut off at its length limit',
  filter: 'a content filter of the server ended the answer',
} as const;

/** A run that a limit or a crash ended failed, whatever its last answer contains. A case may expect such an end, but not half an answer. */
function gradeEnd({ expect }: EvalCase, facts: RunFacts): readonly CheckResult[] {
  const { outcome, reason, budgetEnds, hasCrashed, cutBy, broken, end } = facts;
  const head = { kind: 'outcome', asked: 'the run ends by itself' } as const;
  if (broken === '' && outcome === 'done' && cutBy !== undefined)
    return [failed({ id: `${ENDED}${cutBy}`, ...head }, CUTS[cutBy], [end])];
  if (broken !== '' || expect.outcome?.some((expected) => expected === outcome) === true) return [];
  const limit = outcome === 'degraded' ? budgetEnds.at(-1)?.name : undefined;
  const by = limit ?? (hasCrashed ? 'crash' : outcome === 'failed' ? 'failure' : undefined);
  if (by === undefined) return [];
  return [failed({ id: `${ENDED}${by}`, ...head }, reason, [end])];
}

/** A limit that ended the run counts as exceeded. */
function gradeBudget({ limits }: EvalCase, facts: RunFacts): readonly CheckResult[] {
  return BUDGET_NAMES.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [gradeLimit(name, limit, facts)];
  });
}

function gradeLimit(name: keyof Budget, limit: number, { used, budgetEnds, end }: RunFacts): CheckResult {
  const head: CheckHead = { id: `limits.${name}`, kind: 'budget', asked: `at most ${String(limit)} ${name}` };
  if (!Number.isFinite(limit) || limit < 0) return errored(head, 'the limit must be a number of at least 0');
  const ended = budgetEnds.flatMap((one) => (one.name === name ? [one.seq] : []));
  if (ended.length > 0) return checked(head, 'the limit ended the run', ended);
  const amount = Math.round(used[name]);
  return checked(head, used[name] <= limit ? '' : `it used ${String(amount)}`, [end]);
}

/** A case of another tool does not pass by the checks that are left. */
function gradeUngraded({ expect: { ungraded = [] } }: EvalCase): readonly CheckResult[] {
  return ungraded.map((reason, place) => {
    const asked = 'everything that the case file asks is graded';
    return skipped({ id: `ungraded[${String(place)}]`, kind: 'output', asked }, reason);
  });
}

/** Deltas are not recorded, so a stored run cannot be graded for streaming again. */
function gradeStreaming({ expect: { streaming } }: EvalCase, facts: RunFacts): readonly CheckResult[] {
  if (streaming === undefined) return [];
  const head: CheckHead = { id: 'streaming', kind: 'streaming', asked: 'the streamed text equals the answer' };
  const { streamed, answer, answerSeq, modelText } = facts;
  if (streamed === undefined) return [skipped(head, 'the stream was not observed; records do not hold deltas')];
  const events = answerSeq === undefined ? [] : [answerSeq];
  // With native tool calls the stream includes the text before each call.
  if ([answer, modelText].some((text) => text.trim() === streamed.trim())) return [checked(head, '', events)];
  const at = firstDifference(streamed.trim(), answer.trim());
  const [shown, answered] = [streamed, answer].map((text) => quoted(text.trim().slice(at), SHOWN_CHARACTERS));
  const problem = `from character ${String(at + 1)} on the stream has ${shown ?? ''}, the answer ${answered ?? ''}`;
  return [checked(head, problem, events)];
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Grades which actions occurred and in which order. */
import { patternText, readActionPattern, type ActionMatcher } from './action-match.ts';
import type { ActionPattern, EvalCase } from '../cases/case.ts';
import type { CheckResult } from '../report/result.ts';
import { checked, errored, failed, listText, passed, type CheckHead } from './check.ts';
import type { RunFacts, StepFact } from './run-facts.ts';

export function gradeActions(
  { expect: { actions = {} }, forbidTools }: EvalCase,
  facts: RunFacts,
): readonly CheckResult[] {
  const { ordered, unordered, forbid = [], before = [] } = actions;
  const { steps } = facts;
  return [
    ...(ordered === undefined ? [] : [gradeOrdered(ordered, steps)]),
    ...(unordered === undefined ? [] : [gradeUnordered(unordered, steps)]),
    ...before.map((pair, place) => gradeBefore(pair, `actions.before[${String(place)}]`, steps)),
    ...forbid.map((pattern, place) => gradeForbidden(pattern, `actions.forbid[${String(place)}]`, steps)),
    ...forbidTools.map((tool, place) => gradeForbidden({ tool }, `forbid_tools[${String(place)}]`, steps)),
  ];
}

function buildHead(id: string, asked: string): CheckHead {
  return { id, kind: 'sequence', asked };
}

/** Tools of the agent itself, which become no action. */
const OWN_TOOLS: ReadonlySet<string> = new Set(['update_plan', 'recall_output', 'choose_skills']);

/** Whether an action was performed and did what it should: a program must have ended with exit code 0. */
function hasSucceeded({ tool, action, observation, isDone }: StepFact): boolean {
  if (isDone !== undefined) return isDone;
  if (action === undefined) return tool !== undefined && OWN_TOOLS.has(tool.name);
  if (observation === undefined || observation.type === 'failed') return false;
  return (
    observation.type !== 'program-ran' || (observation.result.reason === 'exited' && observation.result.exit_code === 0)
  );
}

function isCounted(pattern: ActionPattern | undefined, matcher: ActionMatcher | undefined, step: StepFact): boolean {
  return matcher?.counts(step) === true && (pattern?.anyOutcome === true || hasSucceeded(step));
}

export function compileMatchers(patterns: readonly ActionPattern[]): readonly ActionMatcher[] | string {
  const matchers: ActionMatcher[] = [];
  for (const pattern of patterns) {
    const matcher = readActionPattern(pattern);
    if (typeof matcher === 'string') return matcher;
    matchers.push(matcher);
  }
  return matchers;
}

/** Takes the earliest step for each pattern after the step of the previous one: if any assignment works, this one does. */
function gradeOrdered(patterns: readonly ActionPattern[], steps: readonly StepFact[]): CheckResult {
  const head = buildHead('actions.ordered', `in this order: ${patterns.map(patternText).join(', then ')}`);
  const matchers = compileMatchers(patterns);
  if (typeof matchers === 'string') return errored(head, matchers);
  let from = 0;
  const events: number[] = [];
  for (const [place, matcher] of matchers.entries()) {
    const at = steps.findIndex((step, index) => index >= from && isCounted(patterns[place], matcher, step));
    if (at === -1) return failed(head, missingText(patterns, place, steps), events);
    events.push(steps[at]?.seq ?? 0);
    from = at + 1;
  }
  return passed(head, events);
}

function missingText(patterns: readonly ActionPattern[], place: number, steps: readonly StepFact[]): string {
  const [pattern, before] = [patterns[place], patterns[place - 1]];
  const what = pattern === undefined ? '' : patternText(pattern);
  const after = before === undefined ? '' : ` after ${patternText(before)}`;
  return `no ${what}${after}; actions: ${stepNames(steps)}`;
}

function gradeUnordered(patterns: readonly ActionPattern[], steps: readonly StepFact[]): CheckResult {
  const head = buildHead('actions.unordered', `in any order: ${patterns.map(patternText).join(', ')}`);
  const matchers = compileMatchers(patterns);
  if (typeof matchers === 'string') return errored(head, matchers);
  const assignment = assigned(patterns, matchers, steps);
  const missing = patterns.filter((_, place) => ![...assignment.values()].includes(place));
  const events = [...assignment.keys()].map((at) => steps[at]?.seq ?? 0).toSorted((a, b) => a - b);
  if (missing.length === 0) return passed(head, events);
  return failed(head, `no ${missing.map(patternText).join(', ')}; actions: ${stepNames(steps)}`, events);
}

function assigned(
  patterns: readonly ActionPattern[],
  matchers: readonly ActionMatcher[],
  steps: readonly StepFact[],
): ReadonlyMap<number, number> {
  const owners = new Map<number, number>();
  const place = (pattern: number, seen: Set<number>): boolean => {
    for (const [at, step] of steps.entries()) {
      if (seen.has(at) || !isCounted(patterns[pattern], matchers[pattern], step)) continue;
      seen.add(at);
      const owner = owners.get(at);
      if (owner !== undefined && !place(owner, seen)) continue;
      owners.set(at, pattern);
      return true;
    }
    return false;
  };
  for (const pattern of matchers.keys()) place(pattern, new Set());
  return owners;
}

function gradeBefore(
  { first, then }: { readonly first: ActionPattern; readonly then: ActionPattern },
  id: string,
  steps: readonly StepFact[],
): CheckResult {
  const head = buildHead(id, `${patternText(first)} before ${patternText(then)}`);
  const matchers = compileMatchers([first, then]);
  if (typeof matchers === 'string') return errored(head, matchers);
  const firstAt = steps.findIndex((step) => isCounted(first, matchers[0], step));
  const thenAt = steps.findIndex((step) => isCounted(then, matchers[1], step));
  const events = [firstAt, thenAt].flatMap((at) => steps[at]?.seq ?? []);
  if (firstAt === -1) return failed(head, `no ${patternText(first)}; actions: ${stepNames(steps)}`, events);
  const isInOrder = thenAt === -1 || firstAt < thenAt;
  return checked(head, isInOrder ? '' : `${patternText(then)} came first`, events);
}

/** A request is enough to fail, even if the policy denied it. */
function gradeForbidden(pattern: ActionPattern, id: string, steps: readonly StepFact[]): CheckResult {
  const head = buildHead(id, `no ${patternText(pattern)}`);
  const matchers = compileMatchers([pattern]);
  if (typeof matchers === 'string') return errored(head, matchers);
  const found = steps.filter((step) => matchers.some((matcher) => matcher.matches(step)));
  const wrong = found.length === 0 ? '' : `requested: ${listText(found.map(stepName))}`;
  return checked(head, wrong, [...new Set(found.map(({ seq }) => seq))]);
}

function stepNames(steps: readonly StepFact[]): string {
  return listText(steps.map(stepName).slice(0, 30));
}

export function stepName({ tool, action }: StepFact): string {
  return tool?.name ?? action?.type ?? 'nothing';
}

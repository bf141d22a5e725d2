/**
 * Compares the outcomes of two arms that differ in nothing but the skill. Every planned attempt counts: an attempt that the harness or the
 * network broke is missing, and a verdict must hold whatever it would have been. What the baseline cannot meet by construction is left out
 * and counted: a trigger check fails without the skill whatever the model answers. Cases whose answers do not depend on the arm are left out
 * too. Without an outcome there is no score.
 */
import {
  groupBy,
  hasVerdict,
  hasEndedEarly,
  type Arm,
  type CaseResult,
  type CheckKind,
  type Comparison,
  type ComparisonGaps,
  type NoComparison,
} from './result.ts';
import { countText, defined, printable, stableJson } from '#core';
import { countEarlyEnds, findOrderEffect, findOtherModel, OWN_SKILLS } from './arm-doubts.ts';
import { findCanned } from './canned-answers.ts';
import { meanOf, measureCase } from './credit.ts';
import { findApart } from './same-turn.ts';
import { compareCosts } from './costs.ts';
import { groupSameRequests, toAskedCase } from './same-requests.ts';
import { compareCases, type CaseDifference } from '../statistics/case-differences.ts';

export interface CompareOptions {
  readonly of: Arm;
  readonly against: Arm;
  /** How often the results are looked at, at most, until a decision (default: 1). */
  readonly looks?: number;
}

/** Budgets are costs, and denials and disclosure depend on the tools of the skill. */
const OUTCOMES: ReadonlySet<CheckKind> = new Set(['output', 'outcome', 'judge']);
/** The old version of a skill can be loaded, so that triggering can be compared. */
const OUTCOMES_OF_VERSIONS: ReadonlySet<CheckKind> = new Set([...OUTCOMES, 'trigger']);

interface ComparedCase {
  readonly case: string;
  readonly results: Sides<readonly CaseResult[]>;
  /** One per planned attempt; undefined if it is missing. */
  readonly outcomes: Sides<readonly (boolean | undefined)[]>;
  readonly checks: ReadonlySet<string>;
}

type Sides<T> = Readonly<Record<'of' | 'against', T>>;

export function compareArms(
  results: readonly CaseResult[],
  { of, against, looks = 1 }: CompareOptions,
): Comparison | NoComparison {
  const kinds = against === 'without' || of === 'without' ? OUTCOMES : OUTCOMES_OF_VERSIONS;
  const both = results.filter(({ arm }) => arm === of || arm === against);
  const canned = findCanned(both);
  const cases = [...groupBy(both, (result) => result.case)].map(([id, attempts]) => {
    const inArm = (arm: Arm): readonly CaseResult[] => attempts.filter((result) => result.arm === arm);
    return readCase(id, { of: inArm(of), against: inArm(against) }, kinds, canned);
  });
  const compared = cases.filter((one): one is ComparedCase => 'outcomes' in one);
  const excluded: ComparisonGaps = {
    checks: countKinds(both, kinds),
    cases: cases.flatMap((one) => ('reason' in one ? [one] : [])),
  };
  const differing = findDifferences(compared);
  const more = differing.filter((key) => !key.startsWith(SKILL));
  if (more.length > 0)
    return { of, against, reason: `the arms differ in more than the skill: ${more.join(', ')}`, excluded };
  if (excluded.cases.length > 0 && excluded.cases.length === cases.length)
    if (excluded.cases.every(({ reason }) => reason === IDENTICAL))
      return { of, against, reason: `identical, nothing to compare: ${IDENTICAL}`, excluded };
  const other = findOtherModel(compared.map((one) => one.results));
  const apart = other ?? findApart(compared.map((one) => one.results));
  if (apart !== undefined) return { of, against, reason: apart, excluded };
  const lacking = (['of', 'against'] as const).filter((side) =>
    compared.every(({ outcomes }) => outcomes[side].every((one) => one === undefined)),
  );
  if (lacking.length > 0) {
    const broken = both.find(
      ({ arm, status }) => status === 'error' && lacking.includes(arm === of ? 'of' : 'against'),
    );
    const cause = broken === undefined ? '' : `, such as: ${printable(broken.reason).slice(0, 200)}`;
    const reason = `every attempt${lacking.length === 2 ? '' : ` of the arm ${lacking[0] === 'of' ? of : against}`} is missing${cause}`;
    const gaps = [...excluded.cases, ...compared.map((one) => ({ case: one.case, reason }))];
    return { of, against, reason: reasonText({ ...excluded, cases: gaps }), excluded: { ...excluded, cases: gaps } };
  }
  const skills = new Set(differing.map((key) => key.slice(SKILL.length)));
  const isUsed = ({ loaded }: CaseResult): boolean => loaded.some((name) => skills.has(name));
  const credited = skills.size === 0 ? undefined : isUsed;
  const groups = groupSameRequests(
    compared.flatMap(({ results: { of: mine, against: theirs } }) => {
      const all = [...mine, ...theirs];
      const known = all.find(({ given }) => given !== undefined) ?? all[0];
      return known === undefined ? [] : [toAskedCase(known)];
    }),
  );
  const measure = (mayPass: (result: CaseResult) => boolean): readonly CaseDifference[] => {
    const byId = new Map(compared.map((one) => [one.case, measureCase(one, credited, mayPass)]));
    return groups.map((ids) => meanOf(ids.flatMap((id) => byId.get(id) ?? [])));
  };
  const units = measure(hasEndedEarly);
  const result = compareCases(units, looks);
  const repeated = (['of', 'against'] as const).flatMap((side) => {
    const all = compared.flatMap((one) => one.results[side]);
    const { length } = all.filter((attempt) => canned.has(attempt));
    return length > all.length * MOST_REPEATED
      ? [`${String(length)} of ${countText(all.length, 'attempt')} of the arm ${side === 'of' ? of : against}`]
      : [];
  });
  if (result.p < 0.05 && repeated.length > 0) {
    const reason = `one text for unlike requests answered ${repeated.join(' and ')}, more than a third: the server that gives it may not read the other requests either`;
    return { of, against, reason, excluded };
  }
  const endedEarly = countEarlyEnds(compared.map((one) => one.results));
  // The verdict if every attempt that ended early is a failure and nothing else.
  const strict =
    endedEarly.by.length === 0 || result.p < 0.05
      ? result
      : compareCases(
          measure(() => false),
          looks,
        );
  const endedEarlyVerdict =
    strict.p < 0.05 && result.p >= 0.05 ? (strict.difference.low > 0 ? 'better' : 'worse') : undefined;
  // A case of which an arm shows nothing, or that never loaded the skill, is neither better nor worse.
  const isLoaded = ({ results: { of: mine, against: theirs } }: ComparedCase): boolean =>
    credited === undefined || [...mine, ...theirs].some(credited);
  const seen = new Set(compared.filter((one) => isSeenTwice(one) && isLoaded(one)).map((one) => one.case));
  const paired = units.filter((_, at) => groups[at]?.some((id) => seen.has(id)));
  const outcomes = (side: 'of' | 'against') => compared.flatMap((one) => one.outcomes[side]);
  const count = (value: boolean | undefined): Sides<number> => ({
    of: outcomes('of').filter((one) => one === value).length,
    against: outcomes('against').filter((one) => one === value).length,
  });
  const mine = compared.flatMap((one) => one.results.of);
  return {
    of,
    against,
    cases: units.length,
    pairs: outcomes('of').length,
    passed: count(true),
    missing: count(undefined),
    endedEarly,
    ...defined({ endedEarlyVerdict, order: findOrderEffect(compared) }),
    better: paired.filter(({ seen }) => seen > 0).length,
    worse: paired.filter(({ seen }) => seen < 0).length,
    ...result,
    method: looks === 1 ? 'fixed' : 'sequential',
    differing,
    used: skills.size === 0 ? undefined : { count: mine.filter(isUsed).length, of: mine.length },
    merged: groups.filter((ids) => ids.length > 1),
    excluded,
    sayNothing: compared.flatMap(alwaysPassing),
    costs: compareCosts(
      mine,
      compared.flatMap((one) => one.results.against),
    ),
  };
}

export function isComparison(compared: Comparison | NoComparison): compared is Comparison {
  return !('reason' in compared);
}

function readCase(
  id: string,
  results: Sides<readonly CaseResult[]>,
  kinds: ReadonlySet<CheckKind>,
  canned: ReadonlySet<CaseResult>,
): ComparedCase | { readonly case: string; readonly reason: string } {
  const all = [...results.of, ...results.against];
  const reason = sameAnswers(results.of, results.against) ?? (isIdentical(results) ? IDENTICAL : undefined);
  if (reason !== undefined) return { case: id, reason };
  // One that ran and was not judged is missing.
  if (all.every(({ status, checks }) => status === 'skipped' && checks.length === 0))
    return { case: id, reason: all[0]?.reason ?? 'skipped' };
  const checks = judgedChecks(all, kinds);
  const isAsked = all.some((result) => result.checks.length === 0 || result.checks.some(({ kind }) => kinds.has(kind)));
  if (checks.size === 0 && !isAsked) return { case: id, reason: 'no outcome is checked' };
  if (checks.size === 0 && all.every(hasVerdict)) return { case: id, reason: 'no outcome has a verdict' };
  const attempts = [...new Set(all.map(({ attempt }) => attempt))].toSorted((a, b) => a - b);
  const outcomes = (some: readonly CaseResult[]) =>
    attempts.map((attempt) => {
      const result = some.find((one) => one.attempt === attempt);
      const isMissing = result === undefined || canned.has(result) || (result.earlierErrors ?? 0) > 0;
      return isMissing ? undefined : readOutcome(result, checks, kinds);
    });
  return { case: id, results, outcomes: { of: outcomes(results.of), against: outcomes(results.against) }, checks };
}

/** The bounds of missing attempts believe the others, which are those of the same server. */
const MOST_REPEATED = 1 / 3;

const IDENTICAL = 'the skills of both arms are the same';

function isIdentical({ of, against }: Sides<readonly CaseResult[]>): boolean {
  const pairs = of.flatMap(({ attempt, given }) => {
    const other = against.find((result) => result.attempt === attempt)?.given;
    return given === undefined || other === undefined ? [] : [[given, other] as const];
  });
  return pairs.length > 0 && pairs.every(([mine, theirs]) => stableJson(mine) === stableJson(theirs));
}

function sameAnswers(of: readonly CaseResult[], against: readonly CaseResult[]): string | undefined {
  const all = [...of, ...against];
  if (all.some(({ model }) => model.way === 'scripted' && model.id !== '')) return 'its answers are scripted';
  const [mine, theirs] = [of, against].map((results) => results.map(({ model }) => model.answers).join('\n'));
  const isRecorded =
    all.length > 0 && all.every(({ model }) => model.way === 'cassette' && model.answers !== undefined);
  return isRecorded && mine === theirs ? 'both arms have the same recorded answers' : undefined;
}

/** Checks with a verdict somewhere, except those that were skipped, such as rubric lines without a judge. */
function judgedChecks(results: readonly CaseResult[], kinds: ReadonlySet<CheckKind>): ReadonlySet<string> {
  const own = results.flatMap(({ checks }) => checks).filter(({ kind }) => kinds.has(kind));
  const skipped = new Set(own.filter(({ status }) => status === 'skipped').map(({ id }) => id));
  return new Set(own.filter((check) => hasVerdict(check) && !skipped.has(check.id)).map(({ id }) => id));
}

/** Undefined if the attempt is missing. A run that did not end by itself failed, whatever its last answer contains. */
function readOutcome(result: CaseResult, ids: ReadonlySet<string>, kinds: ReadonlySet<CheckKind>): boolean | undefined {
  if (hasEndedEarly(result)) return false;
  const own = result.checks.filter(({ id }) => ids.has(id));
  if (own.some(({ status }) => status === 'failed')) return false;
  if (result.checks.some(({ kind, status }) => status === 'skipped' && kinds.has(kind))) return undefined;
  return own.length > 0 && own.every(({ status }) => status === 'passed') ? true : undefined;
}

function isSeenTwice({ outcomes }: ComparedCase): boolean {
  return [outcomes.of, outcomes.against].every((side) => side.some((one) => one !== undefined));
}

const SKILL = 'skill ';

/** The conditions that are not the same in both arms of some case. */
function findDifferences(cases: readonly ComparedCase[]): readonly string[] {
  const keys = cases.flatMap(({ results: { of, against } }) =>
    of.flatMap(({ attempt, given }) => {
      const other = against.find((result) => result.attempt === attempt)?.given;
      if (given === undefined || other === undefined) return [];
      const differing = Object.keys({ ...given, ...other }).filter((key) => given[key] !== other[key]);
      // A run that ended before the agent named its skills says nothing about them.
      const isNamed = given[OWN_SKILLS] !== undefined && other[OWN_SKILLS] !== undefined;
      return differing.filter((key) => key !== OWN_SKILLS || isNamed);
    }),
  );
  return [...new Set(keys)].toSorted();
}

function countKinds(results: readonly CaseResult[], kinds: ReadonlySet<CheckKind>): ComparisonGaps['checks'] {
  const left = results.flatMap(({ checks }) => checks.map(({ kind }) => kind)).filter((kind) => !kinds.has(kind));
  return [...new Set(left)].map((kind) => ({ kind, count: left.filter((one) => one === kind).length }));
}

function reasonText({ checks, cases }: ComparisonGaps): string {
  const reasons = [...groupBy(cases, ({ reason }) => reason)]
    .map(([reason, all]) => `${countText(all.length, 'case')}: ${reason}`)
    .join('; ');
  const left = checks.map(({ kind, count }) => `${String(count)} ${kind}`).join(', ');
  const byConstruction = left === '' ? '' : `; not comparable by construction: ${left}`;
  return `no outcome was judged${reasons === '' ? '' : ` (${reasons})`}${byConstruction}`;
}

function alwaysPassing({ case: id, results, checks }: ComparedCase): Comparison['sayNothing'] {
  const sides = [results.of, results.against].map((some) => some.flatMap((result) => result.checks));
  return [...checks]
    .filter((check) =>
      sides.every((side) => {
        const own = side.filter(({ id: other }) => other === check);
        return own.length > 0 && own.every(({ status }) => status === 'passed');
      }),
    )
    .map((check) => ({ case: id, check }));
}

/** Compares two reports: changed cases, costs and skills. */
import { compareText, defined } from '#core';
import { chanceOfFall } from '../statistics/case-differences.ts';
import { declineP, holm, clusteredRate, type CaseCounts } from '../statistics/statistics.ts';
import { describeEdits } from './edited-cases.ts';
import { sumCosts, ownArm, countTokens } from './report-text.ts';
import {
  groupBy,
  hasVerdict,
  type Arm,
  type CaseCost,
  type CaseResult,
  type CaseStatus,
  type CheckResult,
  type EvalReport,
  type Rate,
  type RateChange,
} from './result.ts';

/**
 * `broken` cases passed before and do not now: their answers are scripted or recorded, or the fall of their pass rate is more than chance.
 * `unclear` changes of a live model may be chance. `other` cases changed between two outcomes that are not a pass, or are
 * those of a baseline.
 */
export const CHANGES = ['broken', 'fixed', 'unclear', 'other', 'added', 'removed'] as const;
export type Change = (typeof CHANGES)[number];

export interface CaseChange {
  readonly change: Change;
  readonly case: string;
  readonly name: string;
  readonly arm: Arm;
  /** Absent if the case is only in the other report. */
  readonly before?: CaseVerdict;
  readonly after?: CaseVerdict;
  readonly checks: readonly CheckChange[];
}

interface CaseVerdict {
  readonly status: CaseStatus;
  readonly passed: number;
  /** Attempts with a verdict, and all attempts. */
  readonly judged: number;
  readonly attempts: number;
}

interface CheckChange {
  readonly id: string;
  readonly asked: string;
  readonly before: CaseStatus | 'absent';
  readonly after: CaseStatus | 'absent';
  readonly found: string;
}

export interface BeforeAfter<T> {
  readonly before: T;
  readonly after: T;
}

export interface ReportComparison {
  readonly startedAt: BeforeAfter<string>;
  readonly passRate: BeforeAfter<Rate>;
  /** Absent if no case has live answers in both reports. */
  readonly live?: RateChange;
  readonly models: BeforeAfter<EvalReport['models']>;
  /** Changed cases, the worst kind first, in suite order. */
  readonly changes: readonly CaseChange[];
  readonly counts: Readonly<Record<Change, number>>;
  readonly same: number;
  /** Cases of both reports that were edited in between or are in quarantine: they are not compared. */
  readonly edited: readonly { readonly case: string; readonly arm: Arm; readonly reason: string }[];
  /** Skills with a changed digest; an empty digest means that the skill is absent. */
  readonly skills: readonly (BeforeAfter<string> & { readonly name: string })[];
  /** Only over compared cases, so that the number of cases has no effect. */
  readonly cost: {
    readonly tokens: BeforeAfter<number>;
    readonly toolCalls: BeforeAfter<number>;
    readonly wallMs: BeforeAfter<number>;
  };
}

/** Compares two reports case by case. */
export function compareReports(before: EvalReport, after: EvalReport): ReportComparison {
  const [old, now] = [byCase(before.results), byCase(withEarlierIds(before.results, after.results))];
  const keys = [...new Set([...old.keys(), ...now.keys()])];
  const judges = { before: before.judge, after: after.judge };
  const all = keys.map((key): CasePair => ({ old: old.get(key) ?? [], now: now.get(key) ?? [] }));
  const edits = new Map(
    all.map((pair) => [pair, isCommon(pair) ? describeEdits(pair.old, pair.now, judges) : undefined]),
  );
  const pairs = all.filter((pair) => edits.get(pair) === undefined);
  const live = pairs.filter(isLive);
  const established = establishedChanges(live);
  const changes = pairs.flatMap((pair) => findChange(pair, established.get(pair)));
  const count = (change: Change): number => changes.filter((one) => one.change === change).length;
  return {
    startedAt: { before: before.startedAt, after: after.startedAt },
    passRate: { before: ownArm(before).passRate, after: ownArm(after).passRate },
    ...liveChange(live),
    models: { before: before.models, after: after.models },
    changes: CHANGES.flatMap((change) => changes.filter((one) => one.change === change)),
    counts: {
      broken: count('broken'),
      fixed: count('fixed'),
      unclear: count('unclear'),
      other: count('other'),
      added: count('added'),
      removed: count('removed'),
    },
    same: pairs.length - changes.length,
    edited: all.flatMap((pair) => {
      const [reason, [first]] = [edits.get(pair), pair.now];
      return reason === undefined || first === undefined ? [] : [{ case: first.case, arm: first.arm, reason }];
    }),
    skills: changedSkills(before, after),
    cost: costs(pairs.filter(isCommon)),
  };
}

type Cases = ReadonlyMap<string, readonly CaseResult[]>;

function byCase(results: readonly CaseResult[]): Cases {
  return groupBy(results, (result) => JSON.stringify([result.case, result.arm]));
}

/** A case that was renamed is the one that has its request, if no other has it. */
function withEarlierIds(before: readonly CaseResult[], after: readonly CaseResult[]): readonly CaseResult[] {
  const [old, now] = [before, after].map((results) => new Set(results.map((one) => one.case)));
  const earlier = new Map<string, string | undefined>();
  const renamed = new Map<string, string>();
  for (const { case: id, input } of before)
    if (now?.has(id) === false) earlier.set(input, [undefined, id].includes(earlier.get(input) ?? id) ? id : undefined);
  for (const { case: id, input } of after) {
    const was = old?.has(id) === true ? undefined : earlier.get(input);
    if (was !== undefined && ![...renamed].some(([other, used]) => used === was && other !== id)) renamed.set(id, was);
  }
  return renamed.size === 0 ? after : after.map((one) => ({ ...one, case: renamed.get(one.case) ?? one.case }));
}

interface CasePair {
  readonly old: readonly CaseResult[];
  readonly now: readonly CaseResult[];
}

/** Whether a live model answered in both reports, so that a single run proves little. */
function isLive({ old, now }: CasePair): boolean {
  const hasLive = (results: readonly CaseResult[]): boolean =>
    results.some((result) => hasVerdict(result) && result.model.way === 'live');
  return hasLive(old) && hasLive(now);
}

function passCount(results: readonly CaseResult[]): CaseCounts['before'] {
  const judged = results.filter(hasVerdict);
  return { passed: judged.filter(({ status }) => status === 'passed').length, of: judged.length };
}

function countPasses({ old, now }: CasePair): CaseCounts {
  return { before: passCount(old), after: passCount(now) };
}

/** Which cases changed by more than chance, corrected for their number. */
function establishedChanges(live: readonly CasePair[]): ReadonlyMap<CasePair, boolean> {
  const values = live.map((pair) => {
    const { before, after } = countPasses(pair);
    const hasFallen = after.passed * before.of < before.passed * after.of;
    return hasFallen ? declineP([{ before, after }]) : declineP([{ before: after, after: before }]);
  });
  const kept = holm(values);
  return new Map(live.map((pair, place) => [pair, kept[place] === true]));
}

/** Only the evaluated arm: a baseline that falls is no regression of the skill. */
function liveChange(live: readonly CasePair[]): Pick<ReportComparison, 'live'> {
  const own = live.filter(({ now }) => now[0]?.arm === 'with').map(countPasses);
  if (own.length === 0) return {};
  const rate = (side: 'before' | 'after'): Rate =>
    clusteredRate(own.map((counts) => ({ count: counts[side].passed, of: counts[side].of })));
  // Attempts at one case rise and fall together.
  const p = chanceOfFall(own.map(({ before, after }) => after.passed / after.of - before.passed / before.of));
  return { live: { cases: own.length, before: rate('before'), after: rate('after'), p } };
}

const ALPHA = 0.05;

/** The gate for CI: a case is broken, or the pass rate of a live model fell by more than chance. */
export function isRegression({ counts, live }: ReportComparison): boolean {
  return counts.broken > 0 || (live !== undefined && live.p < ALPHA);
}

/** `isEstablished` is undefined if single runs are conclusive. */
function findChange(pair: CasePair, isEstablished: boolean | undefined): readonly CaseChange[] {
  const { old, now } = pair;
  const [first] = now.length === 0 ? old : now;
  if (first === undefined) return [];
  const [before, after] = [summarizeVerdict(old), summarizeVerdict(now)];
  const classified = classifyChange(before, after, isEstablished);
  if (classified === undefined) return [];
  // A baseline that changes says nothing about the skill.
  const isJudged = [...old, ...now].every((result) => result.arm === 'with');
  const change = isJudged || classified === 'added' || classified === 'removed' ? classified : 'other';
  return [
    {
      change,
      case: first.case,
      name: first.name,
      arm: first.arm,
      ...defined({ before, after }),
      checks: before === undefined || after === undefined ? [] : changedChecks(old, now),
    },
  ];
}

function classifyChange(
  before: CaseVerdict | undefined,
  after: CaseVerdict | undefined,
  isEstablished: boolean | undefined,
): Change | undefined {
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  if (isEstablished !== undefined) {
    const change = after.passed * before.judged - before.passed * after.judged;
    if (change === 0) return undefined;
    return isEstablished ? (change < 0 ? 'broken' : 'fixed') : 'unclear';
  }
  if (before.status === after.status) return undefined;
  if (before.status === 'passed') return 'broken';
  return after.status === 'passed' ? 'fixed' : 'other';
}

const WORST_FIRST = ['error', 'failed', 'passed', 'skipped'] as const satisfies readonly CaseStatus[];

function summarizeVerdict(results: readonly CaseResult[]): CaseVerdict | undefined {
  const status = findWorst(results.map((result) => result.status));
  if (status === undefined) return undefined;
  const { passed, of: judged } = passCount(results);
  return { status, passed, judged, attempts: results.length };
}

function findWorst(statuses: readonly CaseStatus[]): CaseStatus | undefined {
  return WORST_FIRST.find((status) => statuses.includes(status));
}

function changedChecks(old: readonly CaseResult[], now: readonly CaseResult[]): readonly CheckChange[] {
  const [before, after] = [collectWorstChecks(old), collectWorstChecks(now)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [was, is] = [before.get(id), after.get(id)];
    const change = { before: was?.status ?? 'absent', after: is?.status ?? 'absent' } as const;
    if (change.before === change.after) return [];
    return [{ id, asked: (is ?? was)?.asked ?? '', ...change, found: is?.found ?? '' }];
  });
}

function collectWorstChecks(results: readonly CaseResult[]): ReadonlyMap<string, CheckResult> {
  const found = new Map<string, CheckResult>();
  for (const check of results.flatMap(({ checks }) => checks)) {
    const known = found.get(check.id);
    if (known === undefined || findWorst([known.status, check.status]) !== known.status) found.set(check.id, check);
  }
  return found;
}

function changedSkills(before: EvalReport, after: EvalReport): ReportComparison['skills'] {
  const digest = (report: EvalReport, name: string): string =>
    report.skills.findLast((skill) => skill.name === name)?.digest ?? '';
  return [...new Set([...before.skills, ...after.skills].map(({ name }) => name))]
    .toSorted(compareText)
    .map((name) => ({ name, before: digest(before, name), after: digest(after, name) }))
    .filter((skill) => skill.before !== skill.after);
}

function isCommon({ old, now }: CasePair): boolean {
  return old.length > 0 && now.length > 0;
}

function costs(pairs: readonly CasePair[]): ReportComparison['cost'] {
  const sum = (side: keyof CasePair): CaseCost => sumCosts(pairs.flatMap((pair) => pair[side]));
  const [before, after] = [sum('old'), sum('now')];
  const pair = (read: (cost: CaseCost) => number): BeforeAfter<number> => ({
    before: read(before),
    after: read(after),
  });
  return {
    tokens: pair(countTokens),
    toolCalls: pair(({ toolCalls }) => toolCalls),
    wallMs: pair(({ wallMs }) => wallMs),
  };
}

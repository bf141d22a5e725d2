/** Finds cases that ask the same: they count as one case, because they succeed and fail together. */
import { stableJson } from '#core';
import { groupBy, hasVerdict, type CaseResult, type Rate } from './result.ts';
import { readRequestWords, isNearRequest, type RequestWords } from './request-words.ts';
import { clusteredRate } from '../statistics/statistics.ts';

/** The part of a case that decides whether it asks the same as another. */
export interface AskedCase {
  readonly case: string;
  readonly input: string;
  /** Cases with different files or other skills never ask the same. */
  readonly surroundings: string;
  readonly expectations: string;
  /** Texts of the answer decide. If they are the same, other words of a similar request lead to no other answer. */
  readonly hasFixedAnswer?: boolean;
}

/** The recorded condition that says so. */
export const FIXED_ANSWER = 'fixed answer';

/** Requests are compared word by word with this many others; all are compared for equality. */
const MOST_COMPARED = 2000;

/** Groups the cases, in order of their first case. Most groups have one case. */
export function groupSameRequests(cases: readonly AskedCase[]): readonly (readonly string[])[] {
  const groups: { readonly first: AskedCase & RequestWords; readonly ids: string[] }[] = [];
  const equal = new Map<string, (typeof groups)[number]>();
  for (const one of cases) {
    const first = { ...one, ...readRequestWords(one.input) };
    const { surroundings, expectations, hasFixedAnswer, exact, general } = first;
    const isSame = (other: AskedCase & RequestWords): boolean =>
      other.surroundings === surroundings &&
      other.expectations === expectations &&
      isNearRequest(other, first, hasFixedAnswer);
    // Names of files and numbers matter if they lead to another answer.
    const keys = [
      [exact, surroundings],
      [general.join(' '), surroundings, expectations],
    ].map((key) => stableJson(key));
    const known = keys.map((key) => equal.get(key)).find((group) => group !== undefined);
    const group = known ?? groups.slice(0, MOST_COMPARED).find((other) => isSame(other.first));
    const joined = group ?? { first, ids: [] };
    if (group === undefined) groups.push(joined);
    for (const key of keys) if (!equal.has(key)) equal.set(key, joined);
    joined.ids.push(one.case);
  }
  return groups.map(({ ids }) => ids);
}

/** From results, whose conditions are recorded; the expectations of a result without conditions are its checks. */
export function toAskedCase({ case: id, input, given = {}, checks }: CaseResult): AskedCase {
  const skills = Object.keys(given).filter((key) => key.startsWith('skill '));
  return {
    case: id,
    input,
    surroundings: [given['inputs'] ?? given['workspace'] ?? '', ...skills].join('\n'),
    hasFixedAnswer: given[FIXED_ANSWER] !== undefined,
    expectations: given['expectations'] ?? checks.map(({ asked }) => asked).join('\n'),
  };
}

/** The results of each case; near-identical cases are one. */
export function groupCases(results: readonly CaseResult[]): readonly (readonly CaseResult[])[] {
  const byCase = groupBy(results, (result) => result.case);
  const asked = [...byCase.values()].flatMap((attempts) => {
    const known = attempts.find(({ given }) => given !== undefined) ?? attempts[0];
    return known === undefined ? [] : [toAskedCase(known)];
  });
  return groupSameRequests(asked).map((ids) => ids.flatMap((id) => byCase.get(id) ?? []));
}

/** The share of results with a verdict that passed. Its interval counts different cases, not results. */
export function ratePasses(results: readonly CaseResult[]): Rate {
  const units = groupCases(results.filter(hasVerdict));
  return clusteredRate(
    units.map((unit) => ({ count: unit.filter(({ status }) => status === 'passed').length, of: unit.length })),
  );
}

/** Finds cases that ask the same: they count as one case, because they succeed and fail together. */
import { stableJson } from '#core';
import type { EvalCase } from '../cases/case.ts';
import type { CaseResult } from './result.ts';

/** The part of a case that decides whether it asks the same as another. */
export interface AskedCase {
  readonly case: string;
  readonly input: string;
  /** Cases with different files or other skills never ask the same. */
  readonly surroundings: string;
  readonly expectations: string;
}

/** Words in common, of all words of both, from which on two requests with the same expectations are near-identical. */
const NEAR = 0.9;

/** More cases are compared for equality only. */
const MOST_COMPARED = 2000;

/** Groups the cases, in order of their first case. Most groups have one case. */
export function groupSameRequests(cases: readonly AskedCase[]): readonly (readonly string[])[] {
  const groups: { readonly first: Words; readonly ids: string[] }[] = [];
  const equal = new Map<string, (typeof groups)[number]>();
  for (const one of cases) {
    const words = readWords(one);
    const key = JSON.stringify([words.exact, one.surroundings]);
    const near = cases.length > MOST_COMPARED ? undefined : groups.find(({ first }) => isNear(first, words));
    const group = equal.get(key) ?? near;
    if (group === undefined) {
      const added = { first: words, ids: [one.case] };
      groups.push(added);
      equal.set(key, added);
    } else group.ids.push(one.case);
  }
  return groups.map(({ ids }) => ids);
}

/** From a case, before it runs. */
export function toAskedRequest({ id, input, files, expect, skills, config = {} }: EvalCase): AskedCase {
  const surroundings = stableJson([files, skills.target ?? '', config]);
  return { case: id, input, surroundings, expectations: stableJson(expect) };
}

/** From results, whose conditions are recorded; the expectations of a result without conditions are its checks. */
export function toAskedCase({ case: id, input, given = {}, checks }: CaseResult): AskedCase {
  const skills = Object.keys(given).filter((key) => key.startsWith('skill '));
  return {
    case: id,
    input,
    surroundings: [given['workspace'] ?? '', ...skills].join('\n'),
    expectations: given['expectations'] ?? checks.map(({ asked }) => asked).join('\n'),
  };
}

interface Words {
  readonly asked: AskedCase;
  readonly exact: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
}

const WORD = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|[^\P{L}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+|\p{N}+/gu;

function readWords(asked: AskedCase): Words {
  const words = asked.input.normalize('NFKC').toLowerCase().match(WORD) ?? [];
  const counts = new Map<string, number>();
  // Requests that differ only in a number are near-identical, unless they expect different answers.
  for (const word of words.map((one) => (/^\p{N}/u.test(one) ? '#' : one)))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  // A request without words is compared as it is.
  return { asked, exact: words.length === 0 ? asked.input : words.join(' '), counts, total: words.length };
}

function isNear(a: Words, b: Words): boolean {
  if (a.asked.surroundings !== b.asked.surroundings || a.asked.expectations !== b.asked.expectations) return false;
  let common = 0;
  for (const [word, count] of a.counts) common += Math.min(count, b.counts.get(word) ?? 0);
  return common > 0 && (2 * common) / (a.total + b.total) >= NEAR;
}

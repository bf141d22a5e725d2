/** Finds cases that ask the same: they count as one case, because they succeed and fail together. */
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

/** Groups the cases, in order of their first case. Most groups have one case. */
export function groupSameRequests(cases: readonly AskedCase[]): readonly (readonly string[])[] {
  const groups: { readonly first: Words; readonly ids: string[] }[] = [];
  for (const one of cases) {
    const words = readWords(one);
    const group = groups.find(({ first }) => isSame(first, words));
    if (group === undefined) groups.push({ first: words, ids: [one.case] });
    else group.ids.push(one.case);
  }
  return groups.map(({ ids }) => ids);
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
  const words = asked.input.toLowerCase().match(WORD) ?? [];
  const counts = new Map<string, number>();
  // Requests that differ only in a number are near-identical, unless they expect different answers.
  for (const word of words.map((one) => (/^\p{N}/u.test(one) ? '#' : one)))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return { asked, exact: words.join(' '), counts, total: words.length };
}

function isSame(a: Words, b: Words): boolean {
  if (a.asked.surroundings !== b.asked.surroundings) return false;
  // A request without words is compared as it is.
  if (a.total === 0 || b.total === 0) return a.asked.input === b.asked.input;
  if (a.exact === b.exact) return true;
  if (a.asked.expectations !== b.asked.expectations) return false;
  let common = 0;
  for (const [word, count] of a.counts) common += Math.min(count, b.counts.get(word) ?? 0);
  return (2 * common) / (a.total + b.total) >= NEAR;
}

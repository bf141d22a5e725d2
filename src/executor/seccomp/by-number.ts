import { JUMP_AT_LEAST } from './bpf.ts';
import type { Instruction } from './bpf.ts';

/** Instructions that end every way with a verdict. */
export type Rule = readonly Instruction[];

/** What holds for the calls from one number on, up to the next stretch. */
export interface Stretch {
  readonly from: number;
  readonly rule: Rule;
}

/** The stretches of all numbers, where `judged` calls have a rule each and all others the same. */
export function stretchesOf(judged: ReadonlyMap<number, Rule>, others: Rule): readonly Stretch[] {
  const edges = new Set([0, ...[...judged.keys()].flatMap((number) => [number, number + 1])]);
  const all = [...edges].toSorted((a, b) => a - b).map((from) => ({ from, rule: judged.get(from) ?? others }));
  // Neighbours with one rule are one stretch.
  return all.filter(({ rule }, at) => rule !== all[at - 1]?.rule);
}

/**
 * Finds the rule of the loaded number by halving: seven comparisons instead of a hundred. It is walked for every call that a rule
 * judges by its arguments, and for each number there is when the kernel takes the filter, which is with every program.
 */
export function byNumber(stretches: readonly Stretch[]): Rule {
  // The comparisons come first, then each rule once.
  const comparisons = stretches.length - 1;
  const rules = [...new Set(stretches.map(({ rule }) => rule))];
  const starts = new Map<Rule, number>();
  let next = comparisons;
  for (const rule of rules) {
    starts.set(rule, next);
    next += rule.length;
  }
  return [...halved(stretches, { at: 0, starts }), ...rules.flat()];
}

interface Place {
  /** Of the first comparison. */
  readonly at: number;
  readonly starts: ReadonlyMap<Rule, number>;
}

/** One comparison fewer than there are stretches: the lower half right behind its comparison, and then the upper one. */
function halved(stretches: readonly Stretch[], { at, starts }: Place): Rule {
  const middle = Math.floor(stretches.length / 2);
  const [lower, upper] = [stretches.slice(0, middle), stretches.slice(middle)];
  const [first] = upper;
  if (first === undefined || lower.length === 0) return [];
  const begin = (half: readonly Stretch[], own: number): number =>
    (half.length > 1 || half[0] === undefined ? own : (starts.get(half[0].rule) ?? own)) - at - 1;
  const [lowerAt, upperAt] = [at + 1, at + lower.length];
  return [
    {
      code: JUMP_AT_LEAST,
      whenTrue: begin(upper, upperAt),
      whenFalse: begin(lower, lowerAt),
      operand: first.from,
    },
    ...halved(lower, { at: lowerAt, starts }),
    ...halved(upper, { at: upperAt, starts }),
  ];
}

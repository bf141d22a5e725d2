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
  const program: Instruction[] = [];
  halve(stretches, { from: 0, to: stretches.length, starts, program });
  for (const rule of rules) program.push(...rule);
  return program;
}

interface Part {
  readonly from: number;
  readonly to: number;
  readonly starts: ReadonlyMap<Rule, number>;
  /** Where the comparisons are added. */
  readonly program: Instruction[];
}

/** One comparison fewer than there are stretches: the lower half right behind its comparison, and then the upper one. */
function halve(stretches: readonly Stretch[], { from, to, starts, program }: Part): void {
  const middle = from + Math.floor((to - from) / 2);
  const first = stretches[middle];
  if (first === undefined || middle === from) return;
  const at = program.length;
  const begin = (low: number, high: number, own: number): number => {
    const only = high - low > 1 ? undefined : stretches[low];
    return (only === undefined ? own : (starts.get(only.rule) ?? own)) - at - 1;
  };
  program.push({
    code: JUMP_AT_LEAST,
    whenTrue: begin(middle, to, at + middle - from),
    whenFalse: begin(from, middle, at + 1),
    operand: first.from,
  });
  halve(stretches, { from, to: middle, starts, program });
  halve(stretches, { from: middle, to, starts, program });
}

import { JUMP_AT_LEAST } from './bpf.ts';
import type { Instruction } from './bpf.ts';

/** Instructions of which every path ends with an action. */
export type Rule = readonly Instruction[];

/** The rule for all call numbers from `from` up to the next range. */
export interface CallRange {
  readonly from: number;
  readonly rule: Rule;
}

/** Splits all call numbers into ranges: calls in `rules` have their own rule, all others share `others`. */
export function callRanges(rules: ReadonlyMap<number, Rule>, others: Rule): readonly CallRange[] {
  const edges = new Set([0, ...[...rules.keys()].flatMap((number) => [number, number + 1])]);
  const all = [...edges].toSorted((a, b) => a - b).map((from) => ({ from, rule: rules.get(from) ?? others }));
  // Merge neighbours with the same rule.
  return all.filter(({ rule }, at) => rule !== all[at - 1]?.rule);
}

/**
 * Finds the rule of the loaded number by binary search: seven comparisons instead of a hundred. The kernel runs it for every call whose
 * arguments are checked, and for each call number when a program loads the filter.
 */
export function byNumber(ranges: readonly CallRange[]): Rule {
  // The comparisons come first, then each rule once.
  const comparisons = ranges.length - 1;
  const rules = [...new Set(ranges.map(({ rule }) => rule))];
  const starts = new Map<Rule, number>();
  let next = comparisons;
  for (const rule of rules) {
    starts.set(rule, next);
    next += rule.length;
  }
  const program: Instruction[] = [];
  halve(ranges, { from: 0, to: ranges.length, starts, program });
  for (const rule of rules) program.push(...rule);
  return program;
}

interface Part {
  readonly from: number;
  readonly to: number;
  readonly starts: ReadonlyMap<Rule, number>;
  /** The comparisons are appended here. */
  readonly program: Instruction[];
}

/** Emits one comparison fewer than there are ranges: each comparison, then its lower half, then its upper half. */
function halve(ranges: readonly CallRange[], { from, to, starts, program }: Part): void {
  const middle = from + Math.floor((to - from) / 2);
  const first = ranges[middle];
  if (first === undefined || middle === from) return;
  const at = program.length;
  const begin = (low: number, high: number, own: number): number => {
    const only = high - low > 1 ? undefined : ranges[low];
    return (only === undefined ? own : (starts.get(only.rule) ?? own)) - at - 1;
  };
  program.push({
    code: JUMP_AT_LEAST,
    whenTrue: begin(middle, to, at + middle - from),
    whenFalse: begin(from, middle, at + 1),
    operand: first.from,
  });
  halve(ranges, { from, to: middle, starts, program });
  halve(ranges, { from: middle, to, starts, program });
}

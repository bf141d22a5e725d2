/**
 * Classic BPF for seccomp: instructions of eight bytes that load words of `struct seccomp_data` and return an action. Jumps only go
 * forward, by at most 255 instructions.
 */
import type { CallRule, Check } from './calls.ts';

export interface Instruction {
  readonly code: number;
  /** Instructions to skip when the comparison is true. */
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly operand: number;
}

/** Instructions of which every path ends with an action. */
export type Rule = readonly Instruction[];

/** `BPF_LD | BPF_W | BPF_ABS`: a word of `struct seccomp_data`. */
export const LOAD = 0x20;
/** `BPF_JMP | BPF_JEQ | BPF_K`, `BPF_JGT`, `BPF_JGE`, `BPF_JSET`. */
export const JUMP_EQUAL = 0x15;
export const JUMP_ABOVE = 0x25;
export const JUMP_AT_LEAST = 0x35;
export const JUMP_ANY_BIT = 0x45;
/** `BPF_JMP | BPF_JA`: its operand is the number of instructions to skip. */
export const JUMP = 0x05;
/** `BPF_RET | BPF_K`. */
export const RETURN = 0x06;

/** Offsets in `struct seccomp_data`. */
export const NUMBER_OFFSET = 0;
export const ARCHITECTURE_OFFSET = 4;

/** `SECCOMP_RET_ALLOW`. */
export const ALLOW = 0x7fff0000;

/** Offset of the low half of an argument: both architectures are little-endian. */
function argumentOffset(index: number): number {
  return 16 + 8 * index;
}

export function load(offset: number): Instruction {
  return { code: LOAD, whenTrue: 0, whenFalse: 0, operand: offset };
}

export function verdict(value: number): Instruction {
  return { code: RETURN, whenTrue: 0, whenFalse: 0, operand: value };
}

/** `SECCOMP_RET_ERRNO` with the code in its low half. */
export function errno(code: number): number {
  return 0x00050000 + code;
}

/** Tests the alternatives one after the other. */
export function compiledRule({ allowedIf, otherwise }: CallRule): Rule {
  const alternatives = allowedIf.map((checks) => {
    const program: Instruction[] = [verdict(ALLOW)];
    for (const check of checks.toReversed()) program.unshift(...compiledCheck(check, program.length));
    return program;
  });
  return [...alternatives.flat(), verdict(errno(otherwise))];
}

/** Continues with the next instruction if the test holds, and skips `otherwise` instructions if not. */
function compiledCheck(check: Check, otherwise: number): readonly Instruction[] {
  const low = load(argumentOffset(check.argument));
  if ('equals' in check) return [low, { code: JUMP_EQUAL, operand: check.equals, whenTrue: 0, whenFalse: otherwise }];
  if ('not' in check) return [low, { code: JUMP_EQUAL, operand: check.not, whenTrue: otherwise, whenFalse: 0 }];
  if ('without' in check)
    return [low, { code: JUMP_ANY_BIT, operand: check.without, whenTrue: otherwise, whenFalse: 0 }];
  return [
    load(argumentOffset(check.argument) + 4),
    { code: JUMP_EQUAL, operand: 0, whenTrue: 0, whenFalse: otherwise + 2 },
    low,
    { code: JUMP_ABOVE, operand: check.atMost, whenTrue: otherwise, whenFalse: 0 },
  ];
}

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
 * Finds the rule of the loaded number by binary search: eight comparisons instead of a hundred. The kernel runs it for every call whose
 * arguments are checked, and for each call number when a program loads the filter.
 */
export function byNumber(ranges: readonly CallRange[]): Rule {
  const middle = Math.floor(ranges.length / 2);
  const [first] = ranges;
  const upper = ranges[middle];
  if (first === undefined || upper === undefined) return [];
  if (middle === 0) return first.rule;
  const lower = byNumber(ranges.slice(0, middle));
  const rest = byNumber(ranges.slice(middle));
  const isFar = lower.length > 255;
  const compare = {
    code: JUMP_AT_LEAST,
    operand: upper.from,
    whenTrue: isFar ? 0 : lower.length,
    whenFalse: isFar ? 1 : 0,
  };
  const jump = isFar ? [{ code: JUMP, operand: lower.length, whenTrue: 0, whenFalse: 0 }] : [];
  return [compare, ...jump, ...lower, ...rest];
}

/** Encodes the program as `struct sock_filter[]`. */
export function encodeProgram(program: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  for (const [at, { code, whenTrue, whenFalse, operand }] of program.entries()) {
    if (whenTrue > 255 || whenFalse > 255) throw new RangeError('BPF jumps are limited to 255 instructions');
    view.setUint16(at * 8, code, true);
    view.setUint8(at * 8 + 2, whenTrue);
    view.setUint8(at * 8 + 3, whenFalse);
    view.setUint32(at * 8 + 4, operand, true);
  }
  return new Uint8Array(view.buffer);
}

import {
  ALLOW,
  ARCHITECTURE_OFFSET,
  JUMP_EQUAL,
  NUMBER_OFFSET,
  byNumber,
  callRanges,
  compiledRule,
  encodeProgram,
  errno,
  load,
  verdict,
  type Instruction,
  type Rule,
} from './bpf.ts';
import { ALLOWED_CALLS, CHECKED_CALLS, ENOSYS, EPERM, REFUSED_CALLS, type CallRule } from './calls.ts';
import { SYSTEM_CALLS, type SeccompArchitecture } from './system-calls.ts';

/** `SECCOMP_RET_KILL_PROCESS`. */
export const KILL = 0x80000000;

/** `AUDIT_ARCH_X86_64`, `AUDIT_ARCH_AARCH64`. */
export const ARCHITECTURE_IDS: Readonly<Record<SeccompArchitecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

/** Marks calls of the x32 ABI. */
const X32_BIT = 0x40000000;

const ALLOWED: Rule = [verdict(ALLOW)];
const REFUSED: Rule = [verdict(errno(EPERM))];
const MISSING: Rule = [verdict(errno(ENOSYS))];

/**
 * The seccomp filter for programs. Calls of another architecture (32-bit, by `int 0x80`) kill the program; x32 and every call that is
 * not listed fail with ENOSYS. `further` rules replace those for the same call.
 */
export function seccompFilter(
  architecture: SeccompArchitecture,
  further: readonly CallRule[] = [],
): readonly Instruction[] {
  const byCall = new Map<number, Rule>();
  const set = (names: readonly string[], rule: Rule): void => {
    for (const name of names) {
      const number = SYSTEM_CALLS[architecture][name];
      if (number !== undefined) byCall.set(number, rule);
    }
  };
  set(ALLOWED_CALLS, ALLOWED);
  set(REFUSED_CALLS, REFUSED);
  for (const rule of [...CHECKED_CALLS, ...further]) set(rule.calls, compiledRule(rule));
  const ranges = callRanges(byCall, MISSING);
  return [
    load(ARCHITECTURE_OFFSET),
    { code: JUMP_EQUAL, operand: ARCHITECTURE_IDS[architecture], whenTrue: 1, whenFalse: 0 },
    verdict(KILL),
    load(NUMBER_OFFSET),
    ...byNumber(architecture === 'x64' ? [...ranges, { from: X32_BIT, rule: MISSING }] : ranges),
  ];
}

export function seccompBytes(architecture: SeccompArchitecture, further: readonly CallRule[] = []): Uint8Array {
  return encodeProgram(seccompFilter(architecture, further));
}

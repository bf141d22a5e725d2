import {
  ALLOWED_CALLS,
  CHECKED_CALLS,
  ENOSYS,
  EPERM,
  REFUSED_CALLS,
  UNLISTED_CALLS,
  type Check,
} from '../seccomp/calls.ts';

/** The list of calls in the format of engines: default profiles differ between versions, and allow set-user-id files and tracing. */

const ALLOW = 'SCMP_ACT_ALLOW';
const REFUSE = 'SCMP_ACT_ERRNO';

/** The value of `seccomp=`. Calls of other architectures, such as 32-bit and x32, kill the program. */
export function seccompProfile(): string {
  return JSON.stringify({
    defaultAction: REFUSE,
    defaultErrnoRet: ENOSYS,
    archMap: [
      { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
      { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
    ],
    syscalls: [
      { names: ALLOWED_CALLS, action: ALLOW, args: [] },
      { names: REFUSED_CALLS, action: REFUSE, errnoRet: EPERM },
      { names: UNLISTED_CALLS, action: REFUSE, errnoRet: ENOSYS },
      ...CHECKED_CALLS.flatMap(({ calls, allowedIf }) =>
        allowedIf.map((checks) => ({ names: calls, action: ALLOW, args: conditions(checks) })),
      ),
      // What fits no rule fails with ENOSYS. Engines can express another error only for the opposite of one test.
      ...CHECKED_CALLS.flatMap(({ calls, allowedIf: [checks = [], ...further], otherwise }) => {
        const [check] = checks;
        if (check === undefined || !('equals' in check) || checks.length + further.length > 1) return [];
        const args = [condition({ argument: check.argument, not: check.equals })];
        return [{ names: calls, action: REFUSE, errnoRet: otherwise, args }];
      }),
    ],
  });
}

/** Engines join tests of one argument by "or", which would make two exclusions allow everything: such a call is allowed as it is. */
function conditions(checks: readonly Check[]): readonly unknown[] {
  const hasExclusions = checks.some((check) => 'not' in check);
  return hasExclusions ? [] : checks.map(condition);
}

function condition(check: Check): unknown {
  const { argument: index } = check;
  if ('equals' in check) return { index, value: check.equals, op: 'SCMP_CMP_EQ' };
  if ('without' in check) return { index, value: check.without, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' };
  if ('atMost' in check) return { index, value: check.atMost, op: 'SCMP_CMP_LE' };
  return { index, value: check.not, op: 'SCMP_CMP_NE' };
}

/** Architecture names of engines that the profile covers. */
export function hasSeccompProfile(architecture: string): boolean {
  return ['x86_64', 'amd64', 'aarch64', 'arm64'].includes(architecture);
}

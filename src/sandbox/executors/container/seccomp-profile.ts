import { REFUSED_CALLS } from '../seccomp/filter.ts';
import { KNOWN_CALLS } from './known-calls.ts';

/**
 * The seccomp filter in the format of engines. It denies the same calls as the filter of bubblewrap, but as an allow-list: default
 * profiles differ between engine versions, and allow set-user-id files and tracing.
 */

const ALLOW = 'SCMP_ACT_ALLOW';
const REFUSE = 'SCMP_ACT_ERRNO';
const NOT_PERMITTED = 1;
const NOT_IMPLEMENTED = 38;

/** Every `CLONE_NEW*` that `clone` takes; the low byte of its flags is a signal. */
const NEW_NAMESPACE = 0x7e020000;
const SETUID_BITS = 0o6000;
/** `O_CREAT` and `O_TMPFILE`: `open` uses its mode argument only with these. */
const CREATING = 0o20000100;
const SOCKET_FAMILIES = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const PERSONALITIES = [0, 0xffffffff];

interface Condition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ';
}

/** Matches when none of these bits is set. */
function without(index: number, bits: number): Condition {
  return { index, value: bits, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' };
}

function equal(index: number, value: number): Condition {
  return { index, value, op: 'SCMP_CMP_EQ' };
}

function allow(names: readonly string[], ...args: readonly Condition[]): unknown {
  return { names, action: ALLOW, args };
}

/** The value of `seccomp=`. Calls of other architectures, such as 32-bit and x32, kill the program. */
export function seccompProfile(): string {
  return JSON.stringify({
    defaultAction: REFUSE,
    defaultErrnoRet: NOT_IMPLEMENTED,
    archMap: [
      { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
      { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
    ],
    syscalls: [
      allow(KNOWN_CALLS),
      { names: REFUSED_CALLS, action: REFUSE, errnoRet: NOT_PERMITTED },
      // Their flags are in memory, which a filter cannot read; programs fall back to `clone` and `openat`.
      { names: ['clone3', 'openat2'], action: REFUSE, errnoRet: NOT_IMPLEMENTED },
      allow(['clone'], without(0, NEW_NAMESPACE)),
      allow(['chmod', 'fchmod', 'creat', 'mknod'], without(1, SETUID_BITS)),
      allow(['fchmodat', 'fchmodat2', 'mknodat'], without(2, SETUID_BITS)),
      allow(['open'], without(1, CREATING)),
      allow(['open'], without(2, SETUID_BITS)),
      allow(['openat'], without(2, CREATING)),
      allow(['openat'], without(3, SETUID_BITS)),
      ...[SOCKET_FAMILIES.unix, SOCKET_FAMILIES.inet, SOCKET_FAMILIES.inet6].map((family) =>
        allow(['socket'], equal(0, family)),
      ),
      // Netlink only for NETLINK_ROUTE, which lists interfaces.
      allow(['socket'], equal(0, SOCKET_FAMILIES.netlink), equal(2, 0)),
      ...PERSONALITIES.map((value) => allow(['personality'], equal(0, value))),
    ],
  });
}

/** Architecture names of engines that the profile covers. */
export function hasSeccompProfile(architecture: string): boolean {
  return ['x86_64', 'amd64', 'aarch64', 'arm64'].includes(architecture);
}

import {
  ARCHITECTURE_OFFSET,
  JUMP_ANY_BIT,
  JUMP_EQUAL,
  NUMBER_OFFSET,
  argumentOffset,
  encodeProgram,
  load,
  unlessSkip,
  verdict,
} from './bpf.ts';
import type { Instruction } from './bpf.ts';
import { byNumber, callRanges } from './by-number.ts';
import type { Rule } from './by-number.ts';
import { SYSTEM_CALLS } from './system-calls.ts';
import type { SeccompArchitecture } from './system-calls.ts';

/** Actions of the kernel. */
export const ALLOW = 0x7fff0000;
export const KILL = 0x80000000;
export const NOT_PERMITTED = errno(1);
export const NOT_IMPLEMENTED = errno(38);
export const NO_SUCH_FAMILY = errno(97);

/** `AUDIT_ARCH_X86_64`, `AUDIT_ARCH_AARCH64`. */
export const ARCHITECTURE_IDS: Readonly<Record<SeccompArchitecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

/** Marks calls of the x32 ABI. */
export const X32_BIT = 0x40000000;

/**
 * Calls that no skill script needs and that affect other processes, mounts, namespaces, rarely used parts of the kernel or the state of
 * the machine. They fail with EPERM, which programs expect from unprivileged users.
 */
export const REFUSED_CALLS: readonly string[] = [
  // Other processes.
  ['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'pidfd_getfd', 'process_madvise'],
  // Mounts, old and new API.
  ['mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick'],
  ['mount_setattr', 'open_tree_attr'],
  // Namespaces; `clone` is checked by its flags.
  ['unshare', 'setns'],
  // Kernel subsystems with a history of privilege escalations.
  ['bpf', 'perf_event_open', 'userfaultfd', 'memfd_secret', 'fanotify_init', 'add_key', 'request_key', 'keyctl'],
  ['io_uring_setup', 'io_uring_enter', 'io_uring_register', 'modify_ldt', 'lsm_set_self_attr'],
  // State of the machine: kernel, modules, swap, accounting, clock, host name.
  ['kexec_load', 'kexec_file_load', 'create_module', 'init_module', 'finit_module', 'delete_module'],
  ['get_kernel_syms', 'query_module', 'reboot', 'swapon', 'swapoff', 'acct', 'quotactl', 'quotactl_fd', 'nfsservctl'],
  ['syslog', 'vhangup', 'settimeofday', 'clock_settime', 'adjtimex', 'clock_adjtime', 'sethostname', 'setdomainname'],
  ['iopl', 'ioperm', 'uselib', '_sysctl', 'sysfs', 'ustat', 'move_pages', 'migrate_pages'],
  // Opening files by handle, which bypasses mounts.
  ['open_by_handle_at', 'name_to_handle_at', 'lookup_dcookie'],
].flat();

/** Every `CLONE_NEW*` that `clone` takes; the low byte of its flags is a signal. */
const NEW_NAMESPACE = 0x7e020000;
/** `TIOCSTI` and `TIOCLINUX` inject input into a terminal, `TIOCSETD` loads line disciplines. */
const TERMINAL_INJECTIONS = [0x5412, 0x541c, 0x5423];
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** Set-user-id and set-group-id: a file that a program leaves must not grant privileges. */
const SETUID_BITS = 0o6000;
/** `O_CREAT` and `O_TMPFILE`: `open` uses its mode argument only with these. */
const CREATING = 0o20000100;
/** Queries the personality without changing it. */
const QUERY_PERSONALITY = 0xffffffff;

/** What happens to a call. */
export type NamedRule = readonly [call: string, rule: Rule];

const ALLOWED: Rule = [verdict(ALLOW)];
export const REFUSED: Rule = [verdict(NOT_PERMITTED)];
const MISSING: Rule = [verdict(NOT_IMPLEMENTED)];

/**
 * The seccomp filter for programs. Calls of another architecture (32-bit, by `int 0x80`) kill the program; x32, and `clone3` whose
 * flags a filter cannot read, fail with ENOSYS; every call without a rule is allowed. `further` rules replace those for the same call.
 */
export function seccompFilter(
  architecture: SeccompArchitecture,
  further: readonly NamedRule[] = [],
): readonly Instruction[] {
  const byCall = new Map<number, Rule>();
  for (const [name, rule] of [...callRules(), ...further]) {
    const number = SYSTEM_CALLS[architecture][name];
    if (number !== undefined) byCall.set(number, rule);
  }
  const ranges = callRanges(byCall, ALLOWED);
  return [
    load(ARCHITECTURE_OFFSET),
    { ...unlessSkip(JUMP_EQUAL, ARCHITECTURE_IDS[architecture], 0), whenTrue: 1 },
    verdict(KILL),
    load(NUMBER_OFFSET),
    ...byNumber(architecture === 'x64' ? [...ranges, { from: X32_BIT, rule: MISSING }] : ranges),
  ];
}

export function seccompBytes(architecture: SeccompArchitecture, further: readonly NamedRule[] = []): Uint8Array {
  return encodeProgram(seccompFilter(architecture, further));
}

/** Every call that is not allowed unconditionally. */
function callRules(): readonly NamedRule[] {
  const modeFirst = refuseBits(1, SETUID_BITS);
  const modeSecond = refuseBits(2, SETUID_BITS);
  return [
    ...REFUSED_CALLS.map((name) => [name, REFUSED] as const),
    ['clone3', MISSING],
    // Its mode is in memory, which a filter cannot read; programs fall back to `openat`.
    ['openat2', MISSING],
    ['clone', refuseBits(0, NEW_NAMESPACE)],
    [
      'ioctl',
      [
        load(argumentOffset(1)),
        ...TERMINAL_INJECTIONS.flatMap((request) => [unlessSkip(JUMP_EQUAL, request, 1), verdict(NOT_PERMITTED)]),
        verdict(ALLOW),
      ],
    ],
    [
      'socket',
      [
        load(argumentOffset(0)),
        ...[AF_UNIX, AF_INET, AF_INET6].flatMap((family) => [unlessSkip(JUMP_EQUAL, family, 1), verdict(ALLOW)]),
        // Netlink only for NETLINK_ROUTE, which lists interfaces.
        unlessSkip(JUMP_EQUAL, AF_NETLINK, 3),
        load(argumentOffset(2)),
        unlessSkip(JUMP_EQUAL, 0, 1),
        verdict(ALLOW),
        verdict(NO_SUCH_FAMILY),
      ],
    ],
    [
      'personality',
      [
        load(argumentOffset(0)),
        unlessSkip(JUMP_EQUAL, 0, 1),
        verdict(ALLOW),
        unlessSkip(JUMP_EQUAL, QUERY_PERSONALITY, 1),
        verdict(ALLOW),
        verdict(NOT_PERMITTED),
      ],
    ],
    ['chmod', modeFirst],
    ['fchmod', modeFirst],
    ['fchmodat', modeSecond],
    ['fchmodat2', modeSecond],
    ['creat', modeFirst],
    ['mknod', modeFirst],
    ['mknodat', modeSecond],
    ['open', refuseSetuidFile({ flags: 1, mode: 2 })],
    ['openat', refuseSetuidFile({ flags: 2, mode: 3 })],
  ];
}

function refuseBits(argument: number, bits: number): Rule {
  return [load(argumentOffset(argument)), unlessSkip(JUMP_ANY_BIT, bits, 1), verdict(NOT_PERMITTED), verdict(ALLOW)];
}

function refuseSetuidFile({ flags, mode }: { readonly flags: number; readonly mode: number }): Rule {
  return [
    load(argumentOffset(flags)),
    unlessSkip(JUMP_ANY_BIT, CREATING, 3),
    load(argumentOffset(mode)),
    unlessSkip(JUMP_ANY_BIT, SETUID_BITS, 1),
    verdict(NOT_PERMITTED),
    verdict(ALLOW),
  ];
}

function errno(code: number): number {
  // `SECCOMP_RET_ERRNO` with the code in its low half.
  return 0x00050000 + code;
}

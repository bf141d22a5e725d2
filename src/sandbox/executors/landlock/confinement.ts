import { JUMP_EQUAL, argumentOffset, load, unlessSkip, verdict } from '../seccomp/bpf.ts';
import type { Rule } from '../seccomp/by-number.ts';
import { ALLOW, NOT_PERMITTED, NO_SUCH_FAMILY, REFUSED } from '../seccomp/filter.ts';
import type { NamedRule } from '../seccomp/filter.ts';

/**
 * Rights of `linux/landlock.h`, by bit. What a kernel does not know cannot be restricted there, so the seccomp filter denies it instead,
 * see `confinedCalls`.
 */
const EXECUTE = 0;
const WRITE_FILE = 1;
const READ_FILE = 2;
const READ_DIR = 3;
const MAKE_CHAR = 6;
const MAKE_BLOCK = 11;
const MAKE_SYM = 12;
const REFER = 13;
const TRUNCATE = 14;
const IOCTL_DEV = 15;

/** The ABI version from which on a kernel knows a right or scope. */
const SINCE = { refer: 2, truncate: 3, ioctl: 5, scopes: 6 } as const;

function bits(...numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum | (1 << number), 0);
}

const BASE_RIGHTS = (1 << (MAKE_SYM + 1)) - 1;

/** Every file right that a kernel with this ABI can restrict. */
export function handledRights(abi: number): number {
  return (
    BASE_RIGHTS |
    (abi >= SINCE.refer ? bits(REFER) : 0) |
    (abi >= SINCE.truncate ? bits(TRUNCATE) : 0) |
    (abi >= SINCE.ioctl ? bits(IOCTL_DEV) : 0)
  );
}

/** Abstract sockets and signals, which are confined to the program and its descendants. */
export function scopes(abi: number): number {
  return abi >= SINCE.scopes ? 3 : 0;
}

/** Rights that rules for single files may have. */
export const FILE_RIGHTS = bits(EXECUTE, WRITE_FILE, READ_FILE, TRUNCATE, IOCTL_DEV);
export const READ = bits(EXECUTE, READ_FILE, READ_DIR);
export const LIST = bits(READ_DIR);
export const USE_DEVICE = bits(WRITE_FILE, READ_FILE);
/** Everything but devices. */
export const WRITE = (BASE_RIGHTS | bits(REFER, TRUNCATE)) & ~bits(MAKE_CHAR, MAKE_BLOCK);

const ONLY_SELF: Rule = onlyIf([[0, 0]]);
/** Commands of `fcntl` that let the kernel send signals to any process of the user. */
const SIGNAL_OWNERS = [8, 10, 15];

/**
 * Calls that Landlock does not restrict and that reach beyond the program: sockets of every family, System V memory, and other
 * processes of the user, whose limits and priorities could be changed.
 */
export function confinedCalls(abi: number): readonly NamedRule[] {
  return [
    ['socket', [verdict(NO_SUCH_FAMILY)]],
    ...['shmget', 'shmat', 'semget', 'msgget', 'mq_open'].map((name) => [name, REFUSED] as const),
    ...['prlimit64', 'sched_setparam', 'sched_setscheduler', 'sched_setaffinity', 'sched_setattr'].map(
      (name) => [name, ONLY_SELF] as const,
    ),
    [
      'setpriority',
      onlyIf([
        [0, 0],
        [1, 0],
      ]),
    ],
    [
      'ioprio_set',
      onlyIf([
        [0, 1],
        [1, 0],
      ]),
    ],
    ...(abi >= SINCE.truncate ? [] : [['truncate', REFUSED] as const]),
    ...(abi >= SINCE.scopes ? [] : signalCalls()),
  ];
}

/** Without scopes a program may signal only its own process group. */
function signalCalls(): readonly NamedRule[] {
  return [
    ['kill', ONLY_SELF],
    ...['tkill', 'tgkill', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo', 'pidfd_send_signal'].map(
      (name) => [name, REFUSED] as const,
    ),
    [
      'fcntl',
      [
        load(argumentOffset(1)),
        ...SIGNAL_OWNERS.flatMap((command) => [unlessSkip(JUMP_EQUAL, command, 1), verdict(NOT_PERMITTED)]),
        verdict(ALLOW),
      ],
    ],
  ];
}

/** Allows a call only if these arguments have these values. */
function onlyIf(values: readonly (readonly [argument: number, value: number])[]): Rule {
  return [
    ...values.flatMap(([argument, value]) => [
      load(argumentOffset(argument)),
      { ...unlessSkip(JUMP_EQUAL, value, 0), whenTrue: 1 },
      verdict(NOT_PERMITTED),
    ]),
    verdict(ALLOW),
  ];
}

import {
  EOPNOTSUPP,
  RESIZE_PIPE,
  TERMINAL_INJECTIONS,
  UNCOUNTED_MEMORY,
  callRule,
  type CallRule,
  type Check,
} from '../seccomp/calls.ts';

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
export const SINCE = { refer: 2, truncate: 3, tcp: 4, ioctl: 5, scopes: 6 } as const;

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

/**
 * For Landlock inside of another sandbox: versions of the interface, each with file rights and scopes. Version 1 is not among them, because
 * it lets no program move a file to another folder.
 */
export const WALL_VERSIONS = [2, 3, 5, 6].map((abi) => [abi, handledRights(abi), scopes(abi)].join(':')).join(' ');

/** Rights that rules for single files may have. */
export const FILE_RIGHTS = bits(EXECUTE, WRITE_FILE, READ_FILE, TRUNCATE, IOCTL_DEV);
export const READ = bits(EXECUTE, READ_FILE, READ_DIR);
export const LIST = bits(READ_DIR);
export const USE_DEVICE = bits(WRITE_FILE, READ_FILE);
/** Terminals need `ioctl`. */
export const USE_DEVICES = USE_DEVICE | bits(READ_DIR, TRUNCATE, IOCTL_DEV);
/** Everything but devices. */
export const WRITE = (BASE_RIGHTS | bits(REFER, TRUNCATE)) & ~bits(MAKE_CHAR, MAKE_BLOCK);

/** Of these processes only the calling one. */
const SELF: readonly (readonly Check[])[] = [[{ argument: 0, equals: 0 }]];
/** Commands of `fcntl` that let the kernel send signals to any process of the user. */
const SIGNAL_OWNERS = [8, 10, 15];
const EAFNOSUPPORT = 97;
const [AF_UNIX, AF_INET] = [1, 2];
const [SOCK_STREAM, SOCK_SEQPACKET] = [1, 5];
/** With `SOCK_NONBLOCK`, `SOCK_CLOEXEC`, both and none. */
const TYPE_FLAGS = [0, 0o4000, 0o2000000, 0o2004000];
/** The default, and TCP. Landlock does not confine the other protocols, such as MPTCP. */
const TCP_PROTOCOLS = [0, 6];
/** Connects while sending, which Landlock does not see. */
const MSG_FASTOPEN = 0x20000000;

/** Sockets of a program that may connect to one port, which Landlock confines. */
export const TCP_CALLS: readonly CallRule[] = [
  callRule(
    ['socket'],
    TYPE_FLAGS.flatMap((flags) =>
      TCP_PROTOCOLS.map((protocol) => [
        { argument: 0, equals: AF_INET },
        { argument: 1, equals: SOCK_STREAM | flags },
        { argument: 2, equals: protocol },
      ]),
    ),
    EAFNOSUPPORT,
  ),
  callRule(['connect'], [[]]),
  callRule(['sendto', 'sendmmsg'], [[{ argument: 3, without: MSG_FASTOPEN }]]),
  callRule(['sendmsg'], [[{ argument: 2, without: MSG_FASTOPEN }]]),
];

/**
 * A pair of sockets, such as pipes of Node and Python are, stays connected for good. A pair for datagrams does not: it could send to any
 * socket of the user by its path, which Landlock does not see.
 */
const CONNECTED_PAIRS: readonly CallRule[] = [
  callRule(
    ['socketpair'],
    [SOCK_STREAM, SOCK_SEQPACKET].flatMap((type) => TYPE_FLAGS.map((flags) => both(AF_UNIX, type | flags))),
    EOPNOTSUPP,
  ),
  callRule(['connect', 'bind', 'listen'], []),
  // Without an address; a message of `sendmsg` has its address in memory.
  callRule(['sendto'], [[{ argument: 4, atMost: 0 }]]),
];

/** `FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR`, `FS_IOC_ENABLE_VERITY`: a file that is open for reading only could be changed by them. */
const FILE_ATTRIBUTES = [0x40086602, 0x401c5820, 0x40806685];

/**
 * Attributes of files that the program may not read or write, which Landlock does not restrict; permissions and dates are among the gaps
 * that `doctor` names. What is open for reading may show its own.
 */
const ATTRIBUTE_CALLS: readonly CallRule[] = [
  // As on a file system that has none, so that programs which copy files go on.
  callRule(['setxattr', 'lsetxattr', 'fsetxattr', 'removexattr', 'lremovexattr', 'fremovexattr'], [], EOPNOTSUPP),
  callRule(['getxattr', 'lgetxattr', 'getxattrat', 'listxattr', 'llistxattr', 'listxattrat'], [], EOPNOTSUPP),
  callRule(['ioctl'], [[...TERMINAL_INJECTIONS, ...FILE_ATTRIBUTES.map((not) => ({ argument: 1, not }))]]),
];

/**
 * Calls that Landlock does not restrict and that reach beyond the program: sockets of every family, attributes of files, System V memory,
 * and other processes of the user, whose limits and priorities could be changed.
 */
export function confinedCalls(abi: number): readonly CallRule[] {
  return [
    ...UNCOUNTED_MEMORY,
    callRule(['socket'], [], EAFNOSUPPORT),
    ...CONNECTED_PAIRS,
    ...ATTRIBUTE_CALLS,
    callRule(['shmget', 'shmat', 'semget', 'msgget', 'mq_open'], []),
    callRule(['prlimit64', 'sched_setparam', 'sched_setscheduler', 'sched_setaffinity', 'sched_setattr'], SELF),
    callRule(['setpriority'], [both(0, 0)]),
    callRule(['ioprio_set'], [both(1, 0)]),
    ...(abi >= SINCE.truncate ? [] : [callRule(['truncate'], [])]),
    ...(abi >= SINCE.scopes ? [] : signalCalls()),
  ];
}

/** Without scopes a program may signal only its own process group. */
function signalCalls(): readonly CallRule[] {
  return [
    callRule(['kill'], SELF),
    callRule(['tkill', 'tgkill', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo', 'pidfd_send_signal'], []),
    callRule(['fcntl'], [[RESIZE_PIPE, ...SIGNAL_OWNERS.map((not) => ({ argument: 1, not }))]]),
  ];
}

function both(first: number, second: number): readonly Check[] {
  return [
    { argument: 0, equals: first },
    { argument: 1, equals: second },
  ];
}

/**
 * What programs may ask of the kernel: the one list for every executor on Linux. `filter.ts` compiles it for the kernel,
 * `container/seccomp-profile.ts` for container engines. A call that is not listed fails with ENOSYS, including those of later kernels, so
 * programs fall back to an older call. Two of them are left out on purpose: `clone3` and `openat2` have their flags in memory, which a
 * filter cannot read.
 */

/** One test of an argument; all arguments that are tested are integers of 32 bits, except for `atMost`. */
export type Check =
  | { readonly argument: number; readonly equals: number }
  | { readonly argument: number; readonly not: number }
  /** None of these bits is set. */
  | { readonly argument: number; readonly without: number }
  /** Tests all 64 bits. */
  | { readonly argument: number; readonly atMost: number };

/** A call that is allowed if all tests of one alternative hold. No alternative: never. */
export interface CallRule {
  readonly calls: readonly string[];
  readonly allowedIf: readonly (readonly Check[])[];
  /** The error otherwise. 0: the call does nothing and reports success. */
  readonly otherwise: number;
}

export const EPERM = 1;
const ENOMEM = 12;
const EINVAL = 22;
export const ENOSYS = 38;
export const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

export function callRule(
  calls: readonly string[],
  allowedIf: CallRule['allowedIf'],
  otherwise: number = EPERM,
): CallRule {
  return { calls, allowedIf, otherwise };
}

/** Calls that programs may make with any arguments. */
export const ALLOWED_CALLS: readonly string[] = words(`
accept accept4 access alarm arch_prctl bind brk cachestat capget capset chdir chown clock_getres clock_gettime clock_nanosleep close
close_range connect copy_file_range dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd
eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fanotify_mark fchdir fchown fchownat fdatasync
fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv
futex_wake futimesat get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer
getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname getsockopt
gettid gettimeofday getuid getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy
io_getevents io_pgetevents io_setup io_submit ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset
landlock_restrict_self lchown lgetxattr link linkat listen listmount listxattr listxattrat llistxattr lremovexattr lseek lsetxattr
lsm_get_self_attr lsm_list_modules lstat madvise map_shadow_stack membarrier memfd_create mincore mkdir mkdirat mlock mlock2 mlockall
mmap mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync
munlock munlockall munmap nanosleep newfstatat pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll
ppoll prctl pread64 preadv preadv2 prlimit64 process_mrelease pselect6 pwrite64 pwritev pwritev2 read readahead readlink readlinkat
readv recvfrom recvmmsg recvmsg remap_file_pages removexattr rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction
rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop sendfile sendmmsg sendmsg
sendto set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid
setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd
signalfd4 socketpair splice stat statfs statmount statx symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time
timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill
truncate umask uname unlink unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev
`);

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

/** Calls without a rule that programs try first. Docker before version 23 does not know the error of calls without a rule. */
export const UNLISTED_CALLS: readonly string[] = ['clone3', 'openat2'];

/** Every `CLONE_NEW*` that `clone` takes; the low byte of its flags is a signal. */
const NEW_NAMESPACE = 0x7e020000;
/** `TIOCSTI` and `TIOCLINUX` inject input into a terminal, `TIOCSETD` loads line disciplines. */
export const TERMINAL_INJECTIONS: readonly Check[] = [0x5412, 0x541c, 0x5423].map((not) => ({ argument: 1, not }));
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
/** Set-user-id and set-group-id: a file that a program leaves must not grant privileges. */
const SETUID_BITS = 0o6000;
/** `O_CREAT` and `O_TMPFILE`: `open` uses its mode argument only with these. */
const CREATING = 0o20000100;
/** Queries the personality without changing it. */
const QUERY_PERSONALITY = 0xffffffff;

/** `F_SETPIPE_SZ`: one pipe of a mebibyte takes a sixty-fourth of what the kernel lets all processes of a user have. */
export const RESIZE_PIPE = { argument: 1, not: 1031 } as const;
/** `FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE` frees space. */
const PUNCH_HOLE = 3;

/** Calls whose arguments decide. */
export const CHECKED_CALLS: readonly CallRule[] = [
  callRule(['clone'], [[{ argument: 0, without: NEW_NAMESPACE }]]),
  callRule(['ioctl'], [TERMINAL_INJECTIONS]),
  callRule(['fcntl'], [[RESIZE_PIPE]]),
  callRule(
    ['socket'],
    [
      ...[AF_UNIX, AF_INET, AF_INET6].map((family) => [{ argument: 0, equals: family }]),
      // Netlink only for NETLINK_ROUTE, which lists interfaces.
      [
        { argument: 0, equals: AF_NETLINK },
        { argument: 2, equals: 0 },
      ],
    ],
    EAFNOSUPPORT,
  ),
  // Reserves any amount of disk space between two looks at it. Programs fall back to writing, as on file systems that lack it.
  callRule(['fallocate'], [[{ argument: 1, equals: PUNCH_HOLE }]], EOPNOTSUPP),
  callRule(
    ['personality'],
    [0, QUERY_PERSONALITY].map((value) => [{ argument: 0, equals: value }]),
  ),
  callRule(['chmod', 'fchmod', 'creat', 'mknod'], [[{ argument: 1, without: SETUID_BITS }]]),
  callRule(['fchmodat', 'fchmodat2', 'mknodat'], [[{ argument: 2, without: SETUID_BITS }]]),
  callRule(['open'], [[{ argument: 1, without: CREATING }], [{ argument: 2, without: SETUID_BITS }]]),
  callRule(['openat'], [[{ argument: 2, without: CREATING }], [{ argument: 3, without: SETUID_BITS }]]),
];

/** A segment of System V memory; a namespace has at most 4096 of them. PostgreSQL needs one of 56 bytes. */
const MAX_SEGMENT_BYTES = 16 * 1024;
/** Semaphores in a set; a namespace has at most 32,000 sets. */
const MAX_SEMAPHORES = 16;
const SOL_SOCKET = 1;
/** `SO_SNDBUF`, `SO_RCVBUF` and their variants for privileged processes. */
const BUFFER_SIZES = [7, 8, 32, 33];

/**
 * Further rules where no control group counts the memory of programs. This memory belongs to no process, so no process is charged for it:
 * anonymous files fall back to files in `/tmp` or `/dev/shm`, which have a size; System V objects stay small; sockets keep buffers of the
 * default size, by which they are counted.
 */
export const UNCOUNTED_MEMORY: readonly CallRule[] = [
  callRule(['memfd_create', 'vmsplice', 'msgget'], [], ENOSYS),
  callRule(['shmget'], [[{ argument: 1, atMost: MAX_SEGMENT_BYTES }]], ENOMEM),
  callRule(['semget'], [[{ argument: 1, atMost: MAX_SEMAPHORES }]], EINVAL),
  callRule(
    ['setsockopt'],
    [[{ argument: 1, not: SOL_SOCKET }], BUFFER_SIZES.map((option) => ({ argument: 2, not: option }))],
    0,
  ),
];

function words(list: string): readonly string[] {
  return list.trim().split(/\s+/);
}

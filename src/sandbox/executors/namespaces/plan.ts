import { invalidInput, quoted, type ProgramSpec } from '#core';
import { isInside } from '#platform';
import type { ProcessLimits } from '../linux/launcher.ts';
import { FILE_RIGHTS, READ, USE_DEVICES, WALL_VERSIONS, WRITE } from '../landlock/confinement.ts';
import type { SandboxEntry } from '../linux/profile.ts';
import { BROKER_SCRIPT } from './broker-script.ts';
import { SYSTEM_CALLS, findArchitecture } from '../seccomp/system-calls.ts';

/** One instruction of a plan: a kind and its words. The launcher script knows how many words each kind has. */
export type PlanStep = readonly [kind: string, ...words: readonly string[]];

/** Calls that the launcher script makes. */
const CALLS = [
  ['unshare', 'mount', 'umount2', 'pivot_root', 'mount_setattr', 'sethostname', 'setsid', 'close', 'close_range'],
  ['statfs', 'prctl', 'prlimit64', 'capset'],
  ['landlock_create_ruleset', 'landlock_add_rule', 'landlock_restrict_self', 'openat2'],
].flat();
/** Calls that the broker makes and answers. */
const BROKER_CALLS = [
  [
    'seccomp',
    'sendmsg',
    'recvmsg',
    'ioctl',
    'pread64',
    'pidfd_open',
    'rt_sigprocmask',
    'open',
    'openat',
    'creat',
    'mkdir',
    'mkdirat',
  ],
  ['rename', 'renameat', 'renameat2', 'link', 'linkat', 'statx'],
].flat();

/** `RLIMIT_CPU`, `RLIMIT_FSIZE` and so on; the same numbers on both architectures. */
const RESOURCES = { cpuSeconds: 0, fileBytes: 1, dataBytes: 2, processes: 6, openFiles: 7 } as const;
const RESOURCE_CORE = 4;

export function callSteps(calls: readonly string[] = CALLS): readonly PlanStep[] {
  const numbers = SYSTEM_CALLS[findArchitecture() ?? 'x64'];
  return calls.map((name) => ['call', name, String(numbers[name] ?? -1)]);
}

export function limitSteps(limits: ProcessLimits): readonly PlanStep[] {
  const named = Object.entries(RESOURCES).flatMap(([name, resource]) => {
    const value = Object.entries(limits).find(([key]) => key === name)?.[1];
    return value === undefined ? [] : [[resource, Math.max(1, Math.floor(value))] as const];
  });
  return [...named, [RESOURCE_CORE, 0] as const].map(([resource, value]) => ['limit', String(resource), String(value)]);
}

export function programSteps(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): readonly PlanStep[] {
  return [
    ['set', 'cwd', cwd],
    ...Object.entries(env).map(([name, value]) => ['env', name, value] as const),
    ...argv.map((word) => ['arg', word] as const),
  ];
}

/**
 * Landlock as a second wall: what the mounts make read-only cannot be written either if a mount fails to hold it, and signals and abstract
 * sockets stay among the processes of the program, which protects process 1.
 */
export function wallSteps(entries: readonly SandboxEntry[]): readonly PlanStep[] {
  const rules: readonly (readonly [string, number])[] = [
    ['/', READ],
    ...writableTargets(entries).map((target) => [target, WRITE] as const),
    ['/dev', USE_DEVICES],
    // Programs set their own name and priority there.
    ['/proc', USE_DEVICES],
  ];
  return [
    ['set', 'wall', WALL_VERSIONS],
    ['set', 'file rights', String(FILE_RIGHTS)],
    ...rules.map(([file, rights]) => ['allow', file, String(rights)] as const),
  ];
}

/** Where programs may create files. */
export function writableTargets(entries: readonly SandboxEntry[]): readonly string[] {
  return entries.flatMap((entry) =>
    entry.type === 'tmpfs' || (entry.type === 'bind' && entry.access === 'write') ? [entry.target] : [],
  );
}

/** What the broker needs to know; see `broker-script.ts`. `opened`: where programs create files without it. */
export function hiddenSteps(hidden: ProgramSpec['hidden'], opened: readonly string[]): readonly PlanStep[] {
  if (hidden === undefined) return [];
  const { folders, free, secrets, names } = hidden;
  return [
    ...callSteps(BROKER_CALLS),
    ['set', 'broker', BROKER_SCRIPT],
    ['set', 'secret files', secrets.join(' ')],
    ['set', 'hidden names', names.names],
    ['set', 'hidden pairs', names.pairs],
    ['set', 'shown names', names.shown],
    ['set', 'always hidden', names.always],
    ['set', 'hidden parents', names.parents],
    ['set', 'document names', names.documents],
    ['set', 'secret documents', names.contents],
    ...folders.map((folder) => ['covered', folder] as const),
    ...free.map((folder) => ['free', folder] as const),
    ...opened
      .filter((file) => !folders.some((folder) => isInside(file, folder)))
      .map((file) => ['opened', file] as const),
  ];
}

/** Encodes a plan for the launcher script, as words that each end with NUL. */
export function encodePlan(steps: readonly PlanStep[]): Uint8Array {
  return encodeWords(steps.flat());
}

/** Words of a plan, or arguments of a program, each with a NUL at its end. */
export function encodeWords(words: readonly string[]): Uint8Array {
  const withNul = words.find((word) => word.includes('\0'));
  // A NUL would end one word and start another one of the attacker's choice.
  if (withNul !== undefined) throw invalidInput(`${quoted(withNul)} contains a NUL`, 'text without NUL characters');
  return new TextEncoder().encode(words.map((word) => `${word}\0`).join(''));
}

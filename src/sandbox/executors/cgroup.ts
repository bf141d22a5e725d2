import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { isDirectory, isPresent, isSystemError } from '#platform';
import { readProcess, readProcFile, tryRead } from '../process/proc.ts';
import type { RunLimits } from '../program-types.ts';

/**
 * A cgroup folder in which groups for runs can be created. Version 1 has a tree per controller, and entering a group costs
 * milliseconds: there a group limits only memory, and `RLIMIT_NPROC`, which applies to a whole user namespace, limits processes.
 */
export interface ControlGroupFolder {
  readonly version: 1 | 2;
  readonly folder: string;
  /** Start of every group name; identifies the owning process. */
  readonly prefix: string;
}

/** The processes of one run, counted and limited together by the kernel. */
export interface RunGroup {
  /**
   * A file to which a process writes 0 to enter the group itself. This avoids the wait that the kernel imposes when one process adds
   * another, and uses the permissions of the process that opened the file. Version 1 only: in version 2 it moves single threads.
   */
  readonly entry?: string;
  /** The launcher enters the group before it starts anything. */
  readonly entersItself: boolean;
  /** The command that starts the launcher inside the group, and its environment; absent if it starts outside. */
  readonly wrap?: (argv: readonly string[]) => readonly string[];
  readonly outerEnv?: Readonly<Record<string, string>>;
  /** Adds a process; its later children join automatically. The kernel may take milliseconds. */
  add(pid: number): Promise<void>;
  /** Processes that the kernel killed because the group exceeded its memory. `isLast`: the program has ended. */
  memoryKills(isLast: boolean): number;
  /** Whether the process is in the group. */
  has(pid: number): boolean;
  /** Forks that failed because of the limit; `undefined` where the group does not limit processes. */
  refusedProcesses(): number | undefined;
  /** Removes the group once it is empty. Returns false on timeout. */
  remove(): Promise<boolean>;
}

export interface ControlGroupSources {
  /** `/proc/self/cgroup`. */
  readonly membership: string;
  /** `/proc/self/mountinfo`. */
  readonly mounts: string;
}

const PREFIX = 'skillwright-';
const REMOVE_MS = 2_000;

/** Finds a folder by creating a trial group. Returns `undefined` where the kernel or its permissions do not allow it. */
export function findControlGroups(sources?: ControlGroupSources): ControlGroupFolder | undefined {
  const membership = sources?.membership ?? tryRead('/proc/self/cgroup');
  const mounts = sources?.mounts ?? tryRead('/proc/self/mountinfo');
  if (membership === undefined || mounts === undefined) return undefined;
  const prefix = ownPrefix();
  const canMake = (files: readonly string[]) => (folder: string) => canMakeGroup(folder, prefix, files);
  const memory = candidates('memory', membership, mounts).find(canMake(['memory.limit_in_bytes']));
  if (memory !== undefined) return { version: 1, folder: memory, prefix };
  const folder = candidates('', membership, mounts).find(canMake(['memory.max', 'pids.max']));
  return folder === undefined ? undefined : { version: 2, folder, prefix };
}

/** Folders to try. Our own group comes first: limits on this process should also apply to its programs. */
function candidates(controller: string, membership: string, mounts: string): readonly string[] {
  const own = membership
    .split('\n')
    .map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line))
    .find((match) => match !== null && (match[1] ?? '').split(',').includes(controller))?.[2];
  const mount = mounts
    .split('\n')
    .map((line) => /^\d+ \d+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line))
    .find((match) =>
      controller === '' ? match?.[3] === 'cgroup2' : (match?.[4] ?? '').split(',').includes(controller),
    );
  const [, shownRoot, point] = mount ?? [];
  if (own === undefined || shownRoot === undefined || point === undefined) return [];
  // In a container the mount contains only a part of the tree.
  const inside = path.join(
    point,
    own.startsWith(shownRoot) ? own.slice(shownRoot === '/' ? 0 : shownRoot.length) : '/',
  );
  // In version 2 a group with processes cannot have limited child groups, so a sibling is created.
  const folders = controller === '' ? [path.dirname(inside), inside] : [inside, point];
  return folders.filter((folder) => folder === point || folder.startsWith(`${point}/`)).filter(isDirectory);
}

function canMakeGroup(folder: string, prefix: string, files: readonly string[]): boolean {
  const trial = path.join(folder, groupName(prefix));
  try {
    mkdirSync(trial);
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
  try {
    return files.every((file) => isPresent(path.join(trial, file)));
  } finally {
    tryRemove(trial);
  }
}

/** Identifies the owner, so that groups of dead processes can be removed. */
function ownPrefix(): string {
  return `${PREFIX}${String(process.pid)}-${String(readProcess(process.pid)?.started ?? 0)}-`;
}

function groupName(prefix: string): string {
  return prefix + process.getBuiltinModule('node:crypto').randomUUID().slice(0, 13);
}

/** Removes empty groups of processes that no longer exist. */
export function removeStaleGroups({ folder }: ControlGroupFolder): void {
  for (const name of readdirSync(folder)) {
    const match = /^skillwright-(\d+)-(\d+)-/.exec(name);
    if (match !== null && readProcess(Number(match[1]))?.started !== Number(match[2]))
      tryRemove(path.join(folder, name));
  }
}

/** Creates a group with limits; `spare` processes belong to the sandbox itself. Throws the system's error. */
export function makeRunGroup(
  { version, folder, prefix }: ControlGroupFolder,
  limits: RunLimits,
  { spare }: { readonly spare: number },
): RunGroup {
  const name = groupName(prefix);
  const group = path.join(folder, name);
  const bytes = String(limits.memoryBytes);
  // Without the second setting, memory over the limit goes to swap.
  const settings: readonly (readonly [string, string])[] =
    version === 1
      ? [
          ['memory.limit_in_bytes', bytes],
          ['memory.memsw.limit_in_bytes', bytes],
          // Buffers of connections are counted apart.
          ['memory.kmem.tcp.limit_in_bytes', bytes],
        ]
      : [
          ['memory.max', bytes],
          ['memory.swap.max', '0'],
          ['memory.oom.group', '1'],
          ['pids.max', String(limits.processes + spare)],
        ];
  try {
    mkdirSync(group);
    for (const [at, [file, value]] of settings.entries())
      if (at === 0 || isPresent(path.join(group, file))) writeFileSync(path.join(group, file), value);
  } catch (error) {
    tryRemove(group);
    throw error;
  }
  return {
    entersItself: version === 1,
    ...(version === 1 ? { entry: path.join(group, 'tasks') } : {}),
    add: async (pid) => await writeFile(path.join(group, 'cgroup.procs'), String(pid)),
    has: (pid) => (readProcFile(pid, 'cgroup') ?? '').split('\n').some((line) => line.endsWith(`/${name}`)),
    memoryKills: () => counter(path.join(group, version === 1 ? 'memory.oom_control' : 'memory.events'), 'oom_kill'),
    refusedProcesses: () => (version === 1 ? undefined : counter(path.join(group, 'pids.events'), 'max')),
    remove: async () => {
      const deadline = performance.now() + REMOVE_MS;
      while (!tryRemove(group)) {
        if (performance.now() > deadline) return false;
        await delay(2);
      }
      return true;
    },
  };
}

function counter(file: string, name: string): number {
  const line = (tryRead(file) ?? '').split('\n').find((text) => text.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

/** Returns true if the folder is gone afterwards. */
function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.code === 'ENOENT';
  }
}

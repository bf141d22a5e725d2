import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { RunLimits } from '../../core/execution.ts';
import { isDirectory, isPresent, isSystemError } from '../../platform/fs/paths.ts';
import { readProcFile, readProcess, tryRead } from './proc.ts';

/**
 * A folder of the kernel in which groups for runs can be made. Version 1 has a tree for each controller, and to enter one costs
 * milliseconds: there only memory is bounded by a group, and processes by `RLIMIT_NPROC`, which holds for a whole user namespace.
 */
export interface ControlGroupPlace {
  readonly version: 1 | 2;
  readonly folder: string;
  /** Names of groups begin with it: whose they are. */
  readonly prefix: string;
}

/** One run's processes, counted and bounded together by the kernel. */
export interface RunGroup {
  /**
   * A file that a process enters by, which writes 0 to it. The kernel then waits for nobody, as it does where one process puts another
   * in, and asks for the rights of whoever opened the file. Version 1: of version 2 it holds for single threads alone.
   */
  readonly entry?: string;
  /** Puts a process in; children it has from then on follow by themselves. The kernel may take milliseconds for it. */
  add(pid: number): Promise<void>;
  /** Processes the kernel killed because all together had too much memory. */
  memoryKills(): number;
  /** It is in, by itself or by birth. */
  has(pid: number): boolean;
  /** Processes that were not allowed to be born; absent where the group does not bound them. */
  refusedProcesses(): number | undefined;
  /** Removes the group once it is empty; false where it did not become so in time. */
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

/** Where groups may be made: tried, not concluded. Nothing where the kernel or its rights do not allow it. */
export function findControlGroups(sources?: ControlGroupSources): ControlGroupPlace | undefined {
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

/** Folders to try, the nearest to our own group first: what bounds us should bound our programs. */
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
  // In a container the mount shows a part of the tree.
  const inside = path.join(
    point,
    own.startsWith(shownRoot) ? own.slice(shownRoot === '/' ? 0 : shownRoot.length) : '/',
  );
  // Of version 2 a group with processes of its own has no bounded groups below it: a neighbour is made.
  const places = controller === '' ? [path.dirname(inside), inside] : [inside, point];
  return places.filter((place) => place === point || place.startsWith(`${point}/`)).filter(isDirectory);
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

/** Says whose it is, so that what a killed process left behind can be told from what another one uses. */
function ownPrefix(): string {
  return `${PREFIX}${String(process.pid)}-${String(readProcess(process.pid)?.started ?? 0)}-`;
}

function groupName(prefix: string): string {
  return prefix + process.getBuiltinModule('node:crypto').randomUUID().slice(0, 13);
}

/** Removes groups whose maker is gone; those that still have processes stay. */
export function removeLeftGroups({ folder }: ControlGroupPlace): void {
  for (const name of readdirSync(folder)) {
    const match = /^skillwright-(\d+)-(\d+)-/.exec(name);
    if (match !== null && readProcess(Number(match[1]))?.started !== Number(match[2]))
      tryRemove(path.join(folder, name));
  }
}

/** Makes a group with its bounds set. `spare` processes are the sandbox's own. Throws the system's error. */
export function makeRunGroup(
  { version, folder, prefix }: ControlGroupPlace,
  limits: RunLimits,
  { spare }: { readonly spare: number },
): RunGroup {
  const name = groupName(prefix);
  const group = path.join(folder, name);
  const bytes = String(limits.memoryBytes);
  // Without the second one, what does not fit into memory goes to swap.
  const settings: readonly (readonly [string, string])[] =
    version === 1
      ? [
          ['memory.limit_in_bytes', bytes],
          ['memory.memsw.limit_in_bytes', bytes],
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

/** True where nothing is left. */
function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.code === 'ENOENT';
  }
}

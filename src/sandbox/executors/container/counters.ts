import { readdirSync, statfsSync } from 'node:fs';

import { isSystemError } from '#platform';
import { tryRead } from '../../process/proc.ts';

/**
 * Kernel counters of a container: exact and cheap, but only available where the engine runs on this machine. Elsewhere the engine is
 * queried, which is slower and less precise.
 */
export interface ContainerCounters {
  /** Processes and threads. */
  processes(): number | undefined;
  /** Process ids on this machine. */
  pids(): readonly number[];
  /** Forks that failed because of the process limit. */
  refusedProcesses(): number;
  /** Processes killed for lack of memory. */
  memoryKills(): number;
}

const MOUNT = '/sys/fs/cgroup';

/** Returns `undefined` where the first process is not visible here or belongs to another container. */
export function findCounters(hostPid: number, containerId: string): ContainerCounters | undefined {
  const groups = hostPid > 0 ? tryRead(`/proc/${String(hostPid)}/cgroup`) : undefined;
  if (groups === undefined) return undefined;
  const folders = new Map<string, string>();
  for (const line of groups.split('\n')) {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    const [, controllers = '', folder = ''] = match ?? [];
    // The process id may have been reused meanwhile.
    if (match === null || !folder.includes(containerId)) continue;
    for (const controller of controllers.split(',')) folders.set(controller, folder);
  }
  const unified = folders.get('');
  const folderOf = (controller: string): string | undefined => {
    const folder = folders.get(controller);
    if (folder !== undefined) return `${MOUNT}/${controller}${folder}`;
    return unified === undefined ? undefined : `${MOUNT}${unified}`;
  };
  const pids = folderOf('pids');
  const memory = folderOf('memory');
  if (pids === undefined || memory === undefined || tryRead(`${pids}/pids.current`) === undefined) return undefined;
  return {
    processes: () => numberIn(tryRead(`${pids}/pids.current`), /^(\d+)/),
    pids: () =>
      (tryRead(`${pids}/cgroup.procs`) ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map(Number),
    refusedProcesses: () => numberIn(tryRead(`${pids}/pids.events`), /^max (\d+)/m) ?? 0,
    memoryKills: () =>
      numberIn(tryRead(`${memory}/memory.events`) ?? tryRead(`${memory}/memory.oom_control`), /^oom_kill (\d+)/m) ?? 0,
  };
}

/** Whether programs left files in the scratch folders; `undefined` where that is not visible from here. */
export function hasScratchFiles(hostPid: number): boolean | undefined {
  let isDirty = false;
  for (const folder of SCRATCH_FOLDERS) {
    try {
      isDirty ||= readdirSync(`/proc/${String(hostPid)}/root${folder}`).length > 0;
    } catch (error) {
      if (isSystemError(error)) return undefined;
      throw error;
    }
  }
  return isDirty;
}

/** Whether a scratch folder holds more than `limit` files or has no free inodes. */
export function isScratchFull(hostPid: number, limit: number): boolean {
  return SCRATCH_FOLDERS.some((folder) => {
    try {
      const { files, ffree } = statfsSync(`/proc/${String(hostPid)}/root${folder}`);
      return ffree === 0 || files - ffree > limit;
    } catch (error) {
      // The container has ended, or the kernel denies access to its root.
      if (isSystemError(error)) return false;
      throw error;
    }
  });
}

export const SCRATCH_FOLDERS = ['/tmp', '/dev/shm'] as const;

function numberIn(text: string | undefined, pattern: RegExp): number | undefined {
  const digits = text === undefined ? undefined : pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

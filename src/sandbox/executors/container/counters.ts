import { readFileSync, readdirSync, statfsSync } from 'node:fs';

import { isSystemError } from '../../../platform/fs/paths.ts';

/**
 * What the kernel counts for a container. Exact and free to read, where the engine runs on this machine; elsewhere the engine is
 * asked, which is slower and knows less.
 */
export interface ContainerCounters {
  /** Processes and threads. */
  processes(): number | undefined;
  /** As this machine counts them. */
  pids(): readonly number[];
  /** Processes that were not started because there were too many. */
  refusedProcesses(): number;
  /** Processes killed for want of memory. */
  memoryKills(): number;
}

const MOUNT = '/sys/fs/cgroup';

/** Nothing where the first process is not seen here, or is that of another container. */
export function findCounters(hostPid: number, containerId: string): ContainerCounters | undefined {
  const groups = hostPid > 0 ? readText(`/proc/${String(hostPid)}/cgroup`) : undefined;
  if (groups === undefined) return undefined;
  const folders = new Map<string, string>();
  for (const line of groups.split('\n')) {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    const [, controllers = '', folder = ''] = match ?? [];
    // Another process may have got the number since.
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
  if (pids === undefined || memory === undefined || readText(`${pids}/pids.current`) === undefined) return undefined;
  return {
    processes: () => numberIn(readText(`${pids}/pids.current`), /^(\d+)/),
    pids: () =>
      (readText(`${pids}/cgroup.procs`) ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map(Number),
    refusedProcesses: () => numberIn(readText(`${pids}/pids.events`), /^max (\d+)/m) ?? 0,
    memoryKills: () =>
      numberIn(readText(`${memory}/memory.events`) ?? readText(`${memory}/memory.oom_control`), /^oom_kill (\d+)/m) ??
      0,
  };
}

/** Whether programs left something where the next one would find it; nothing where that cannot be seen from here. */
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

/** Files in them are as many as may be: the kernel takes no more there, or more than `limit`. */
export function isScratchFull(hostPid: number, limit: number): boolean {
  return SCRATCH_FOLDERS.some((folder) => {
    try {
      const { files, ffree } = statfsSync(`/proc/${String(hostPid)}/root${folder}`);
      return ffree === 0 || files - ffree > limit;
    } catch (error) {
      // It is over, or the kernel does not let us look.
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

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

import { setTimeout as delay } from 'node:timers/promises';

import { isSystemError, namesIn } from '#platform';
import { readProcess, readProcesses, readProcFile } from '../../process/proc.ts';

type ProcessRow = ReturnType<typeof readProcesses>[number];

/** How long the kernel may take to end the last processes of a namespace. */
const GONE_MS = 10_000;

/**
 * The processes of one sandbox. `first` is the init process of the PID namespace: once it is gone, the kernel has killed and reaped
 * every other process inside, whatever sessions, groups and parents they chose.
 */
export interface SandboxProcesses {
  readonly first: ProcessRow;
  /** The process that becomes the program; every other process of the run descends from it. */
  readonly gate: number;
}

/** Finds the processes while the gate waits. Returns `undefined` where the launcher has already exited. */
export function sandboxProcesses(outside: number, hasBroker: boolean): SandboxProcesses | undefined {
  // The launcher is single-threaded, outside and inside.
  const [inside] = listChildren(outside, [String(outside)]);
  const first = inside === undefined ? undefined : readProcess(inside);
  const started = first === undefined ? undefined : listChildren(first.pid, [String(first.pid)])[0];
  // The broker, which shows nothing of itself, starts the gate.
  const gate = started === undefined || !hasBroker ? started : listChildren(started, [String(started)])[0];
  return first === undefined || gate === undefined ? undefined : { first, gate };
}

/** Children are listed per thread. */
function listChildren(pid: number, threads = namesIn(`/proc/${String(pid)}/task`)): readonly number[] {
  const texts = threads.map((thread) => readProcFile(pid, `task/${thread}/children`));
  if (texts.every((text) => text !== undefined))
    return texts.flatMap((text) => (text ?? '').split(' ').filter(Boolean).map(Number));
  // Some kernels are built without these files, and a thread may have ended meanwhile.
  return readProcesses()
    .filter(({ parent }) => parent === pid)
    .map((row) => row.pid);
}

function isAlive({ pid, started }: ProcessRow): boolean {
  const now = readProcess(pid);
  return now !== undefined && now.started === started && !now.isZombie;
}

/**
 * Kills the init process, and every other process directly: the kernel does that only when the init process gets a processor, for which
 * it competes with them.
 */
export function killNamespace(processes: SandboxProcesses): void {
  for (const pid of processesInside(processes))
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It exited meanwhile.
      if (!isSystemError(error) || error.code !== 'ESRCH') throw error;
    }
}

/** Waits for the end of the namespace, which follows the end of the launcher outside. Returns false on timeout. */
export async function namespaceGone(processes: SandboxProcesses): Promise<boolean> {
  const deadline = performance.now() + GONE_MS;
  for (let wait = 1; isAlive(processes.first); wait = Math.min(50, wait * 2)) {
    if (performance.now() > deadline) return false;
    await delay(wait);
    killNamespace(processes);
  }
  return true;
}

/** Every process inside; orphans are children of `first`. Empty once the namespace has ended. */
export function processesInside({ first }: SandboxProcesses): readonly number[] {
  if (!isAlive(first)) return [];
  const inside = new Set([first.pid]);
  // Iterating a set visits elements that are added meanwhile.
  for (const pid of inside) for (const child of listChildren(pid)) inside.add(child);
  return [...inside];
}

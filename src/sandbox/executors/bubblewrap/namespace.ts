import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { isSystemError } from '../../../platform/fs/paths.ts';
import { readProcFile, readProcess, readProcesses } from '../process-row.ts';
import type { ProcessRow } from '../process-row.ts';

/** How long the kernel may take to end what is left in a namespace. */
const GONE_MS = 10_000;

/**
 * The processes of one sandbox. The first inside holds the namespace: when it is gone, the kernel has ended every other one and waited
 * for it, whatever they did with sessions, groups and parents.
 */
export interface SandboxProcesses {
  readonly first: ProcessRow;
  /** What becomes the program: every other process of the run will come from it. */
  readonly gate: number;
}

/** Finds them while the gate holds; nothing where bubblewrap is gone already. */
export function sandboxProcesses(outside: number): SandboxProcesses | undefined {
  // bubblewrap has one thread, outside and inside.
  const [inside] = childrenOf(outside, [String(outside)]);
  const first = inside === undefined ? undefined : readProcess(inside);
  const gate = first === undefined ? undefined : childrenOf(first.pid, [String(first.pid)])[0];
  return first === undefined || gate === undefined ? undefined : { first, gate };
}

/** A thread has children of its own. */
function childrenOf(pid: number, threads = listThreads(pid)): readonly number[] {
  const texts = threads.map((thread) => readProcFile(pid, `task/${thread}/children`));
  if (texts.every((text) => text !== undefined))
    return texts.flatMap((text) => (text ?? '').split(' ').filter(Boolean).map(Number));
  // Kernels may come without these files; and a thread may have ended since.
  return readProcesses()
    .filter(({ parent }) => parent === pid)
    .map((row) => row.pid);
}

function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${String(pid)}/task`);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

function isAlive({ pid, started }: ProcessRow): boolean {
  const now = readProcess(pid);
  return now !== undefined && now.started === started && !now.isZombie;
}

export function killNamespace({ first }: SandboxProcesses): void {
  if (!isAlive(first)) return;
  try {
    process.kill(first.pid, 'SIGKILL');
  } catch (error) {
    // Gone since.
    if (!isSystemError(error) || error.code !== 'ESRCH') throw error;
  }
}

/** Waits until no process of it is left; it is on its way, because bubblewrap outside is gone. False where it did not happen. */
export async function namespaceGone(processes: SandboxProcesses): Promise<boolean> {
  const deadline = performance.now() + GONE_MS;
  for (let wait = 1; isAlive(processes.first); wait = Math.min(50, wait * 2)) {
    if (performance.now() > deadline) return false;
    await delay(wait);
    killNamespace(processes);
  }
  return true;
}

/** Everybody in it, from outside: orphans are children of the first. None where it is over. */
export function processesInside({ first }: SandboxProcesses): readonly number[] {
  if (!isAlive(first)) return [];
  const inside = new Set([first.pid]);
  // A set is walked through while it grows.
  for (const pid of inside) for (const child of childrenOf(pid)) inside.add(child);
  return [...inside];
}

const PAGE_BYTES = 4096;

/**
 * Memory of all of them. Resident pages are cheap to read and count shared ones several times: only where that is too much, each page
 * is counted for its share.
 */
export function memoryBytes(pids: readonly number[], limit: number): number {
  const resident = sum(pids.map((pid) => PAGE_BYTES * Number((readProcFile(pid, 'statm') ?? '').split(' ')[1] ?? 0)));
  if (resident <= limit) return resident;
  return sum(
    pids.map((pid) => 1024 * Number(/^Pss:\s+(\d+)/m.exec(readProcFile(pid, 'smaps_rollup') ?? '')?.[1] ?? 0)),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + (Number.isNaN(number) ? 0 : number), 0);
}

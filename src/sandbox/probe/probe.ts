import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { DEFAULT_LIMITS } from '../../core/execution.ts';
import type {
  AttachedWorkspace,
  EndReason,
  Executor,
  ExecutorName,
  Isolation,
  ProgramEnd,
  RunLimits,
} from '../../core/execution.ts';
import { isPresent, isSystemError } from '../../platform/fs/paths.ts';
import { CANARY_LIMITS, CANARY_NAMES, canaryScript, fileName } from './canaries.ts';
import type { CanaryName } from './canaries.ts';
import { isRoot } from '../workspace/layout.ts';
import { watchHost } from './watched-host.ts';
import type { Door, WatchedHost } from './watched-host.ts';

/** `unknown`: the attempt could not be made, so nothing is known; that is not a reason to trust. */
export type CanaryVerdict = 'blocked' | 'open' | 'unknown';

export interface CanaryResult {
  readonly name: CanaryName;
  readonly verdict: CanaryVerdict;
}

/** What an executor really keeps from a program on this machine, seen from outside. */
export interface ProbeReport {
  readonly executor: ExecutorName;
  readonly isolation: Isolation;
  readonly results: readonly CanaryResult[];
  /** Nothing that was tried worked, and what isolation is made of was tried. */
  readonly isIsolating: boolean;
}

/** Without these known to be blocked nothing is isolated. */
const ESSENTIAL: ReadonlySet<CanaryName> = new Set([
  'writes outside',
  'reads secrets',
  'kills other processes',
  'runs as root',
]);

export interface ProbeOptions {
  /** Where a decoy is put and taken away again. */
  readonly home?: string;
  /** Folder for the workspace of the probe; the system's for temporary files otherwise. */
  readonly directory?: string;
}

/** Ended before it could say that it tried: it did. */
const LIMIT_REASONS: ReadonlySet<EndReason> = new Set(['memory', 'processes', 'disk']);

/**
 * Tried by themselves, after all others were tried at once. The environment of the process outside is read while that lives; some
 * executors have their limits for all programs together.
 */
const ALONE: ReadonlySet<CanaryName> = new Set([
  'kills other processes',
  'more memory than allowed',
  'more processes than allowed',
  'more disk than allowed',
  'survives its time',
]);

const CANARY_MS = 20_000;
const SURVIVOR_MS = 700;
const SETTLE_MS = 150;

/** Runs every canary through an executor. Throws what `attach` throws. */
export async function probeExecutor(executor: Executor, options: ProbeOptions = {}): Promise<ProbeReport> {
  const base = mkdtempSync(path.join(options.directory ?? os.tmpdir(), 'skillwright-probe-'));
  try {
    // Open to everybody, so that only the sandbox stands in the way.
    chmodSync(base, 0o777);
    return await probeIn(base, executor, options.home ?? os.homedir());
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

async function probeIn(base: string, executor: Executor, home: string): Promise<ProbeReport> {
  const watched = await watchHost({ folder: base, identity: executor.identity, home });
  try {
    const root = makeWorkspace(base, executor);
    const workspace = await executor.attach({ id: 'probe', root, skills: [] });
    try {
      const results = await tryCanaries({ workspace, root, watched });
      const isIsolating =
        results.every(({ verdict }) => verdict !== 'open') &&
        results.every(({ name, verdict }) => verdict === 'blocked' || !ESSENTIAL.has(name));
      return { executor: executor.name, isolation: workspace.capabilities.isolation, results, isIsolating };
    } finally {
      await workspace.detach();
    }
  } finally {
    await watched.close();
  }
}

interface Trial {
  readonly workspace: AttachedWorkspace;
  /** On the host. */
  readonly root: string;
  readonly watched: WatchedHost;
}

interface Attempt {
  readonly end: ProgramEnd;
  readonly isTried: boolean;
}

/** All of them, and then what the host shows. */
async function tryCanaries(trial: Trial): Promise<readonly CanaryResult[]> {
  const together = CANARY_NAMES.filter((name) => !ALONE.has(name));
  const attempts = new Map(
    await Promise.all(together.map(async (name) => [name, await tryCanary(name, trial)] as const)),
  );
  for (const name of ALONE) attempts.set(name, await tryCanary(name, trial));
  // What reached us, or ended a process of ours, is told by events that may still be on their way.
  await delay(SETTLE_MS);
  const results: CanaryResult[] = [];
  for (const name of CANARY_NAMES) {
    const attempt = attempts.get(name);
    if (attempt === undefined) continue;
    const { end, isTried } = attempt;
    const isOpen = await worked(name, { out: path.join(trial.root, 'out'), watched: trial.watched, end });
    results.push({ name, verdict: isOpen ? 'open' : isTried ? 'blocked' : 'unknown' });
  }
  return results;
}

async function tryCanary(name: CanaryName, { workspace, root, watched }: Trial): Promise<Attempt> {
  const out = path.join(root, 'out');
  const isShort = name === 'survives its time';
  const end = await workspace.run(
    {
      argv: ['/bin/sh', '-c', canaryScript(name, watched.place)],
      cwd: 'work',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', OUT: `${workspace.root}/out` },
      stdin: new Uint8Array(),
      limits: limitsFor(name, isShort ? SURVIVOR_MS : CANARY_MS),
      network: [],
    },
    { stdout: { write: () => true }, stderr: { write: () => true } },
  );
  const left = [`${fileName(name)}.tried`, ...(name === 'more processes than allowed' ? ['born'] : [])];
  return { end, isTried: left.some((file) => isPresent(path.join(out, file))) || LIMIT_REASONS.has(end.reason) };
}

function limitsFor(name: CanaryName, wallMs: number): RunLimits {
  const { memoryBytes, processes, diskBytes } = CANARY_LIMITS;
  return {
    ...DEFAULT_LIMITS,
    wallMs,
    ...(name === 'more memory than allowed' ? { memoryBytes } : {}),
    ...(name === 'more processes than allowed' ? { processes } : {}),
    ...(name === 'more disk than allowed' ? { diskBytes } : {}),
  };
}

interface Aftermath {
  readonly out: string;
  readonly watched: WatchedHost;
  readonly end: ProgramEnd;
}

/** Whether the host shows that it worked; the program is not asked. */
async function worked(name: CanaryName, { out, watched, end }: Aftermath): Promise<boolean> {
  const read = (file: string): string => readIfThere(path.join(out, file));
  switch (name) {
    case 'writes outside':
      return ['/usr/skillwright-canary', '/etc/skillwright-canary', path.join(watched.place.outside, 'written')].some(
        isPresent,
      );
    case 'reads secrets':
      return watched.place.decoys.some((_, at) => read(`secret.${String(at)}`).includes(watched.secret));
    case 'tcp to this machine':
    case 'udp to this machine':
    case 'unix socket by path':
    case 'abstract unix socket':
      return watched.wasReached(DOORS[name]);
    case 'environment of other processes':
      return read('environ').includes(watched.secret);
    case 'kills other processes':
      return !watched.isVictimAlive();
    case 'nested namespaces':
      return isPresent(path.join(out, 'nested'));
    case 'runs as root':
      return read('uid').trim() === '0' || /[1-9a-f]/.test(read('capabilities'));
    case 'leaves a setuid file':
      return isPresent(path.join(out, 'setuid')) && (statSync(path.join(out, 'setuid')).mode & 0o6000) !== 0;
    case 'more memory than allowed':
      return Number(read('held')) >= 4 * CANARY_LIMITS.memoryBytes;
    case 'more processes than allowed':
      return end.reason !== 'processes' && Number(read('born')) >= 3 * CANARY_LIMITS.processes;
    case 'more disk than allowed':
      return end.reason !== 'disk';
    case 'survives its time': {
      const before = read('heartbeat').length;
      await delay(300);
      return end.reason !== 'timeout' || read('heartbeat').length !== before;
    }
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  }
}

/** What the host sees of the attempts that knock at it. */
const DOORS = {
  'tcp to this machine': 'tcp',
  'udp to this machine': 'udp',
  'unix socket by path': 'socket',
  'abstract unix socket': 'abstract',
} as const satisfies Partial<Record<CanaryName, Door>>;

function makeWorkspace(base: string, { identity }: Executor): string {
  const root = path.join(base, 'workspace');
  mkdirSync(root);
  chmodSync(root, 0o711);
  for (const name of ['skills', 'work', 'work/inputs', 'out', 'runs']) {
    mkdirSync(path.join(root, name));
    if (isRoot() && identity !== undefined) chownSync(path.join(root, name), identity.uid, identity.gid);
  }
  return root;
}

import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import {
  DEFAULT_LIMITS,
  type AttachedWorkspace,
  type Executor,
  type ProgramEnd,
  type RunLimits,
  type RunResult,
} from '#core';
import { isPresent } from '#platform';
import { ATTEMPT_LIMITS, ESCAPE_ATTEMPTS, attemptScript, fileName, type EscapeAttempt } from './escape-attempts.ts';
import { isRoot } from '../workspace/layout.ts';
import { findDamage, isHostAttempt, openHostDecoys, type HostDecoys } from './host-decoys.ts';
import { NO_OUTPUT, textSink } from '../executors/output-sinks.ts';
import { tryRead } from '../process/proc.ts';
import { interpreterFolders, PROGRAM_FOLDERS } from '../process/program-environment.ts';

/** `unknown`: the attempt could not be made. That is no evidence of isolation. */
export type AttemptVerdict = 'blocked' | 'open' | 'unknown';

export interface AttemptResult {
  readonly name: EscapeAttempt;
  readonly verdict: AttemptVerdict;
}

/** What an executor actually blocks on this machine, observed from outside the sandbox. */
export interface ProbeReport {
  readonly executor: Executor['name'];
  readonly isolation: RunResult['isolation'];
  readonly results: readonly AttemptResult[];
  /** No attempt succeeded, and all essential ones were made. */
  readonly isIsolating: boolean;
  readonly capabilities: AttachedWorkspace['capabilities'];
  /** What scripts find; only where it was asked for. */
  readonly interpreters?: readonly Interpreter[];
}

/** An executor isolates only if these are known to be blocked. */
const ESSENTIAL: ReadonlySet<EscapeAttempt> = new Set([
  'writes outside',
  'reads secrets',
  'kills other processes',
  'runs as root',
]);

export interface ProbeOptions {
  /** Receives a decoy file for the duration of the probe (default: the home folder). */
  readonly home?: string;
  /** Parent of the probe's workspace (default: the temporary folder). */
  readonly directory?: string;
  /** Also lists the interpreters inside (default: false). */
  readonly interpreters?: boolean;
}

/** An attempt that was ended for one of these reasons was made, even if it could not write its mark. */
const LIMIT_REASONS: ReadonlySet<ProgramEnd['reason']> = new Set(['memory', 'processes', 'disk']);

/**
 * Run one by one, after all others ran concurrently: one kills the decoy process that others read, and some executors apply their
 * limits to all programs together.
 */
const SEQUENTIAL: ReadonlySet<EscapeAttempt> = new Set([
  'kills other processes',
  'more memory than allowed',
  'more processes than allowed',
  'more disk than allowed',
  'survives its time',
]);

const ATTEMPT_MS = 20_000;
const SURVIVOR_MS = 700;
const SETTLE_MS = 150;

/** Whether nothing is open, and every essential attempt was made and blocked. */
export function isIsolating(results: ProbeReport['results']): boolean {
  const blocked = new Set(results.flatMap(({ name, verdict }) => (verdict === 'blocked' ? [name] : [])));
  return [...ESSENTIAL].every((name) => blocked.has(name)) && results.every(({ verdict }) => verdict !== 'open');
}

/** Runs every escape attempt in an executor. Throws what `attach` throws. */
export async function probeExecutor(executor: Executor, options: ProbeOptions = {}): Promise<ProbeReport> {
  const base = mkdtempSync(path.join(options.directory ?? os.tmpdir(), 'skillwright-probe-'));
  try {
    // World-writable, so that only the sandbox can stop an attempt.
    chmodSync(base, 0o777);
    return await probeIn(base, executor, options);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

async function probeIn(base: string, executor: Executor, options: ProbeOptions): Promise<ProbeReport> {
  const { home = os.homedir() } = options;
  const decoys = await openHostDecoys({ folder: base, identity: executor.identity, home });
  try {
    const root = makeWorkspace(base, executor);
    const workspace = await executor.attach({ id: 'probe', root, skills: [] });
    try {
      const results = await tryAll({ workspace, root, decoys });
      return {
        executor: executor.name,
        isolation: workspace.capabilities.isolation,
        capabilities: workspace.capabilities,
        results,
        isIsolating: isIsolating(results),
        ...(options.interpreters === true ? { interpreters: await interpretersIn(workspace, executor) } : {}),
      };
    } finally {
      await workspace.detach();
    }
  } finally {
    await decoys.close();
  }
}

interface Trial {
  readonly workspace: AttachedWorkspace;
  /** Path on the host. */
  readonly root: string;
  readonly decoys: HostDecoys;
}

interface Attempt {
  readonly end: ProgramEnd;
  readonly isTried: boolean;
}

/** Runs all attempts, then checks their effects on the host. */
async function tryAll(trial: Trial): Promise<readonly AttemptResult[]> {
  const concurrent = ESCAPE_ATTEMPTS.filter((name) => !SEQUENTIAL.has(name));
  const attempts = new Map(
    await Promise.all(concurrent.map(async (name) => [name, await tryAttempt(name, trial)] as const)),
  );
  for (const name of SEQUENTIAL) attempts.set(name, await tryAttempt(name, trial));
  // Events of connections and of the decoy process may still be pending.
  await delay(SETTLE_MS);
  const results: AttemptResult[] = [];
  for (const name of ESCAPE_ATTEMPTS) {
    const attempt = attempts.get(name);
    if (attempt === undefined) continue;
    const { end, isTried } = attempt;
    const isOpen = await succeeded(name, { out: path.join(trial.root, 'out'), decoys: trial.decoys, end });
    results.push({ name, verdict: isOpen ? 'open' : isTried ? 'blocked' : 'unknown' });
  }
  return results;
}

async function tryAttempt(name: EscapeAttempt, { workspace, root, decoys }: Trial): Promise<Attempt> {
  const out = path.join(root, 'out');
  const isShort = name === 'survives its time';
  const end = await workspace.run(
    {
      argv: ['/bin/sh', '-c', attemptScript(name, decoys.targets)],
      cwd: 'work',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', OUT: `${workspace.root}/out` },
      stdin: new Uint8Array(),
      limits: limitsFor(name, isShort ? SURVIVOR_MS : ATTEMPT_MS),
      network: [],
    },
    { stdout: NO_OUTPUT, stderr: NO_OUTPUT },
  );
  const left = [`${fileName(name)}.tried`, ...(name === 'more processes than allowed' ? ['born'] : [])];
  return { end, isTried: left.some((file) => isPresent(path.join(out, file))) || LIMIT_REASONS.has(end.reason) };
}

function limitsFor(name: EscapeAttempt, wallMs: number): RunLimits {
  const { memoryBytes, processes, diskBytes } = ATTEMPT_LIMITS;
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
  readonly decoys: HostDecoys;
  readonly end: ProgramEnd;
}

/** Whether the attempt had an effect on the host, or exceeded its limit. */
async function succeeded(name: EscapeAttempt, { out, decoys, end }: Aftermath): Promise<boolean> {
  const file = (left: string): string => path.join(out, left);
  const read = (left: string): string => tryRead(file(left)) ?? '';
  if (isHostAttempt(name)) return findDamage(name, { decoys, file }).length > 0;
  switch (name) {
    case 'more memory than allowed':
      return Number(read('held')) >= 4 * ATTEMPT_LIMITS.memoryBytes;
    case 'more processes than allowed':
      return end.reason !== 'processes' && Number(read('born')) >= 3 * ATTEMPT_LIMITS.processes;
    case 'more disk than allowed':
      return end.reason !== 'disk';
    case 'survives its time': {
      const before = read('heartbeat').length;
      await delay(300);
      return end.reason !== 'timeout' || read('heartbeat').length !== before;
    }
  }
}

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

/** An interpreter as scripts find it. */
interface Interpreter {
  readonly name: string;
  /** Path inside; absent if it is not installed. */
  readonly path?: string;
  readonly version?: string;
}

const NAMES = ['python3', 'node', 'bash', 'perl'];
const MAX_MS = 20_000;
/** Prints name, path and the first line with a version. */
const SCRIPT = `for name in ${NAMES.join(' ')}; do
  path=$(command -v $name) || continue
  case $name in perl) version=$(perl -e 'print substr $^V, 1') ;; *) version=$($name --version 2>&1 | head -n 1) ;; esac
  printf '%s\\t%s\\t%s\\n' "$name" "$path" "$version"
done`;

/** The interpreters that scripts see in a workspace, by the same search path that they have. */
async function interpretersIn(
  workspace: AttachedWorkspace,
  executor: Pick<Executor, 'image'>,
): Promise<readonly Interpreter[]> {
  const stdout = textSink();
  await workspace.run(
    {
      argv: ['/bin/sh', '-c', SCRIPT],
      cwd: 'work',
      env: { PATH: [...interpreterFolders(executor), ...PROGRAM_FOLDERS].join(':'), LANG: 'C.UTF-8' },
      stdin: new Uint8Array(),
      limits: { ...DEFAULT_LIMITS, wallMs: MAX_MS },
      network: [],
    },
    { stdout, stderr: NO_OUTPUT },
  );
  const rows = stdout
    .text()
    .split('\n')
    .map((line) => line.split('\t'));
  return NAMES.map((name) => {
    const [, path, said = ''] = rows.find(([first]) => first === name) ?? [];
    const version = /\d+(?:\.\d+)+/.exec(said)?.[0];
    return { name, path, version };
  });
}

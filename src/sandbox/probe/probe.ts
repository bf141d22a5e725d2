import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { DEFAULT_LIMITS, type AttachedWorkspace, type Executor, type ProgramEnd, type RunResult } from '#core';
import { isPresent } from '#platform';
import {
  ATTEMPTS,
  ESCAPE_ATTEMPTS,
  attemptScript,
  fileName,
  findDamage,
  type EscapeAttempt,
} from './escape-attempts.ts';
import { isRoot } from '../workspace/layout.ts';
import { openHostDecoys, type HostDecoys } from './host-decoys.ts';
import { NO_OUTPUT, textSink } from '../executors/output-sinks.ts';
import { tryRead } from '../process/proc.ts';
import { interpreterFolders, PROGRAM_FOLDERS } from '../process/program-environment.ts';

/** `unknown`: the attempt could not be made. That is no evidence of isolation. */
type AttemptVerdict = 'blocked' | 'open' | 'unknown';

interface AttemptResult {
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

const ATTEMPT_MS = 20_000;
/** Events of connections and of the decoy process may still be pending, and a survivor writes every 50 ms. */
const SETTLE_MS = 300;

/** Whether nothing is open, and every essential attempt was made and blocked. */
export function isIsolating(results: ProbeReport['results']): boolean {
  const blocked = new Set(results.flatMap(({ name, verdict }) => (verdict === 'blocked' ? [name] : [])));
  const isBlocked = ESCAPE_ATTEMPTS.every((name) => ATTEMPTS[name].isEssential !== true || blocked.has(name));
  return isBlocked && results.every(({ verdict }) => verdict !== 'open');
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

interface Tried {
  readonly end: ProgramEnd;
  readonly isTried: boolean;
  readonly beats: number;
}

/** Runs all attempts, then checks their effects on the host. */
async function tryAll(trial: Trial): Promise<readonly AttemptResult[]> {
  const isAlone = (name: EscapeAttempt): boolean => ATTEMPTS[name].isAlone === true;
  const concurrent = ESCAPE_ATTEMPTS.filter((name) => !isAlone(name));
  const attempts = new Map(
    await Promise.all(concurrent.map(async (name) => [name, await tryAttempt(name, trial)] as const)),
  );
  for (const name of ESCAPE_ATTEMPTS.filter(isAlone)) attempts.set(name, await tryAttempt(name, trial));
  await delay(SETTLE_MS);
  const { decoys, root } = trial;
  const file = (left: string): string => path.join(root, 'out', left);
  return ESCAPE_ATTEMPTS.map((name) => {
    const { isTried = false, ...tried } = attempts.get(name) ?? {};
    const isOpen = findDamage(name, { decoys, file, ...tried }).length > 0;
    return { name, verdict: isOpen ? 'open' : isTried ? 'blocked' : 'unknown' };
  });
}

async function tryAttempt(name: EscapeAttempt, { workspace, root, decoys }: Trial): Promise<Tried> {
  const out = path.join(root, 'out');
  const end = await workspace.run(
    {
      argv: ['/bin/sh', '-c', attemptScript(name, decoys.targets)],
      cwd: 'work',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', OUT: `${workspace.root}/out` },
      stdin: new Uint8Array(),
      limits: { ...DEFAULT_LIMITS, wallMs: ATTEMPT_MS, ...ATTEMPTS[name].limits },
      network: [],
    },
    { stdout: NO_OUTPUT, stderr: NO_OUTPUT },
  );
  const left = [`${fileName(name)}.tried`, ...(name === 'more processes than allowed' ? ['born'] : [])];
  const isTried = left.some((file) => isPresent(path.join(out, file))) || LIMIT_REASONS.has(end.reason);
  return { end, isTried, beats: tryRead(path.join(out, 'heartbeat'))?.length ?? 0 };
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
    const [, path, versionText = ''] = rows.find(([first]) => first === name) ?? [];
    const version = /\d+(?:\.\d+)+/.exec(versionText)?.[0];
    return { name, path, version };
  });
}

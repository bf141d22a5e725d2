import os from 'node:os';
import path from 'node:path';

import { SkillError, isSkillError } from '../../core/errors.ts';
import type { Executor, ExecutorName } from '../../core/execution.ts';
import { isObject } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { writeFileAtomically } from '../../platform/fs/atomic-replace.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { readPrivateFile } from '../../platform/fs/read-file.ts';
import { CANARY_NAMES } from './canaries.ts';
import { probeExecutor } from './probe.ts';
import type { CanaryResult, ProbeReport } from './probe.ts';

export type OnTrial = (name: ExecutorName) => void;

/** A way to run programs that could be chosen. */
export interface ExecutorCandidate {
  readonly name: ExecutorName;
  /** `isKnown`: a kept verdict says that it isolates, as it is now. */
  readonly make: (known?: { readonly isKnown: boolean }) => Executor;
  /** Changes when what it does could change: its version, its settings, its profile. */
  readonly fingerprint: string;
}

export interface ChooseOptions {
  /** In order; `auto` takes the first that isolates, and never `local`. */
  readonly candidates: readonly ExecutorCandidate[];
  /** Where verdicts are kept for a day; absent: every time anew. */
  readonly cacheDirectory?: string;
  readonly now?: number;
  /** Told of each candidate that has to be tried out, which takes seconds. */
  readonly onTrial?: OnTrial | undefined;
  readonly probe?: (executor: Executor) => Promise<ProbeReport>;
}

export interface ChosenExecutor {
  readonly executor: Executor;
  /** Absent for `local`, which keeps nothing from a program. */
  readonly report?: ProbeReport;
}

/** One line of what `doctor` prints: what was found out, or why nothing could be. */
export interface Examined {
  readonly name: ExecutorName;
  readonly report?: ProbeReport;
  readonly reasons: readonly string[];
  readonly install: string;
}

const DAY_MS = 86_400_000;
const MAX_CACHE_BYTES = 64 * 1024;
const DEFAULT_INSTALL = 'apt-get install bubblewrap';
const TRIAL_PLACE = 'set TMPDIR to a folder that can be written and has room';

/**
 * The executor to use: the named one, or with `auto` the first that is seen to isolate. Throws `executor/unavailable` where that is
 * none; it never falls back to a weaker one.
 */
export async function chooseExecutor(choice: 'auto' | ExecutorName, options: ChooseOptions): Promise<ChosenExecutor> {
  const wanted = options.candidates.filter(({ name }) => (choice === 'auto' ? name !== 'local' : name === choice));
  if (choice !== 'auto' && wanted.length === 0) throw notHere(choice);
  const others: Examined[] = [];
  for (const candidate of wanted) {
    if (candidate.name === 'local') return { executor: candidate.make() };
    const known = readVerdict(candidate, options);
    const executor = candidate.make({ isKnown: known !== undefined });
    if (known === undefined) options.onTrial?.(candidate.name);
    const found = known === undefined ? await examine(candidate, executor, options) : examined(candidate.name, known);
    if (found.report?.isIsolating === true) return { executor, report: found.report };
    others.push(found);
  }
  const reasons = others.flatMap(({ name, reasons: said }) => said.map((reason) => `${name}: ${reason}`));
  const install = others[0]?.install ?? DEFAULT_INSTALL;
  throw new SkillError({
    code: 'executor/unavailable',
    message: `nothing here isolates programs${reasons.length === 0 ? '' : ` (${reasons.join('; ')})`}`,
    hint: `${install}; or choose the executor local, which isolates nothing`,
    data: { executor: choice, reasons, install },
  });
}

/** Nothing that could be installed would change it: it is for another system. */
function notHere(executor: ExecutorName): SkillError<'executor/unavailable'> {
  const message = `there is no executor ${executor} here`;
  const hint = 'choose auto, which takes the first that isolates';
  return new SkillError({
    code: 'executor/unavailable',
    message,
    hint,
    data: { executor, reasons: [message], install: hint },
  });
}

/** Everything that is known about each candidate: the matrix that `doctor` prints. Probes anew. */
export async function examineExecutors({ candidates, probe }: ChooseOptions): Promise<readonly Examined[]> {
  const all: Examined[] = [];
  for (const candidate of candidates)
    all.push(await examine(candidate, candidate.make(), { candidates, ...(probe === undefined ? {} : { probe }) }));
  return all;
}

async function examine(candidate: ExecutorCandidate, executor: Executor, options: ChooseOptions): Promise<Examined> {
  const { name } = candidate;
  try {
    const report = await (options.probe ?? probeExecutor)(executor);
    writeVerdict(candidate, report, options);
    return examined(name, report);
  } catch (error) {
    if (isSystemError(error)) return { name, reasons: [untried(error.code)], install: TRIAL_PLACE };
    if (!isSkillError(error)) throw error;
    const { data } = error;
    return 'install' in data
      ? { name, reasons: data.reasons, install: data.install }
      : { name, reasons: [error.message], install: error.hint };
  }
}

/** A trial takes a folder, a few files and a socket. */
function untried(code: string): string {
  return `it could not be tried with temporary files in ${quoted(os.tmpdir())}: ${code}`;
}

function examined(name: ExecutorName, report: ProbeReport): Examined {
  const open = report.results.filter(({ verdict }) => verdict === 'open').map((result) => result.name);
  const unknown = report.results.filter(({ verdict }) => verdict === 'unknown').map((result) => result.name);
  const reasons = report.isIsolating
    ? []
    : [`a program ${open.length > 0 ? `could: ${open.join(', ')}` : `could not be tried: ${unknown.join(', ')}`}`];
  return { name, report, reasons, install: DEFAULT_INSTALL };
}

function verdictFile({ name }: ExecutorCandidate, directory: string): string {
  return path.join(directory, `probe-${name}.json`);
}

/** A verdict holds for this kernel, this user and this version, and for a day. */
function verdictKey({ fingerprint }: ExecutorCandidate): string {
  return `${os.release()} ${String(process.getuid?.() ?? -1)} ${fingerprint}`;
}

function readVerdict(
  candidate: ExecutorCandidate,
  { cacheDirectory, now = Date.now() }: ChooseOptions,
): ProbeReport | undefined {
  if (cacheDirectory === undefined) return undefined;
  const file = readPrivateFile(verdictFile(candidate, cacheDirectory), { maxBytes: MAX_CACHE_BYTES });
  if (file.type !== 'read') return undefined;
  const kept: unknown = parsed(file.bytes.toString('utf8'));
  if (!isKept(kept) || kept.key !== verdictKey(candidate)) return undefined;
  return kept.at <= now && now - kept.at < DAY_MS ? kept.report : undefined;
}

/** Only what isolates is kept: what is broken may be mended in the next minute. */
function writeVerdict(
  candidate: ExecutorCandidate,
  report: ProbeReport,
  { cacheDirectory, now = Date.now() }: ChooseOptions,
): void {
  if (cacheDirectory === undefined || !report.isIsolating) return;
  const kept: Kept = { key: verdictKey(candidate), at: now, report };
  try {
    makeFolders(cacheDirectory, 0o700);
    writeFileAtomically(verdictFile(candidate, cacheDirectory), Buffer.from(JSON.stringify(kept)));
  } catch (error) {
    // A cache that cannot be written costs a probe each time.
    if (!isSystemError(error)) throw error;
  }
}

interface Kept {
  readonly key: string;
  readonly at: number;
  readonly report: ProbeReport;
}

function isKept(value: unknown): value is Kept {
  return (
    isObject(value) &&
    typeof value['key'] === 'string' &&
    typeof value['at'] === 'number' &&
    isObject(value['report']) &&
    typeof value['report']['executor'] === 'string' &&
    typeof value['report']['isolation'] === 'string' &&
    value['report']['isIsolating'] === true &&
    Array.isArray(value['report']['results']) &&
    value['report']['results'].every(isResult)
  );
}

function isResult(value: unknown): value is CanaryResult {
  return (
    isObject(value) &&
    CANARY_NAMES.some((name) => name === value['name']) &&
    ['blocked', 'open', 'unknown'].some((verdict) => verdict === value['verdict'])
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

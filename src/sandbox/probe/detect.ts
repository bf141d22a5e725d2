import os from 'node:os';
import path from 'node:path';

import {
  readField,
  isSkillError,
  parseJson,
  quoted,
  shape,
  type Executor,
  type ExecutorName,
  type SkillError,
} from '#core';
import { isSystemError, makeFolders, readPrivateFile, writeFileAtomically } from '#platform';
import { executorUnavailable } from '../executors/failures.ts';
import { ESCAPE_ATTEMPTS } from './escape-attempts.ts';
import { isIsolating, probeExecutor, type ProbeReport } from './probe.ts';

/** An executor that can be chosen. */
export interface ExecutorCandidate {
  readonly name: ExecutorName;
  /** `isKnown`: a cached probe has shown that it isolates in its current state. */
  readonly make: (known?: { readonly isKnown: boolean }) => Executor;
  /** Changes with everything that may affect isolation: version, settings, profile. */
  readonly fingerprint: string;
}

export interface ChooseOptions {
  /** In order of preference. `auto` takes the first that isolates, `landlock` only where it is allowed, and never `local`. */
  readonly candidates: readonly ExecutorCandidate[];
  /** Whether `auto` may use `landlock` for every program. */
  readonly allowWeaker?: boolean;
  /** `auto` never throws: where nothing isolates fully it returns the best that is left, restricted to built-in scripts. */
  readonly runsBuiltIn?: boolean;
  /** Caches probe reports for a day. */
  readonly cacheDirectory?: string;
  /** Reports of isolating executors that the caller keeps, so that its next session does not probe again without a cache folder. */
  readonly probed?: Map<string, ProbeReport>;
  readonly now?: number;
  /** Called before each probe, which takes seconds. */
  readonly onTrial?: (name: ExecutorName) => void;
  readonly probe?: (executor: Executor) => Promise<ProbeReport>;
}

export interface ChosenExecutor {
  readonly executor: Executor;
  /** Absent for `local`, which isolates nothing. */
  readonly report?: ProbeReport;
  /** The executor may run nothing but scripts of built-in skills; this error is for everything else. */
  readonly restriction?: SkillError<'executor/unavailable'>;
}

/** The probe report of one executor, or the reasons why it has no report. */
export interface ExecutorExamination {
  readonly name: ExecutorName;
  readonly report?: ProbeReport;
  readonly reasons: readonly string[];
  readonly install: string;
  /** What programs can do under it that the other executors block. */
  readonly gaps?: readonly string[];
}

const DAY_MS = 86_400_000;
const MAX_CACHE_BYTES = 64 * 1024;
const DEFAULT_INSTALL = 'apt-get install bubblewrap';
const TMPDIR_HINT = 'set TMPDIR to a writable folder with free space';

/**
 * Returns the named executor, or with `auto` the first that a probe shows to isolate. Throws `executor/unavailable` if no executor qualifies;
 * never falls back to a weaker one, except for built-in scripts.
 */
export async function chooseExecutor(choice: 'auto' | ExecutorName, options: ChooseOptions): Promise<ChosenExecutor> {
  const candidates = options.candidates.filter(({ name }) => (choice === 'auto' ? name !== 'local' : name === choice));
  if (choice !== 'auto' && candidates.length === 0) throw unsupported(choice);
  const others: ExecutorExamination[] = [];
  for (const candidate of candidates) {
    if (candidate.name === 'local') return { executor: candidate.make() };
    const known = options.probed?.get(reportKey(candidate)) ?? readCachedReport(candidate, options);
    const executor = candidate.make({ isKnown: known !== undefined });
    if (known === undefined) options.onTrial?.(candidate.name);
    const found = known === undefined ? await examine(candidate, executor, options) : examined(candidate.name, known);
    if (found.report?.isIsolating === true) {
      options.probed?.set(reportKey(candidate), found.report);
      const { gaps } = executor;
      if (choice !== 'auto' || gaps === undefined || options.allowWeaker === true)
        return { executor, report: found.report };
      return restricted({ executor, report: found.report }, weakerOnly(others, gaps), options);
    }
    others.push(found);
  }
  const { reasons, install } = summarize(others);
  const because = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  const nothing = executorUnavailable(choice, `no executor isolates programs on this machine${because}`, {
    hint: `${install}, or choose the executor local, which isolates nothing`,
    reasons,
    install,
  });
  const local = choice === 'auto' ? options.candidates.find(({ name }) => name === 'local') : undefined;
  if (local === undefined) throw nothing;
  return restricted({ executor: local.make() }, nothing, options);
}

/** The executor for built-in scripts only, or the error where the caller wants an executor for every program. */
function restricted(
  chosen: ChosenExecutor,
  restriction: SkillError<'executor/unavailable'>,
  { runsBuiltIn = false }: ChooseOptions,
): ChosenExecutor {
  if (!runsBuiltIn) throw restriction;
  return { ...chosen, restriction };
}

const ALLOW_WEAKER = 'set "execution": { "allow_weaker": true } in ~/.agent/config.json, or pass --executor landlock';

function weakerOnly(
  others: readonly ExecutorExamination[],
  gaps: readonly string[],
): SkillError<'executor/unavailable'> {
  const { reasons, install } = summarize(others);
  return executorUnavailable(
    'auto',
    `only the weaker executor landlock works on this machine (${reasons.join('; ')})`,
    {
      hint: `${install}; or accept landlock, which leaves ${String(gaps.length)} gaps (skillwright doctor): ${ALLOW_WEAKER}`,
      reasons,
      install,
    },
  );
}

/** Why none of these executors is used, and how to fix the first. */
function summarize(others: readonly ExecutorExamination[]): Pick<ExecutorExamination, 'reasons' | 'install'> {
  return {
    reasons: others.flatMap(({ name, reasons }) => reasons.map((reason) => `${name}: ${reason}`)),
    install: others[0]?.install ?? DEFAULT_INSTALL,
  };
}

/** For an executor of another operating system, which cannot be installed. */
function unsupported(executor: ExecutorName): SkillError<'executor/unavailable'> {
  const message = `the executor ${executor} is not available on this system`;
  const hint = 'choose auto, which takes the first executor that isolates';
  return executorUnavailable(executor, message, { hint, reasons: [message] });
}

/** Probes every candidate, ignoring the cache, and lists the interpreters inside. */
export async function examineCandidates({
  candidates,
  probe = (executor) => probeExecutor(executor, { interpreters: true }),
}: ChooseOptions): Promise<readonly ExecutorExamination[]> {
  const all: ExecutorExamination[] = [];
  for (const candidate of candidates) {
    const executor = candidate.make();
    all.push({ ...(await examine(candidate, executor, { candidates, probe })), gaps: executor.gaps });
  }
  return all;
}

async function examine(
  candidate: ExecutorCandidate,
  executor: Executor,
  options: ChooseOptions,
): Promise<ExecutorExamination> {
  const { name } = candidate;
  try {
    const report = await (options.probe ?? probeExecutor)(executor);
    writeCachedReport(candidate, report, options);
    return examined(name, report);
  } catch (error) {
    if (isSystemError(error)) {
      // A probe creates a folder, a few files and a socket.
      const reason = `the probe cannot create temporary files in ${quoted(os.tmpdir())}: ${error.code}`;
      return { name, reasons: [reason], install: TMPDIR_HINT };
    }
    if (!isSkillError(error)) throw error;
    const { data } = error;
    return 'executor' in data && 'install' in data
      ? { name, reasons: data.reasons, install: data.install }
      : { name, reasons: [error.message], install: error.hint };
  }
}

function examined(name: ExecutorName, report: ProbeReport): ExecutorExamination {
  const named = (verdict: string): string =>
    report.results.flatMap((result) => (result.verdict === verdict ? [result.name] : [])).join(', ');
  const reason = named('open') === '' ? `could not be tested: ${named('unknown')}` : `not blocked: ${named('open')}`;
  const reasons = report.isIsolating ? [] : [reason];
  return { name, report, reasons, install: DEFAULT_INSTALL };
}

function reportFile({ name }: ExecutorCandidate, directory: string): string {
  return path.join(directory, `probe-${name}.json`);
}

/** A report is valid for this kernel, user and version, for one day. */
function reportKey({ fingerprint }: ExecutorCandidate): string {
  return `${os.release()} ${String(process.getuid?.() ?? -1)} ${fingerprint}`;
}

function readCachedReport(
  candidate: ExecutorCandidate,
  { cacheDirectory, now = Date.now() }: ChooseOptions,
): ProbeReport | undefined {
  if (cacheDirectory === undefined) return undefined;
  const file = readPrivateFile(reportFile(candidate, cacheDirectory), { maxBytes: MAX_CACHE_BYTES });
  if (file.type !== 'read') return undefined;
  const cached = parseJson(file.bytes.toString('utf8'));
  if (!isCachedReport(cached) || cached.key !== reportKey(candidate)) return undefined;
  const isFresh = cached.at <= now && now - cached.at < DAY_MS;
  return isFresh && isIsolating(cached.report.results) ? cached.report : undefined;
}

/** Caches only reports of isolating executors: a broken one may be fixed at any moment. */
function writeCachedReport(
  candidate: ExecutorCandidate,
  report: ProbeReport,
  { cacheDirectory, now = Date.now() }: ChooseOptions,
): void {
  if (cacheDirectory === undefined || !report.isIsolating) return;
  const cached: CachedReport = { key: reportKey(candidate), at: now, report };
  try {
    makeFolders(cacheDirectory, 0o700);
    writeFileAtomically(reportFile(candidate, cacheDirectory), Buffer.from(JSON.stringify(cached)));
  } catch (error) {
    // Without a cache every start probes again.
    if (!isSystemError(error)) throw error;
  }
}

interface CachedReport {
  readonly key: string;
  readonly at: number;
  readonly report: ProbeReport;
}

const CACHED = shape({
  text: 'key report.executor report.isolation',
  number: 'at',
  object: 'report.capabilities',
  list: 'report.results',
});

function isCachedReport(value: unknown): value is CachedReport {
  const report = readField(value, 'report');
  const results = readField(report, 'results');
  return (
    CACHED(value) &&
    readField(report, 'isIsolating') === true &&
    Array.isArray(results) &&
    results.every(
      (result) =>
        ESCAPE_ATTEMPTS.some((name) => name === readField(result, 'name')) &&
        ['blocked', 'open', 'unknown'].some((verdict) => verdict === readField(result, 'verdict')),
    )
  );
}

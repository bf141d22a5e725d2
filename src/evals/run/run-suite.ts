/** Runs the cases of a suite concurrently and isolated from each other. Results keep a fixed order and survive interruption. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { isSkillError, type Budget, type Executor } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { groupBy, ungradedResult, type CaseResult, type CaseStatus } from '../report/result.ts';
import { removeTree, sha256 } from '#platform';
import { readSurroundings, temporaryFolder, type Session } from '#runtime';
import { makeTemporaryFolder } from '#sandbox';
import {
  answersFor,
  openCaseModel,
  portableText,
  type CaseModel,
  type RunFolders,
  type SuiteModel,
} from './case-model.ts';
import { openStoredResults } from './stored-results.ts';
import { runCase, type AttemptBasis, type CaseGrading } from './run-case.ts';
import { openEnvironments, type Environment, type Environments } from './environments.ts';
import type { SkillSet } from './skill-set.ts';
import type { OpenSubject } from '../subjects/open-subject.ts';
import { runSubjectCase, subjectName } from '../subjects/subject-case.ts';
import { jobKey, buildJobs, type ArmSkills, type Job } from './suite-jobs.ts';

export interface SuiteProgress {
  readonly done: number;
  readonly total: number;
  readonly counts: Readonly<Record<CaseStatus, number>>;
  /** Estimated from the pace so far. */
  readonly remainingMs?: number;
  readonly last: CaseResult;
}

/** Options that all kinds of evaluations share. */
export interface SuiteBasis {
  readonly cases: readonly EvalCase[];
  /** Used for cases without a script or cassette. */
  readonly model?: SuiteModel;
  /** Overrides the number of attempts of each case. */
  readonly repeat?: number;
  readonly concurrency: number;
  /** Default timeout per case. */
  readonly timeoutMs: number;
  /** Used by this suite only, for `results.jsonl` and `runs/`. */
  readonly directory: string;
  readonly resume?: boolean;
  readonly cache?: string;
  /** Another agent that runs the cases, instead of the own loop with a model. */
  readonly subject?: OpenSubject;
  /** Runs attempts on other machines. */
  readonly elsewhere?: Elsewhere;
  /** The source of a skill folder, such as `project`; its copy keeps it. */
  readonly sourceOf?: (folder: string) => string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SuiteProgress) => void;
  /** Receives remarks that are not part of the report. */
  readonly onNote?: (text: string) => void;
}

export interface SuiteOptions extends SuiteBasis {
  readonly arms: readonly ArmSkills[];
  readonly grading?: CaseGrading;
  readonly updateCassettes?: boolean;
  /** Ends a run of the subject that has done enough for the question of its case. */
  readonly stopAfter?: Pick<Budget, 'turns' | 'toolCalls'>;
  /** Absent if program execution is disabled. */
  readonly executor?: Executor;
  /** Returns a reason to skip a case. */
  readonly reasonToSkip?: (evalCase: EvalCase) => string | undefined;
  /** Other settings that outcomes depend on, for the cache key. */
  readonly settings?: unknown;
  /** Asked after each attempt at all cases; the suite stops when it returns true. Without it the attempts of a case run one after the other. */
  readonly isDecided?: (results: readonly CaseResult[]) => boolean;
}

/** An attempt that another machine can run: the case, and the copies of the skills that it gets. */
interface PortableAttempt extends Omit<AttemptBasis, 'signal' | 'grading'> {
  readonly set: SkillSet;
  /** The folder of the suite where the output files are put. */
  readonly outputs: string | undefined;
}

/** Returns undefined for an attempt that has to run here. Rejects if the signal of the suite is aborted. */
export type Elsewhere = (attempt: PortableAttempt) => Promise<CaseResult | undefined>;

export interface SuiteOutcome {
  /** In the order of cases, arms and attempts; attempts that did not run are absent. */
  readonly results: readonly CaseResult[];
  /** The skill sets that were used, first arm first. */
  readonly sets: readonly SkillSet[];
  /** Attempts per case that ran, with `isDecided`. */
  readonly rounds: number;
  readonly isPartial: boolean;
}

/** Returns early when the signal aborts; finished results are in the outcome and on disk. */
export async function runSuite(options: SuiteOptions): Promise<SuiteOutcome> {
  const { directory, signal, subject } = options;
  const concurrency = Math.min(options.concurrency, subject?.agent.concurrency ?? Infinity);
  const jobs = buildJobs(options.cases, options.arms, options.repeat);
  const kept = openStoredResults({
    file: path.join(directory, 'results.jsonl'),
    resume: options.resume === true,
    cache: options.cache,
  });
  const work = await workFolder();
  const environments = openEnvironments(work, options);
  const removals: Promise<unknown>[] = [];
  const results: (CaseResult | undefined)[] = jobs.map(() => undefined);
  const report = progressReporter(jobs.length, options.onProgress);
  const runAll = async (places: readonly number[]): Promise<void> => {
    const left = places.values();
    const takeJobs = async (): Promise<void> => {
      for (const place of left) {
        const job = jobs[place];
        if (job === undefined || signal.aborted) return;
        const result = await runJob(job, place, { options, environments, kept, work, removals });
        results[place] = result;
        report(result);
      }
    };
    const workers = Array.from({ length: Math.max(1, Math.min(concurrency, places.length)) }, takeJobs);
    const ends = await Promise.allSettled(workers);
    for (const end of ends) if (end.status === 'rejected' && !signal.aborted) throw end.reason;
  };
  const rounds = groupRounds(jobs, options.isDecided !== undefined);
  let ran = 0;
  try {
    for (const places of rounds) {
      await runAll(places);
      ran += 1;
      if (signal.aborted || options.isDecided?.(results.filter(isResult)) === true) break;
    }
  } finally {
    await Promise.all(removals);
    await removeTree(work);
  }
  const asked = rounds.slice(0, ran).reduce((sum, places) => sum + places.length, 0);
  const done = results.filter(isResult);
  return { results: done, sets: await environments.sets(), rounds: ran, isPartial: done.length < asked };
}

/** Runs one attempt by itself, as a worker does for a suite on another machine. Nothing is stored besides its record and its files. */
export async function runAttempt(
  job: Job,
  options: Omit<SuiteOptions, 'cases' | 'arms' | 'concurrency'>,
): Promise<CaseResult> {
  const whole: SuiteOptions = { ...options, cases: [], arms: [], concurrency: 1 };
  const work = await workFolder();
  const kept = { find: () => undefined, keep: () => undefined };
  try {
    return await runJob(job, 0, {
      options: whole,
      environments: openEnvironments(work, whole),
      kept,
      work,
      removals: [],
    });
  } finally {
    await removeTree(work);
  }
}

function isResult(result: CaseResult | undefined): result is CaseResult {
  return result !== undefined;
}

/** Indexes of the jobs that run before the next decision: those of one attempt, or all. */
function groupRounds(jobs: readonly Job[], isByAttempt: boolean): readonly (readonly number[])[] {
  const places = jobs.map((_, place) => place);
  if (!isByAttempt) return [places];
  return [...groupBy(places, (place) => String(jobs[place]?.attempt)).values()];
}

/** Outside of `.agent`, whose files no tool of a case may read or write. If this process is killed, the next one removes it. */
async function workFolder(): Promise<string> {
  const { env, home } = readSurroundings({});
  return makeTemporaryFolder(await temporaryFolder(env, home));
}

interface JobParts {
  readonly options: SuiteOptions;
  readonly environments: Environments;
  readonly kept: ReturnType<typeof openStoredResults>;
  readonly work: string;
  /** Removals of folders of finished runs, which do not delay the next run. */
  readonly removals: Promise<unknown>[];
}

async function runJob(job: Job, place: number, parts: JobParts): Promise<CaseResult> {
  const { options, environments, kept, work } = parts;
  const { evalCase } = job;
  const skipped = options.reasonToSkip?.(evalCase);
  if (skipped !== undefined) return notRun(job, 'skipped', skipped);
  if (options.subject !== undefined) return runBySubject(options.subject, job, place, parts);
  const environment = await openEnvironment(environments, job);
  if (typeof environment === 'string') return notRun(job, 'error', environment);
  const { set, runtime } = environment;
  const project = path.join(work, 'projects', String(place));
  const model = openModel(job, options, { skills: set.folder, project });
  if (typeof model === 'string') return notRun(job, 'error', model);
  if (model === undefined)
    return notRun(job, 'skipped', 'no model: the case has no mock and no cassette; pass --model to run it');
  const files = [...evalCase.files, ...listCheckers(evalCase)].map((file) => fileDigest(file));
  const { elsewhere } = options;
  const executor = elsewhere === undefined ? (options.executor?.name ?? '') : 'workers';
  const settings = { executor, more: options.settings ?? '' };
  const key = jobKey(job, { skills: set.digest, model: model.identity, files, settings });
  // Recording a cassette needs a run.
  const known = options.updateCassettes === true ? undefined : keptResult(key, evalCase, kept);
  if (known !== undefined) return known;
  const attempt = toAttempt(job, options);
  const remote = await elsewhere?.({ ...attempt, set, outputs: options.grading?.outputs });
  const result = remote ?? (await runCase({ ...attempt, runtime, model, executor: options.executor, project }));
  await removeTree(project);
  kept.keep(key, result);
  return result;
}

/** The stored result of an attempt, with the current name and position of its case. */
function keptResult(key: string, evalCase: EvalCase, kept: JobParts['kept']): CaseResult | undefined {
  const known = kept.find(key);
  if (known === undefined) return undefined;
  const { id, name, place, input, tags } = evalCase;
  const result = { ...known, case: id, name, place, input, tags, isCached: true };
  kept.keep(key, result);
  return result;
}

async function runBySubject(
  subject: OpenSubject,
  job: Job,
  place: number,
  { options, environments, kept, work, removals }: JobParts,
): Promise<CaseResult> {
  const { evalCase } = job;
  if (subject.missing !== '') return notRun(job, 'skipped', subject.missing);
  if (answersFor(evalCase, subject)?.type === 'script')
    return notRun(job, 'skipped', 'the case has scripted answers, and another agent brings its own model');
  const set = await environments.openSet(job);
  const files = [...evalCase.files, ...listCheckers(evalCase)].map((file) => fileDigest(file));
  const model = `subject ${subjectName(subject)}`;
  const key = jobKey(job, { skills: set.digest, model, files, settings: options.settings ?? '' });
  const known = keptResult(key, evalCase, kept);
  if (known !== undefined) return known;
  const folder = path.join(work, 'subjects', String(place));
  const result = await runSubjectCase({
    ...toAttempt(job, options),
    subject,
    skills: environments.installed(set),
    skillsDigest: set.digest,
    work: folder,
    stopAfter: options.stopAfter,
    openSession: options.executor === undefined ? undefined : () => openCheckers(job, options.executor, environments),
  });
  // While the next agent runs. What is left is removed with the folder of the suite.
  removals.push(removeTree(folder).catch(() => false));
  kept.keep(key, result);
  return result;
}

/** A session without skills in use, for the checkers of a case. */
async function openCheckers(job: Job, executor: Executor | undefined, environments: Environments): Promise<Session> {
  const { runtime } = await environments.open(job);
  return runtime.startSession({ execution: { executor, artifacts: false } });
}

function toAttempt({ evalCase, arm, attempt }: Job, options: SuiteOptions): AttemptBasis {
  const { directory, timeoutMs, signal, grading = {} } = options;
  const runs = path.join(directory, 'runs');
  return { evalCase, arm, attempt, runs, timeoutMs: evalCase.timeoutMs ?? timeoutMs, signal, grading };
}

/** An invalid configuration is an error of its own case only; the message is returned. */
async function openEnvironment(environments: Environments, job: Job): Promise<Environment | string> {
  try {
    return await environments.open(job);
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'config/invalid') throw error;
    return `the configuration of the case is invalid: ${error.message}`;
  }
}

/** Returns a message for a script or cassette that cannot be read. */
function openModel(
  { evalCase, arm, attempt }: Job,
  { model, updateCassettes = false }: SuiteOptions,
  places: RunFolders,
): CaseModel | string | undefined {
  try {
    const portable = portableText(places);
    return openCaseModel(evalCase, { suite: model, updateCassettes, arm, attempt, portable });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function notRun({ evalCase, arm, attempt }: Job, status: 'error' | 'skipped', reason: string): CaseResult {
  return { ...ungradedResult(evalCase, { arm, attempt, model: { id: '', way: 'scripted' } }), status, reason };
}

function listCheckers({ expect }: EvalCase): readonly string[] {
  return (expect.output ?? []).flatMap((check) => (check.type === 'checker' ? [check.script] : []));
}

/** The run itself reports a file that cannot be read. */
function fileDigest(file: string): string {
  try {
    return sha256(readFileSync(file));
  } catch {
    return 'unreadable';
  }
}

function progressReporter(total: number, onProgress: SuiteOptions['onProgress']): (result: CaseResult) => void {
  const startedAt = performance.now();
  const counts: Record<CaseStatus, number> = { passed: 0, failed: 0, error: 0, skipped: 0 };
  let done = 0;
  return (last) => {
    done += 1;
    counts[last.status] += 1;
    const remainingMs = ((performance.now() - startedAt) / done) * (total - done);
    onProgress?.({ done, total, counts: { ...counts }, remainingMs, last });
  };
}

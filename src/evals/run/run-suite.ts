/** Runs the cases of a suite concurrently and isolated from each other. Results keep a fixed order and survive interruption. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { defined, isSkillError, type Budget, type Executor } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { didRun, groupBy, ungradedResult, type CaseResult, type CaseStatus } from '../report/result.ts';
import type { ConfiguredPrices } from '../report/prices.ts';
import { quietly, removeTree, sha256 } from '#platform';
import { readSurroundings, temporaryFolder } from '#runtime';
import { makeTemporaryFolder } from '#sandbox';
import { listConditions, type Conditions } from './conditions.ts';
import { answersFor, openCaseModel, portableText, type SuiteModel } from './case-model.ts';
import { openStoredResults } from './stored-results.ts';
import { runCase, type AttemptBasis, type CaseGrading } from './run-case.ts';
import { openEnvironments } from './environments.ts';
import type { SkillSet } from './skill-set.ts';
import type { OpenSubject } from '../subjects/open-subject.ts';
import { runSubjectCase, subjectIdentity } from '../subjects/subject-case.ts';
import { jobKey, buildJobs, orderJobs, type ArmSkills, type Job } from './suite-jobs.ts';

export interface SuiteProgress {
  readonly done: number;
  readonly total: number;
  readonly counts: Readonly<Record<CaseStatus, number>>;
  /** Estimated from the pace so far. */
  readonly remainingMs?: number;
  readonly last: CaseResult;
}

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
  readonly elsewhere?: Elsewhere;
  /** The source of a skill folder, such as `project`; its copy keeps it. */
  readonly sourceOf?: (folder: string) => string | undefined;
  /** Prices of models that replace the built-in ones. */
  readonly prices?: ConfiguredPrices;
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
  readonly executor?: Executor;
  readonly reasonToSkip?: (evalCase: EvalCase) => string | undefined;
  /** Other settings that outcomes depend on, for the cache key. */
  readonly settings?: unknown;
  /** Asked after each attempt at all cases; the suite stops when it returns true. Without it the attempts of a case run one after the other. */
  readonly isDecided?: (results: readonly CaseResult[]) => boolean;
}

/** Runs an attempt on another machine. Returns undefined if it has to run here. Rejects if the signal of the suite is aborted. */
export type Elsewhere = (
  attempt: AttemptBasis & { readonly set: SkillSet; readonly outputs: string | undefined },
) => Promise<CaseResult | undefined>;

export interface SuiteOutcome {
  /** In the order of cases, arms and attempts; attempts that did not run are absent. */
  readonly results: readonly CaseResult[];
  /** The skill sets that were used, first arm first. */
  readonly sets: readonly SkillSet[];
  readonly rounds: number;
  readonly isPartial: boolean;
}

/** Returns early when the signal aborts; finished results are in the outcome and on disk. */
export async function runSuite(options: SuiteOptions): Promise<SuiteOutcome> {
  const { directory, signal, resume = false, cache } = options;
  const concurrency = Math.min(options.concurrency, options.subject?.agent.concurrency ?? Infinity);
  const jobs = buildJobs(options.cases, options.arms, options.repeat);
  const kept = openStoredResults(path.join(directory, 'results.jsonl'), resume, cache);
  const work = await workFolder();
  const environments = openEnvironments(work, options);
  const suite: Suite = { options, environments, kept, work, removals: [], session: randomUUID() };
  const results: (CaseResult | undefined)[] = jobs.map(() => undefined);
  const report = progressReporter(jobs.length, options.onProgress);
  const runAll = async (groups: readonly (readonly number[])[]): Promise<void> => {
    const left = groups.values();
    const takeGroups = async (): Promise<void> => {
      for (const places of left) {
        if (signal.aborted) return;
        await runGroup(
          places.flatMap((place) => {
            const job = jobs[place];
            return job === undefined ? [] : [{ job, place }];
          }),
          suite,
          (place, result) => {
            results[place] = result;
            report(result);
          },
        );
      }
    };
    const workers = Array.from({ length: Math.max(1, Math.min(concurrency, groups.length)) }, takeGroups);
    const ends = await Promise.allSettled(workers);
    for (const end of ends) if (end.status === 'rejected' && !signal.aborted) throw end.reason;
  };
  // Before each decision one attempt at every case runs; without decisions all attempts run at once.
  const all = orderJobs(jobs);
  const rounds =
    options.isDecided === undefined ? [all] : [...groupBy(all, ([first = 0]) => String(jobs[first]?.attempt)).values()];
  let ran = 0;
  try {
    for (const groups of rounds) {
      await runAll(groups);
      ran += 1;
      if (signal.aborted || options.isDecided?.(results.filter(isResult)) === true) break;
    }
  } finally {
    await Promise.all(suite.removals);
    await removeTree(work);
  }
  const asked = rounds.slice(0, ran).flat(2).length;
  const done = results.filter(isResult);
  return { results: done, sets: await suite.environments.sets(), rounds: ran, isPartial: done.length < asked };
}

/** Runs one attempt by itself, as a worker does for a suite on another machine. Nothing is stored besides its record and its files. */
export async function runAttempt(job: Job, options: Suite['options']): Promise<CaseResult> {
  const work = await workFolder();
  const removals: Promise<unknown>[] = [];
  try {
    const prepared = await prepareJob(job, 0, {
      options,
      environments: openEnvironments(work, options),
      work,
      removals,
      session: '',
    });
    return 'status' in prepared ? prepared : await prepared.run();
  } finally {
    await Promise.all(removals);
    await removeTree(work);
  }
}

function isResult(result: CaseResult | undefined): result is CaseResult {
  return result !== undefined;
}

/** Outside of `.agent`, whose files no tool of a case may read or write. If this process is killed, the next one removes it. */
async function workFolder(): Promise<string> {
  const { env, home } = readSurroundings({});
  return makeTemporaryFolder(await temporaryFolder(env, home));
}

interface Suite {
  readonly options: Omit<SuiteOptions, 'cases' | 'arms' | 'concurrency'>;
  readonly environments: ReturnType<typeof openEnvironments>;
  readonly kept?: ReturnType<typeof openStoredResults>;
  readonly work: string;
  readonly session: string;
  /** Removals of folders of finished runs, which do not delay the next run. What is left is removed with `work`. */
  readonly removals: Promise<unknown>[];
}

interface ReadyJob {
  readonly set: SkillSet;
  /** Distinguishes the model or the agent from others in the cache key. */
  readonly identity: string;
  /** The same in both arms. */
  readonly asked: string;
  /** For recorded answers: the turn in which they were recorded, if it is known. */
  readonly recorded?: Recorded;
  run(attempt: AttemptBasis): Promise<CaseResult>;
}

interface Recorded {
  readonly turn: CaseResult['turn'];
}

interface PreparedJob extends Pick<ReadyJob, 'recorded'> {
  readonly known: CaseResult | undefined;
  /** Of earlier sessions. */
  readonly errors: number;
  keep(result: CaseResult): void;
  run(): Promise<CaseResult>;
}

/**
 * Runs the arms of an attempt one after the other. A live model may change between two days, so stored results of it are used only if all
 * arms have one and ran in the same turn: a baseline of another day, or of before a kill, runs again.
 */
async function runGroup(
  group: readonly { readonly job: Job; readonly place: number }[],
  suite: Suite,
  done: (place: number, result: CaseResult) => void,
): Promise<void> {
  const id = randomUUID();
  const turns = group.map((_, order) => ({
    session: suite.session,
    id,
    order: order + 1,
    at: new Date().toISOString(),
  }));
  const prepared = await Promise.all(
    group.map(async ({ job, place }, order) => ({ place, ready: await prepareJob(job, place, suite, turns[order]) })),
  );
  const stored = prepared.map(({ ready }) => ('status' in ready ? ready : ready.known));
  const isOneTurn = stored.every((one) => one?.turn !== undefined && one.turn.id === stored[0]?.turn?.id);
  for (const [order, { place, ready }] of prepared.entries()) {
    if (suite.options.signal.aborted) return;
    if ('status' in ready) {
      done(place, ready);
      continue;
    }
    const { known, recorded } = ready;
    const isUsable = known !== undefined && (group.length === 1 || isOneTurn || known.model.way !== 'live');
    const now = turns[order];
    const turn = recorded === undefined ? now && { ...now, at: new Date().toISOString() } : recorded.turn;
    const result = isUsable ? known : withHistory(await ready.run(), turn, ready.errors);
    ready.keep(result);
    done(place, result);
  }
}

/** A worker may skip a case that this machine would have skipped before it ran. */
function withHistory(result: CaseResult, turn: CaseResult['turn'], errors: number): CaseResult {
  return didRun(result) ? { ...result, ...defined({ turn, earlierErrors: errors || undefined }) } : result;
}

async function prepareJob(
  job: Job,
  place: number,
  suite: Suite,
  turn?: CaseResult['turn'],
): Promise<PreparedJob | CaseResult> {
  const { options, kept, work, removals } = suite;
  const { evalCase } = job;
  const skipped = options.reasonToSkip?.(evalCase);
  if (skipped !== undefined) return notRun(job, 'skipped', skipped);
  const folder = path.join(work, 'attempts', String(place));
  const { subject } = options;
  const ready = await (subject === undefined
    ? readyOwn(job, folder, suite, turn)
    : readySubject(subject, job, folder, suite));
  if ('status' in ready) return ready;
  const { set, identity: model, asked } = ready;
  const { files: inputs, expect } = evalCase;
  const scripts = (expect.output ?? []).flatMap((check) => (check.type === 'checker' ? [check.script] : []));
  // The run itself reports a file that cannot be read.
  const files = [...inputs, ...scripts].map((file) => quietly(() => sha256(readFileSync(file)), 'unreadable'));
  const executor = options.elsewhere === undefined ? (options.executor?.name ?? '') : 'workers';
  const attempt = toAttempt(job, options);
  const { timeoutMs } = attempt;
  const { stopAfter = {}, settings = '' } = options;
  const key = jobKey(job, { skills: set.skills, model, files, executor, timeoutMs, stopAfter, settings });
  // Recording a cassette needs a run.
  const known = options.updateCassettes === true ? undefined : kept?.find(key);
  const { id, name, place: at, input, tags, quarantine } = evalCase;
  const skill = evalCase.skills.target;
  return {
    ...defined({ recorded: ready.recorded }),
    errors: kept?.countErrors(key) ?? 0,
    known: known && { ...known, case: id, name, place: at, input, tags, skill, quarantine, isCached: true },
    keep: (result) => kept?.keep(key, result),
    async run() {
      const result = await ready.run(attempt);
      removals.push(removeTree(folder).catch(() => false));
      return withConditions(result, listConditions({ evalCase, set, files, executor, timeoutMs, model: asked }));
    },
  };
}

/** What the own loop needs for an attempt, or the result of a case that cannot run. */
async function readyOwn(
  job: Job,
  project: string,
  suite: Suite,
  turn: CaseResult['turn'],
): Promise<ReadyJob | CaseResult> {
  const { executor, elsewhere, grading, model: suiteModel, updateCassettes = false } = suite.options;
  try {
    const { set, runtime } = await suite.environments.open(job);
    const portable = portableText({ skills: set.folder, project });
    const model = tryOpening(() =>
      openCaseModel(job, { suite: suiteModel, updateCassettes, portable, ...defined({ turn }) }),
    );
    if (typeof model === 'string') return notRun(job, 'error', model);
    if (model === undefined)
      return notRun(job, 'skipped', 'no model: the case has no mock and no cassette; pass --model to run it');
    return {
      set,
      identity: model.identity,
      asked: model.asked,
      ...(model.way === 'cassette' ? { recorded: { turn: model.turn } } : {}),
      run: async (attempt) =>
        (await elsewhere?.({ ...attempt, set, outputs: grading?.outputs })) ??
        runCase({ ...attempt, runtime, model, executor, project }),
    };
  } catch (error) {
    // An error of its own case only.
    if (!isSkillError(error) || error.code !== 'config/invalid') throw error;
    return notRun(job, 'error', `the configuration of the case is invalid: ${error.message}`);
  }
}

/** Returns a message for a script or cassette that cannot be read. */
function tryOpening<T>(open: () => T): T | string {
  try {
    return open();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function readySubject(
  subject: OpenSubject,
  job: Job,
  work: string,
  { options: { executor, stopAfter }, environments }: Suite,
): Promise<ReadyJob | CaseResult> {
  if (subject.missing !== '') return notRun(job, 'skipped', subject.missing);
  if (answersFor(job.evalCase, subject)?.type === 'script')
    return notRun(job, 'skipped', 'the case has scripted answers, and another agent brings its own model');
  const set = await environments.openSet(job);
  const skills = environments.installed(set);
  // A session without skills in use, for the checkers of the case.
  const openSession = async () =>
    (await environments.open(job)).runtime.startSession({ execution: { executor, artifacts: false } });
  const identity = subjectIdentity(subject);
  return {
    set,
    identity,
    asked: identity,
    run: (attempt) =>
      runSubjectCase({
        ...attempt,
        subject,
        skills,
        skillsDigest: set.digest,
        work,
        stopAfter,
        openSession: executor === undefined ? undefined : openSession,
      }),
  };
}

/** A broken attempt has no conditions: it is missing, whatever it was given. */
function withConditions(result: CaseResult, known: Conditions): CaseResult {
  return result.given === undefined ? result : { ...result, given: { ...known, ...result.given } };
}

function toAttempt(job: Job, { directory, timeoutMs, signal, grading = {} }: Suite['options']): AttemptBasis {
  const runs = path.join(directory, 'runs');
  return { ...job, runs, timeoutMs: job.evalCase.timeoutMs ?? timeoutMs, signal, grading };
}

function notRun(job: Job, status: 'error' | 'skipped', reason: string): CaseResult {
  return { ...ungradedResult(job, { id: '', way: 'scripted' }), status, reason };
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

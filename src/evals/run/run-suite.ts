/** Many cases: several at once, each in its own place, results in a fixed order, and what is done stays done whatever happens. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { EvalCase } from '../cases/case.ts';
import { isSkillError } from '../../core/errors.ts';
import { ungradedResult } from '../report/result.ts';
import type { CaseResult, CaseStatus } from '../report/result.ts';
import type { Executor } from '../../core/execution.ts';
import { stableJson } from '../../core/json/stable-json.ts';
import { sha256 } from '../../platform/hash.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { createRuntime } from '../../runtime/runtime.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { openCaseModel } from './case-model.ts';
import type { CaseModel, SuiteModel } from './case-model.ts';
import { openKeptResults } from './kept-results.ts';
import { portableText } from './portable-text.ts';
import type { RunPlaces } from './portable-text.ts';
import { runCase } from './run-case.ts';
import type { Grade, LookAtWorkspace } from './run-case.ts';
import { makeSkillSet } from './skill-set.ts';
import type { SkillSet } from './skill-set.ts';
import { jobKey, jobsOf } from './suite-jobs.ts';
import type { ArmSkills, Job } from './suite-jobs.ts';

/** What every evaluation is asked with, whatever it measures. */
export type SuiteBasis = Pick<
  SuiteOptions,
  | 'cases'
  | 'model'
  | 'repeat'
  | 'concurrency'
  | 'timeoutMs'
  | 'directory'
  | 'resume'
  | 'cache'
  | 'signal'
  | 'onProgress'
> & {
  /** Told of what a person should know beside the report. */
  readonly onNote?: (text: string) => void;
};

export interface SuiteProgress {
  readonly done: number;
  readonly total: number;
  readonly counts: Readonly<Record<CaseStatus, number>>;
  /** By the pace so far; absent before anything is done. */
  readonly remainingMs?: number;
  readonly last: CaseResult;
}

export interface SuiteOptions {
  readonly cases: readonly EvalCase[];
  readonly arms: readonly ArmSkills[];
  /** Answers where a case has no answers of its own. */
  readonly model?: SuiteModel;
  readonly updateCassettes?: boolean;
  /** Instead of each case's own number of attempts. */
  readonly repeat?: number;
  readonly concurrency: number;
  /** For cases that say nothing. */
  readonly timeoutMs: number;
  /** Of this suite alone: `results.jsonl`, `runs/`, and while it goes on `work/`. */
  readonly directory: string;
  readonly resume?: boolean;
  readonly cache?: string;
  /** What runs programs; absent where nothing here can. */
  readonly executor?: Executor;
  /** Why a case makes no sense here; such a case is skipped with that reason. */
  readonly reasonToSkip?: (evalCase: EvalCase) => string | undefined;
  /** What else outcomes depend on, for the cache: the judge's model. */
  readonly settings?: unknown;
  readonly grade: Grade;
  readonly lookAtWorkspace: LookAtWorkspace;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SuiteProgress) => void;
}

export interface SuiteOutcome {
  /** In the order of cases, arms and attempts; those that were not done any more are absent. */
  readonly results: readonly CaseResult[];
  /** Sets of skills that were used, the first arm's first. */
  readonly sets: readonly SkillSet[];
  readonly isPartial: boolean;
}

/** Ends early, without an error, where the signal is aborted: what is finished is in the outcome and on the disk. */
export async function runSuite(options: SuiteOptions): Promise<SuiteOutcome> {
  const { directory, signal, concurrency } = options;
  const jobs = jobsOf(options.cases, options.arms, options.repeat);
  const kept = openKeptResults({
    file: path.join(directory, 'results.jsonl'),
    resume: options.resume === true,
    cache: options.cache,
  });
  const work = path.join(directory, 'work');
  await removeTree(work);
  makeFolders(work);
  const worlds = openWorlds(work, options);
  const results: (CaseResult | undefined)[] = jobs.map(() => undefined);
  const tell = progressTeller(jobs.length, options.onProgress);
  let next = 0;
  const takeJobs = async (): Promise<void> => {
    for (let place = next++; place < jobs.length && !signal.aborted; place = next++) {
      const job = jobs[place];
      if (job === undefined) return;
      const result = await doJob(job, place, { options, worlds, kept, work });
      results[place] = result;
      tell(result);
    }
  };
  try {
    const workers = Array.from({ length: Math.max(1, Math.min(concurrency, jobs.length)) }, takeJobs);
    const ends = await Promise.allSettled(workers);
    for (const end of ends) if (end.status === 'rejected' && !signal.aborted) throw end.reason;
  } finally {
    await removeTree(work);
  }
  const done = results.filter((result) => result !== undefined);
  return { results: done, sets: await worlds.sets(), isPartial: done.length < jobs.length };
}

interface JobParts {
  readonly options: SuiteOptions;
  readonly worlds: Worlds;
  readonly kept: ReturnType<typeof openKeptResults>;
  readonly work: string;
}

async function doJob(job: Job, place: number, { options, worlds, kept, work }: JobParts): Promise<CaseResult> {
  const { evalCase, arm, attempt } = job;
  const skipped = options.reasonToSkip?.(evalCase);
  if (skipped !== undefined) return unrun(job, skipped);
  const world = await openedWorld(worlds, job);
  if (typeof world === 'string') return unrun(job, world);
  const { set, runtime } = world;
  const project = path.join(work, 'projects', String(place));
  const model = openedModel(job, options, { skills: set.folder, project });
  if (typeof model === 'string') return unrun(job, model);
  const files = [...evalCase.files, ...checkersOf(evalCase)].map((file) => fileDigest(file));
  const settings = { executor: options.executor?.name ?? '', more: options.settings ?? '' };
  const key = jobKey(job, { skills: set.digest, model: model.identity, files, settings });
  // A recording that is to be made anew is made.
  const known = options.updateCassettes === true ? undefined : kept.find(key);
  if (known !== undefined) {
    const { id, name, place: stands, input, tags } = evalCase;
    const result = { ...known, case: id, name, place: stands, input, tags, isCached: true };
    kept.keep(key, result);
    return result;
  }
  const result = await runCase({
    evalCase,
    arm,
    attempt,
    runtime,
    model,
    executor: options.executor,
    project,
    runs: path.join(options.directory, 'runs'),
    timeoutMs: evalCase.timeoutMs ?? options.timeoutMs,
    grade: options.grade,
    lookAtWorkspace: options.lookAtWorkspace,
    signal: options.signal,
  });
  await removeTree(project);
  kept.keep(key, result);
  return result;
}

/** A configuration that makes no sense is an error of its case, and of no other. */
async function openedWorld(worlds: Worlds, job: Job): Promise<World | string> {
  try {
    return await worlds.open(job);
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'config/invalid') throw error;
    return `error: the configuration of the case cannot be used: ${error.message}`;
  }
}

/** The model, or why there is none. */
function openedModel(
  { evalCase, arm, attempt }: Job,
  { model, updateCassettes = false }: SuiteOptions,
  places: RunPlaces,
): CaseModel | string {
  try {
    const portable = portableText(places);
    const opened = openCaseModel(evalCase, { suite: model, updateCassettes, arm, attempt, portable });
    return opened ?? 'nobody answers: the case has no mock and no cassette, and no --model was named';
  } catch (error) {
    return `error: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function unrun({ evalCase, arm, attempt }: Job, why: string): CaseResult {
  const ungraded = ungradedResult(evalCase, { arm, attempt, model: { id: '', way: 'scripted' } });
  const isError = why.startsWith('error: ');
  return { ...ungraded, status: isError ? 'error' : 'skipped', reason: why.replace(/^error: /, '') };
}

/** Programs of the suite that judge: another program is another judge. */
function checkersOf({ expect }: EvalCase): readonly string[] {
  return (expect.output ?? []).flatMap((check) => (check.type === 'checker' ? [check.script] : []));
}

/** A file that cannot be read is noticed where it is needed. */
function fileDigest(file: string): string {
  try {
    return sha256(readFileSync(file));
  } catch {
    return 'unreadable';
  }
}

interface World {
  readonly set: SkillSet;
  readonly runtime: Runtime;
}

interface Worlds {
  open(job: Job): Promise<World>;
  sets(): Promise<readonly SkillSet[]>;
}

/** One copy of skills for each set of them, and one runtime for each set and configuration: a home of its own, no cache, no variables. */
function openWorlds(work: string, { signal }: SuiteOptions): Worlds {
  const sets = new Map<string, Promise<SkillSet>>();
  const runtimes = new Map<string, Promise<Runtime>>();
  const once = <T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> => {
    const known = map.get(key) ?? make();
    map.set(key, known);
    return known;
  };
  return {
    async open({ folders, evalCase: { config } }) {
      const setKey = sha256(folders.join('\n')).slice(0, 16);
      const set = await once(sets, setKey, () => makeSkillSet(folders, path.join(work, 'sets', setKey), signal));
      const key = sha256(`${setKey} ${stableJson(config ?? {})}`).slice(0, 16);
      const runtime = await once(runtimes, key, () => isolatedRuntime(path.join(work, 'homes', key), set, config));
      return { set, runtime };
    },
    sets: () => Promise.all(sets.values()),
  };
}

function isolatedRuntime(place: string, set: SkillSet, config: EvalCase['config']): Promise<Runtime> {
  const [home, cwd] = [path.join(place, 'home'), path.join(place, 'project')];
  for (const folder of [home, cwd]) makeFolders(folder);
  return createRuntime({
    cwd,
    home,
    env: {},
    roots: [set.folder],
    onlyRoots: true,
    vouched: [set.folder],
    cache: false,
    ...(config === undefined ? {} : { config }),
  });
}

function progressTeller(total: number, onProgress: SuiteOptions['onProgress']): (result: CaseResult) => void {
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

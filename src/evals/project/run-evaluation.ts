/** One evaluation of a project: opens its subjects, plans the runs, runs them, and stores each report at once. */
import path from 'node:path';

import { SkillError, type Executor } from '#core';
import { writeTextFile } from '#platform';
import { readSurroundings } from '#runtime';
import { VERSION } from '../../version.ts';
import type { CaseProblem } from '../cases/problem.ts';
import { evaluate, type EvaluateOptions } from '../evaluate.ts';
import { readThresholds, type WrittenThresholds } from '../report/thresholds.ts';
import type { EvalReport } from '../report/result.ts';
import { buildPlan, MOST_ATTEMPTS, type EvalPlan } from '../run/plan.ts';
import type { SuiteBasis, SuiteProgress } from '../run/run-suite.ts';
import { openSubjects, type EvalSubject, type SubjectChoice } from '../subjects/open-subjects.ts';
import { makePortability, type SubjectReport } from '../subjects/portability.ts';
import { readDistractors } from '../trigger/distractors.ts';
import { evaluateTrigger } from '../trigger/run-trigger.ts';
import { readInputs, type EvalInputs, type InputOptions } from './inputs.ts';
import { completeReport, renderReport, toMatrixOutcome, toOutcome, type EvalOutcome } from './outcome.ts';
import { raiseUsage } from './raise-usage.ts';
import {
  dropIfEmpty,
  newEvaluation,
  saveMatrix,
  saveReport,
  storedReports,
  unfinishedEvaluation,
} from './report-folder.ts';

/** What evaluations of all kinds are asked for: one object that reaches the suite as it is. */
export interface SuiteRequest
  extends InputOptions, SubjectChoice, Pick<SuiteBasis, 'concurrency' | 'timeoutMs' | 'repeat'> {
  /** Numbers of generated skills, such as `10,100`, or a folder of skills. */
  readonly distractors?: string;
  readonly useCache: boolean;
  /** Called before anything runs; returns whether the case files are unusable. */
  readonly onProblems: (problems: readonly CaseProblem[]) => boolean;
  readonly onProgress: (text: string) => void;
}

interface EvaluationRequest extends SuiteRequest, Pick<EvaluateOptions, 'baseline'> {
  /** `trigger` measures which skill activates when all of them are installed. */
  readonly kind: 'cases' | 'trigger';
  /** The difference of interest, between 0 and 1. */
  readonly detect: number;
  readonly stopWhenDecided: boolean;
  readonly judge?: string;
  readonly executor: Exclude<EvaluateOptions['executor'], Executor | undefined>;
  /** Continues the last unfinished evaluation. */
  readonly resume: boolean;
  /** They replace those of the case files, which replace those of the configuration. */
  readonly thresholds: WrittenThresholds;
  /** Whether each of several subjects gets a page of its own. */
  readonly hasPages: boolean;
}

interface EvaluationWatch {
  readonly elsewhere?: (model: SuiteBasis['model']) => SuiteBasis['elsewhere'];
  /** Called after each subject, with remarks that are not part of its report. */
  readonly onEnd: (notes: readonly string[]) => void;
  readonly onPage: (file: string) => void;
}

/** One subject has a report; several have a matrix, and a report each in folders of their own. */
interface EvaluationResult {
  readonly folder: string;
  readonly outcome: EvalOutcome;
  /** Why the only subject cannot run here; empty if it can. */
  readonly missing: string;
}

/** Returns nothing if `onProblems` stops it. */
export async function openEvaluation(request: EvaluationRequest) {
  const { cwd, signal } = request;
  const inputs = readInputs(request);
  const { config } = request.runtime;
  const layers = [config.evals?.thresholds, inputs.thresholds, request.thresholds];
  const thresholds = readThresholds(...layers);
  if (request.onProblems(inputs.problems)) return undefined;
  if (
    request.kind === 'cases' &&
    request.updateCassettes &&
    !inputs.cases.some(({ answers }) => answers?.type === 'cassette')
  )
    raiseUsage(
      '--update-cassettes has nothing to record: no case names a cassette',
      'add cassette: FILE.jsonl to a case',
    );
  const unfinished = request.resume ? unfinishedEvaluation(cwd) : undefined;
  const distractors = request.kind === 'trigger' ? readDistractors(request.distractors, cwd) : {};
  const subjects = await openSubjects(request);
  const hasModel = subjects.every(({ model }) => model !== undefined);
  if (!hasModel && inputs.cases.every(({ answers }) => answers === undefined)) throw noModel();
  const plans = subjects.flatMap(({ model }) =>
    model === undefined ? [] : [{ isLive: model.way === 'live', plan: planRuns(request, inputs, model) }],
  );
  const repeat = request.repeat ?? (request.stopWhenDecided ? MOST_ATTEMPTS : undefined);
  const evaluateOne = async (
    one: EvalSubject,
    more: Pick<SuiteBasis, 'directory' | 'elsewhere' | 'onProgress' | 'onNote'>,
  ) => {
    const basis = { ...suiteBasis(request, inputs, one), ...more, repeat, resume: unfinished !== undefined };
    if (request.kind === 'cases') return evaluateCases(request, basis);
    const { cassettes, updateCassettes } = request;
    if (updateCassettes && cassettes === undefined)
      raiseUsage('--update-cassettes needs --cassettes DIR with eval trigger', 'see skillwright eval --help');
    if (one.model === undefined && (cassettes === undefined || updateCassettes)) throw noModel();
    const recordings = cassettes === undefined ? {} : { cassettes: path.resolve(cwd, cassettes), updateCassettes };
    return evaluateTrigger({ ...basis, ...distractors, ...recordings });
  };
  return {
    plans,
    async run({ elsewhere, onEnd, onPage }: EvaluationWatch): Promise<EvaluationResult> {
      const startedAt = new Date();
      const folder = unfinished ?? newEvaluation(cwd, startedAt);
      const runOne = async (one: EvalSubject, directory: string): Promise<EvalReport> => {
        const notes = new Set<string>();
        const name = subjects.length > 1 ? `${one.name}: ` : '';
        try {
          const report = completeReport(
            await evaluateOne(one, {
              directory,
              elsewhere: elsewhere?.(one.model),
              onProgress: (state) => request.onProgress(`${name}${progressText(state)}`),
              onNote: (note) => void notes.add(note),
            }),
            { cwd, thresholds, problems: inputs.problems, leftOut: inputs.leftOut },
          );
          saveReport(directory, report);
          return report;
        } catch (error) {
          dropIfEmpty(directory);
          throw error;
        } finally {
          onEnd([...notes]);
        }
      };
      const [only, ...others] = subjects;
      if (only !== undefined && others.length === 0) {
        const outcome = toOutcome(await runOne(only, folder), cwd, thresholds);
        return { folder, outcome, missing: only.subject?.missing ?? '' };
      }
      const reports: SubjectReport[] = [];
      for (const [place, one] of subjects.entries()) {
        if (signal.aborted) break;
        const name = toFolderName(one, place);
        const report = await runOne(one, path.join(folder, name));
        if (request.hasPages) {
          const page = await renderReport(report, 'html', cwd);
          const file = path.join(folder, name, page.file);
          if (page.type === 'text') writeTextFile(file, page.text);
          onPage(file);
        }
        reports.push({ subject: one.name, folder: name, missing: one.subject?.missing ?? '', report });
      }
      const matrix = makePortability(reports, {
        tool: `skillwright ${VERSION}`,
        startedAt: startedAt.toISOString(),
        wallMs: Date.now() - startedAt.getTime(),
        thresholds,
        isStopped: reports.length < subjects.length,
      });
      saveMatrix(folder, matrix);
      return { folder, outcome: toMatrixOutcome(matrix, folder), missing: '' };
    },
  };
}

async function evaluateCases(
  request: EvaluationRequest,
  basis: ReturnType<typeof suiteBasis> & SuiteBasis,
): Promise<EvalReport> {
  const { runtime, openModel, judge, detect, executor, baseline, updateCassettes } = request;
  return evaluate({
    ...basis,
    ...readSurroundings({}),
    stopWhenDecided: request.stopWhenDecided ? { detect } : undefined,
    places: runtime.executionPlaces,
    updateCassettes,
    executor,
    baseline,
    judge: judge === undefined ? undefined : await openModel(judge),
  });
}

function planRuns(
  request: EvaluationRequest,
  { cases }: EvalInputs,
  model: NonNullable<SuiteBasis['model']>,
): EvalPlan {
  const { baseline, judge, cwd } = request;
  if (request.stopWhenDecided && (baseline === undefined || request.kind === 'trigger'))
    raiseUsage('--stop-when decided needs --baseline', 'pass --baseline none, old or a git revision');
  const arms = baseline === undefined ? 1 : 2;
  return buildPlan({ ...request, cases, model, arms, hasJudge: judge !== undefined, earlier: storedReports(cwd) });
}

/** What all runs of a request with one subject share. */
export function suiteBasis(request: SuiteRequest, { cases, skills }: EvalInputs, { model, subject }: EvalSubject) {
  const { concurrency, timeoutMs, repeat, runtime, signal, useCache } = request;
  const sources = new Map(runtime.index.all.map(({ dir, source }) => [path.resolve(dir), source]));
  // The program of the user may change between two evaluations, so its results are not cached.
  const cache = useCache && subject?.agent.install !== '' ? runtime.cacheDir : undefined;
  return {
    cases,
    skills,
    model,
    subject,
    concurrency,
    timeoutMs,
    repeat,
    signal,
    cache: cache === undefined ? undefined : path.join(cache, 'evals'),
    prices: runtime.config.evals?.prices,
    sourceOf: (skill: string) => sources.get(skill),
  };
}

export function progressText({ done, total, counts, remainingMs }: SuiteProgress): string {
  const parts = [
    `${String(done)} of ${String(total)}`,
    `${String(counts.passed)} passed`,
    ...(['failed', 'error', 'skipped'] as const)
      .filter((status) => counts[status] > 0)
      .map((status) => `${String(counts[status])} ${status}`),
    ...(remainingMs === undefined ? [] : [`about ${String(Math.ceil(remainingMs / 1000))} s left`]),
  ];
  return parts.join(', ');
}

export function noModel(): SkillError {
  return new SkillError({
    code: 'model/unavailable',
    message: 'the cases have no recorded answers, and no model is given',
    hint: 'pass --model NAME; --model rules needs no key and no network',
    data: { model: '', reasons: [] },
  });
}

function toFolderName({ subject, name }: EvalSubject, place: number): string {
  const words = (subject?.agent.id ?? name).replaceAll(/[^\w.-]+/g, '-').slice(0, 40);
  return `${String(place + 1)}-${words}`;
}

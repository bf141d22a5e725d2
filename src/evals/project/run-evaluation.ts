/** One evaluation of a project: opens its subjects, plans the runs, runs them, and stores each report at once. */
import path from 'node:path';

import { SkillError, type Executor } from '#core';
import { readSurroundings } from '#runtime';
import { VERSION } from '../../version.ts';
import { evaluate, type EvaluateOptions } from '../evaluate.ts';
import type { Thresholds } from '../report/report.ts';
import type { EvalReport } from '../report/result.ts';
import type { SuiteModel } from '../run/case-model.ts';
import { buildPlan, mostRepetitions, type EvalPlan } from '../run/plan.ts';
import type { Elsewhere, SuiteBasis, SuiteProgress } from '../run/run-suite.ts';
import { isCommand, openSubjects, type EvalSubject, type SubjectChoice } from '../subjects/open-subjects.ts';
import {
  makePortability,
  portabilityExit,
  type PortabilityReport,
  type SubjectReport,
} from '../subjects/portability.ts';
import { readDistractors } from '../trigger/distractors.ts';
import { evaluateTrigger } from '../trigger/run-trigger.ts';
import type { EvalInputs, InputOptions } from './inputs.ts';
import { raiseUsage } from './raise-usage.ts';
import {
  dropIfEmpty,
  newEvaluation,
  saveMatrix,
  saveReport,
  storedReports,
  unfinishedEvaluation,
} from './report-folder.ts';

/** What evaluations of all kinds are asked for. */
export interface SuiteRequest extends InputOptions, SubjectChoice {
  readonly inputs: EvalInputs;
  readonly concurrency: number;
  /** Default timeout per case. */
  readonly timeoutMs: number;
  /** Overrides the number of attempts of each case. */
  readonly repeat?: number;
  /** Numbers of generated skills, such as `10,100`, or a folder of skills. */
  readonly distractors?: string;
  readonly useCache: boolean;
}

export interface EvaluationRequest extends SuiteRequest {
  /** `trigger` measures which skill activates when all of them are installed. */
  readonly kind: 'cases' | 'trigger';
  readonly baseline?: string;
  /** The difference of interest, between 0 and 1. */
  readonly detect: number;
  readonly stopWhenDecided: boolean;
  readonly judge?: string;
  readonly executor: Exclude<EvaluateOptions['executor'], Executor | undefined>;
  /** Continues the last unfinished evaluation. */
  readonly resume: boolean;
  readonly thresholds: Thresholds;
}

interface Evaluation {
  /** One per subject with a model. */
  readonly plans: readonly { readonly isLive: boolean; readonly plan: EvalPlan }[];
  run(watch: EvaluationWatch): Promise<EvaluationResult>;
}

interface EvaluationWatch {
  /** Runs attempts on other machines. */
  readonly elsewhere?: (model: SuiteModel | undefined) => Elsewhere;
  readonly onProgress: (text: string) => void;
  /** Called after each subject, with remarks that are not part of its report. */
  readonly onEnd: (notes: readonly string[]) => void;
  /** Called for each of several subjects, when its report is stored. */
  readonly onReport: (report: EvalReport, folder: string) => Promise<void>;
}

/** One subject has a report; several have a matrix and a report each, which `onReport` got. */
export type EvaluationResult = { readonly folder: string } & (
  | { readonly type: 'report'; readonly report: EvalReport; readonly missing: string }
  | { readonly type: 'matrix'; readonly matrix: PortabilityReport; readonly exit: ReturnType<typeof portabilityExit> }
);

export async function openEvaluation(request: EvaluationRequest): Promise<Evaluation> {
  const { cwd, inputs, signal } = request;
  const unfinished = request.resume ? unfinishedEvaluation(cwd) : undefined;
  const distractors = request.kind === 'trigger' ? readDistractors(request.distractors, cwd) : {};
  const subjects = await openSubjects(request);
  const hasModel = subjects.every(({ model }) => model !== undefined);
  if (!hasModel && inputs.cases.every(({ answers }) => answers === undefined)) throw noModel();
  const plans = subjects.flatMap(({ model }) =>
    model === undefined ? [] : [{ isLive: model.way === 'live', plan: planRuns(request, model) }],
  );
  const [first] = plans;
  const basis = {
    ...suiteBasis(request),
    repeat:
      request.repeat ?? (request.stopWhenDecided && first !== undefined ? mostRepetitions(first.plan) : undefined),
    resume: unfinished !== undefined,
  };
  const evaluateOne = async (options: SuiteBasis): Promise<EvalReport> => {
    if (request.kind === 'cases') return evaluateCases(request, options);
    const { cassettes, updateCassettes } = request;
    if (updateCassettes && cassettes === undefined)
      raiseUsage('--update-cassettes needs --cassettes DIR with eval trigger', 'see skillwright eval --help');
    if (options.model === undefined && (cassettes === undefined || updateCassettes)) throw noModel();
    const recordings = cassettes === undefined ? {} : { cassettes: path.resolve(cwd, cassettes), updateCassettes };
    return evaluateTrigger({ ...options, skills: inputs.skills, ...distractors, ...recordings });
  };
  return {
    plans,
    async run({ elsewhere, onProgress, onEnd, onReport }) {
      const startedAt = new Date();
      const folder = unfinished ?? newEvaluation(cwd, startedAt);
      const runOne = async (one: EvalSubject, directory: string): Promise<EvalReport> => {
        const { name, model, subject } = one;
        const notes = new Set<string>();
        try {
          const report = await evaluateOne({
            ...basis,
            directory,
            model,
            subject,
            elsewhere: elsewhere?.(model),
            cache: cacheFor(request, one),
            onProgress: (state) => onProgress(`${subjects.length > 1 ? `${name}: ` : ''}${progressText(state)}`),
            onNote: (note) => void notes.add(note),
          });
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
      if (only !== undefined && others.length === 0)
        return { type: 'report', folder, report: await runOne(only, folder), missing: only.subject?.missing ?? '' };
      const reports: SubjectReport[] = [];
      for (const [place, one] of subjects.entries()) {
        if (signal.aborted) break;
        const name = toFolderName(one, place);
        const report = await runOne(one, path.join(folder, name));
        await onReport(report, path.join(folder, name));
        reports.push({ subject: one.name, folder: name, missing: one.subject?.missing ?? '', report });
      }
      const whole = makePortability(reports, {
        tool: `skillwright ${VERSION}`,
        startedAt: startedAt.toISOString(),
        wallMs: Date.now() - startedAt.getTime(),
        thresholds: request.thresholds,
      });
      const matrix = reports.length === subjects.length ? whole : { ...whole, isPartial: true };
      saveMatrix(folder, matrix);
      return { type: 'matrix', folder, matrix, exit: portabilityExit(matrix) };
    },
  };
}

async function evaluateCases(request: EvaluationRequest, basis: SuiteBasis): Promise<EvalReport> {
  const { inputs, runtime, openModel, judge, detect } = request;
  const { env, home } = readSurroundings({});
  return evaluate({
    ...basis,
    stopWhenDecided: request.stopWhenDecided ? { detect } : undefined,
    skills: inputs.skills,
    places: runtime.executionPlaces,
    home,
    env,
    updateCassettes: request.updateCassettes,
    executor: request.executor,
    baseline: request.baseline,
    judge: judge === undefined ? undefined : await openModel(judge),
  });
}

function planRuns(request: EvaluationRequest, model: SuiteModel): EvalPlan {
  const { inputs, baseline, repeat, detect, judge, cwd } = request;
  if (request.stopWhenDecided && (baseline === undefined || request.kind === 'trigger'))
    raiseUsage('--stop-when decided needs --baseline', 'pass --baseline none, old or a git revision');
  return buildPlan({
    cases: inputs.cases,
    model,
    arms: baseline === undefined ? 1 : 2,
    repeat,
    detect,
    hasJudge: judge !== undefined,
    earlier: storedReports(cwd),
  });
}

/** What all runs of a request share. */
export function suiteBasis({ inputs, concurrency, timeoutMs, repeat, runtime, signal }: SuiteRequest) {
  const sources = new Map(runtime.index.all.map(({ dir, source }) => [path.resolve(dir), source]));
  return {
    cases: inputs.cases,
    concurrency,
    timeoutMs,
    repeat,
    signal,
    sourceOf: (skill: string) => sources.get(skill),
  };
}

export function cacheFor({ useCache, runtime }: SuiteRequest, { subject }: EvalSubject): string | undefined {
  const cache = useCache && !isCommand(subject) ? runtime.cacheDir : undefined;
  return cache === undefined ? undefined : path.join(cache, 'evals');
}

export function progressText({ done, total, counts, remainingMs }: SuiteProgress): string {
  const seconds = remainingMs === undefined ? undefined : Math.ceil(remainingMs / 1000);
  const parts = [
    `${String(done)} of ${String(total)}`,
    `${String(counts.passed)} passed`,
    ...(['failed', 'error', 'skipped'] as const)
      .filter((status) => counts[status] > 0)
      .map((status) => `${String(counts[status])} ${status}`),
    ...(seconds === undefined ? [] : [`about ${String(seconds)} s left`]),
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

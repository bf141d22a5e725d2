/** Opens the model of a case: its script, its cassette, or the model of the suite. */
import { readFileSync, renameSync, rmSync } from 'node:fs';

import type { EvalCase } from '../cases/case.ts';
import type { AnsweringModel, ModelWay } from '../report/result.ts';
import { stableJson, type Model, type ModelAnswer, type ModelDelta } from '#core';
import { openScript, recordCassette, replayCassette } from '#model';
import { sha256 } from '#platform';
import type { Job } from './suite-jobs.ts';

/** The model of a suite. Only `live` costs money. */
export interface SuiteModel {
  readonly way: Exclude<ModelWay, 'scripted' | 'cassette'>;
  readonly id: string;
  /** Opens a new model for each run, since a model may count its calls. */
  readonly open: () => Model;
}

export interface CaseModel extends AnsweringModel {
  readonly model: Model;
  /** Distinguishes this model from others in the cache key. */
  readonly identity: string;
  failures(): readonly string[];
  /** Throws if scripted or recorded answers are left. */
  assertDone(): void;
}

interface CaseModelOptions {
  readonly suite: SuiteModel | undefined;
  /** Records the answers of the suite model into the cassette of the case. */
  readonly updateCassettes: boolean;
  readonly portable: PortableText;
}

/** Returns undefined if the case has no script, no cassette and no suite model. Throws for an invalid script or cassette. */
export function openCaseModel(job: Job, { suite, updateCassettes, portable }: CaseModelOptions): CaseModel | undefined {
  const answers = answersFor(job.evalCase, suite);
  if (answers?.type === 'script') {
    const scripted = openScript({ turns: answers.turns }, job.evalCase.place.file);
    const identity = sha256(stableJson(answers.turns));
    const assertDone = (): void => scripted.assertDone();
    return watched(scripted, { id: 'scripted', way: 'scripted', answers: identity, identity, assertDone });
  }
  const file = answers === undefined ? undefined : cassetteFile(answers.file, job);
  if (file !== undefined && !updateCassettes) {
    const replayed = replayCassette(file, { redact: portable.hide });
    const identity = sha256(readFileSync(file));
    const model = showing(replayed, portable);
    const assertDone = (): void => replayed.assertDone();
    return watched(model, { id: replayed.id, way: 'cassette', answers: replayed.answers, identity, assertDone });
  }
  if (suite === undefined) return undefined;
  const { id, way } = suite;
  const opened = suite.open();
  const identity = `${way} ${identifyModel(opened)}`;
  if (file === undefined) return watched(opened, { id, way, identity, assertDone: () => undefined });
  // Replaces the cassette when the run ends, so that an interrupted run keeps the old one.
  const recording = `${file}.recording`;
  rmSync(recording, { force: true });
  const assertDone = (): void => renameSync(recording, file);
  return watched(recordCassette(opened, recording, { redact: portable.hide }), { id, way, identity, assertDone });
}

/** The name of a model, its address and its parameters: models with equal identities can give the same answers. */
export function identifyModel({ id, settings, contextWindow, answerSchemas }: Omit<Model, 'call'>): string {
  return stableJson({ id, settings, contextWindow, answerSchemas });
}

/** Generated answers only stand in for a model that is not given. */
export function answersFor({ answers }: Pick<EvalCase, 'answers'>, suite: unknown): EvalCase['answers'] {
  return answers?.type === 'script' && answers.isHarnessCheck === true && suite !== undefined ? undefined : answers;
}

/** Maps recorded paths in answers to the paths of this run. */
function showing(model: Model, { show }: PortableText): Model {
  const shown = (answer: ModelAnswer): ModelAnswer => ({
    ...answer,
    text: show(answer.text),
    toolCalls: answer.toolCalls.map((call) => ({ ...call, input: show(call.input) })),
  });
  return {
    ...model,
    async call(request, { onDelta, ...options }) {
      const heard = onDelta && ((delta: ModelDelta): void => onDelta({ ...delta, text: show(delta.text) }));
      return shown(await model.call(request, { ...options, onDelta: heard }));
    },
  };
}

/** `a.jsonl` for the first attempt with the skill, `a.2.jsonl` for the second, `a.without.jsonl` for the first without it. */
export function cassetteFile(file: string, { arm, attempt }: Pick<Job, 'arm' | 'attempt'>): string {
  const parts = [...(arm === 'with' ? [] : [arm]), ...(attempt === 1 ? [] : [String(attempt)])];
  return parts.length === 0 ? file : file.replace(/(\.[^./\\]*)?$/, (end) => `.${parts.join('.')}${end}`);
}

function watched(model: Model, rest: Omit<CaseModel, 'model' | 'failures'>): CaseModel {
  const failures: string[] = [];
  return {
    ...rest,
    failures: () => failures,
    model: {
      ...model,
      async call(request, options) {
        try {
          return await model.call(request, options);
        } catch (error) {
          if (!options.signal.aborted) failures.push(error instanceof Error ? error.message : String(error));
          throw error;
        }
      },
    },
  };
}

/** Replaces paths and durations by placeholders, so that a cassette recorded on one machine replays on another. */
interface PortableText {
  readonly hide: (text: string) => string;
  /** Inserts the paths of this run into a recorded text. */
  readonly show: (text: string) => string;
}

const SKILLS_MARK = '/evaluation/skills';
const PROJECT_MARK = '/evaluation/project';
/** Matches in JSON, and in JSON inside a JSON string. */
const DURATION = /(duration_ms\\*"\s*:\s*)\d+/g;

/** `skills` and `project` are the folders of the run. */
export function portableText({ skills, project }: Readonly<Record<'skills' | 'project', string>>): PortableText {
  return {
    hide: (text) =>
      text
        .replaceAll(skills, SKILLS_MARK)
        .replaceAll(project, PROJECT_MARK)
        .replaceAll(DURATION, (_, start: string) => `${start}0`),
    show: (text) => text.replaceAll(SKILLS_MARK, skills).replaceAll(PROJECT_MARK, project),
  };
}

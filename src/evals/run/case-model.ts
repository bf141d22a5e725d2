/** Opens the model of a case: its script, its cassette, or the model of the suite. */
import { readFileSync, renameSync, rmSync } from 'node:fs';

import type { EvalCase } from '../cases/case.ts';
import type { AnsweringModel, Arm, ModelWay } from '../report/result.ts';
import { stableJson, type Model, type ModelAnswer, type ModelDelta } from '#core';
import { openScript, recordCassette, replayCassette } from '#model';
import { sha256 } from '#platform';

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
  /** Error messages of failed calls. */
  failures(): readonly string[];
  /** Throws if scripted or recorded answers are left. */
  assertDone(): void;
}

export interface CaseModelOptions {
  readonly suite: SuiteModel | undefined;
  /** Records the answers of the suite model into the cassette of the case. */
  readonly updateCassettes: boolean;
  /** Each arm and attempt has its own recording. */
  readonly arm: Arm;
  readonly attempt: number;
  readonly portable: PortableText;
}

/** Returns undefined if the case has no script, no cassette and no suite model. Throws for an invalid script or cassette. */
export function openCaseModel(
  evalCase: EvalCase,
  { suite, updateCassettes, arm, attempt, portable }: CaseModelOptions,
): CaseModel | undefined {
  const { place } = evalCase;
  const answers = answersFor(evalCase, suite);
  if (answers?.type === 'script') {
    const scripted = openScript({ turns: answers.turns }, place.file);
    const identity = sha256(stableJson(answers.turns));
    const assertDone = (): void => scripted.assertDone();
    return watched(scripted, { id: 'scripted', way: 'scripted', answers: identity, identity, assertDone });
  }
  const file = answers === undefined ? undefined : cassetteFile(answers.file, { arm, attempt });
  if (file !== undefined && !updateCassettes) {
    const replayed = replayCassette(file, { redact: portable.hide });
    const identity = sha256(readFileSync(file));
    const model = showing(replayed, portable);
    const assertDone = (): void => replayed.assertDone();
    return watched(model, { id: replayed.id, way: 'cassette', answers: replayed.answers, identity, assertDone });
  }
  if (suite === undefined) return undefined;
  const { id, way } = suite;
  const identity = `${way} ${id}`;
  if (file === undefined) return watched(suite.open(), { id, way, identity, assertDone: () => undefined });
  return watched(...recording(suite, file, portable));
}

/** Generated answers only stand in for a model that is not given. */
export function answersFor({ answers }: Pick<EvalCase, 'answers'>, suite: unknown): EvalCase['answers'] {
  return answers?.type === 'script' && answers.isHarnessCheck === true && suite !== undefined ? undefined : answers;
}

/** Records beside the cassette and replaces it when the run ends, so that an interrupted run keeps the old cassette. */
function recording(
  { id, way, open }: SuiteModel,
  file: string,
  { hide }: PortableText,
): [Model, Omit<CaseModel, 'model' | 'failures'>] {
  const recording = `${file}.recording`;
  rmSync(recording, { force: true });
  const assertDone = (): void => renameSync(recording, file);
  return [recordCassette(open(), recording, { redact: hide }), { id, way, identity: `${way} ${id}`, assertDone }];
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
export function cassetteFile(file: string, { arm, attempt }: { readonly arm: Arm; readonly attempt: number }): string {
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

export interface RunFolders {
  /** The folder with the skills of the run. */
  readonly skills: string;
  readonly project: string;
}

/** Replaces paths and durations by placeholders, so that a cassette recorded on one machine replays on another. */
export interface PortableText {
  readonly hide: (text: string) => string;
  /** Inserts the paths of this run into a recorded text. */
  readonly show: (text: string) => string;
}

const SKILLS_MARK = '/evaluation/skills';
const PROJECT_MARK = '/evaluation/project';
/** Matches in JSON, and in JSON inside a JSON string. */
const DURATION = /(duration_ms\\*"\s*:\s*)\d+/g;

export function portableText({ skills, project }: RunFolders): PortableText {
  return {
    hide: (text) =>
      text
        .replaceAll(skills, SKILLS_MARK)
        .replaceAll(project, PROJECT_MARK)
        .replaceAll(DURATION, (_, start: string) => `${start}0`),
    show: (text) => text.replaceAll(SKILLS_MARK, skills).replaceAll(PROJECT_MARK, project),
  };
}

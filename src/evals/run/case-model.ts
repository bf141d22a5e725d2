/** Opens the model of a case: its script, its cassette, or the model of the suite. */
import { readFileSync, renameSync, rmSync } from 'node:fs';

import type { EvalCase } from '../cases/case.ts';
import type { AnsweringModel, CaseResult, ModelWay } from '../report/result.ts';
import { defined, stableJson, type Model, type ModelAnswer, type ModelDelta } from '#core';
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
  /** The model that is the same in both arms; recordings of one model differ. */
  readonly asked: string;
  failures(): readonly string[];
  /** What the server said answered so far. */
  servedBy(): AnsweringModel['served'];
  /** When the answers were recorded; absent if they are not recorded, or by an earlier version. */
  readonly turn?: CaseResult['turn'];
  /** Throws if scripted or recorded answers are left. */
  assertDone(): void;
}

interface CaseModelOptions {
  readonly suite: SuiteModel | undefined;
  /** Records the answers of the suite model into the cassette of the case. */
  readonly updateCassettes: boolean;
  readonly turn?: CaseResult['turn'];
  readonly portable: PortableText;
}

/** Returns undefined if the case has no script, no cassette and no suite model. Throws for an invalid script or cassette. */
export function openCaseModel(
  job: Job,
  { suite, updateCassettes, portable, turn }: CaseModelOptions,
): CaseModel | undefined {
  const answers = answersFor(job.evalCase, suite);
  if (answers?.type === 'script') {
    const scripted = openScript({ turns: answers.turns }, job.evalCase.place.file);
    const identity = sha256(stableJson(answers.turns));
    const assertDone = (): void => scripted.assertDone();
    return watched(scripted, {
      id: 'scripted',
      way: 'scripted',
      answers: identity,
      identity,
      asked: identity,
      assertDone,
    });
  }
  const file = answers === undefined ? undefined : cassetteFile(answers.file, job);
  if (file !== undefined && !updateCassettes) {
    const replayed = replayCassette(file, { redact: portable.hide });
    const identity = sha256(readFileSync(file));
    const model = showing(replayed, portable);
    const assertDone = (): void => replayed.assertDone();
    const { id, answers: said, isEdited } = replayed;
    const asked = `cassette ${identifyModel(replayed)}`;
    const edits = isEdited ? ({ isEdited } as const) : {};
    const recordedTurn = defined({ turn: replayed.turn });
    return watched(model, {
      id,
      way: 'cassette',
      answers: said,
      ...edits,
      identity,
      asked,
      ...recordedTurn,
      assertDone,
    });
  }
  if (suite === undefined) return undefined;
  const { id, way } = suite;
  const own = suite.open();
  // Both arms show the same paths: those of the copies differ.
  const opened = showing(hiding(own, portable), portable);
  const identity = `${way} ${identifyModel(own)}`;
  if (file === undefined) return watched(opened, { id, way, identity, asked: identity, assertDone: () => undefined });
  // Replaces the cassette when the run ends, so that an interrupted run keeps the old one.
  const recording = `${file}.recording`;
  rmSync(recording, { force: true });
  const assertDone = (): void => renameSync(recording, file);
  const recorded = recordCassette(opened, recording, { redact: portable.hide, ...defined({ turn }) });
  return watched(recorded, { id, way, identity, asked: identity, assertDone });
}

/** The name of a model, its address and its parameters: models with equal identities can give the same answers. */
export function identifyModel({ id, settings, contextWindow, answerSchemas }: Omit<Model, 'call'>): string {
  return stableJson({ id, settings, contextWindow, answerSchemas });
}

/** Generated answers only stand in for a model that is not given. */
export function answersFor({ answers }: Pick<EvalCase, 'answers'>, suite: unknown): EvalCase['answers'] {
  return answers?.type === 'script' && answers.isHarnessCheck === true && suite !== undefined ? undefined : answers;
}

/** Shows placeholders to a model instead of the paths of this run. */
function hiding(model: Model, { hidePaths: hide }: PortableText): Model {
  return {
    ...model,
    call: ({ system, messages, ...rest }, options) =>
      model.call(
        {
          ...rest,
          system: hide(system),
          messages: messages.map((message) =>
            message.role === 'assistant'
              ? {
                  ...message,
                  content: hide(message.content),
                  toolCalls: message.toolCalls.map((call) => ({ ...call, input: hide(call.input) })),
                }
              : { ...message, content: hide(message.content) },
          ),
        },
        options,
      ),
  };
}

/** Maps placeholders in answers to the paths of this run. */
function showing(model: Model, { show }: PortableText): Model {
  const shown = (answer: ModelAnswer): ModelAnswer => ({
    ...answer,
    text: show(answer.text),
    toolCalls: answer.toolCalls.map((call) => ({ ...call, input: show(call.input) })),
  });
  return {
    ...model,
    async call(request, { onDelta, ...options }) {
      const stream = onDelta && showStream(show, onDelta);
      const answer = await model.call(request, { ...options, ...defined({ onDelta: stream?.take }) });
      stream?.end();
      return shown(answer);
    },
  };
}

/** A placeholder may be spread over several deltas: what may be the start of one is held back. */
function showStream(show: PortableText['show'], onDelta: (delta: ModelDelta) => void) {
  const held = new Map<string, ModelDelta>();
  const tell = (delta: ModelDelta): void => {
    if (delta.text !== '') onDelta({ ...delta, text: show(delta.text) });
  };
  return {
    take: (delta: ModelDelta): void => {
      const key = delta.type === 'text' ? '' : delta.id;
      const text = `${held.get(key)?.text ?? ''}${delta.text}`;
      const kept = startOfMark(text);
      held.set(key, { ...delta, text: text.slice(text.length - kept) });
      tell({ ...delta, text: text.slice(0, text.length - kept) });
    },
    end: (): void => {
      for (const delta of held.values()) tell(delta);
    },
  };
}

/** The length of the longest end of a text that is the start of a placeholder. */
function startOfMark(text: string): number {
  const lengths = [SKILLS_MARK, PROJECT_MARK].flatMap((mark) =>
    Array.from({ length: mark.length - 1 }, (_, place) => place + 1).filter((length) =>
      text.endsWith(mark.slice(0, length)),
    ),
  );
  return Math.max(0, ...lengths);
}

/** `a.jsonl` for the first attempt with the skill, `a.2.jsonl` for the second, `a.without.jsonl` for the first without it. */
export function cassetteFile(file: string, { arm, attempt }: Pick<Job, 'arm' | 'attempt'>): string {
  const parts = [...(arm === 'with' ? [] : [arm]), ...(attempt === 1 ? [] : [String(attempt)])];
  return parts.length === 0 ? file : file.replace(/(\.[^./\\]*)?$/, (end) => `.${parts.join('.')}${end}`);
}

function watched(model: Model, rest: Omit<CaseModel, 'model' | 'failures' | 'servedBy'>): CaseModel {
  const failures: string[] = [];
  const [models, fingerprints] = [new Set<string>(), new Set<string>()];
  return {
    ...rest,
    failures: () => failures,
    servedBy: () =>
      models.size + fingerprints.size === 0
        ? undefined
        : { models: [...models].toSorted(), fingerprints: [...fingerprints].toSorted() },
    model: {
      ...model,
      async call(request, options) {
        try {
          const answer = await model.call(request, options);
          const { model: name, fingerprint } = answer.servedBy ?? {};
          if (name !== undefined) models.add(name);
          if (fingerprint !== undefined) fingerprints.add(fingerprint);
          return answer;
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
  readonly hidePaths: (text: string) => string;
  /** Inserts the paths of this run into a recorded text. */
  readonly show: (text: string) => string;
}

const SKILLS_MARK = '/evaluation/skills';
const PROJECT_MARK = '/evaluation/project';
/** Matches in JSON, and in JSON inside a JSON string. */
const DURATION = /(duration_ms\\*"\s*:\s*)\d+/g;

/** `skills` and `project` are the folders of the run. */
export function portableText({ skills, project }: Readonly<Record<'skills' | 'project', string>>): PortableText {
  const hidePaths = (text: string): string => text.replaceAll(skills, SKILLS_MARK).replaceAll(project, PROJECT_MARK);
  return {
    hidePaths,
    hide: (text) => hidePaths(text).replaceAll(DURATION, (_, start: string) => `${start}0`),
    show: (text) => text.replaceAll(SKILLS_MARK, skills).replaceAll(PROJECT_MARK, project),
  };
}

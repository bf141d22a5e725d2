/** Who answers in a case: its own script, its recording, or the model of the suite; and whether that one broke. */
import { readFileSync, renameSync, rmSync } from 'node:fs';

import type { EvalCase } from '../cases/case.ts';
import type { Arm, ModelWay } from '../report/result.ts';
import type { Model, ModelAnswer, ModelDelta } from '../../core/model.ts';
import { recordCassette, replayCassette } from '../../model/cassette/cassette.ts';
import { openScripted } from '../../model/scripted/scripted.ts';
import { toScriptedTurns } from '../../model/scripted/scripted-file.ts';
import { sha256 } from '../../platform/hash.ts';
import { stableJson } from '../../core/json/stable-json.ts';
import type { PortableText } from './portable-text.ts';

/** The model of a suite. `live` costs money; all else is free. */
export interface SuiteModel {
  readonly way: Exclude<ModelWay, 'scripted' | 'cassette'>;
  readonly id: string;
  /** A new one for each run: a model may count its calls. */
  readonly open: () => Model;
}

export interface CaseModel {
  readonly model: Model;
  readonly id: string;
  readonly way: ModelWay;
  /** What tells this model from another, for the cache. */
  readonly identity: string;
  /** What the model itself did wrong; empty where it answered. */
  failures(): readonly string[];
  /** Throws where answers are left that nobody asked for. */
  assertDone(): void;
}

export interface CaseModelOptions {
  readonly suite: SuiteModel | undefined;
  /** The suite's model answers and its answers go into the case's cassette. */
  readonly updateCassettes: boolean;
  /** Which arm, and which of several attempts; each has a recording of its own. */
  readonly arm: Arm;
  readonly attempt: number;
  /** What is recorded, and how that is understood here. */
  readonly portable: PortableText;
}

/** Nothing where nobody can answer: no script, no recording, no model. Throws for a script or recording that cannot be read. */
export function openCaseModel(
  evalCase: EvalCase,
  { suite, updateCassettes, arm, attempt, portable }: CaseModelOptions,
): CaseModel | undefined {
  const { answers, place } = evalCase;
  if (answers?.type === 'script') {
    const scripted = openScripted(toScriptedTurns({ turns: answers.turns }, place.file));
    const identity = sha256(stableJson(answers.turns));
    return watched(scripted, { id: 'scripted', way: 'scripted', identity, assertDone: () => scripted.assertDone() });
  }
  const file = answers === undefined ? undefined : cassetteFile(answers.file, { arm, attempt });
  if (file !== undefined && !updateCassettes) {
    const replayed = replayCassette(file, { redact: portable.hide });
    const identity = sha256(readFileSync(file));
    const model = showing(replayed, portable);
    return watched(model, { id: replayed.id, way: 'cassette', identity, assertDone: () => replayed.assertDone() });
  }
  if (suite === undefined) return undefined;
  const { id, way } = suite;
  const identity = `${way} ${id}`;
  if (file === undefined) return watched(suite.open(), { id, way, identity, assertDone: () => undefined });
  return watched(...recording(suite, file, portable));
}

/** Recorded beside the cassette, and in its place where the run came to its end: half a recording replaces no whole one. */
function recording(
  { id, way, open }: SuiteModel,
  file: string,
  { hide }: PortableText,
): [Model, Omit<CaseModel, 'model' | 'failures'>] {
  const made = `${file}.recording`;
  rmSync(made, { force: true });
  const assertDone = (): void => renameSync(made, file);
  return [recordCassette(open(), made, { redact: hide }), { id, way, identity: `${way} ${id}`, assertDone }];
}

/** Paths that a model wrote when it was recorded mean those of this run. */
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
      return shown(await model.call(request, { ...options, ...(heard === undefined ? {} : { onDelta: heard }) }));
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

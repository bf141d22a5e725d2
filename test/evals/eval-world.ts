/** Skills, cases and models for evaluation tests. */
import path from 'node:path';

import type { EvalCase } from '../../src/evals/cases/case.ts';
import type { EvaluateOptions } from '../../src/evals/evaluate.ts';
import { verdictOfDifference } from '../../src/evals/report/report-text.ts';
import type { CaseResult, EvalReport } from '../../src/evals/report/result.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import type { SuiteModel } from '../../src/evals/run/case-model.ts';
import { answerOf, type Line } from '../agent/support.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';

export function makeCase(id: string, more: Partial<EvalCase> = {}): EvalCase {
  return {
    id,
    name: id,
    place: { file: 'cases.yaml', line: 1, column: 1 },
    input: `work on ${id}`,
    files: [],
    skills: { target: 'tables', folders: [] },
    expect: { outcome: ['done'] },
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: [],
    ...more,
  };
}

export function script(...turns: readonly unknown[]): Pick<EvalCase, 'answers'> {
  return { answers: { type: 'script', turns } };
}

export const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });

/** Writes skills with these names and returns their folders. */
export function writeSkills(folder: string, names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const dir = path.join(folder, name);
    writeSkill(dir, { description: `Works on ${name}. Use it for ${name}.` });
    return dir;
  });
}

/** Options of an evaluation in a new folder, with the skills `tables` and `letters`. */
export function evaluation(more: Partial<EvaluateOptions> = {}): EvaluateOptions & { readonly root: string } {
  const root = scratch();
  return {
    root,
    cases: [],
    skills: writeSkills(path.join(root, 'skills'), ['tables', 'letters']),
    concurrency: 4,
    timeoutMs: 120_000,
    directory: path.join(root, 'evals'),
    executor: 'none',
    places: { base: path.join(root, 'base'), cacheDir: undefined, engine: undefined },
    home: path.join(root, 'home'),
    env: { PATH: process.env['PATH'] ?? '' },
    signal: new AbortController().signal,
    ...more,
  };
}

export const TOPICS =
  'apples bridges candles deserts engines forests glaciers harbours islands jungles kettles lanterns'.split(' ');
export const topicOf = (asked: string): string => TOPICS.find((topic) => asked.includes(topic)) ?? '';

/** One case per topic that wants the answer to be right. */
export const topicCases = (more: Partial<EvalCase> = {}): readonly EvalCase[] =>
  TOPICS.map((topic) =>
    makeCase(topic, {
      input: `Describe ${topic}`,
      expect: { output: [{ type: 'contains', text: 'right' }] },
      ...more,
    }),
  );

/** A comparison with and without the skill `tables`. */
export const comparison = (more: Partial<EvaluateOptions> = {}): EvaluateOptions => ({
  ...evaluation({ cases: topicCases(), baseline: 'none', timeoutMs: 60_000 }),
  ...more,
});

/** Whether the run is one with the skill. */
export const hasSkill = (system: string): boolean => system.includes('Works on tables');

/** The verdict on the skill, or why there is none. */
export function differenceVerdict({ comparisons: [compared], uncompared: [none] }: EvalReport): string {
  return compared === undefined ? (none?.reason ?? 'nothing') : verdictOfDifference(compared);
}

/** A model that decides by the text of the request; `turn` counts from 0 in each run. */
export function thinking(
  decide: (asked: string, turn: number, request: ModelRequest) => Line | Promise<Line>,
): SuiteModel {
  return {
    way: 'live',
    id: 'thinking',
    open() {
      let turn = -1;
      return {
        id: 'thinking',
        async call(request, { signal }) {
          turn += 1;
          const asked = request.messages.find(({ role }) => role === 'user')?.content ?? '';
          const line = await Promise.race([decide(asked, turn, request), aborted(signal)]);
          return answerOf(line, turn);
        },
      };
    },
  };
}

/** A model whose answers also name the topic of the request, so that no two are the same. */
export function answering(decide: Parameters<typeof thinking>[0]): SuiteModel {
  return thinking(async (asked, turn, request) => {
    const line = await decide(asked, turn, request);
    return 'text' in line ? { ...line, text: `${line.text ?? ''} ${topicOf(asked)}` } : line;
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

export const load = (skill: string): Line => ({ calls: [['load_skill', { skill }]] });

/** Loads a skill for a word of the request, and the always-fire control for its queries. */
export function firing(rules: Readonly<Record<string, Line>>): (asked: string, turn: number) => Line {
  return (asked, turn) => {
    if (turn > 0) return { text: 'done' };
    if (asked.includes('brass lantern')) return load('brass-lantern-check');
    return Object.entries(rules).find(([word]) => asked.includes(word))?.[1] ?? { text: 'no skill fits' };
  };
}

export const verdictLine = ({ case: id, arm, status, loaded, reason }: CaseResult): string =>
  [id, arm, status, loaded.join('+'), reason].filter((part) => part !== '').join(' ');

/** Skills, cases and models for evaluation tests. */
import path from 'node:path';

import type { EvalCase } from '../../src/evals/cases/case.ts';
import type { CaseResult } from '../../src/evals/report/result.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import type { SuiteModel } from '../../src/evals/run/case-model.ts';
import { answerOf, type Line } from '../agent/support.ts';
import { writeSkill } from '../skills/registry/support.ts';

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

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Action } from '../../../src/core/action.ts';
import type { ActionPattern } from '../../../src/evals/cases/case.ts';
import { gradeActions } from '../../../src/evals/grade/grade-actions.ts';
import { gradeSecurity } from '../../../src/evals/grade/grade-security.ts';
import type { RunFacts, StepFact } from '../../../src/evals/grade/run-facts.ts';
import { matchCalls, type OpenStep } from '../../../src/evals/grade/read-run-facts.ts';
import { evalCase } from './support.ts';

const EMPTY: RunFacts = {
  run: '',
  request: '',
  model: '',
  outcome: 'done',
  reason: '',
  answer: '',
  answerSeq: undefined,
  modelText: '',
  loads: [],
  steps: [],
  shown: [],
  files: [],
  used: { turns: 0, toolCalls: 0, scriptRuns: 0, contextTokens: 0, tokens: 0, wallMs: 0 },
  cost: {
    turns: 0,
    toolCalls: 0,
    scriptRuns: 0,
    inputTokens: 0,
    outputTokens: 0,
    tokensAreEstimated: false,
    wallMs: 0,
  },
  budgetEnds: [],
  hasCrashed: false,
  broken: '',
  end: 0,
};

const TOOLS = ['a', 'ab', 'b', 'ba'];
const PATTERNS = ['a', 'a*', 'b', '*', '*b'];
const matches = (pattern: string, tool: string): boolean => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(tool);

function factsOf(tools: readonly string[]): RunFacts {
  const steps = tools.map((name, place): StepFact => ({
    seq: place + 1,
    askedBy: 'model',
    tool: { name, input: {}, isFirst: true },
    events: [place + 1],
  }));
  return { ...EMPTY, steps };
}

function orderedByHand(patterns: readonly string[], tools: readonly string[]): boolean {
  const [first, ...rest] = patterns;
  if (first === undefined) return true;
  return tools.some((tool, at) => matches(first, tool) && orderedByHand(rest, tools.slice(at + 1)));
}

function unorderedByHand(patterns: readonly string[], tools: readonly string[]): boolean {
  const [first, ...rest] = patterns;
  if (first === undefined) return true;
  return tools.some((tool, at) => matches(first, tool) && unorderedByHand(rest, tools.toSpliced(at, 1)));
}

describe('sequences', () => {
  test('match if any assignment of steps works', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PATTERNS), { maxLength: 4 }),
        fc.array(fc.constantFrom(...TOOLS), { maxLength: 6 }),
        (patterns, tools) => {
          const wanted: readonly ActionPattern[] = patterns.map((tool) => ({ tool, anyOutcome: true }));
          const one = evalCase({ actions: { ordered: wanted, unordered: wanted } });
          expect(gradeActions(one, factsOf(tools)).map(({ status }) => status === 'passed')).toEqual([
            orderedByHand(patterns, tools),
            unorderedByHand(patterns, tools),
          ]);
        },
      ),
    );
  });
});

describe('calls and actions', () => {
  const load = (skill: string, call: number): OpenStep => stepOf({ type: 'load_skill', skill }, call);
  function stepOf(action: Action, call: number): OpenStep {
    return { call, seq: 10 + call, askedBy: 'model', action, events: [10 + call] };
  }
  const select = { name: 'select_skills', input: { skills: ['x', 'y'] } };
  const matchedNames = (steps: readonly StepFact[]): readonly unknown[] =>
    steps.map(({ tool, action, isUnclear }) => [tool?.name, tool?.isFirst, action?.type, isUnclear]);

  test('one call may become several actions beside another call', () => {
    const script = stepOf({ type: 'run_script', skill: 'x', script: 's', args: [] }, 3);
    const calls = [select, { name: 'run_script', input: { script: 's' } }];
    expect(matchedNames(matchCalls(calls, [load('x', 1), load('y', 2), script], 5))).toEqual([
      ['select_skills', true, 'load_skill', undefined],
      ['select_skills', false, 'load_skill', undefined],
      ['run_script', true, 'run_script', undefined],
    ]);
  });

  test('of two calls with one name, the one that shares a text with the action matches', () => {
    const calls = ['none', 'x'].map((skill) => ({ name: 'load_skill', input: { skill } }));
    expect(matchCalls(calls, [load('x', 1)], 5).map(({ tool, action }) => [tool?.input, action?.type])).toEqual([
      [{ skill: 'none' }, undefined],
      [{ skill: 'x' }, 'load_skill'],
    ]);
  });

  test('an unclear match gives no denied verdict', () => {
    const steps = matchCalls([select, { name: 'pick_skills', input: {} }], [load('x', 1)], 5);
    expect(matchedNames(steps)).toEqual([
      ['select_skills', true, undefined, true],
      ['pick_skills', true, undefined, true],
      [undefined, undefined, 'load_skill', true],
    ]);
    const one = evalCase({ security: { denied: [{ tool: 'select_skills' }] } });
    expect(gradeSecurity(one, { ...EMPTY, steps }).map(({ status, found }) => [status, found])).toEqual([
      ['error', 'the record does not say which action the call became'],
    ]);
  });
});

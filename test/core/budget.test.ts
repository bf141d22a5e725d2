import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { BUDGET_NAMES, DEFAULT_BUDGET, type Budget } from '../../src/core/budget.ts';
import {
  NOTHING_USED,
  budgetLeft,
  budgetText,
  countEvent,
  endedBudget,
  wholeBudget,
} from '../../src/agent/count-budget.ts';
import { isSkillError } from '../../src/core/errors.ts';
import type { RunEvent } from '../../src/core/run-events.ts';

const count = (events: readonly RunEvent[], from: Budget = NOTHING_USED): Budget =>
  events.reduce((used, event, place) => countEvent(used, event, place * 10), from);
const action = (
  type: 'run_script' | 'load_skill' | 'final_answer',
  askedBy: 'model' | 'program' = 'model',
): RunEvent => ({
  type: 'action',
  call: 1,
  askedBy,
  action:
    type === 'run_script'
      ? { type, skill: 'a', script: 'b', args: [] }
      : type === 'load_skill'
        ? { type, skill: 'a' }
        : { type, answer: 'x' },
});

describe('what is used', () => {
  test('is counted from events: turns, calls of the model, programs, tokens of requests and answers, time', () => {
    const events: readonly RunEvent[] = [
      { type: 'turn', turn: 1 },
      { type: 'model-call', turn: 1, model: 'm', request: 'sha256:0', tokens: 100 },
      {
        type: 'model-answer',
        turn: 1,
        text: '',
        toolCalls: [],
        finish: 'stop',
        usage: { inputTokens: 99, outputTokens: 20 },
        retries: 0,
      },
      action('load_skill'),
      action('load_skill', 'program'),
      action('run_script'),
      { type: 'turn', turn: 2 },
      { type: 'model-call', turn: 2, model: 'm', request: 'sha256:1', tokens: 60 },
      action('final_answer'),
    ];
    expect(count(events)).toEqual({
      turns: 2,
      toolCalls: 2,
      scriptRuns: 1,
      contextTokens: 100,
      tokens: 180,
      wallMs: 80,
    });
  });

  test('of a subagent is used too, but for its turns and its context', () => {
    const used = { turns: 5, toolCalls: 3, scriptRuns: 2, contextTokens: 900, tokens: 70, wallMs: 4 };
    expect(count([{ type: 'subagent-end', call: 1, run: 'r', outcome: 'done', used }])).toEqual({
      ...NOTHING_USED,
      toolCalls: 3,
      scriptRuns: 2,
      tokens: 70,
    });
  });

  test('goes on where another process stopped: counting in two parts is counting at once', () => {
    const event: fc.Arbitrary<RunEvent> = fc.oneof(
      fc.constant<RunEvent>({ type: 'turn', turn: 1 }),
      fc.constantFrom(
        action('load_skill'),
        action('run_script'),
        action('final_answer'),
        action('run_script', 'program'),
      ),
      fc.nat(1000).map((tokens): RunEvent => ({ type: 'model-call', turn: 1, model: 'm', request: '', tokens })),
    );
    fc.assert(
      fc.property(fc.array(event), fc.array(event), (first, second) => {
        const { wallMs: _all, ...whole } = count([...first, ...second]);
        const { wallMs: _parts, ...parts } = count(second, count(first));
        expect(parts).toEqual(whole);
      }),
    );
  });
});

describe('limits', () => {
  test('of turns, tokens and time stop the next turn; those of calls and scripts do not', () => {
    const ended = BUDGET_NAMES.map((name) =>
      endedBudget({ ...NOTHING_USED, [name]: DEFAULT_BUDGET[name] }, DEFAULT_BUDGET),
    );
    expect(ended).toEqual(['turns', undefined, undefined, undefined, 'tokens', 'wallMs']);
  });

  test('of a part are never more than what the whole has left', () => {
    const budget = fc.record({
      turns: fc.nat(100),
      toolCalls: fc.nat(100),
      scriptRuns: fc.nat(100),
      contextTokens: fc.nat(1000),
      tokens: fc.nat(1000),
      wallMs: fc.nat(1000),
    });
    fc.assert(
      fc.property(budget, budget, (used, limits) => {
        const left = budgetLeft(used, limits);
        for (const name of BUDGET_NAMES) {
          expect(left[name]).toBeGreaterThanOrEqual(0);
          expect(left[name]).toBeLessThanOrEqual(limits[name]);
        }
      }),
    );
  });

  test('are the defaults where nothing is said; what is no amount is refused', () => {
    expect(wholeBudget({ turns: 3 })).toEqual({ ...DEFAULT_BUDGET, turns: 3 });
    const misspelled: object = { turn: 3 };
    expect(() => wholeBudget(misspelled)).toThrow(
      expect.objectContaining({
        code: 'input/invalid',
        message: 'there is no budget "turn"',
        hint: 'did you mean turns?',
      }),
    );
    for (const turns of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      let thrown: unknown;
      try {
        wholeBudget({ turns });
      } catch (error) {
        thrown = error;
      }
      expect(isSkillError(thrown) && thrown.code).toBe('input/invalid');
    }
  });

  test('are told in words', () => {
    expect(budgetText('scriptRuns', 6, 6)).toBe('the budget of script runs is exhausted (6 of 6)');
  });
});

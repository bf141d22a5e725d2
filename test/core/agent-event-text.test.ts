import { describe, expect, test } from 'vitest';

import { agentEventText, type AgentEvent } from '../../src/core/agent-event-text.ts';
import { eventText } from '../../src/core/event-text.ts';
import { NOTHING_USED } from '../../src/agent/count-budget.ts';

const step = (id: string, status: 'completed' | 'in_progress'): object => ({ id, title: `do\n${id}`, status });
const EVENTS: readonly (readonly [AgentEvent, string])[] = [
  [{ type: 'turn', turn: 3 }, 'turn 3'],
  [{ type: 'model-call', turn: 3, model: 'a/b', request: 'sha256:0', tokens: 1 }, 'calls a/b, about 1 token'],
  [
    {
      type: 'model-answer',
      turn: 3,
      text: 'hi',
      toolCalls: Array.from({ length: 7 }, (_, place) => ({ id: '', name: `t${String(place)}\u001b[31m`, input: '' })),
      finish: 'stop',
      usage: { inputTokens: 5, outputTokens: 6 },
      retries: 1,
    },
    'the model calls "t0\\x1b[31m", "t1\\x1b[31m", "t2\\x1b[31m", "t3\\x1b[31m", "t4\\x1b[31m" and 2 more, says 2 characters, 5 tokens in and 6 out, after 1 retry',
  ],
  [
    { type: 'model-answer', turn: 3, text: '', toolCalls: [], finish: 'other', usage: {}, retries: 0 },
    'the model says nothing',
  ],
  [
    {
      type: 'plan',
      turn: 1,
      plan: {
        goal: 'g',
        steps: [step('a', 'completed'), step('b', 'in_progress')] as never,
        assumptions: [],
        constraints: {},
      },
    },
    'plan: 1 of 2 steps done, now "do\\nb"',
  ],
  [
    { type: 'plan', turn: 1, plan: { goal: 'all of it', steps: [], assumptions: [], constraints: {} } },
    'plan: "all of it"',
  ],
  [{ type: 'activation', skill: 'project/pdf', reason: 'shortlist' }, 'skill project/pdf, by shortlist'],
  [{ type: 'answer-delta', text: 'It\nis' }, 'answer continues: "It\\nis"'],
  [{ type: 'decision-delta', field: 'action', text: 'run_script' }, 'preparing: run_script'],
  [{ type: 'decision-delta', field: 'step', text: 'read it' }, 'planning: "read it"'],
  [
    { type: 'context-compact', before: 9, after: 4, dropped: ['old outputs'] },
    'context compacted from about 9 tokens to 4: "old outputs"',
  ],
  [{ type: 'budget-end', name: 'turns', used: 12, limit: 12 }, 'budget exhausted: turns, 12 of 12'],
  [{ type: 'subagent-start', call: 1, run: 'r', skill: 'project/pdf' }, 'subagent for project/pdf, run r'],
  [{ type: 'subagent-end', call: 1, run: 'r', outcome: 'done', used: NOTHING_USED }, 'subagent done, run r'],
];

describe('what an agent does, on one line', () => {
  test.each(EVENTS)('%j', (event, text) => {
    expect(agentEventText(event)).toBe(text);
  });

  test('a terminal is told of the plan and of subagents; of the rest where it wants all; of the end of a budget always', () => {
    const told = (level: 'quiet' | 'normal' | 'verbose'): readonly string[] =>
      EVENTS.filter(([event]) => eventText(event, level).length > 0).map(([{ type }]) => type);
    expect(told('quiet')).toEqual(['budget-end']);
    expect(told('normal')).toEqual(['plan', 'plan', 'context-compact', 'budget-end', 'subagent-start', 'subagent-end']);
    expect(told('verbose')).toEqual(EVENTS.map(([{ type }]) => type).filter((type) => !type.endsWith('-delta')));
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { toAtif, type Trajectory, type TrajectoryStep } from '../../../src/journal/export/atif.ts';
import type { JournalLine, RunEvent } from '../../../src/core/run-events.ts';
import { problemsOf } from '../atif-rules.ts';
import { LOADED, RESULT, SCRIPT, WHOLE_RUN, asked, decided, linesOf, seen, start } from '../run-lines.ts';

const of = (events: readonly RunEvent[]): Trajectory => toAtif({ run: 'run-1' }, linesOf(events));
const time = (line: number): string => linesOf(WHOLE_RUN)[line - 1]?.time ?? '';
const decision = (effect: string, tool: string): object => ({
  effect,
  risk: effect === 'allow' ? 'low' : 'high',
  rule: `${tool}(*)`,
  origin: 'user',
  reason: `the rule says ${effect}`,
});

describe('a run as a trajectory', () => {
  test('is the request, a step an action with its call and its result, notes, and the answer', () => {
    const { type: _loaded, action: _load, ...loaded } = LOADED;
    const trajectory = toAtif({ run: 'run-1', model: 'some-model' }, linesOf(WHOLE_RUN));
    expect(trajectory).toEqual({
      schema_version: 'ATIF-v1.8',
      session_id: 'run-1',
      trajectory_id: 'run-1',
      agent: { name: 'skillwright', version: '0.1.0', model_name: 'some-model' },
      steps: [
        { step_id: 1, timestamp: time(1), source: 'user', message: 'read my invoice' },
        {
          step_id: 2,
          timestamp: time(2),
          source: 'agent',
          message: '',
          tool_calls: [{ tool_call_id: 'call-1', function_name: 'load_skill', arguments: { skill: 'pdf' } }],
          observation: {
            results: [
              {
                source_call_id: 'call-1',
                content: JSON.stringify(loaded),
                extra: { skillwright: { type: 'skill-loaded' } },
              },
            ],
          },
          extra: {
            skillwright: {
              asked_by: 'model',
              decision: decision('allow', 'load_skill'),
              skill: { name: 'pdf', source: 'project', digest: 'sha256:tree' },
            },
          },
        },
        {
          step_id: 3,
          timestamp: time(6),
          source: 'agent',
          message: '',
          tool_calls: [
            {
              tool_call_id: 'call-2',
              function_name: 'run_script',
              arguments: { skill: 'pdf', script: 'scripts/read.py', args: ['the secret argument'] },
            },
          ],
          observation: {
            results: [
              {
                source_call_id: 'call-2',
                content: expect.stringContaining('"stdout":"the secret output"'),
                extra: { skillwright: { type: 'program-ran' } },
              },
            ],
          },
          extra: {
            skillwright: {
              asked_by: 'model',
              decision: decision('ask', 'run_script'),
              question: 'sha256:question',
              answer: { verdict: 'yes', scope: 'run', by: 'terminal' },
            },
          },
        },
        {
          step_id: 4,
          timestamp: time(12),
          source: 'agent',
          message: '',
          tool_calls: [
            { tool_call_id: 'call-3', function_name: 'run_command', arguments: { command: 'the secret command' } },
          ],
          observation: {
            results: [
              {
                source_call_id: 'call-3',
                content: expect.stringContaining('"code":"policy/denied"'),
                extra: { skillwright: { type: 'failed', code: 'policy/denied' } },
              },
            ],
          },
          extra: { skillwright: { asked_by: 'model', decision: decision('deny', 'run_command') } },
        },
        { step_id: 5, timestamp: time(15), source: 'system', message: 'the disk is nearly full' },
        {
          step_id: 6,
          timestamp: time(17),
          source: 'agent',
          message: 'the secret answer',
          extra: { skillwright: { asked_by: 'model' } },
        },
      ],
      final_metrics: { total_steps: 6 },
      extra: {
        skillwright: {
          index_hash: 'sha256:index',
          policy_hash: 'sha256:policy',
          outcome: 'done',
          reason: 'it was answered',
        },
      },
    });
    expect(problemsOf(trajectory)).toEqual([]);
  });

  test('a run that was killed has a call without a result, and still runs', () => {
    const trajectory = of([start({ parent: 'run-0' }), asked(1, SCRIPT)]);
    expect(trajectory.steps[1]?.observation).toBeUndefined();
    expect(trajectory.extra.skillwright).toMatchObject({ outcome: 'running', parent: 'run-0' });
    expect(problemsOf(trajectory)).toEqual([]);
  });

  test('no lines at all are one step of the system', () => {
    const trajectory = of([]);
    expect(trajectory.steps).toEqual([{ step_id: 1, source: 'system', message: 'nothing was recorded' }]);
    expect(problemsOf(trajectory)).toEqual([]);
  });

  test('what a person or a program asked for needed no model', () => {
    const action: RunEvent = { type: 'action', call: 1, action: SCRIPT, askedBy: 'person' };
    expect(of([start(), action]).steps[1]?.llm_call_count).toBe(0);
  });

  test('results in another order are matched to their calls, and results without a call are omitted', () => {
    const ran = (call: number): RunEvent =>
      seen(call, { type: 'program-ran', action: 'run_script', result: { ...RESULT, exit_code: call } });
    const { steps } = of([start(), asked(1, SCRIPT), asked(2, SCRIPT), ran(2), ran(7), ran(1)]);
    expect(steps.map(({ observation }) => observation?.results[0]?.content.match(/"exit_code":(\d)/)?.[1])).toEqual([
      undefined,
      '1',
      '2',
    ]);
  });

  test('a time that is none is left out', () => {
    const [line] = linesOf([start()]);
    const lines = [{ ...line, time: 'yesterday' } as JournalLine];
    expect(toAtif({ run: 'run-1' }, lines).steps[0]).toEqual({
      step_id: 1,
      source: 'user',
      message: 'read my invoice',
    });
  });

  test('events in any order, and any number of them, keep the rules', () => {
    const some = fc.constantFrom(...WHOLE_RUN, decided(9, 'deny', 'grep'), asked(1, SCRIPT));
    fc.assert(
      fc.property(fc.array(some, { maxLength: 40 }), (events) => {
        const trajectory = of(events);
        expect(problemsOf(trajectory)).toEqual([]);
        expect(JSON.parse(JSON.stringify(trajectory))).toEqual(trajectory);
      }),
    );
  });
});

describe('the checker of these tests', () => {
  const whole = of(WHOLE_RUN);
  const changed = (index: number, more: object): object => ({
    ...whole,
    steps: whole.steps.map((step: TrajectoryStep, at) => (at === index ? { ...step, ...more } : step)),
  });

  test.each([
    ['another version', { ...whole, schema_version: 'ATIF-v2.0' }, ['schema_version']],
    ['a field that is unknown', { ...whole, run: 'x' }, ['trajectory has run']],
    ['an agent without a version', { ...whole, agent: { name: 'x' } }, ['agent.version']],
    ['no steps', { ...whole, steps: [] }, ['steps']],
    ['a gap', { ...whole, steps: whole.steps.slice(1) }, Array.from({ length: 5 }, () => 'step_id')],
    ['another source', changed(0, { source: 'tool' }), ['source']],
    ['no message', changed(0, { message: null }), ['message']],
    ['a time of nobody', changed(0, { timestamp: '10:00' }), ['timestamp']],
    ['a call of the user', changed(0, { tool_calls: [] }), ['tool_calls of no agent']],
    ['a result of no call', changed(1, { tool_calls: [] }), ['source_call_id']],
    [
      'arguments that are no object',
      changed(5, { tool_calls: [{ tool_call_id: 'a', function_name: 'b', arguments: 'c' }] }),
      ['call.arguments'],
    ],
    ['figures of a model that was not asked', changed(5, { llm_call_count: 0, metrics: {} }), ['llm_call_count']],
  ])('finds %s', (_, document, problems) => {
    expect(problemsOf(document)).toEqual(problems);
  });
});

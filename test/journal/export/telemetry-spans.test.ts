import { describe, expect, test } from 'vitest';

import type { RunEvent } from '../../../src/core/run-events.ts';
import { exported } from '../exported-run.ts';
import { DENIED, PDF, RESULT, SCRIPT, STARTED, WHOLE_RUN, asked, seen, start } from '../run-lines.ts';

/** Nanoseconds at a line of `linesOf`. */
const at = (line: number, more = 0n): bigint => BigInt(STARTED + (line - 1) * 10) * 1_000_000n + more;

const AGENT = { 'gen_ai.agent.name': 'skillwright' };
const tool = (name: string, call: number): Record<string, string> => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': name,
  'gen_ai.tool.type': 'function',
  'gen_ai.tool.call.id': String(call),
  ...AGENT,
  'skillwright.asked_by': 'model',
});
const policy = (effect: string, rule: string): Record<string, string> => ({
  'skillwright.policy.effect': effect,
  'skillwright.policy.rule': rule,
  'skillwright.policy.origin': 'user',
  'skillwright.policy.risk': effect === 'allow' ? 'low' : 'high',
});

describe('a run as a trace', () => {
  test('is the run, below it its calls, below them the steps of the workspace, with the times of the events', async () => {
    const { spans } = await exported(WHOLE_RUN);
    const traceId = spans[0]?.traceId ?? '';
    const idOf = (name: string): string => spans.find((span) => span.name === name)?.spanId ?? 'none';
    const run = idOf('invoke_agent skillwright');
    const script = idOf('execute_tool run_script pdf scripts/read.py');
    const common = { traceId, kind: 1, links: [], status: 0, statusMessage: '', flags: 0x101 };
    expect(spans).toEqual([
      {
        ...common,
        spanId: idOf('execute_tool load_skill pdf'),
        parentSpanId: run,
        name: 'execute_tool load_skill pdf',
        start: at(2),
        end: at(5),
        attributes: {
          ...tool('load_skill', 1),
          'gen_ai.skill.name': 'pdf',
          'gen_ai.skill.source': 'project',
          'gen_ai.skill.digest': 'sha256:tree',
          ...policy('allow', 'load_skill(*)'),
        },
      },
      {
        ...common,
        spanId: idOf('workspace.run'),
        parentSpanId: script,
        name: 'workspace.run',
        start: BigInt(STARTED + 85) * 1_000_000n,
        end: BigInt(STARTED + 89) * 1_000_000n + 250_000n,
        attributes: {
          'skillwright.workspace.program': 'python3',
          'skillwright.workspace.exit_code': 0,
          'skillwright.workspace.first': true,
          'skillwright.workspace.share': 0.5,
          'skillwright.workspace.shift': -3,
        },
      },
      {
        ...common,
        spanId: script,
        parentSpanId: run,
        name: 'execute_tool run_script pdf scripts/read.py',
        start: at(6),
        end: at(11),
        attributes: {
          ...tool('run_script', 2),
          'gen_ai.skill.name': 'pdf',
          'gen_ai.skill.source': 'project',
          'gen_ai.skill.resource.name': 'scripts/read.py',
          ...policy('ask', 'run_script(*)'),
          'skillwright.approval.answer': 'yes',
          'skillwright.approval.scope': 'run',
          'skillwright.approval.by': 'terminal',
          'process.exit.code': 0,
        },
      },
      {
        ...common,
        spanId: idOf('execute_tool run_command'),
        parentSpanId: run,
        name: 'execute_tool run_command',
        start: at(12),
        end: at(14),
        attributes: { ...tool('run_command', 3), ...policy('deny', 'run_command(*)'), 'error.type': 'policy/denied' },
        status: 2,
      },
      {
        ...common,
        spanId: idOf('execute_tool final_answer'),
        parentSpanId: run,
        name: 'execute_tool final_answer',
        start: at(17),
        end: at(18),
        attributes: tool('final_answer', 4),
      },
      {
        ...common,
        spanId: run,
        parentSpanId: '',
        name: 'invoke_agent skillwright',
        start: at(1),
        end: at(19),
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          ...AGENT,
          'skillwright.run.id': 'run-1',
          'skillwright.run.outcome': 'done',
        },
      },
    ]);
    expect(spans.every(({ traceId: id, spanId }) => /^[0-9a-f]{32}$/.test(id) && /^[0-9a-f]{16}$/.test(spanId))).toBe(
      true,
    );
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  test('never holds what was asked, read, printed or answered, nor where files of the person lie', async () => {
    const { receiver } = await exported(WHOLE_RUN);
    const sent = receiver.received.map(({ body }) => Buffer.from(body).toString('utf8')).join('\n');
    expect(sent).toContain('run_script(*)');
    expect(sent).not.toMatch(/secret|invoice|\/home\/ada|\/skills\/pdf|disk is nearly full|it was answered/);
  });

  test('sent again it has the same names, and a part of another run points at that one', async () => {
    const [first, again] = [await exported(WHOLE_RUN), await exported(WHOLE_RUN)];
    expect(again.spans).toEqual(first.spans);
    const part = await exported([start({ run: 'run-2', parent: 'run-1' })]);
    const whole = first.spans.at(-1);
    expect(part.spans.map(({ links }) => links)).toEqual([[{ traceId: whole?.traceId, spanId: whole?.spanId }]]);
    expect(part.spans[0]?.traceId).not.toBe(whole?.traceId);
  });

  test('what is open at the end is sent as unfinished, also where no end was ever said', async () => {
    const { spans } = await exported([start(), asked(1, SCRIPT), asked(2, { type: 'load_skill', skill: 'pdf' })]);
    expect(spans.map(({ name, status, attributes, end }) => [name, status, attributes['error.type'], end])).toEqual([
      ['execute_tool run_script', 2, 'unfinished', at(3)],
      ['execute_tool load_skill', 2, 'unfinished', at(3)],
      ['invoke_agent skillwright', 2, 'unfinished', at(3)],
    ]);
  });

  test('a step of a workspace belongs to the call that it names, whatever else is going on', async () => {
    const step: RunEvent = {
      type: 'span',
      call: 1,
      span: { name: 'workspace.run', startedAt: STARTED, durationMs: 1, attributes: {}, isFailed: false },
    };
    const { spans } = await exported([
      start(),
      asked(1, SCRIPT),
      asked(2, { type: 'run_command', command: 'ls' }),
      step,
    ]);
    const idOf = (name: string): string | undefined => spans.find((span) => span.name.startsWith(name))?.spanId;
    expect(spans[0]).toMatchObject({ name: 'workspace.run', parentSpanId: idOf('execute_tool run_script') });
  });

  test('a step of a workspace belongs to the run where it is not clear which call it is for', async () => {
    const step: RunEvent = {
      type: 'span',
      span: { name: 'workspace.cleanup', startedAt: STARTED, durationMs: 1, attributes: {}, isFailed: true },
    };
    const { spans } = await exported([start(), asked(1, SCRIPT), asked(2, SCRIPT), step]);
    const [cleanup] = spans;
    expect(cleanup).toMatchObject({ name: 'workspace.cleanup', parentSpanId: spans.at(-1)?.spanId, status: 2 });
  });

  test('a program that was ended from outside is an error, one that exits with another status than 0 is not', async () => {
    const ran = (reason: 'timeout' | 'exited', code: number): RunEvent =>
      seen(1, {
        type: 'program-ran',
        action: 'run_script',
        skill: PDF,
        result: { ...RESULT, reason, exit_code: code },
      });
    const timedOut = await exported([start(), asked(1, SCRIPT), ran('timeout', -1)]);
    expect(timedOut.spans[0]).toMatchObject({ status: 2, attributes: { 'error.type': 'timeout' } });
    const exited = await exported([start(), asked(1, SCRIPT), ran('exited', 3)]);
    expect(exited.spans[0]).toMatchObject({ status: 0, attributes: { 'process.exit.code': 3 } });
  });

  test('names of strangers are cut, and events without a run or a call are passed over', async () => {
    const long = 'x'.repeat(5_000);
    const { spans } = await exported([
      seen(9, DENIED),
      start({ run: long }),
      seen(9, DENIED),
      { type: 'skill-use', call: 9, skill: { id: long, name: long, source: long, digest: long } },
      asked(1, { type: 'load_skill', skill: long }),
      { type: 'skill-use', call: 1, skill: { id: long, name: long, source: long, digest: long } },
      { type: 'run-end', outcome: 'failed', reason: long },
    ]);
    expect(spans.map(({ name }) => name.length)).toEqual([
      'execute_tool load_skill '.length + 200,
      'invoke_agent skillwright'.length,
    ]);
    expect(
      spans.flatMap(({ attributes }) => Object.values(attributes)).every((value) => String(value).length <= 200),
    ).toBe(true);
  });
});

describe('metrics', () => {
  test('are durations by tool and run, calls of a run, and counts of decisions and answers', async () => {
    const { metrics } = await exported(WHOLE_RUN);
    const times = { start: at(1), time: at(19) };
    const durationBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
    const duration = (name: string, bucket: number, seconds: number, more = {}): object => ({
      ...times,
      attributes: { 'gen_ai.tool.name': name, 'gen_ai.tool.type': 'function', ...AGENT, ...more },
      count: 1,
      sum: seconds,
      min: seconds,
      max: seconds,
      buckets: [...durationBounds, 0].map((_, index) => (index === bucket ? 1 : 0)),
      bounds: durationBounds,
    });
    const decisions = (name: string, effect: string): object => ({
      ...times,
      attributes: {
        'gen_ai.tool.name': name,
        'skillwright.policy.effect': effect,
        'skillwright.policy.origin': 'user',
      },
      count: 1,
    });
    const histogram = { type: 'histogram', temporality: 2, isMonotonic: false };
    const sum = { type: 'sum', temporality: 2, isMonotonic: true };
    expect(metrics.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      {
        ...histogram,
        name: 'gen_ai.execute_tool.duration',
        unit: 's',
        points: [
          duration('load_skill', 2, 0.03),
          duration('run_script', 3, 0.05),
          duration('run_command', 1, 0.02, { 'error.type': 'policy/denied' }),
          duration('final_answer', 0, 0.01),
        ],
      },
      {
        ...histogram,
        name: 'gen_ai.invoke_agent.duration',
        unit: 's',
        points: [
          {
            ...times,
            attributes: AGENT,
            count: 1,
            sum: 0.18,
            min: 0.18,
            max: 0.18,
            buckets: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            bounds: [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6],
          },
        ],
      },
      {
        ...histogram,
        name: 'gen_ai.invoke_agent.tool_calls',
        unit: '{tool_call}',
        points: [
          {
            ...times,
            attributes: AGENT,
            count: 1,
            sum: 4,
            min: 4,
            max: 4,
            buckets: [0, 0, 1, 0, 0, 0, 0, 0, 0],
            bounds: [1, 2, 4, 8, 16, 32, 64, 128],
          },
        ],
      },
      {
        ...sum,
        name: 'skillwright.approvals',
        unit: '{answer}',
        points: [
          {
            ...times,
            attributes: {
              'skillwright.approval.answer': 'yes',
              'skillwright.approval.scope': 'run',
              'skillwright.approval.by': 'terminal',
            },
            count: 1,
          },
        ],
      },
      {
        ...sum,
        name: 'skillwright.policy.decisions',
        unit: '{decision}',
        points: [decisions('load_skill', 'allow'), decisions('run_script', 'ask'), decisions('run_command', 'deny')],
      },
    ]);
  });

  test('stay few however many names of tools strangers invent', async () => {
    const invented = Array.from({ length: 300 }, (_, index): RunEvent => ({
      type: 'decision',
      call: 1,
      decision: {
        effect: 'deny',
        tool: `t${String(index)}`,
        risk: 'high',
        rule: '*',
        origin: { layer: 'run', where: '' },
        reason: '',
      },
    }));
    const { metrics } = await exported([start(), ...invented]);
    const points = metrics.find(({ name }) => name === 'skillwright.policy.decisions')?.points ?? [];
    expect(points).toHaveLength(201);
    expect(points.at(-1)).toMatchObject({ attributes: { 'otel.metric.overflow': true }, count: 100 });
  });
});

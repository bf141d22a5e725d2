import { AsyncLocalStorage } from 'node:async_hooks';
import {
  context,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openSkills } from '../../src/library/open-skills.ts';
import { memorySkills } from '../../src/library/skill-source.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { contentsOf, receiverOf } from '../journal/exported-run.ts';

const skills = memorySkills([{ name: 'tone', description: 'How we write.', body: 'Short.', files: { 'a.md': 'x' } }]);

interface KeptSpan {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: number | undefined;
  readonly ms: number;
}

/** A tracer for the real API that keeps what has ended, with the span that was active. */
function keepingTracer(): { readonly tracer: Tracer; readonly kept: KeptSpan[] } {
  const kept: KeptSpan[] = [];
  const open = (name: string, options: { startTime?: unknown; attributes?: object } = {}): Span => {
    const active = trace.getActiveSpan()?.spanContext().spanId;
    let status: number | undefined;
    const span = trace.wrapSpanContext({ traceId: '0'.repeat(31) + '1', spanId: name, traceFlags: 1 });
    return Object.assign(span, {
      setStatus: ({ code }: { code: number }) => ((status = code), span),
      end: (at: unknown) =>
        void kept.push({
          name,
          parent: active,
          attributes: { ...options.attributes },
          status,
          ms: Number(at) - Number(options.startTime),
        }),
    });
  };
  const startActiveSpan: Tracer['startActiveSpan'] = () => {
    throw new Error('not used');
  };
  return { tracer: { startSpan: open, startActiveSpan }, kept };
}

/** What an SDK registers for Node. */
function registerContexts(): void {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, act, self, ...words) => storage.run(active, () => act.apply(self, words)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
  onTestFinished(() => context.disable());
}

const names = (kept: readonly KeptSpan[]): readonly string[] => kept.map(({ name }) => name);

describe('OpenTelemetry of the program', () => {
  test('the tracer of a conversation gets a span for each call, below the span in which it was made', async () => {
    registerContexts();
    const { tracer, kept } = keepingTracer();
    const library = await openSkills({ from: skills });
    const chat = await library.conversation({ id: 'ada', tracer });
    const answering = tracer.startSpan('answer a question');
    await context.with(trace.setSpan(context.active(), answering), async () => {
      await Promise.all([
        chat.call('load_skill', { skill: 'tone' }),
        chat.call('read_resource', { skill: 'tone', path: 'b.md' }),
      ]);
    });
    await library.close();
    expect(names(kept).toSorted()).toEqual(['execute_tool load_skill tone', 'execute_tool read_resource']);
    const [loaded, failed] = kept.toSorted((a, b) => a.name.length - b.name.length).toReversed();
    expect(kept.map(({ parent }) => parent)).toEqual(['answer a question', 'answer a question']);
    expect(loaded?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.conversation.id': 'ada',
      'gen_ai.skill.name': 'tone',
      'gen_ai.skill.source': 'memory',
      'skillwright.policy.effect': 'allow',
    });
    expect([loaded?.status, failed?.status, failed?.attributes['error.type']]).toEqual([undefined, 2, 'file/missing']);
    expect(kept.every(({ ms }) => ms >= 0 && ms < 60_000)).toBe(true);
  });

  test('the provider that it registered is used without an option; a tracer of a conversation comes first', async () => {
    const [registered, own] = [keepingTracer(), keepingTracer()];
    const asked: unknown[] = [];
    trace.setGlobalTracerProvider({ getTracer: (...words) => (asked.push(words[0]), registered.tracer) });
    onTestFinished(() => trace.disable());
    const library = await openSkills({ from: skills });
    for (const tracer of [undefined, own.tracer])
      await (await library.conversation({ tracer })).call('load_skill', { skill: 'tone' });
    await library.close();
    const tools = await openSkillTools({ runtime: { roots: [], configFile: false } });
    await tools.call('load_skill', { skill: 'text-diff' });
    await tools.session.close();
    expect(names(registered.kept)).toEqual(['execute_tool load_skill tone', 'execute_tool load_skill text-diff']);
    expect(names(own.kept)).toEqual(['execute_tool load_skill tone']);
    expect(new Set(asked)).toEqual(new Set(['skillwright']));
  });

  test('a tracer that throws harms no call', async () => {
    const tracer = {
      startSpan: () => {
        throw new Error('broken');
      },
    };
    const library = await openSkills({ from: skills });
    const chat = await library.conversation({ tracer });
    expect((await chat.call('load_skill', { skill: 'tone' })).isError).toBe(false);
    await library.close();
  });
});

describe('telemetry.endpoint', () => {
  test('receives the calls of each conversation as a trace, with its id', async () => {
    const receiver = await receiverOf();
    const library = await openSkills({ from: skills, config: { telemetry: { endpoint: receiver.endpoint } } });
    for (const id of ['ada', 'ben', 'silent']) {
      const chat = await library.conversation({ id });
      if (id !== 'silent') await chat.call('load_skill', { skill: 'tone' });
    }
    await library.close();
    const { spans, metrics } = contentsOf(receiver);
    const runs = spans.filter(({ name }) => name === 'invoke_agent skillwright');
    const calls = spans.filter(({ name }) => name === 'execute_tool load_skill tone');
    expect([runs.length, calls.length, spans.length]).toEqual([2, 2, 4]);
    expect(new Set(calls.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set(runs.map(({ spanId }) => spanId)));
    const conversations = spans.map(({ attributes }) => String(attributes['gen_ai.conversation.id']));
    expect(conversations.toSorted((one, other) => one.localeCompare(other))).toEqual(['ada', 'ada', 'ben', 'ben']);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
    expect(metrics.map(({ name }) => name)).toContain('gen_ai.execute_tool.duration');
  });

  test('works for openSkillTools, also from a runtime, and sends nothing if nothing is done', async () => {
    const receiver = await receiverOf();
    const runtime = { roots: [], configFile: false, config: { telemetry: { endpoint: receiver.endpoint } } } as const;
    await (await openSkillTools({ runtime })).session.close();
    expect(receiver.received).toEqual([]);
    const tools = await openSkillTools({ runtime });
    await tools.call('load_skill', { skill: 'text-diff' });
    await tools.session.close();
    expect(
      contentsOf(receiver)
        .spans.map(({ name }) => name)
        .toSorted(),
    ).toEqual(['execute_tool load_skill text-diff', 'invoke_agent skillwright']);
  });
});

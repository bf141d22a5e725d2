import { sliceStart, type RunEvent } from '#core';
import { AGENT_NAME, answerAttributes, type Attributes, type TracedSpan } from './telemetry-spans.ts';

/** Metrics since the sink was opened: durations by the GenAI conventions, and counts of policy decisions under our own names. */

interface Instrument {
  readonly unit: string;
  readonly description: string;
  /** The upper bounds of histogram buckets; absent for a counter. */
  readonly bounds?: readonly number[];
}

const doubling = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => Number((first * 2 ** index).toFixed(2)));

const INSTRUMENTS = {
  'gen_ai.execute_tool.duration': {
    unit: 's',
    description: 'Duration of actions.',
    bounds: doubling(0.01, 14),
  },
  'gen_ai.invoke_agent.duration': {
    unit: 's',
    description: 'Duration of runs.',
    bounds: doubling(0.1, 13),
  },
  'gen_ai.invoke_agent.tool_calls': {
    unit: '{tool_call}',
    description: 'Actions per run.',
    bounds: doubling(1, 8),
  },
  'skillwright.policy.decisions': { unit: '{decision}', description: 'Policy decisions by effect.' },
  'skillwright.approvals': { unit: '{answer}', description: 'Approval questions by answer.' },
} as const satisfies Record<string, Instrument>;

type InstrumentName = keyof typeof INSTRUMENTS;

/** The values with one set of attributes. */
export interface Series {
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** One more than the bounds; empty for a counter. */
  readonly buckets: readonly number[];
}

export interface Metric extends Instrument {
  readonly name: InstrumentName;
  readonly series: readonly Series[];
}

export interface Metrics {
  countEvent(event: RunEvent): void;
  countSpan(span: TracedSpan): void;
  /** Returns the instruments with values, in a fixed order. */
  snapshot(): readonly Metric[];
}

/** Tool names are untrusted: beyond this number of series, values are added to an overflow series, as OpenTelemetry defines it. */
const MAX_SERIES = 200;
const OVERFLOW: Attributes = { 'otel.metric.overflow': true };

export function openMetrics(): Metrics {
  const rows = new Map<InstrumentName, Map<string, Series>>();
  let callsOfRun = 0;

  const record = (name: InstrumentName, value: number, attributes: Attributes): void => {
    const known = rows.get(name) ?? new Map<string, Series>();
    rows.set(name, known);
    const isRoom = known.size < MAX_SERIES || known.has(JSON.stringify(attributes));
    const chosen = isRoom ? attributes : OVERFLOW;
    const key = JSON.stringify(chosen);
    known.set(key, added(known.get(key), value, chosen, INSTRUMENTS[name]));
  };

  return {
    countEvent(event) {
      if (event.type === 'run-start') callsOfRun = 0;
      if (event.type === 'action') callsOfRun += 1;
      if (event.type === 'decision') {
        const { tool, effect, origin } = event.decision;
        record('skillwright.policy.decisions', 1, {
          'gen_ai.tool.name': sliceStart(tool, 200),
          'skillwright.policy.effect': effect,
          'skillwright.policy.origin': origin.layer,
        });
      }
      if (event.type === 'approval-answer') record('skillwright.approvals', 1, answerAttributes(event.answer));
    },
    countSpan({ attributes, startMs, endMs }) {
      const seconds = (endMs - startMs) / 1000;
      const error = pick(attributes, 'error.type');
      const operation = attributes['gen_ai.operation.name'];
      if (operation === 'execute_tool') {
        const tool = pick(attributes, 'gen_ai.tool.name', 'gen_ai.tool.type');
        record('gen_ai.execute_tool.duration', seconds, { ...tool, 'gen_ai.agent.name': AGENT_NAME, ...error });
      }
      if (operation === 'invoke_agent') {
        record('gen_ai.invoke_agent.duration', seconds, { 'gen_ai.agent.name': AGENT_NAME, ...error });
        record('gen_ai.invoke_agent.tool_calls', callsOfRun, { 'gen_ai.agent.name': AGENT_NAME });
      }
    },
    snapshot: () => [...rows].map(([name, series]) => ({ name, ...INSTRUMENTS[name], series: [...series.values()] })),
  };
}

function added(before: Series | undefined, value: number, attributes: Attributes, { bounds }: Instrument): Series {
  const bucket = bounds === undefined ? -1 : bounds.findIndex((bound) => value <= bound);
  const buckets = before?.buckets ?? Array.from({ length: bounds === undefined ? 0 : bounds.length + 1 }, () => 0);
  const at = bucket === -1 ? buckets.length - 1 : bucket;
  return {
    attributes,
    count: (before?.count ?? 0) + 1,
    sum: (before?.sum ?? 0) + value,
    min: Math.min(before?.min ?? value, value),
    max: Math.max(before?.max ?? value, value),
    buckets: buckets.map((count, index) => (index === at ? count + 1 : count)),
  };
}

function pick(attributes: Attributes, ...names: readonly string[]): Attributes {
  return Object.fromEntries(
    names.flatMap((name) => (attributes[name] === undefined ? [] : [[name, attributes[name]]])),
  );
}

import type { Metric, Series } from './telemetry-metrics.ts';
import type { Attributes, TracedSpan } from './telemetry-spans.ts';

/** OTLP/JSON: the `ExportTraceServiceRequest` and `ExportMetricsServiceRequest` of `opentelemetry/proto`. 64-bit numbers are strings. */

export interface Sender {
  readonly scopeName: string;
  readonly scopeVersion: string;
  readonly resource: Attributes;
}

/** The period that cumulative metrics cover, in milliseconds since 1970. */
export interface MetricPeriod {
  readonly startMs: number;
  readonly timeMs: number;
}

const SPAN_KIND_INTERNAL = 1;
const STATUS_CODE_ERROR = 2;
const CUMULATIVE = 2;
/** Sampled, and the parent is known to be a span of this process. */
const SPAN_FLAGS = 0x101;

export function encodeSpans(spans: readonly TracedSpan[], sender: Sender): string {
  return JSON.stringify({
    resourceSpans: [
      { resource: encodeResource(sender), scopeSpans: [{ scope: encodeScope(sender), spans: spans.map(encodeSpan) }] },
    ],
  });
}

export function encodeMetrics(metrics: readonly Metric[], sender: Sender, period: MetricPeriod): string {
  return JSON.stringify({
    resourceMetrics: [
      {
        resource: encodeResource(sender),
        scopeMetrics: [{ scope: encodeScope(sender), metrics: metrics.map((metric) => encodeMetric(metric, period)) }],
      },
    ],
  });
}

function encodeResource({ resource }: Sender): object {
  return { attributes: encodeAttributes(resource) };
}

function encodeScope({ scopeName, scopeVersion }: Sender): object {
  return { name: scopeName, version: scopeVersion };
}

function encodeSpan(span: TracedSpan): object {
  const { traceId, spanId, parentSpanId, name, startMs, endMs, link, isFailed } = span;
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: SPAN_KIND_INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: encodeAttributes(span.attributes),
    links: link === undefined ? undefined : [link],
    ...(isFailed ? { status: { code: STATUS_CODE_ERROR } } : {}),
    flags: SPAN_FLAGS,
  };
}

function encodeMetric({ name, description, unit, bounds, series }: Metric, period: MetricPeriod): object {
  const points = series.map((row) => ({
    startTimeUnixNano: nanoseconds(period.startMs),
    timeUnixNano: nanoseconds(period.timeMs),
    attributes: encodeAttributes(row.attributes),
    ...(bounds === undefined ? { asInt: String(row.count) } : histogramValues(row, bounds)),
  }));
  const data = { aggregationTemporality: CUMULATIVE, dataPoints: points };
  return bounds === undefined
    ? { name, description, unit, sum: { ...data, isMonotonic: true } }
    : { name, description, unit, histogram: data };
}

function histogramValues({ count, sum, buckets, min, max }: Series, bounds: readonly number[]): object {
  return { count: String(count), sum, bucketCounts: buckets.map(String), explicitBounds: bounds, min, max };
}

function encodeAttributes(values: Attributes): readonly object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: encodeValue(value) }));
}

function encodeValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Number.isSafeInteger(value)) return { intValue: String(value) };
  // JSON has no NaN and no infinity; the protocol writes them as strings.
  return { doubleValue: Number.isFinite(value) ? value : `${value}` };
}

function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000)));
}

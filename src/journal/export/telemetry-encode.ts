import type { Metric, Series } from './telemetry-metrics.ts';
import type { Attributes, TracedSpan } from './telemetry-spans.ts';

/**
 * OTLP in protocol buffers: of `opentelemetry/proto` the few messages that we send. Numbers of fields are those of version 1 of that
 * protocol, which never change. A library would do; why there is none here is said in docs/observability.md.
 */

export interface Sender {
  readonly scopeName: string;
  readonly scopeVersion: string;
  readonly resource: Attributes;
}

type Field = Uint8Array;

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

const INTERNAL_SPAN = 1;
const ERROR_STATUS = 2;
const CUMULATIVE = 2;
/** Sampled; and it is known that the parent is of this process. */
const SPAN_FLAGS = 0x101;

export function encodeSpans(spans: readonly TracedSpan[], sender: Sender): Uint8Array {
  return encodeExport(
    sender,
    spans.map((span) => message(2, spanFields(span))),
  );
}

/** `startMs`: since when is counted; `timeMs`: until when. */
export function encodeMetrics(
  metrics: readonly Metric[],
  sender: Sender,
  times: { readonly startMs: number; readonly timeMs: number },
): Uint8Array {
  return encodeExport(
    sender,
    metrics.map((metric) => message(2, metricFields(metric, times))),
  );
}

/** Spans and metrics travel in the same two envelopes. */
function encodeExport({ scopeName, scopeVersion, resource }: Sender, contents: readonly Field[]): Uint8Array {
  const scope = message(1, [text(1, scopeName), text(2, scopeVersion)]);
  return message(1, [message(1, attributes(1, resource)), message(2, [scope, ...contents])]);
}

function spanFields(span: TracedSpan): readonly Field[] {
  const { traceId, spanId, parentSpanId, name, startMs, endMs, link, isFailed } = span;
  return [
    bytes(1, Buffer.from(traceId, 'hex')),
    bytes(2, Buffer.from(spanId, 'hex')),
    ...(parentSpanId === undefined ? [] : [bytes(4, Buffer.from(parentSpanId, 'hex'))]),
    text(5, name),
    varint(6, INTERNAL_SPAN),
    fixed64(7, nanoseconds(startMs)),
    fixed64(8, nanoseconds(endMs)),
    ...attributes(9, span.attributes),
    ...(link === undefined
      ? []
      : [message(13, [bytes(1, Buffer.from(link.traceId, 'hex')), bytes(2, Buffer.from(link.spanId, 'hex'))])]),
    ...(isFailed ? [message(15, [varint(3, ERROR_STATUS)])] : []),
    fixed32(16, SPAN_FLAGS),
  ];
}

function metricFields(
  { name, description, unit, bounds, series }: Metric,
  times: { readonly startMs: number; readonly timeMs: number },
): readonly Field[] {
  const head = [text(1, name), text(2, description), text(3, unit)];
  const time = [fixed64(2, nanoseconds(times.startMs)), fixed64(3, nanoseconds(times.timeMs))];
  if (bounds === undefined) {
    const points = series.map((row) =>
      message(1, [...time, fixed64(6, BigInt(row.count)), ...attributes(7, row.attributes)]),
    );
    return [...head, message(7, [...points, varint(2, CUMULATIVE), varint(3, 1)])];
  }
  const points = series.map((row) => message(1, [...time, ...histogramFields(row, bounds)]));
  return [...head, message(9, [...points, varint(2, CUMULATIVE)])];
}

function histogramFields(row: Series, bounds: readonly number[]): readonly Field[] {
  return [
    fixed64(4, BigInt(row.count)),
    double(5, row.sum),
    bytes(6, Buffer.concat(row.buckets.map((count) => fixed64Bytes(BigInt(count))))),
    bytes(7, Buffer.concat(bounds.map(doubleBytes))),
    ...attributes(9, row.attributes),
    double(11, row.min),
    double(12, row.max),
  ];
}

function attributes(field: number, values: Attributes): readonly Field[] {
  return Object.entries(values).map(([key, value]) => message(field, [text(1, key), message(2, [anyValue(value)])]));
}

function anyValue(value: string | number | boolean): Field {
  if (typeof value === 'string') return text(1, value);
  if (typeof value === 'boolean') return varint(2, value ? 1 : 0);
  // Negative numbers are ten bytes of two's complement.
  return Number.isSafeInteger(value) ? varint(3, BigInt.asUintN(64, BigInt(value))) : double(4, value);
}

function nanoseconds(ms: number): bigint {
  const whole = Math.floor(ms);
  return BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000));
}

function message(field: number, fields: readonly Field[]): Field {
  return bytes(field, Buffer.concat(fields));
}

function text(field: number, value: string): Field {
  return bytes(field, Buffer.from(value, 'utf8'));
}

function bytes(field: number, value: Uint8Array): Field {
  return Buffer.concat([tag(field, BYTES), varintBytes(BigInt(value.length)), value]);
}

function varint(field: number, value: number | bigint): Field {
  return Buffer.concat([tag(field, VARINT), varintBytes(BigInt(value))]);
}

function fixed64(field: number, value: bigint): Field {
  return Buffer.concat([tag(field, FIXED_64), fixed64Bytes(value)]);
}

function fixed32(field: number, value: number): Field {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return Buffer.concat([tag(field, FIXED_32), out]);
}

function double(field: number, value: number): Field {
  return Buffer.concat([tag(field, FIXED_64), doubleBytes(value)]);
}

function fixed64Bytes(value: bigint): Uint8Array {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt.asUintN(64, value));
  return out;
}

function doubleBytes(value: number): Uint8Array {
  const out = Buffer.alloc(8);
  out.writeDoubleLE(value);
  return out;
}

function tag(field: number, wire: number): Uint8Array {
  return varintBytes((BigInt(field) << 3n) | BigInt(wire));
}

function varintBytes(value: bigint): Uint8Array {
  const out: number[] = [];
  let rest = value;
  while (rest > 0x7fn) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return Uint8Array.from([...out, Number(rest)]);
}

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An OpenTelemetry collector for tests: receives OTLP/JSON over HTTP. */

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

export interface Receiver {
  readonly endpoint: string;
  readonly received: readonly Received[];
  close(): void;
}

/** `answer` gives the status of each request, or `undefined` to never answer. */
export async function openReceiver(answer: (index: number) => number | undefined = () => 200): Promise<Receiver> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces) });
      const status = answer(received.length - 1);
      if (status === undefined) return;
      response.writeHead(status, status < 400 && status >= 300 ? { location: '/elsewhere' } : {});
      response.end('a text of the server');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${String(port)}`,
    received,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Value = string | number | boolean;

export interface ReadSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2 is an error. */
  readonly status: number;
  readonly statusMessage: string;
  readonly flags: number;
}

export interface ReadMetric {
  readonly name: string;
  readonly unit: string;
  readonly type: 'sum' | 'histogram';
  /** 2 is cumulative. */
  readonly temporality: number;
  readonly isMonotonic: boolean;
  readonly points: readonly ReadPoint[];
}

interface ReadPoint {
  readonly start: bigint;
  readonly time: bigint;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly count: number;
  readonly sum?: number;
  readonly buckets?: readonly number[];
  readonly bounds?: readonly number[];
  readonly min?: number;
  readonly max?: number;
}

export interface Envelope<Content> {
  readonly resource: Readonly<Record<string, Value>>;
  readonly scope: { readonly name: string; readonly version: string };
  readonly contents: readonly Content[];
}

export function readTraces(body: Uint8Array): readonly Envelope<ReadSpan>[] {
  return readEnvelopes(body, ['resourceSpans', 'scopeSpans', 'spans'], readSpan);
}

export function readMetrics(body: Uint8Array): readonly Envelope<ReadMetric>[] {
  return readEnvelopes(body, ['resourceMetrics', 'scopeMetrics', 'metrics'], readMetric);
}

function readEnvelopes<Content>(
  body: Uint8Array,
  [resources, scopes, contents]: readonly [string, string, string],
  read: (content: Json) => Content,
): readonly Envelope<Content>[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  return listOf(asObject(JSON.parse(text)), resources).flatMap((outer) =>
    listOf(outer, scopes).map((inner) => {
      const scope = asObject(inner['scope']);
      return {
        resource: attributesOf(asObject(outer['resource'])),
        scope: { name: textOf(scope, 'name'), version: textOf(scope, 'version') },
        contents: listOf(inner, contents).map(read),
      };
    }),
  );
}

function readSpan(span: Json): ReadSpan {
  const status = asObject(span['status']);
  return {
    traceId: hexOf(span, 'traceId'),
    spanId: hexOf(span, 'spanId'),
    parentSpanId: hexOf(span, 'parentSpanId'),
    name: textOf(span, 'name'),
    kind: numberOf(span, 'kind'),
    start: BigInt(wholeOf(span, 'startTimeUnixNano')),
    end: BigInt(wholeOf(span, 'endTimeUnixNano')),
    attributes: attributesOf(span),
    links: listOf(span, 'links').map((link) => ({ traceId: hexOf(link, 'traceId'), spanId: hexOf(link, 'spanId') })),
    status: numberOf(status, 'code'),
    statusMessage: textOf(status, 'message'),
    flags: numberOf(span, 'flags'),
  };
}

function readMetric(metric: Json): ReadMetric {
  const type = 'sum' in metric ? 'sum' : 'histogram';
  const data = asObject(metric[type]);
  return {
    name: textOf(metric, 'name'),
    unit: textOf(metric, 'unit'),
    type,
    temporality: numberOf(data, 'aggregationTemporality'),
    isMonotonic: data['isMonotonic'] === true,
    points: listOf(data, 'dataPoints').map((point) => ({
      start: BigInt(wholeOf(point, 'startTimeUnixNano')),
      time: BigInt(wholeOf(point, 'timeUnixNano')),
      attributes: attributesOf(point),
      ...(type === 'sum' ? readSumValues(point) : readHistogramValues(point)),
    })),
  };
}

function readSumValues(point: Json): Pick<ReadPoint, 'count'> {
  return { count: 'asInt' in point ? Number(wholeOf(point, 'asInt')) : numberOf(point, 'asDouble') };
}

function readHistogramValues(point: Json): Omit<ReadPoint, 'start' | 'time' | 'attributes'> {
  return {
    count: Number(wholeOf(point, 'count')),
    sum: numberOf(point, 'sum'),
    buckets: asList(point['bucketCounts']).map(Number),
    bounds: asList(point['explicitBounds']).map(Number),
    min: numberOf(point, 'min'),
    max: numberOf(point, 'max'),
  };
}

type Json = Readonly<Record<string, unknown>>;

function attributesOf(from: Json): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    listOf(from, 'attributes').map((pair) => [textOf(pair, 'key'), valueOf(asObject(pair['value']))]),
  );
}

function valueOf(value: Json): Value {
  if ('stringValue' in value) return textOf(value, 'stringValue');
  if ('boolValue' in value) return value['boolValue'] === true;
  return 'intValue' in value ? Number(wholeOf(value, 'intValue')) : numberOf(value, 'doubleValue');
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function listOf(from: Json, key: string): readonly Json[] {
  return asList(from[key]).map(asObject);
}

function textOf(from: Json, key: string): string {
  const { [key]: value = '' } = from;
  if (typeof value !== 'string') throw new Error(`${key} must be a string`);
  return value;
}

function hexOf(from: Json, key: string): string {
  const text = textOf(from, key);
  if (!/^[0-9a-f]*$/i.test(text)) throw new Error(`${key} must be hexadecimal`);
  return text.toLowerCase();
}

function numberOf(from: Json, key: string): number {
  const { [key]: value = 0 } = from;
  if (typeof value !== 'number') throw new Error(`${key} must be a number`);
  return value;
}

/** 64-bit integers are decimal strings; receivers must also accept numbers. */
function wholeOf(from: Json, key: string): string {
  const { [key]: value = 0 } = from;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!/^-?[0-9]+$/.test(text)) throw new Error(`${key} must be an integer`);
  return text;
}

import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A collector of OpenTelemetry for tests: takes OTLP over HTTP and reads its protocol buffers by hand. */

export interface Received {
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

export type Value = string | number | boolean;

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

export interface ReadPoint {
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
  return readEnvelopes(body, readSpan);
}

export function readMetrics(body: Uint8Array): readonly Envelope<ReadMetric>[] {
  return readEnvelopes(body, readMetric);
}

function readEnvelopes<Content>(body: Uint8Array, read: (bytes: Uint8Array) => Content): readonly Envelope<Content>[] {
  return fields(body)
    .messages(1)
    .flatMap((bytes) => {
      const outer = fields(bytes);
      const resource = attributesOf(fields(outer.messages(1)[0] ?? new Uint8Array()), 1);
      return outer.messages(2).map((inner) => {
        const scoped = fields(inner);
        const scope = fields(scoped.messages(1)[0] ?? new Uint8Array());
        return {
          resource,
          scope: { name: scope.text(1), version: scope.text(2) },
          contents: scoped.messages(2).map(read),
        };
      });
    });
}

function readSpan(bytes: Uint8Array): ReadSpan {
  const span = fields(bytes);
  const status = fields(span.messages(15)[0] ?? new Uint8Array());
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    parentSpanId: span.hex(4),
    name: span.text(5),
    kind: Number(span.number(6)),
    start: span.number(7),
    end: span.number(8),
    attributes: attributesOf(span, 9),
    links: span
      .messages(13)
      .map(fields)
      .map((link) => ({ traceId: link.hex(1), spanId: link.hex(2) })),
    status: Number(status.number(3)),
    statusMessage: status.text(2),
    flags: Number(span.number(16)),
  };
}

function readMetric(bytes: Uint8Array): ReadMetric {
  const metric = fields(bytes);
  const [sum] = metric.messages(7);
  const [histogram] = metric.messages(9);
  const data = fields(sum ?? histogram ?? new Uint8Array());
  return {
    name: metric.text(1),
    unit: metric.text(3),
    type: sum === undefined ? 'histogram' : 'sum',
    temporality: Number(data.number(2)),
    isMonotonic: data.number(3) === 1n,
    points: data
      .messages(1)
      .map(fields)
      .map(sum === undefined ? readHistogramPoint : readNumberPoint),
  };
}

function readNumberPoint(point: Fields): ReadPoint {
  return {
    start: point.number(2),
    time: point.number(3),
    attributes: attributesOf(point, 7),
    count: point.has(6) ? Number(point.number(6)) : asDouble(point.number(4)),
  };
}

function readHistogramPoint(point: Fields): ReadPoint {
  const [buckets = new Uint8Array()] = point.messages(6);
  const [bounds = new Uint8Array()] = point.messages(7);
  return {
    start: point.number(2),
    time: point.number(3),
    attributes: attributesOf(point, 9),
    count: Number(point.number(4)),
    sum: asDouble(point.number(5)),
    buckets: eights(buckets).map(Number),
    bounds: eights(bounds).map(asDouble),
    min: asDouble(point.number(11)),
    max: asDouble(point.number(12)),
  };
}

function attributesOf(from: Fields, field: number): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    from.messages(field).map((bytes) => {
      const pair = fields(bytes);
      return [pair.text(1), valueOf(fields(pair.messages(2)[0] ?? new Uint8Array()))];
    }),
  );
}

function valueOf(value: Fields): Value {
  if (value.has(1)) return value.text(1);
  if (value.has(2)) return value.number(2) === 1n;
  if (value.has(3)) return Number(BigInt.asIntN(64, value.number(3)));
  return asDouble(value.number(4));
}

interface Fields {
  has(field: number): boolean;
  number(field: number): bigint;
  messages(field: number): readonly Uint8Array[];
  text(field: number): string;
  hex(field: number): string;
}

/** The fields of one message; what is not protocol buffers throws. */
function fields(bytes: Uint8Array): Fields {
  const found: { readonly field: number; readonly value: bigint | Uint8Array }[] = [];
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new Error('the message ends too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const [byte = 0] = take(1);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error('a number has no end');
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (![0, 1, 2, 5].includes(wire)) throw new Error(`no such type: ${String(wire)}`);
    const value = wire === 0 ? varint() : wire === 2 ? take(Number(varint())) : little(take(wire === 1 ? 8 : 4));
    found.push({ field: tag >> 3, value });
  }
  const all = (field: number): readonly (bigint | Uint8Array)[] =>
    found.filter((one) => one.field === field).map(({ value }) => value);
  const messages = (field: number): readonly Uint8Array[] => all(field).filter((value) => typeof value !== 'bigint');
  return {
    has: (field) => all(field).length > 0,
    number: (field) => all(field).findLast((value) => typeof value === 'bigint') ?? 0n,
    messages,
    text: (field) => new TextDecoder('utf-8', { fatal: true }).decode(messages(field).at(-1)),
    hex: (field) => Buffer.from(messages(field).at(-1) ?? new Uint8Array()).toString('hex'),
  };
}

function little(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function eights(bytes: Uint8Array): readonly bigint[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => little(bytes.subarray(index * 8, index * 8 + 8)));
}

function asDouble(bits: bigint): number {
  return new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? 0;
}

import { isObject } from '#core';
import { VERSION } from '../version.ts';

/** The part of a `Tracer` of the OpenTelemetry API that is used. */
export interface Tracer {
  startSpan(
    name: string,
    options?: { startTime?: number; attributes?: Record<string, string | number | boolean> },
  ): { setStatus(status: { code: number }): unknown; end(endTime?: number): void };
}

/** A call that has ended. */
interface TracedCall {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly isFailed: boolean;
}

/** `SpanStatusCode.ERROR` */
const ERROR = 2;

/** The parent of the span is the one that is active where the call was made. */
export function traceCall(tracer: Tracer, { name, startMs, endMs, attributes, isFailed }: TracedCall): void {
  const span = tracer.startSpan(name, { startTime: startMs, attributes: { ...attributes } });
  if (isFailed) span.setStatus({ code: ERROR });
  span.end(endMs);
}

/**
 * The tracer of the provider that the program registered. All copies of version 1 of its API find it here, so no copy of ours is
 * needed.
 */
export function globalTracer(): Tracer | undefined {
  const api: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'));
  const provider = isObject(api) ? api['trace'] : undefined;
  return isTracerProvider(provider) ? provider.getTracer('skillwright', VERSION) : undefined;
}

function isTracerProvider(value: unknown): value is { readonly getTracer: (name: string, version: string) => Tracer } {
  return typeof value === 'object' && value !== null && 'getTracer' in value && typeof value.getTracer === 'function';
}

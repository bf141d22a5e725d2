import { randomUUID } from 'node:crypto';

import { VERSION } from '../../version.ts';
import type { EventSink } from './sinks.ts';
import type { Sender } from './telemetry-encode.ts';
import { openMetrics } from './telemetry-metrics.ts';
import { TelemetryOutbox, openServer, type TelemetryReport, type ServerAddress } from './telemetry-outbox.ts';
import { openTrace, type Attributes, type TracedSpan } from './telemetry-spans.ts';

/**
 * Sends runs as OpenTelemetry traces and metrics by OTLP over HTTP, and their calls to the tracing of a program. The module is loaded only if
 * there is one of both. An unavailable or slow server loses spans but never delays a run.
 */

export interface TelemetryConfig extends Partial<ServerAddress> {
  /** Receives the span of each call when it has ended. Runs and workspace steps are left out: a program that listens has spans of its own. */
  readonly onCall?: (span: TracedSpan) => void;
  /** Id of the conversation, for each span. */
  readonly conversation?: string;
  /** Default: `skillwright`. */
  readonly serviceName?: string;
  /** Distinguishes concurrent processes (default: a random id). */
  readonly instanceId?: string;
  /** Milliseconds between two requests (default: 5,000). */
  readonly intervalMs?: number;
  /** The timeout for the last requests in milliseconds (default: 3,000). */
  readonly deadlineMs?: number;
}

export interface Telemetry {
  /** For one run at a time. */
  readonly sink: EventSink;
  /** Sends the remaining data before the deadline. Never throws; the report says what was lost. */
  readonly shutdown: () => Promise<TelemetryReport>;
}

export function telemetrySink(config: TelemetryConfig): Telemetry {
  const { intervalMs = 5_000, deadlineMs = 3_000 } = config;
  const trace = openTrace();
  const metrics = openMetrics();
  const sender = toSender(config);
  const { endpoint, headers, onCall, conversation } = config;
  const outbox =
    endpoint === undefined
      ? undefined
      : new TelemetryOutbox({ server: openServer({ endpoint, headers }), sender, metrics, intervalMs, deadlineMs });
  const keep = (ended: readonly TracedSpan[]): void => {
    const about: Attributes = conversation === undefined ? {} : { 'gen_ai.conversation.id': conversation };
    const spans = ended.map((span) => ({ ...span, attributes: { ...span.attributes, ...about } }));
    for (const span of spans) metrics.countSpan(span);
    outbox?.add(spans);
    if (onCall !== undefined) spans.filter(isCall).forEach(onCall);
  };
  let ended: Promise<TelemetryReport> | undefined;
  const end = async (): Promise<TelemetryReport> => {
    keep(trace.end());
    return (await outbox?.close()) ?? { sent: 0, lost: 0 };
  };
  return {
    sink(line) {
      if (ended !== undefined) return;
      try {
        metrics.countEvent(line.event);
        keep(trace.take(line));
      } catch {
        // A malformed line loses its span.
      }
    },
    shutdown: () => (ended ??= end()),
  };
}

const isCall = ({ attributes }: TracedSpan): boolean => attributes['gen_ai.operation.name'] === 'execute_tool';

function toSender({ serviceName = 'skillwright', instanceId = randomUUID() }: TelemetryConfig): Sender {
  return {
    scopeName: 'skillwright',
    scopeVersion: VERSION,
    resource: {
      'service.name': serviceName,
      'service.version': VERSION,
      'service.instance.id': instanceId,
      'telemetry.sdk.name': 'skillwright',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': VERSION,
    },
  };
}

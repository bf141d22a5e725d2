import { randomUUID } from 'node:crypto';

import { VERSION } from '../../version.ts';
import type { EventSink } from './sinks.ts';
import type { Sender } from './telemetry-encode.ts';
import { openMetrics } from './telemetry-metrics.ts';
import { TelemetryOutbox, openServer, type TelemetryReport, type ServerAddress } from './telemetry-outbox.ts';
import { openTrace, type TracedSpan } from './telemetry-spans.ts';

/**
 * Sends runs as OpenTelemetry traces and metrics by OTLP over HTTP. The module is loaded only if an endpoint is configured. An
 * unavailable or slow server loses spans but never delays a run.
 */

export interface TelemetryConfig extends ServerAddress {
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
  const outbox = new TelemetryOutbox({ server: openServer(config), sender, metrics, intervalMs, deadlineMs });
  const keep = (spans: readonly TracedSpan[]): void => {
    for (const span of spans) metrics.countSpan(span);
    outbox.add(spans);
  };
  let ended: Promise<TelemetryReport> | undefined;
  const end = (): Promise<TelemetryReport> => {
    keep(trace.end());
    return outbox.close();
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

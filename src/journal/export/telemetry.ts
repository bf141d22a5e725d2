import { randomUUID } from 'node:crypto';

import { VERSION } from '../../version.ts';
import type { EventSink } from './sinks.ts';
import type { Sender } from './telemetry-encode.ts';
import { openMetrics } from './telemetry-metrics.ts';
import { TelemetryOutbox } from './telemetry-outbox.ts';
import type { TelemetryReport } from './telemetry-outbox.ts';
import { openServer } from './telemetry-send.ts';
import type { ServerAddress } from './telemetry-send.ts';
import { openTrace } from './telemetry-spans.ts';
import type { TracedSpan } from './telemetry-spans.ts';

/**
 * Runs as traces and metrics of OpenTelemetry, sent by OTLP over HTTP. Nothing loads this module but whoever has an endpoint: it is
 * imported when it is needed. A server that is down, slow or rude costs spans, and never time of a run.
 */

export interface TelemetryConfig extends ServerAddress {
  /** `skillwright` */
  readonly serviceName?: string;
  /** Tells processes apart that run at one time; a new one where none is given. */
  readonly instanceId?: string;
  /** Milliseconds between two requests: 5 seconds. */
  readonly intervalMs?: number;
  /** Milliseconds that the end may wait for the server: 3 seconds. */
  readonly deadlineMs?: number;
}

export interface Telemetry {
  /** For one run at a time. */
  readonly sink: EventSink;
  /** Sends what is left, within the deadline. Never fails; says what was lost. */
  readonly shutdown: () => Promise<TelemetryReport>;
}

export function telemetrySink(config: TelemetryConfig): Telemetry {
  const { intervalMs = 5_000, deadlineMs = 3_000 } = config;
  const trace = openTrace();
  const metrics = openMetrics();
  const sender = senderOf(config);
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
        // A line that cannot be read costs its span.
      }
    },
    shutdown: () => (ended ??= end()),
  };
}

function senderOf({ serviceName = 'skillwright', instanceId = randomUUID() }: TelemetryConfig): Sender {
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

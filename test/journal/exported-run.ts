import { onTestFinished } from 'vitest';

import { telemetrySink } from '../../src/journal/export/telemetry.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import {
  openReceiver,
  readMetrics,
  readTraces,
  type ReadMetric,
  type ReadSpan,
  type Receiver,
} from './otlp-receiver.ts';
import { linesOf } from './run-lines.ts';

/** A collector that is closed with its test. */
export async function receiverOf(...given: Parameters<typeof openReceiver>): Promise<Receiver> {
  const receiver = await openReceiver(...given);
  onTestFinished(() => receiver.close());
  return receiver;
}

interface Contents {
  readonly spans: readonly ReadSpan[];
  readonly metrics: readonly ReadMetric[];
}

/** What a collector has after a run. */
export async function exported(events: readonly RunEvent[]): Promise<Contents & { readonly receiver: Receiver }> {
  const receiver = await receiverOf();
  const { sink, shutdown } = telemetrySink({ endpoint: receiver.endpoint, instanceId: 'test' });
  for (const line of linesOf(events)) sink(line);
  await shutdown();
  return { receiver, ...contentsOf(receiver) };
}

export function contentsOf({ received }: Receiver): Contents {
  const bodies = (end: string): readonly Uint8Array[] =>
    received.filter(({ path }) => path.endsWith(end)).map(({ body }) => body);
  return {
    spans: bodies('/v1/traces')
      .flatMap(readTraces)
      .flatMap(({ contents }) => contents),
    metrics: bodies('/v1/metrics')
      .flatMap(readMetrics)
      .flatMap(({ contents }) => contents),
  };
}

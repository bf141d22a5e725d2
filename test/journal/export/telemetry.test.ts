import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { telemetrySink, type TelemetryConfig } from '../../../src/journal/export/telemetry.ts';
import type { RunEvent } from '../../../src/core/run-events.ts';
import { VERSION } from '../../../src/version.ts';
import { PROJECT, filesBelow } from '../../files-below.ts';
import { contentsOf, receiverOf } from '../exported-run.ts';
import { openReceiver, readTraces } from '../otlp-receiver.ts';
import { DENIED, SCRIPT, WHOLE_RUN, asked, linesOf, seen, start } from '../run-lines.ts';
import { verifies } from '../../conformance/verifies.ts';

describe('the request', () => {
  verifies('OBS-1', 'goes to both addresses below the endpoint, with the headers and who sends it', async () => {
    const receiver = await receiverOf();
    const { sink, shutdown } = telemetrySink({
      endpoint: `${receiver.endpoint}/team/`,
      headers: { authorization: 'Bearer abc' },
      serviceName: 'nightly',
      instanceId: 'machine-1',
    });
    for (const line of linesOf(WHOLE_RUN)) sink(line);
    expect(await shutdown()).toEqual({ sent: 6, lost: 0 });
    expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(['/team/v1/metrics', '/team/v1/traces']);
    for (const { headers } of receiver.received) {
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        authorization: 'Bearer abc',
        'user-agent': `skillwright/${VERSION}`,
      });
    }
    const [traces] = receiver.received
      .filter(({ path }) => path.endsWith('traces'))
      .flatMap(({ body }) => readTraces(body));
    expect(traces).toMatchObject({
      scope: { name: 'skillwright', version: VERSION },
      resource: { 'service.name': 'nightly', 'service.version': VERSION, 'service.instance.id': 'machine-1' },
    });
  });

  test('spans of a run that goes on are sent before its end', async () => {
    const receiver = await receiverOf();
    const { sink, shutdown } = telemetrySink({ endpoint: receiver.endpoint, intervalMs: 1 });
    for (const line of linesOf(WHOLE_RUN.slice(0, 5))) sink(line);
    await expect.poll(() => contentsOf(receiver).spans.length).toBe(1);
    await shutdown();
    expect(contentsOf(receiver).spans.map(({ name }) => name)).toEqual([
      'execute_tool load_skill pdf',
      'invoke_agent skillwright',
    ]);
  });

  test.each([
    ['no address', 'collector'],
    ['another protocol', 'file:///etc/passwd'],
    ['a password in it', 'http://ada:secret@127.0.0.1:1'],
    ['a query', 'http://127.0.0.1:1/?key=secret'],
  ])('an endpoint with %s is refused', (_, endpoint) => {
    expect(() => telemetrySink({ endpoint })).toThrow(
      expect.objectContaining({ code: 'config/invalid', data: { path: 'telemetry.endpoint' } }),
    );
  });

  test('a header that would make another one is refused, and its value is not told', () => {
    expect(() => telemetrySink({ endpoint: 'http://127.0.0.1:1', headers: { key: 'secret\r\nx: y' } })).toThrow(
      expect.objectContaining({ code: 'config/invalid', message: 'a header for telemetry cannot be sent: "key"' }),
    );
  });
});

describe('a server that does not do its part', () => {
  async function endedBy(config: TelemetryConfig): Promise<object> {
    const { sink, shutdown } = telemetrySink(config);
    for (const line of linesOf(WHOLE_RUN)) sink(line);
    return shutdown();
  }

  test('is down: the run goes on, and the end says what was lost', async () => {
    const receiver = await openReceiver();
    receiver.close();
    expect(await endedBy({ endpoint: receiver.endpoint })).toEqual({ sent: 0, lost: 6, problem: 'ECONNREFUSED' });
  });

  test('never answers: the end comes at its deadline', async () => {
    const receiver = await receiverOf(() => undefined);
    expect(await endedBy({ endpoint: receiver.endpoint, deadlineMs: 50 })).toEqual({
      sent: 0,
      lost: 6,
      problem: 'no answer in time',
    });
  });

  test('never answered while the run went on: the end comes at its deadline', async () => {
    const receiver = await receiverOf(() => undefined);
    const { sink, shutdown } = telemetrySink({ endpoint: receiver.endpoint, intervalMs: 1, deadlineMs: 50 });
    for (const line of linesOf(WHOLE_RUN)) sink(line);
    await expect.poll(() => receiver.received.length).toBe(2);
    expect(await shutdown()).toMatchObject({ sent: 0, lost: 6 });
  });

  test.each([400, 401, 500])('answers %i: the spans are not sent again', async (status) => {
    const receiver = await receiverOf(() => status);
    expect(await endedBy({ endpoint: receiver.endpoint })).toEqual({
      sent: 0,
      lost: 6,
      problem: `status ${String(status)}`,
    });
    expect(receiver.received).toHaveLength(2);
  });

  test('sends to another place: the headers do not go there', async () => {
    const receiver = await receiverOf(() => 307);
    expect(await endedBy({ endpoint: receiver.endpoint, headers: { key: 'secret' } })).toMatchObject({
      sent: 0,
      lost: 6,
    });
    expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(['/v1/metrics', '/v1/traces']);
  });

  test.each([429, 503])('answers %i while the run goes on: all is sent later, once', async (status) => {
    const receiver = await receiverOf((index) => (index < 4 ? status : 200));
    const { sink, shutdown } = telemetrySink({ endpoint: receiver.endpoint, intervalMs: 1 });
    for (const line of linesOf(WHOLE_RUN)) sink(line);
    await expect.poll(() => receiver.received.length).toBe(6);
    expect(await shutdown()).toEqual({ sent: 6, lost: 0 });
  });

  test('refused some and took the rest: the end says why some are missing', async () => {
    const receiver = await receiverOf((index) => (index < 2 ? 400 : 200));
    const { sink, shutdown } = telemetrySink({ endpoint: receiver.endpoint, intervalMs: 1 });
    const lines = linesOf(WHOLE_RUN);
    for (const line of lines.slice(0, 5)) sink(line);
    await expect.poll(() => receiver.received.length).toBe(2);
    for (const line of lines.slice(5)) sink(line);
    expect(await shutdown()).toEqual({ sent: 5, lost: 1, problem: 'status 400' });
  });

  test('is too slow: the oldest spans are kept, and the number of dropped ones is reported', async () => {
    const receiver = await receiverOf(() => undefined);
    const { sink, shutdown } = telemetrySink({ endpoint: receiver.endpoint, intervalMs: 60_000, deadlineMs: 50 });
    const calls = Array.from({ length: 5_000 }, (_, index) => [asked(index, SCRIPT), seen(index, DENIED)]).flat();
    for (const line of linesOf([start(), ...calls])) sink(line);
    expect(await shutdown()).toMatchObject({ sent: 0, lost: 5_001 });
  });
});

test('a sink that was shut down takes nothing more, and to shut it down twice is to do it once', async () => {
  const receiver = await receiverOf();
  const { sink, shutdown } = telemetrySink({ endpoint: receiver.endpoint });
  const lines = linesOf(WHOLE_RUN);
  for (const line of lines) sink(line);
  const report = await shutdown();
  for (const line of lines) sink(line);
  expect(await shutdown()).toBe(report);
  expect(receiver.received).toHaveLength(2);
});

test('lines that are none are passed over, and times that are none', async () => {
  const receiver = await receiverOf();
  const { sink, shutdown } = telemetrySink({ endpoint: receiver.endpoint, intervalMs: 1 });
  const step = { name: 'workspace.run', attributes: { odd: Symbol('no value') }, isFailed: false };
  const events = [
    undefined,
    null,
    1,
    { type: 'decision', call: 1 },
    { type: 'span', span: { ...step, startedAt: Number.NaN, durationMs: 1 } },
    { type: 'span', span: { ...step, startedAt: 1, durationMs: Infinity } },
    { type: 'span', span: { ...step, startedAt: 1, durationMs: 1 } },
  ] as unknown as readonly RunEvent[];
  sink({ seq: 1, time: 'never', elapsed: Number.NaN, event: start() });
  for (const event of events) sink({ seq: 2, time: '', elapsed: 0, event });
  sink({ seq: 3, time: '', elapsed: Number.NaN, event: asked(1, SCRIPT) });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  expect(await shutdown()).toMatchObject({ sent: 1, lost: 1, problem: 'encoding failed' });
});

verifies(
  'OBS-1',
  'nothing of it is loaded where nobody has an endpoint: it is imported only when it is needed, and needs no package',
  () => {
    const sources = filesBelow('src', /\.ts$/).map((file) => ({
      file,
      text: readFileSync(path.join(PROJECT, file), 'utf8'),
    }));
    const importers = sources.filter(
      ({ file, text }) =>
        !file.startsWith('src/journal/export/telemetry') &&
        /^(?:import|export)(?! type)[^;]*from '[^']*\/telemetry[^']*'/m.test(text),
    );
    expect(importers.map(({ file }) => file)).toEqual([]);
    expect(sources.filter(({ text }) => text.includes('@opentelemetry/')).map(({ file }) => file)).toEqual([]);
  },
);

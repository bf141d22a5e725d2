import { expect, test } from 'vitest';

import { readMetrics, readTraces } from './otlp-receiver.ts';

/**
 * The reader of these tests and the encoder under test have the same author. So the reader is checked against requests in the form of
 * the examples of the OTLP specification (`opentelemetry-proto/examples`).
 */
const RESOURCE = { attributes: [{ key: 'service.name', value: { stringValue: 'my.service' } }] };
const SCOPE = { name: 'my.library', version: '1.0.0' };
const ENVELOPE = { resource: { 'service.name': 'my.service' }, scope: SCOPE };
const TIMES = { startTimeUnixNano: '1544712660300000000', timeUnixNano: '1544712660300000000' };
const READ_TIMES = { start: 1_544_712_660_300_000_000n, time: 1_544_712_660_300_000_000n };

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

test('spans in the form of the specification are read', () => {
  const request = {
    resourceSpans: [
      {
        resource: RESOURCE,
        scopeSpans: [
          {
            scope: SCOPE,
            spans: [
              {
                traceId: '5B8EFFF798038103D269B633813FC60C',
                spanId: 'EEE19B7EC3C1B174',
                parentSpanId: 'EEE19B7EC3C1B173',
                name: "I'm a server span",
                startTimeUnixNano: '1544712660000000000',
                endTimeUnixNano: '1544712661000000000',
                kind: 2,
                attributes: [
                  { key: 'text', value: { stringValue: 'some value' } },
                  { key: 'yes', value: { boolValue: true } },
                  { key: 'whole', value: { intValue: '-3' } },
                  { key: 'part', value: { doubleValue: 0.5 } },
                ],
                links: [{ traceId: 'FF', spanId: 'EE' }],
                status: { code: 2 },
                flags: 0x101,
              },
            ],
          },
        ],
      },
    ],
  };
  expect(readTraces(bytes(request))).toEqual([
    {
      ...ENVELOPE,
      contents: [
        {
          traceId: '5b8efff798038103d269b633813fc60c',
          spanId: 'eee19b7ec3c1b174',
          parentSpanId: 'eee19b7ec3c1b173',
          name: "I'm a server span",
          kind: 2,
          start: 1_544_712_660_000_000_000n,
          end: 1_544_712_661_000_000_000n,
          attributes: { text: 'some value', yes: true, whole: -3, part: 0.5 },
          links: [{ traceId: 'ff', spanId: 'ee' }],
          status: 2,
          statusMessage: '',
          flags: 0x101,
        },
      ],
    },
  ]);
});

test('metrics in the form of the specification are read', () => {
  const attributes = [{ key: 'attr', value: { stringValue: 'some value' } }];
  const histogram = { count: '3', sum: 5.55, bucketCounts: ['1', '2'], explicitBounds: [1], min: 0.05, max: 5 };
  const request = {
    resourceMetrics: [
      {
        resource: RESOURCE,
        scopeMetrics: [
          {
            scope: SCOPE,
            metrics: [
              {
                name: 'my.counter',
                unit: '1',
                sum: {
                  aggregationTemporality: 1,
                  isMonotonic: true,
                  dataPoints: [
                    { ...TIMES, asDouble: 5, attributes },
                    { ...TIMES, asInt: '7', attributes },
                  ],
                },
              },
              {
                name: 'my.histogram',
                unit: '1',
                histogram: { aggregationTemporality: 2, dataPoints: [{ ...TIMES, ...histogram, attributes }] },
              },
            ],
          },
        ],
      },
    ],
  };
  const point = { ...READ_TIMES, attributes: { attr: 'some value' } };
  expect(readMetrics(bytes(request))).toEqual([
    {
      ...ENVELOPE,
      contents: [
        {
          name: 'my.counter',
          unit: '1',
          type: 'sum',
          temporality: 1,
          isMonotonic: true,
          points: [
            { ...point, count: 5 },
            { ...point, count: 7 },
          ],
        },
        {
          name: 'my.histogram',
          unit: '1',
          type: 'histogram',
          temporality: 2,
          isMonotonic: false,
          points: [{ ...point, count: 3, sum: 5.55, buckets: [1, 2], bounds: [1], min: 0.05, max: 5 }],
        },
      ],
    },
  ]);
});

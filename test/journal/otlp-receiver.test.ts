import { expect, test } from 'vitest';

import { readMetrics, readTraces } from './otlp-receiver.ts';

/**
 * The reader of these tests is written by the same hand as the writer that it judges. So it is first held to bytes that the exporters
 * of OpenTelemetry itself made (their packages 0.223.0): what it reads of those it reads of ours.
 */
const TRACES = [
  'CuEBChwKGAoMc2VydmljZS5uYW1lEggKBmdvbGRlbhAAEsABCg4KBXNjb3BlEgUxLjIuMxKtAQoQAAECAwQFBgcICQoLDA0OERIIoKGio6SlphIiCKChoqOkpaYRKghjaGlsZCDDqTABOSD8I1NNr5gYQaC/7VRNr5gYSgsKBHRleHQSAwoBeEoJCgN5ZXMSAhABSggKAm5vEgIQAEoMCgV3aG9sZRIDGKwCShQKBW1pbnVzEgsY/f//////////AUoRCgRwYXJ0EgkhAAAAAAAA4D9QAGAAcAB6AhgChQEBAQAA',
  'Cp8BChwKGAoMc2VydmljZS5uYW1lEggKBmdvbGRlbhAAEn8KDgoFc2NvcGUSBTEuMi4zEm0KEAABAgMEBQYHCAkKCwwNDhESCKChoqOkpaYRKgZwYXJlbnQwATmgZYtSTa+YGEEACgCOTa+YGFAAYABqIwoQ/////////////////////xII7u7u7u7u7u4oADUBAQAAcAB6AhgAhQEBAQAA',
];
const METRICS =
  'CpECChwKGAoMc2VydmljZS5uYW1lEggKBmdvbGRlbhAAEvABCg4KBXNjb3BlEgUxLjIuMxKNAQoIZHVyYXRpb24SCUhvdyBsb25nLhoBc0pzCm8RQD0WUFkw6BgZgH8lUFkw6BghAwAAAAAAAAApMzMzMzMzFkAyGAEAAAAAAAAAAQAAAAAAAAABAAAAAAAAADoQmpmZmZmZuT8AAAAAAADwP0oLCgR0b29sEgMKAWFZmpmZmZmZqT9hAAAAAAAAFEAQAhJOCgdkZW5pYWxzEglIb3cgbWFueS4aCHtkZW5pYWx9Oi4KKBGAfyVQWTDoGBmAfyVQWTDoGCEAAAAAAAAAQDoLCgR0b29sEgMKAWIQAhgB';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'base64');
const ENVELOPE = { resource: { 'service.name': 'golden' }, scope: { name: 'scope', version: '1.2.3' } };
const SPAN = { traceId: '000102030405060708090a0b0c0d0e11', kind: 1, flags: 0x101, statusMessage: '' };

test('spans of the official exporter are read as they were made', () => {
  expect(TRACES.flatMap((text) => readTraces(bytes(text)))).toEqual([
    {
      ...ENVELOPE,
      contents: [
        {
          ...SPAN,
          spanId: 'a0a1a2a3a4a5a612',
          parentSpanId: 'a0a1a2a3a4a5a611',
          name: 'child é',
          start: 1_772_359_200_012_500_000n,
          end: 1_772_359_200_042_500_000n,
          attributes: { text: 'x', yes: true, no: false, whole: 300, minus: -3, part: 0.5 },
          links: [],
          status: 2,
        },
      ],
    },
    {
      ...ENVELOPE,
      contents: [
        {
          ...SPAN,
          spanId: 'a0a1a2a3a4a5a611',
          parentSpanId: '',
          name: 'parent',
          start: 1_772_359_200_002_500_000n,
          end: 1_772_359_201_000_000_000n,
          attributes: {},
          links: [{ traceId: 'ff'.repeat(16), spanId: 'ee'.repeat(8) }],
          status: 0,
        },
      ],
    },
  ]);
});

test('metrics of the official exporter are read as they were made', () => {
  const times = { start: expect.any(BigInt), time: expect.any(BigInt) };
  expect(readMetrics(bytes(METRICS))).toEqual([
    {
      ...ENVELOPE,
      contents: [
        {
          name: 'duration',
          unit: 's',
          type: 'histogram',
          temporality: 2,
          isMonotonic: false,
          points: [
            {
              ...times,
              attributes: { tool: 'a' },
              count: 3,
              sum: 5.55,
              buckets: [1, 1, 1],
              bounds: [0.1, 1],
              min: 0.05,
              max: 5,
            },
          ],
        },
        {
          name: 'denials',
          unit: '{denial}',
          type: 'sum',
          temporality: 2,
          isMonotonic: true,
          points: [{ ...times, attributes: { tool: 'b' }, count: 2 }],
        },
      ],
    },
  ]);
});

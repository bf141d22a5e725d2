import { describe, expect, test } from 'vitest';

import { findingsOf } from './findings.ts';

describe('trigger suites', () => {
  const fires = { expect: { trigger: true } };
  const quiet = { expect: { trigger: false } };

  test('need a request that must not load the skill', () => {
    expect(findingsOf([fires, fires], { kind: 'trigger' })).toEqual(['error no-negatives']);
    expect(findingsOf([fires, fires])).toEqual(['warning no-negatives']);
    expect(findingsOf([fires, quiet], { kind: 'trigger' })).toEqual([]);
    const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const quarantine = { until, passed: 3, of: 10 };
    expect(findingsOf([fires, { ...quiet, quarantine }], { kind: 'trigger' })).toEqual(['error no-negatives']);
    expect(findingsOf([{ ...fires, quarantine }, quiet], { kind: 'trigger' })).toEqual(['error no-positives']);
  });

  test('warn where few different requests must not load the skill', () => {
    const topics = [
      'apples',
      'bridges of the old town',
      'candles',
      'deserts at night',
      'engines',
      'forests',
      'kettles',
    ];
    const positives = topics.map((topic) => ({ input: `Tell me something about ${topic}`, ...fires }));
    const jokes = ['Tell a joke', 'Tell a joke!', 'tell a joke.'].map((input) => ({ input, ...quiet }));
    expect(findingsOf([...positives, ...jokes], { kind: 'trigger' })).toEqual([
      'warning few-negatives',
      'warning duplicate',
      'warning duplicate',
    ]);
    const more = [...jokes.slice(0, 1), { input: 'Paint a harbour in spring', ...quiet }];
    expect(findingsOf([...positives, ...more], { kind: 'trigger' })).toEqual([]);
  });

  test('may not expect both of one request', () => {
    const asked = { input: 'Tell the history of apples' };
    expect(
      findingsOf(
        [
          { ...asked, ...fires },
          { ...asked, ...quiet },
        ],
        { kind: 'trigger' },
      ),
    ).toEqual(['error duplicate']);
  });

  test('need a request that must load it', () => {
    expect(findingsOf([quiet], { kind: 'trigger' })).toEqual(['error no-positives']);
  });
});

import { describe, expect, test } from 'vitest';

import type { EvalCase, Expectations } from '../../../src/evals/cases/case.ts';
import type { Control } from '../../../src/evals/report/result.ts';
import { canaryControl, shuffledControl } from '../../../src/evals/trigger/controls.ts';
import {
  countConfusions,
  makeTriggerReport,
  scoreOverall,
  scoreSkills,
} from '../../../src/evals/trigger/trigger-score.ts';
import {
  agrees,
  isForTraining,
  toLabel,
  computeSplit,
  collectTrials,
  type TriggerTrial,
} from '../../../src/evals/trigger/trigger-trial.ts';
import { verifies } from '../../conformance/verifies.ts';
import { caseResult } from '../case-results.ts';

function triggerCase(id: string, expectations: Expectations, target?: string): EvalCase {
  return {
    id,
    name: id,
    place: { file: 'evals/trigger.json', line: 1, column: 1 },
    input: 'the same query',
    files: [],
    skills: { target, folders: [] },
    expect: expectations,
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: [],
  };
}

function owned(owner: string, loaded: readonly string[], id = owner): TriggerTrial {
  return { case: id, label: { all: [owner], any: [], none: [] }, loaded };
}

function negative(skill: string, loaded: readonly string[]): TriggerTrial {
  return { case: `not-${skill}`, label: { all: [], any: [], none: [skill] }, loaded };
}

const KEPT: readonly Control[] = (['always-fire', 'never-fire', 'shuffled-labels'] as const).map((name) => ({
  name,
  asked: '',
  found: '',
  isKept: true,
}));

describe('labels', () => {
  test('come from the expectations of a case', () => {
    expect(toLabel(triggerCase('a', { trigger: true }, 'csv'))).toEqual({ all: ['csv'], any: [], none: [] });
    expect(toLabel(triggerCase('a', { trigger: false }, 'csv'))).toEqual({ all: [], any: [], none: ['csv'] });
    expect(toLabel(triggerCase('a', { skills: { anyOf: ['csv', 'xlsx'] } }))).toEqual({
      all: [],
      any: ['csv', 'xlsx'],
      none: [],
    });
    expect(toLabel(triggerCase('a', { skills: { only: [] } }))).toEqual({ all: [], any: [], none: [], only: [] });
    expect(toLabel(triggerCase('a', { streaming: true }, 'csv'))).toBeUndefined();
  });

  test('agree with the loaded skills', () => {
    const label = { all: ['a'], any: ['b', 'c'], none: ['d'] };
    expect(agrees(label, ['a', 'c', 'x'])).toBe(true);
    expect(agrees({ ...label, only: ['a', 'c'] }, ['a', 'c', 'x'])).toBe(false);
    for (const loaded of [[], ['a'], ['b'], ['a', 'b', 'd']]) expect(agrees(label, loaded)).toBe(false);
  });
});

describe('trials', () => {
  test('exclude broken runs', () => {
    const cases = [triggerCase('yes', { trigger: true }, 'csv'), triggerCase('no', { trigger: false }, 'csv')];
    const broken = [
      caseResult('yes', { status: 'error', reason: 'the time was up' }),
      caseResult('no', { status: 'error', reason: 'it crashed' }),
      caseResult('no', { status: 'skipped' }),
    ];
    expect(collectTrials(cases, broken)).toEqual([]);
    expect(scoreOverall(collectTrials(cases, broken)).quiet).toEqual({ count: 0, of: 0, low: 0, high: 1 });
    expect(makeTriggerReport({ trials: [], controls: KEPT }).isValid).toBe(false);
  });

  test('are one per case and attempt, also for equal queries', () => {
    const cases = ['one', 'two'].map((id) => triggerCase(id, { trigger: true }, 'csv'));
    const results = [
      caseResult('one', { loaded: ['csv'] }),
      caseResult('one', { attempt: 2, status: 'failed' }),
      caseResult('two', { status: 'failed' }),
      caseResult('two', { arm: 'without', loaded: ['csv'] }),
    ];
    const trials = collectTrials(cases, results);
    expect(trials.map((trial) => [trial.case, trial.loaded])).toEqual([
      ['one', ['csv']],
      ['one', []],
      ['two', []],
    ]);
    expect(scoreOverall(trials).recall).toMatchObject({ count: 1, of: 3 });
  });
});

describe('scores', () => {
  verifies('EVAL-2', 'include precision, recall and F1 per skill, and a confusion matrix', () => {
    const trials = [
      owned('csv', ['csv']),
      owned('csv', ['csv', 'pdf']),
      owned('csv', ['pdf']),
      owned('csv', []),
      owned('pdf', ['pdf']),
      negative('csv', ['csv']),
      negative('csv', ['pdf']),
      { case: 'either', label: { all: [], any: ['csv', 'pdf'], none: [] }, loaded: ['pdf'] },
      { case: 'nobody', label: { all: [], any: [], none: [], only: [] }, loaded: ['pdf'] },
    ];
    const counted = scoreSkills(trials).map(({ skill, precision, recall, f1 }) => [
      skill,
      `${String(precision.count)}/${String(precision.of)}`,
      `${String(recall.count)}/${String(recall.of)}`,
      Number(f1.toFixed(4)),
    ]);
    expect(counted).toEqual([
      // Two hits, one false positive, two misses.
      ['csv', '2/3', '2/4', 0.5714],
      // Two hits, one of them for an any_of label, and three false positives.
      ['pdf', '2/5', '2/2', 0.5714],
    ]);
    const { precision, recall, quiet } = scoreOverall(trials);
    expect([precision, recall, quiet].map(({ count, of }) => `${String(count)}/${String(of)}`)).toEqual([
      '4/8',
      '4/6',
      '1/3',
    ]);
    expect(countConfusions(trials)).toEqual([
      { wanted: '-', took: '-', count: 1 },
      { wanted: '-', took: 'csv', count: 1 },
      { wanted: '-', took: 'pdf', count: 1 },
      { wanted: 'csv', took: '-', count: 1 },
      { wanted: 'csv', took: 'csv', count: 2 },
      { wanted: 'csv', took: 'pdf', count: 2 },
      { wanted: 'pdf', took: 'pdf', count: 2 },
    ]);
  });

  test('split into training and validation by case id, about 60 to 40', () => {
    const ids = Array.from({ length: 2_000 }, (_, place) => `case-${String(place)}`);
    const train = ids.filter(isForTraining).length;
    expect(train).toBeGreaterThan(1_120);
    expect(train).toBeLessThan(1_280);
    const split = computeSplit(ids.map((id) => owned('csv', isForTraining(id) ? ['csv'] : [], id)));
    expect([split.train.count, split.train.of, split.validation.count, split.validation.of]).toEqual([
      train,
      train,
      0,
      2_000 - train,
    ]);
  });

  test('need all controls to pass', () => {
    const trials = [owned('csv', ['csv']), owned('pdf', [])];
    const report = makeTriggerReport({ trials, controls: KEPT, sweep: [{ distractors: 10, trials: trials.slice(1) }] });
    expect(report.isValid).toBe(true);
    expect(report.scores.map(({ skill }) => skill)).toEqual(['csv', 'pdf']);
    expect(report.sweep.map(({ distractors, recall }) => [distractors, recall.count, recall.of])).toEqual([[10, 0, 1]]);
    for (const left of KEPT.keys())
      expect(makeTriggerReport({ trials, controls: KEPT.filter((_, place) => place !== left) }).isValid).toBe(false);
  });
});

describe('controls', () => {
  const fired = caseResult('a', { loaded: ['canary'] });
  const quiet = caseResult('b');
  const broken = caseResult('c', { status: 'error' });

  test('require the control skill to load always or never, without broken runs', () => {
    const kept = (name: 'always-fire' | 'never-fire', ...results: readonly (typeof fired)[]): boolean =>
      canaryControl(name, 'canary', results).isKept;
    expect([kept('always-fire', fired, fired), kept('always-fire', fired, quiet), kept('always-fire')]).toEqual([
      true,
      false,
      false,
    ]);
    expect([
      kept('never-fire', quiet, quiet),
      kept('never-fire', quiet, fired),
      kept('never-fire', quiet, broken),
    ]).toEqual([true, false, false]);
    expect(canaryControl('never-fire', 'canary', [quiet, fired, broken])).toEqual({
      name: 'never-fire',
      asked: 'canary loads for no query',
      found: 'it loaded for 1 of 3, and 1 had no verdict',
      isKept: false,
    });
  });

  test('score shuffled labels at chance for every seed', () => {
    const trials = Array.from({ length: 60 }, (_, place) => {
      const owner = `skill-${String(place % 6)}`;
      return place % 2 === 0 ? owned(owner, [owner]) : negative(owner, place % 10 === 1 ? [owner] : []);
    });
    for (let seed = 1; seed <= 20; seed += 1) expect(shuffledControl(trials, { seed }).isKept).toBe(true);
  });

  test('detect a scorer that ignores the labels', () => {
    const trials = Array.from({ length: 40 }, (_, place) =>
      place % 2 === 0 ? owned('csv', ['csv']) : negative('csv', []),
    );
    expect(shuffledControl(trials, { agree: () => true })).toEqual({
      name: 'shuffled-labels',
      asked: 'with shuffled labels the agreement falls to chance',
      found: '100.0 % agree; chance is 50.0 %',
      isKept: false,
    });
    expect(shuffledControl([]).isKept).toBe(false);
  });
});

describe('intervals count cases, not attempts', () => {
  const attempts = (count: number): readonly TriggerTrial[] =>
    Array.from({ length: count }, () => [owned('csv', ['csv'], 'yes'), negative('csv', ['csv'])]).flat();

  test('of precision, recall, F1, quiet and both parts', () => {
    const [once, often] = [scoreOverall(attempts(1)), scoreOverall(attempts(10))];
    expect(often.f1Interval).toEqual(once.f1Interval);
    for (const key of ['precision', 'recall', 'quiet'] as const) {
      const { low, high } = once[key];
      expect(often[key]).toMatchObject({ low, high });
      expect(often[key].of).toBe(once[key].of * 10);
    }
    expect(once.f1Interval?.low).toBeGreaterThan(0);
    expect(once.f1Interval?.low).toBeLessThan(once.f1);
    expect(once.f1Interval?.high).toBeGreaterThan(once.f1);
    const split = [attempts(1), attempts(10)].map((trials) => computeSplit(trials));
    expect(split[1]?.train.low).toBe(split[0]?.train.low);
    expect(split[1]?.validation.high).toBe(split[0]?.validation.high);
  });

  test('and near-identical requests once', () => {
    const cases = Array.from({ length: 10 }, (_, place) => triggerCase(`c${String(place)}`, { trigger: true }, 'csv'));
    const results = cases.map(({ id }) => caseResult(id, { loaded: ['csv'] }));
    const { low } = scoreOverall(collectTrials(cases, results)).recall;
    expect(low).toBe(scoreOverall(collectTrials(cases.slice(0, 1), results.slice(0, 1))).recall.low);
  });
});

import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { exitOf } from '../../../src/evals/report/verdict.ts';
import { evaluateTrigger, type TriggerOptions } from '../../../src/evals/trigger/run-trigger.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { firing, load, makeCase, script, thinking, verdictLine, writeSkills } from '../eval-world.ts';

const CASES = [
  makeCase('t1', { input: 'count the table', expect: { trigger: true } }),
  makeCase('t2', { input: 'another table', expect: { trigger: true } }),
  makeCase('t3', { input: 'write a poem', expect: { trigger: false } }),
  makeCase('l1', {
    input: 'a letter please',
    skills: { target: 'letters', folders: [] },
    expect: { trigger: true },
  }),
];

function setUp(model: TriggerOptions['model']): TriggerOptions {
  const root = scratch();
  return {
    cases: CASES,
    skills: writeSkills(path.join(root, 'skills'), ['tables', 'letters']),
    model,
    concurrency: 4,
    timeoutMs: 120_000,
    directory: path.join(root, 'evals'),
    signal: new AbortController().signal,
  };
}

describe('a trigger evaluation', () => {
  verifies('EVAL-3', 'replays cassettes with controls and sweep; a changed skill needs a new recording', async () => {
    const model = thinking(firing({ 'count the table': load('tables'), letter: load('letters') }));
    const options = setUp(model);
    const cassettes = path.join(path.dirname(options.directory), 'tapes');
    const { model: _model, ...silent } = options;
    const made = await evaluateTrigger({ ...options, distractors: [2], cassettes, updateCassettes: true });
    const again = path.join(path.dirname(options.directory), 'again');
    const played = await evaluateTrigger({ ...silent, directory: again, distractors: [2], cassettes });
    expect(played.trigger).toEqual(made.trigger);
    expect(played.results.map(verdictLine)).toEqual(made.results.map(verdictLine));
    expect(new Set(played.results.map((result) => result.model.way))).toEqual(new Set(['cassette']));
    const skills = [...options.skills, ...writeSkills(path.join(path.dirname(options.directory), 'more'), ['poems'])];
    const other = await evaluateTrigger({ ...silent, skills, directory: `${again}-2`, cassettes });
    expect([other.trigger?.isValid, exitOf(other)]).toEqual([false, 5]);
  });

  verifies('EVAL-2', 'installs all skills at once and reports the confusion matrix', async () => {
    const model = thinking(
      firing({ 'count the table': load('tables'), another: load('letters'), letter: load('letters') }),
    );
    const report = await evaluateTrigger({ ...setUp(model), distractors: [3] });
    const { trigger } = report;
    expect(report.results.map(verdictLine)).toEqual([
      't1 with passed tables',
      't2 with failed letters',
      't3 with passed',
      'l1 with passed letters',
    ]);
    expect(trigger?.controls.map(({ name, isKept }) => [name, isKept])).toEqual([
      ['always-fire', true],
      ['never-fire', true],
      ['shuffled-labels', true],
    ]);
    expect(
      trigger?.scores.map(({ skill, recall, precision }) => [skill, recall.count, recall.of, precision.of]),
    ).toEqual([
      ['letters', 1, 1, 2],
      ['tables', 1, 2, 1],
    ]);
    expect(trigger?.confusion).toEqual([
      { wanted: '-', took: '-', count: 1 },
      { wanted: 'letters', took: 'letters', count: 1 },
      { wanted: 'tables', took: 'letters', count: 1 },
      { wanted: 'tables', took: 'tables', count: 1 },
    ]);
    expect(trigger?.sweep.map(({ distractors, recall }) => [distractors, recall.count, recall.of])).toEqual([
      [3, 2, 3],
    ]);
    // Two of three cases of one skill passed, and a suite passes only if each of its skills does.
    expect([exitOf(report, { passRate: 0.6 }), exitOf(report, { passRate: 0.7 })]).toEqual([0, 1]);
  });

  verifies('EVAL-2', 'has no score if no skill ever loads', async () => {
    const report = await evaluateTrigger(setUp(thinking(() => ({ text: 'no' }))));
    expect([report.trigger?.isValid, report.trigger?.scores, exitOf(report)]).toEqual([false, [], 5]);
    expect(report.trigger?.controls[0]).toEqual({
      name: 'always-fire',
      asked: 'brass-lantern-check loads for every query',
      found: 'it loaded for 0 of 5',
      isKept: false,
    });
    // Nothing else ran.
    expect(report.results).toHaveLength(5);
  });

  verifies('EVAL-2', 'has no score if the never-fire control loads in a trial', async () => {
    const decide = firing({ poem: load('quartz-moth-census') });
    const report = await evaluateTrigger(setUp(thinking(decide)));
    expect([report.trigger?.isValid, exitOf(report)]).toEqual([false, 5]);
    expect(report.trigger?.controls.filter(({ isKept }) => !isKept).map(({ name, found }) => [name, found])).toEqual([
      ['never-fire', 'it loaded for 1 of 9'],
    ]);
  });

  verifies('EVAL-2', 'asks its controls again, whatever the cache has', async () => {
    let isGood = true;
    const decide = firing({ table: load('tables'), letter: load('letters') });
    const model = thinking((asked, turn) =>
      isGood || !asked.includes('brass lantern') ? decide(asked, turn) : { text: 'no skill fits' },
    );
    const options = setUp(model);
    const cache = path.join(path.dirname(options.directory), 'cache');
    const isValid = async (more: Partial<TriggerOptions>) =>
      (await evaluateTrigger({ ...options, cache, ...more })).trigger?.isValid;
    expect(await isValid({})).toBe(true);
    isGood = false;
    expect(await isValid({})).toBe(false);
    isGood = true;
    expect(await isValid({})).toBe(true);
  });

  test('excludes cases without a trigger label or with scripted answers', async () => {
    const notes: string[] = [];
    const cases = [
      ...CASES,
      makeCase('mock', { expect: { trigger: true }, ...script({ text: 'x' }) }),
      makeCase('none', { expect: { outcome: ['done'] } }),
    ];
    const model = thinking(firing({ table: load('tables'), letter: load('letters') }));
    const report = await evaluateTrigger({ ...setUp(model), cases, onNote: (note) => void notes.push(note) });
    expect(report.results.map(({ case: id }) => id)).toEqual(['t1', 't2', 't3', 'l1']);
    expect(notes).toEqual([
      'excluded: these cases have scripted answers: mock',
      'excluded: these cases do not expect a skill: none',
    ]);
  });
});

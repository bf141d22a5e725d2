import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { exitOf } from '../../src/evals.ts';
import * as library from '../../src/evals/checked.ts';
import { evaluate } from '../../src/evals/evaluate.ts';
import { jsonReport, readReport } from '../../src/evals/report/json.ts';
import { cli } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { writeSkill } from '../skills/registry/support.ts';
import { call, evaluation, load, makeCase, script, thinking, verdictLine, writeSkills } from './eval-world.ts';

/** Repeats the word of the loaded skill; knows nothing without a skill. */
const learner = thinking((_asked, turn, { messages }) => {
  if (turn === 0) return load('tables');
  const [, known = 'nothing'] = /The word is (\w+)/.exec(messages.map(({ content }) => content).join('\n')) ?? [];
  return { text: `the word is ${known}` };
});

const knows = (word: string) => makeCase(`knows-${word}`, { expect: { output: [{ type: 'contains', text: word }] } });

describe('an evaluation', () => {
  verifies('EVAL-3', 'compares with runs without the skill, and flags checks that pass in both arms', async () => {
    const options = evaluation({ baseline: 'none', model: learner, repeat: 2 });
    writeSkill(path.join(options.root, 'skills/tables'), { description: 'Tables.', body: 'The word is plinth.\n' });
    const report = await evaluate({ ...options, cases: [knows('plinth'), knows('word')] });
    expect(report.results.map(verdictLine)).toEqual([
      'knows-plinth with passed tables',
      'knows-plinth with passed tables',
      'knows-plinth without failed',
      'knows-plinth without failed',
      'knows-word with passed tables',
      'knows-word with passed tables',
      'knows-word without passed',
      'knows-word without passed',
    ]);
    const [{ of, against, pairs, better, worse, sayNothing } = expect.fail('no comparison')] = report.comparisons;
    expect({ of, against, pairs, better, worse, sayNothing }).toEqual({
      of: 'with',
      against: 'without',
      pairs: 4,
      better: 1,
      worse: 0,
      sayNothing: [{ case: 'knows-word', check: 'output[0]' }],
    });
    expect([
      report.arms.map(({ arm, totals }) => [arm, totals.passed, totals.failed]),
      report.models,
      report.isPartial,
    ]).toEqual([
      [
        ['with', 4, 0],
        ['without', 2, 2],
      ],
      [{ id: 'thinking', way: 'live' }],
      false,
    ]);
  });

  test('records each arm and attempt separately and replays them', async () => {
    const options = evaluation({ baseline: 'none', repeat: 2 });
    writeSkill(path.join(options.root, 'skills/tables'), { description: 'Tables.', body: 'The word is plinth.\n' });
    const file = path.join(options.root, 'a.jsonl');
    const cases = [{ ...knows('plinth'), answers: { type: 'cassette', file } as const }];
    const recorded = await evaluate({ ...options, cases, model: learner, updateCassettes: true });
    const played = await evaluate({ ...options, cases, directory: path.join(options.root, 'again') });
    expect(played.results.map(verdictLine)).toEqual(recorded.results.map(verdictLine));
    expect(played.results.map(({ arm, status }) => `${arm} ${status}`)).toEqual([
      'with passed',
      'with passed',
      'without failed',
      'without failed',
    ]);
    expect(played.models).toEqual([{ id: 'thinking', way: 'cassette' }]);
    const names = readdirSync(options.root).filter((name) => name.endsWith('.jsonl'));
    expect(names.toSorted()).toEqual(['a.2.jsonl', 'a.jsonl', 'a.without.2.jsonl', 'a.without.jsonl']);
  });

  test('maps recorded paths to this run, also while streaming', async () => {
    const options = evaluation();
    const paths = thinking((_asked, turn, { messages }) => {
      if (turn === 0) return load('tables');
      const [place = ''] = /\/evaluation\/skills\/tables/.exec(messages.map(({ content }) => content).join('\n')) ?? [];
      return { text: `it lies in ${place}` };
    });
    const file = path.join(options.root, 'a.jsonl');
    const cases = [makeCase('a', { expect: { streaming: true }, answers: { type: 'cassette', file } })];
    const [recorded] = (await evaluate({ ...options, cases, model: paths, updateCassettes: true })).results;
    const directory = path.join(options.root, 'again');
    const [played] = (await evaluate({ ...options, cases, directory })).results;
    expect(played?.answer).toMatch(/^it lies in \/.+\/sets\/\w+\/tables$/);
    expect(played?.answer).not.toBe(recorded?.answer);
    expect(played?.status).toBe('passed');
  });

  test('compares with a git revision without a checkout', async () => {
    const notes: string[] = [];
    const options = evaluation({ baseline: 'old', model: learner, onNote: (note) => void notes.push(note) });
    const skill = path.join(options.root, 'skills/tables');
    const git = (...words: readonly string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words], { cwd: options.root });
    writeSkill(skill, { description: 'Tables.', body: 'The word is old.\n' });
    git('init', '--quiet');
    git('add', 'skills');
    git('commit', '--quiet', '-m', 'first');
    writeSkill(skill, { description: 'Tables.', body: 'The word is new.\n' });
    const report = await evaluate({ ...options, cases: [knows('new')] });
    expect(report.results.map(({ arm, status, answer }) => `${arm} ${status}: ${answer}`)).toEqual([
      'with passed: the word is new',
      'old failed: the word is old',
    ]);
    expect([report.comparisons[0]?.differing, report.skills.map(({ name }) => name)]).toEqual([
      ['skill tables'],
      ['letters', 'tables', 'tables'],
    ]);
    expect(notes).toEqual([
      'program execution is disabled',
      expect.stringMatching(/^comparing tables with HEAD \([0-9a-f]{12}\)$/),
    ]);
    await expect(evaluate({ ...options, baseline: 'no-such-branch', cases: [knows('new')] })).rejects.toThrow(
      'no baseline version of "tables": git has no revision "no-such-branch"',
    );
    // A resumed evaluation of the same version.
    writeSkill(skill, { description: 'Tables.', body: 'The word is old.\n' });
    const same = await evaluate({ ...options, cases: [knows('old')], resume: true });
    expect(same.uncompared[0]?.reason).toBe('identical, nothing to compare: the skills of both arms are the same');
  });

  test('compares with the previous installed version', async () => {
    const notes: string[] = [];
    const options = evaluation({ baseline: 'old', model: learner, onNote: (note) => void notes.push(note) });
    const skills = [path.join(options.root, 'installed/tables')];
    for (const word of ['old', 'new']) {
      writeSkill(path.join(options.root, 'source/tables'), { description: 'Tables.', body: `The word is ${word}.\n` });
      const words = ['install', './source/tables', '--to', 'installed', '--yes', '--force'];
      expect((await cli(options.root, words, { env: { HOME: path.join(options.root, 'home') } })).status).toBe(0);
    }
    const report = await evaluate({ ...options, skills, cases: [knows('new')] });
    expect(report.results.map(({ arm, answer }) => `${arm}: ${answer}`)).toEqual([
      'with: the word is new',
      'old: the word is old',
    ]);
    expect(notes.at(-1)).toMatch(/^comparing tables with the version from \d{4}-/);
  });

  test('skips cases that need programs if execution is disabled', async () => {
    const run = script(call('run_script', { skill: 'tables', script: 'a.sh', args: [] }), { text: 'ran' });
    const report = await evaluate({
      ...evaluation(),
      cases: [makeCase('runs', run), makeCase('talks', script({ text: 'hello' }))],
    });
    expect(report.results.map(verdictLine)).toEqual([
      'runs with skipped program execution is disabled',
      'talks with passed',
    ]);
    expect(report.models).toEqual([{ id: 'scripted', way: 'scripted' }]);
  });

  test('a case gets the skills that it names by folder or one by one', async () => {
    const options = evaluation();
    const others = writeSkills(path.join(options.root, 'others'), ['maps', 'tables']);
    writeFileSync(path.join(options.root, 'others/README.md'), 'no skill');
    const turns = script(call('load_skill', { skill: 'maps' }), { text: 'done' });
    const expected = { expect: { skills: { allOf: ['maps'] } } };
    const report = await evaluate({
      ...options,
      cases: [
        makeCase('group', { ...turns, ...expected, skills: { folders: [path.join(options.root, 'others')] } }),
        makeCase('single', { ...turns, ...expected, skills: { folders: others.slice(0, 1) } }),
        makeCase('suite', { ...turns, ...expected }),
      ],
    });
    expect(report.results.map(({ case: id, status }) => `${id} ${status}`)).toEqual([
      'group passed',
      'single passed',
      'suite failed',
    ]);
  });
});

describe('the library', () => {
  const answers = thinking((asked) => ({ text: `It is ${asked.includes('apples') ? 'plinth' : 'a joke'}.` }));

  test('runs nothing and gives no verdict if the suite or its files have errors', async () => {
    const weak = makeCase('weak', { input: 'say something' });
    const sound = makeCase('sound', { input: 'Describe apples', expect: knows('plinth').expect });
    const problem = {
      ...sound.place,
      code: 'input/invalid',
      severity: 'error',
      message: 'not read',
      hint: '',
    } as const;
    const basis = { ...evaluation({ model: answers }), cases: [sound] };
    for (const [options, reason] of [
      [{ ...basis, cases: [sound, weak] }, 'passes'],
      [{ ...basis, problems: [problem] }, 'not read'],
    ] as const) {
      const report = await library.evaluate(options);
      expect([report.results, exitOf(report), report.verdict?.validity]).toEqual([[], 5, 'invalid']);
      expect(report.verdict?.reasons.join()).toContain(`cases.yaml:1: `);
      expect(report.verdict?.reasons.join()).toContain(reason);
      expect(readReport(jsonReport(report))).toEqual({ type: 'report', report });
    }
    const report = await library.evaluate(basis);
    expect([report.verdict?.validity, exitOf(report)]).toEqual(['valid', 0]);
  });

  test('does so for trigger cases without negatives, too', async () => {
    const cases = [makeCase('fires', { input: 'Sort this list', expect: { trigger: true } })];
    const report = await library.evaluateTrigger({ ...evaluation({ model: answers }), cases });
    expect([report.results, exitOf(report)]).toEqual([[], 5]);
    expect(report.verdict?.reasons.join()).toContain('no request must leave');
  });
});

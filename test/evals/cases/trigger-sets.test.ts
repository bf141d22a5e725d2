import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { verifies } from '../../conformance/verifies.ts';
import { caseLike, folderOf, inSkill, readIn, skillMd } from './support.ts';

/** One positive and one negative query. */
const asked = (more: object = {}) => [
  caseLike({ id: 'target-trigger-1', name: 'yes', input: 'yes', expect: { trigger: true }, ...more }),
  caseLike({ id: 'target-trigger-2', name: 'no', input: 'no', expect: { trigger: false }, ...more }),
];

describe('trigger sets', () => {
  verifies('EVAL-1', 'queries with should_trigger are read', () => {
    const { file, dir } = inSkill([
      { query: 'yes', should_trigger: true },
      { query: 'no', should_trigger: false },
    ]);
    expect(readCases([file])).toEqual({
      cases: [
        { ...asked()[0], place: { file, line: 2, column: 3 }, skills: { target: 'target', folders: [dir] } },
        { ...asked()[1], place: { file, line: 6, column: 3 }, skills: { target: 'target', folders: [dir] } },
      ],
      problems: [],
      drafts: [],
      passedOver: [],
      thresholds: {},
      suites: [{ file, shape: 'trigger-set', entries: 2 }],
      files: [file],
    });
  });

  test.each([
    ['lists of positive and negative queries', { shouldTrigger: ['yes'], shouldNotTrigger: ['no'] }, 'a.json'],
    [
      'positive and negative',
      {
        skill: 'target',
        positive: [{ input: 'yes', expected: 'ACTIVATE' }],
        negative: [{ input: 'no', expected: 'NO_ACTIVATE' }],
      },
      'a.json',
    ],
    [
      'test cases with a polarity',
      {
        test_cases: [
          { polarity: 'positive', utterance: 'yes' },
          { polarity: 'negative', utterance: 'no' },
        ],
      },
      'a.json',
    ],
    [
      'other values for true and false',
      [
        { prompt: 'yes', should_trigger: 'Yes' },
        { prompt: 'no', should_trigger: 0 },
      ],
      'a.json',
    ],
    [
      'the waza format',
      'should_trigger_prompts:\n  - prompt: yes\n    reason: r\nshould_not_trigger_prompts:\n  - no\n',
      'trigger_tests.yaml',
    ],
    ['CSV', '\uFEFFprompt,should_trigger\r\n"yes",true\r\nno,FALSE\r\n', 'a.csv'],
    ['CSV with other column names and semicolons', 'Query;Should Trigger;Notes\nyes;1;"a ""b"""\nno;0;\n', 'a.csv'],
    ['CSV with a skill column', 'expected_skill,shouldTrigger,query\ntarget,true,yes\ntarget,false,no\n', 'a.csv'],
    [
      'expected_skill',
      [
        { prompt: 'yes', expected_skill: 'target' },
        { prompt: 'no', expected_skill: null, should_trigger: false },
      ],
      'a.json',
    ],
  ])('%s', (_, content, name) => {
    const { cases, problems } = readIn(content, name);
    expect(problems).toEqual([]);
    expect(cases).toEqual(asked());
  });

  test('ids, confidence, groups and modes are kept', () => {
    const { cases, problems } = readIn({
      positive: [{ id: 'P-1', input: 'yes', mode: 'INTAKE', expected: 'ACTIVATE', confidence: 'high' }],
      negative: [{ id: 'N-1', input: 'no', group: 'far', expected_mode: null }],
    });
    expect(problems).toEqual([]);
    expect(cases).toEqual([
      { ...asked()[0], id: 'P-1', tags: ['INTAKE', 'confidence-high'] },
      { ...asked()[1], id: 'N-1', tags: ['far'] },
    ]);
  });

  test('a trigger with a behavior is a positive query with a rubric line', () => {
    const { cases } = readIn([{ trigger: 'yes', expected_behavior: 'Counts.' }]);
    expect(cases).toEqual([
      { ...asked()[0], expect: { trigger: true, rubric: [{ id: 'expected_behavior', text: 'Counts.' }] } },
    ]);
  });

  test('an empty expected_skill allows only acceptable skills', () => {
    const { cases } = readIn([
      { prompt: 'no', expected_skill: null },
      { prompt: 'no', expected_skill: 'none', acceptable_skills: ['target'] },
    ]);
    expect(cases.map((read) => read.expect)).toEqual([
      { skills: { only: [] }, trigger: false },
      { skills: { only: ['target'] } },
    ]);
  });

  test('without a SKILL.md the folder name is the target', () => {
    const set = [{ query: 'yes', should_trigger: true }];
    const root = folderOf({ 'SKILL.md': skillMd('far'), 'named/tests/set.json': set, 'loose/triggers.json': set });
    const { cases, problems } = readCases([root]);
    expect(cases.map(({ id, skills }) => [id, skills])).toEqual([
      ['named-trigger-1', { target: 'named', folders: [] }],
    ]);
    expect(problems).toEqual([
      {
        code: 'input/invalid',
        file: path.join(root, 'loose/triggers.json'),
        line: 2,
        column: 3,
        message: 'the case names no target skill',
        hint: 'add skill_name, or move the file into the evals folder of the skill',
        severity: 'error',
      },
    ]);
  });

  test('queries beside cases, nested, and under any key are read', () => {
    const { cases, problems } = readIn({
      skill_name: 'target',
      evals: [{ id: 'e', prompt: 'yes', assertions: ['Nice'] }],
      trigger_evals: [{ query: 'yes', should_trigger: true }],
      triggers: { positive: ['yes'], negative: ['no'] },
    });
    expect(problems).toEqual([]);
    expect(cases.map(({ id, expect: wanted }) => [id, wanted])).toEqual([
      ['e', { rubric: [{ id: 'assertions-1', text: 'Nice' }] }],
      ['target-trigger-2', { trigger: true }],
      ['target-trigger-3', { trigger: true }],
      ['target-trigger-4', { trigger: false }],
    ]);
  });

  test('equal queries are separate cases', () => {
    const { cases } = readIn({ shouldTrigger: ['yes', 'yes'], shouldNotTrigger: [] });
    expect(cases.map(({ id, input }) => [id, input])).toEqual([
      ['target-trigger-1', 'yes'],
      ['target-trigger-2', 'yes'],
    ]);
  });
});

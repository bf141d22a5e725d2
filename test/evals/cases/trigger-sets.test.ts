import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { verifies } from '../../conformance/verifies.ts';
import { caseLike, folderOf, inSkill, readIn, skillMd } from './support.ts';

/** Two queries, the first of which should load the skill. */
const asked = (more: object = {}) => [
  caseLike({ id: 'target-trigger-1', name: 'yes', input: 'yes', expect: { trigger: true }, ...more }),
  caseLike({ id: 'target-trigger-2', name: 'no', input: 'no', expect: { trigger: false }, ...more }),
];

describe('trigger sets', () => {
  verifies('EVAL-1', 'queries with should_trigger, also where a file has nothing but them', () => {
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
      passedOver: [],
      suites: [{ file, shape: 'trigger-set', entries: 2 }],
      files: [file],
    });
  });

  test.each([
    ['lists by what they should do', { shouldTrigger: ['yes'], shouldNotTrigger: ['no'] }, 'a.json'],
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
      'words for true and false',
      [
        { prompt: 'yes', should_trigger: 'Yes' },
        { prompt: 'no', should_trigger: 0 },
      ],
      'a.json',
    ],
    [
      'the file of waza',
      'should_trigger_prompts:\n  - prompt: yes\n    reason: r\nshould_not_trigger_prompts:\n  - no\n',
      'trigger_tests.yaml',
    ],
    ['CSV', '\uFEFFprompt,should_trigger\r\n"yes",true\r\nno,FALSE\r\n', 'a.csv'],
    ['CSV with other names and semicolons', 'Query;Should Trigger;Notes\nyes;1;"a ""b"""\nno;0;\n', 'a.csv'],
    [
      'CSV with the skill in question',
      'expected_skill,shouldTrigger,query\ntarget,true,yes\ntarget,false,no\n',
      'a.csv',
    ],
    [
      'the skill that is expected, or none',
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

  test('what more is said goes with the query: confidence, ids, groups, modes', () => {
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

  test('a trigger with a behaviour is a query that loads the skill, and a sentence for a judge', () => {
    const { cases } = readIn([{ trigger: 'yes', expected_behavior: 'Counts.' }]);
    expect(cases).toEqual([
      { ...asked()[0], expect: { trigger: true, rubric: [{ id: 'expected_behavior', text: 'Counts.' }] } },
    ]);
  });

  test('no expected skill means that none is loaded, but those that are acceptable', () => {
    const { cases } = readIn([
      { prompt: 'no', expected_skill: null },
      { prompt: 'no', expected_skill: 'none', acceptable_skills: ['target'] },
    ]);
    expect(cases.map((read) => read.expect)).toEqual([
      { skills: { only: [] }, trigger: false },
      { skills: { only: ['target'] } },
    ]);
  });

  test('without a SKILL.md the folder above says what it is about; nobody knows it elsewhere', () => {
    const set = [{ query: 'yes', should_trigger: true }];
    const root = folderOf({ 'SKILL.md': skillMd('far'), 'named/tests/set.json': set, 'loose/triggers.json': set });
    const { cases, problems } = readCases([root]);
    expect(cases.map(({ id, skills }) => [id, skills])).toEqual([
      ['named-trigger-1', { target: 'named', folders: [] }],
    ]);
    expect(problems).toEqual([
      {
        file: path.join(root, 'loose/triggers.json'),
        line: 2,
        column: 3,
        message: 'nobody knows which skill should be loaded, or not',
        hint: 'put the file into the evals folder of the skill, or write skill_name',
        severity: 'error',
      },
    ]);
  });

  test('queries beside other cases, one level down, and under any key are not lost', () => {
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

  test('equal queries stay two cases', () => {
    const { cases } = readIn({ shouldTrigger: ['yes', 'yes'], shouldNotTrigger: [] });
    expect(cases.map(({ id, input }) => [id, input])).toEqual([
      ['target-trigger-1', 'yes'],
      ['target-trigger-2', 'yes'],
    ]);
  });
});

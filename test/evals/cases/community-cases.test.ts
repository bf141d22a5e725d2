import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { verifies } from '../../conformance/verifies.ts';
import { PROJECT } from '../../files-below.ts';
import { caseLike, folderOf, inSkill, readIn } from './support.ts';

const rubric = (...lines: readonly (readonly [string, string])[]) => ({
  rubric: lines.map(([id, text]) => ({ id, text })),
});

describe('evals.json of the community', () => {
  verifies('EVAL-1', 'the skill-creator format with strings is read', () => {
    const { file, dir } = inSkill(
      {
        skill_name: 'target',
        evals: [
          {
            id: 1,
            prompt: 'Do it',
            expected_output: 'It is done.',
            files: ['evals/files/a.csv', 'files/a.csv'],
            expectations: ['Says so', 'contains:"done"', 'regex: /[0-9]+/'],
          },
        ],
      },
      'evals.json',
      { 'target/evals/files/a.csv': '' },
    );
    expect(readCases([file])).toEqual({
      cases: [
        caseLike({
          place: { file, line: 4, column: 5 },
          files: [path.join(dir, 'evals/files/a.csv'), path.join(dir, 'evals/files/a.csv')],
          skills: { target: 'target', folders: [dir] },
          expect: {
            output: [
              { type: 'contains', text: 'done' },
              { type: 'matches', pattern: '[0-9]+' },
            ],
            ...rubric(['expected_output', 'It is done.'], ['expectations-1', 'Says so']),
          },
        }),
      ],
      problems: [],
      drafts: [],
      passedOver: [],
      thresholds: {},
      suites: [{ file, shape: 'evals', entries: 1 }],
      files: [file],
    });
  });

  test.each([
    [
      'a list with assertion ids and a trap',
      [
        {
          id: 1,
          name: 'n',
          prompt: 'Do it',
          trap: 'Does that.',
          assertions: [{ id: '1.1', text: 'Says so', trap: 'x' }],
        },
      ],
      caseLike({
        name: 'n',
        expect: rubric(['1.1', 'Says so\ntrap: x'], ['trap', 'Does not fall into this trap: Does that.']),
      }),
    ],
    [
      'keys that ask for something and that no reader knows',
      {
        evals: [
          { id: 1, prompt: 'Do it', assertions: ['contains: "x"'], forbidden: ['a lie', 'a guess'], verify: 'Sum.' },
        ],
      },
      caseLike({
        expect: {
          output: [{ type: 'contains', text: 'x' }],
          ...rubric(['forbidden', 'Does none of what is forbidden: a lie a guess'], ['verify', 'verify: Sum.']),
        },
      }),
    ],
    [
      'task, and assertions for a judge',
      { evals: [{ id: 1, task: 'Do it', assertions: [{ text: 'Is nice', type: 'semantic' }] }] },
      caseLike({ expect: rubric(['assertions-1', 'Is nice']) }),
    ],
    [
      'names and descriptions',
      { evals: [{ id: 1, prompt: 'Do it', assertions: [{ name: 'nice', description: 'Is nice' }] }] },
      caseLike({ expect: rubric(['nice', 'Is nice']) }),
    ],
    [
      'checks by code',
      {
        evals: [
          {
            id: 1,
            prompt: 'Do it',
            assertions: [
              { name: 'a', check: 'output_contains', expected: 'URL:' },
              { type: 'not_contains', value: 'sorry' },
              { type: 'regex', value: '/^a+$/' },
              { contains: 'x' },
            ],
          },
        ],
      },
      caseLike({
        expect: {
          output: [
            { type: 'contains', text: 'URL:' },
            { type: 'contains', text: 'sorry', not: true },
            { type: 'matches', pattern: '^a+$' },
            { type: 'contains', text: 'x' },
          ],
        },
      }),
    ],
    [
      'no id, and a sentence instead of a list',
      [{ prompt: 'Do it', expected_behavior: 'Does it' }],
      caseLike({ id: 'target-eval-1', expect: rubric(['expected_behavior', 'Does it']) }),
    ],
    [
      'text, a category, and other expectation keys',
      [
        {
          id: 'safe',
          category: 'safe',
          description: 'd',
          text: 'Do it',
          expected_min_severity: 'LOW',
          pattern_expected: 'SAFE',
        },
      ],
      caseLike({
        id: 'safe',
        tags: ['safe'],
        expect: rubric(
          ['expected_min_severity', 'expected min severity: LOW'],
          ['pattern_expected', 'pattern expected: SAFE'],
        ),
      }),
    ],
    [
      'script checks as prose',
      {
        evals: [
          {
            id: 'a b/c',
            prompt: 'Do it',
            expected_outputs: ['One', 'Two'],
            script_checks: [
              {
                description: 'Runs',
                cmd: ['scripts/a.py', '--json'],
                expect_exit: 0,
                assert: [{ path: 'x', op: 'eq', value: 1 }],
              },
            ],
          },
        ],
      },
      caseLike({
        id: 'a-b-c',
        tags: ['script-checks'],
        expect: rubric(
          ['expected_outputs-1', 'One'],
          ['expected_outputs-2', 'Two'],
          [
            'script_checks-1',
            'Runs\ncmd: scripts/a.py --json\nexpect_exit: 0\nassert: [{"op":"eq","path":"x","value":1}]',
          ],
        ),
      }),
    ],
    [
      'a question with an expected answer, and the name of the evaluation',
      [{ id: 1, eval_name: 'sum', question: 'Do it', expected: '1' }],
      caseLike({ name: 'sum', expect: rubric(['expected', '1']) }),
    ],
    [
      'expected and acceptable skills',
      { evals: [{ id: 1, prompt: 'Do it', expected_skill: 'target', acceptable_skills: ['other'] }] },
      caseLike({ expect: { skills: { anyOf: ['target', 'other'] } } }),
    ],
    [
      'a single case',
      { id: 1, prompt: 'Do it', criteria: ['Nice'], expected_output: '' },
      caseLike({ expect: rubric(['criteria-1', 'Nice']) }),
    ],
  ])('%s', (_, content, read) => {
    const { cases, problems } = readIn(content, 'evals.json', { knownSkills: ['other'] });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(cases).toEqual([read]);
  });

  test('scenarios: the context precedes the task, and a criterion keeps its rubric', () => {
    const { cases, problems } = readIn({
      capability: 'target',
      scenarios: [
        {
          id: 'S-1',
          name: 'First',
          difficulty: 'easy',
          category: 'money',
          context: { situation: 'You sell cars.', available_data: { cars: 2 } },
          task: 'Sell one.',
          evaluation_criteria: [{ criterion: 'price', weight: 0.3, rubric: { pass: 'Names it.', fail: 'Does not.' } }],
        },
      ],
    });
    expect(problems).toEqual([]);
    expect(cases).toEqual([
      caseLike({
        id: 'S-1',
        name: 'First',
        input: 'You sell cars.\n\n{\n  "available_data": {\n    "cars": 2\n  }\n}\n\nSell one.',
        tags: ['money', 'easy'],
        expect: rubric(['price', 'price\nrubric: pass: Names it.; fail: Does not.']),
      }),
    ]);
  });

  test('numeric ids get a prefix, and duplicate text ids are made unique with a warning', () => {
    const evals = (id: unknown) => ({ evals: [{ id, prompt: 'Do it', assertions: ['Nice'] }] });
    const root = folderOf({
      'a/evals/evals.json': evals(1),
      'b/evals/evals.json': evals(1),
      'c/evals/evals.json': evals('x'),
      'd/evals/evals.json': evals('X'),
    });
    const { cases, problems } = readCases([root]);
    expect(cases.map(({ id, skills }) => [id, skills])).toEqual([
      ['a-1', { target: 'a', folders: [] }],
      ['b-1', { target: 'b', folders: [] }],
      ['x', { target: 'c', folders: [] }],
      ['X-2', { target: 'd', folders: [] }],
    ]);
    expect(problems).toEqual([
      {
        code: 'input/invalid',
        file: path.join(root, 'd/evals/evals.json'),
        line: 4,
        column: 7,
        message: `duplicate id "X": already used at ${path.join(root, 'c/evals/evals.json')}:4`,
        hint: 'using X-2 here',
        severity: 'warning',
      },
    ]);
  });

  test('a wrong skill name is a warning, and the containing skill is used', () => {
    const { file } = inSkill({ skill_name: 'traget', evals: [{ id: 1, prompt: 'Do it', assertions: ['Nice'] }] });
    expect(readCases([file])).toMatchObject({
      cases: [{ id: 'target-1', skills: { target: 'target' } }],
      problems: [
        {
          file,
          line: 2,
          column: 3,
          message: 'the file names the skill "traget", but the skill here is "target"',
          hint: 'write target, which is used meanwhile',
          severity: 'warning',
        },
      ],
    });
  });

  test('an unsupported regular expression becomes a rubric line with a warning', () => {
    const { cases, problems } = readIn([{ id: 1, prompt: 'Do it', assertions: ['regex: /(a)\\1/'] }]);
    expect(cases).toEqual([caseLike({ expect: rubric(['assertions-1', 'regex: /(a)\\1/']) })]);
    expect(problems).toMatchObject([
      { severity: 'warning', line: 6, message: expect.stringContaining('backreferences') },
    ]);
  });

  verifies('EVAL-1', 'the cases of the built-in skills are read without problems', () => {
    const skills = ['csv-report', 'skill-author', 'text-diff'];
    const { cases, problems, passedOver } = readCases(skills.map((skill) => path.join(PROJECT, 'skills', skill)));
    expect({ problems, passedOver }).toEqual({ problems: [], passedOver: [] });
    const written = skills.flatMap((skill) => {
      const json = (name: string): unknown =>
        JSON.parse(readFileSync(path.join(PROJECT, 'skills', skill, 'evals', name), 'utf8'));
      return [
        ...(json('evals.json') as { evals: readonly unknown[] }).evals,
        ...(json('trigger-eval.json') as readonly unknown[]),
      ];
    });
    expect(cases.filter(({ place }) => place.file.endsWith('.json'))).toHaveLength(written.length);
  });
});

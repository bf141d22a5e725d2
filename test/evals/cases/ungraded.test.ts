/** What other tools grade and nothing here does is named, and its case does not pass by the rest. */
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { inSkill, readIn, shown } from './support.ts';

describe('promptfoo', () => {
  test.each([
    ['a program', { type: 'javascript', value: 'output.length > 3' }, 'programs of other tools do not run'],
    ['a program that changes the answer', { type: 'contains', value: 'a', transform: 'x' }, 'transform is a program'],
    ['another file', { type: 'contains', value: 'file://expected.txt' }, 'its value is in another file'],
    ['no equivalent', { type: 'levenshtein', value: 'a', threshold: 5 }, 'it has no equivalent'],
    ['no value', { type: 'not-contains' }, 'its value cannot be read'],
    ['an empty text', { type: 'icontains', value: ' ' }, 'its value cannot be read'],
    ['a list that is no text in part', { type: 'contains-all', value: ['a', {}] }, 'its value cannot be read'],
    ['an object', { type: 'equals', value: { a: 1 } }, 'its value cannot be read'],
    ['a schema as text', { type: 'is-json', value: '{"type": "object"}' }, 'its value cannot be read'],
    ['a question that is denied', { type: 'not-llm-rubric', value: 'It is good' }, 'its value cannot be read'],
    [
      'a variable that is not set',
      { type: 'not-contains', value: '{{secret}}' },
      'its value uses a variable that is not set, or a template',
    ],
    ['a count of calls', { type: 'trajectory:tool-used', value: { name: 'Bash', max: 2 } }, 'its value cannot be read'],
  ])('an assertion that is not read is named with its reason: %s', (_what, assertion, reason) => {
    const tests = [{ vars: { prompt: 'Sort' }, assert: [{ type: 'contains', value: 'sorted' }, assertion] }];
    const read = shown(readIn(tests, 'promptfoo-tests.json'));
    const message = `the assertion "${assertion.type}" is not read: ${reason}`;
    expect([read.cases[0]?.expect, read.problems]).toEqual([
      { output: [{ type: 'contains', text: 'sorted' }], ungraded: [message] },
      [expect.stringMatching(/^promptfoo-tests\.json:\d+ warning: /)],
    ]);
    expect(read.problems[0]).toContain(message);
  });

  test('what changes an answer before it is graded is named, and too many tests are an error', () => {
    const { file } = inSkill(
      {
        prompts: ['{{a}}'],
        defaultTest: { options: { transform: 'output.slice(1)' } },
        tests: [
          { vars: { a: 'b' }, assert: [{ type: 'contains', value: 'x' }] },
          { vars: { a: Array.from({ length: 101 }, String) }, assert: [{ type: 'contains', value: 'x' }] },
        ],
      },
      'promptfooconfig.json',
    );
    const read = shown(readCases([file]));
    expect([
      read.cases.map((one) => one.expect.ungraded),
      read.problems.map((text) => text.replace(/:\d+/, '')),
    ]).toEqual([
      [['options.transform is not read: it is a program']],
      [
        'promptfooconfig.json warning: options.transform is not read: it is a program',
        'promptfooconfig.json error: the lists in vars make more than 100 tests',
      ],
    ]);
  });
});

test('what a waza suite grades and nothing here does is named, and no grader is dropped', () => {
  const task = {
    id: 'one',
    inputs: { prompt: 'Do it' },
    expected: { output_contains: ['ok'], output_length: 5 },
    graders: [
      { type: 'text', name: 'any', config: { contains_any: ['a'] } },
      { type: 'file', name: 'none', config: {} },
    ],
  };
  expect(shown(readIn({ tasks: [task] }, 'eval.json')).cases.map((one) => one.expect.ungraded)).toEqual([
    [
      'output_length is not read',
      'contains_any of a text grader is not read',
      'the grader "none" of type "file" has nothing that is read',
    ],
  ]);
});

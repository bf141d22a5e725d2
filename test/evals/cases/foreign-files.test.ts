import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { inSkill, lines, shown } from './support.ts';

test('Inspect samples are read: a short target is checked by code, everything else by a judge', () => {
  const samples = [
    { id: 's1', input: 'What is 2 + 2?', target: '4' },
    {
      input: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Name a colour.' },
      ],
      target: ['red', 'blue'],
    },
    { input: 'Which one?', choices: ['first', 'second'], target: 'B' },
    { input: 'Explain.', target: `A long answer ${'that goes on '.repeat(20)}`, metadata: { level: 1 } },
  ];
  const { file } = inSkill(samples.map((sample) => JSON.stringify(sample)).join('\n'), 'samples.jsonl');
  const { cases, problems } = shown(readCases([file]));
  expect(problems).toEqual([]);
  expect(cases).toEqual([
    {
      id: 's1',
      input: 'What is 2 + 2?',
      expect: { output: [{ type: 'matches', pattern: '(?i)(?:^|[^\\p{L}\\p{N}])(?:4)(?:$|[^\\p{L}\\p{N}])' }] },
    },
    {
      id: 'target-samples-2',
      input: 'Be short.\n\nName a colour.',
      expect: { output: [{ type: 'matches', pattern: '(?i)(?:^|[^\\p{L}\\p{N}])(?:red|blue)(?:$|[^\\p{L}\\p{N}])' }] },
    },
    {
      id: 'target-samples-3',
      input: 'Which one?\n\nA) first\nB) second',
      expect: { rubric: lines('The answer chooses B) second') },
    },
    {
      id: 'target-samples-4',
      input: 'Explain.',
      expect: { rubric: lines(`The answer agrees with: A long answer ${'that goes on '.repeat(20)}`.trim()) },
    },
  ]);
});

describe('*.eval.md', () => {
  test.each([
    [
      'tags',
      '# File Copy\n\n<prompt>\nCopy a.txt to b.txt.\n</prompt>\n\n<expectation>\nBoth files exist.\n</expectation>\n',
      ['Both files exist.'],
    ],
    [
      'sections',
      '---\nschema_version: 1\n---\n# File Copy\n\n## Input\n\nCopy a.txt to b.txt.\n\n## Success criteria\n\n- Both files exist.\n- Nothing else\n  changes.\n',
      ['Both files exist.', 'Nothing else changes.'],
    ],
  ])('a case written with %s is read', (_, text, rubric) => {
    const { dir } = inSkill(text, 'file-copy.eval.md');
    expect(shown(readCases([dir]))).toEqual({
      cases: [{ id: 'file-copy', input: 'Copy a.txt to b.txt.', expect: { rubric: lines(...rubric) } }],
      problems: [],
      passedOver: [],
    });
  });

  test('sections that are not read are named', () => {
    const text = '## Input\n\nDo it.\n\n## World\n\nThe server is down.\n\n## Success criteria\n\nSays so.\n';
    const { file } = inSkill(text, 'down.eval.md');
    expect(shown(readCases([file])).problems).toEqual(['down.eval.md:5 warning: the section "World" is not read']);
  });

  test('a file without a prompt or an expectation is an error', () => {
    const { file } = inSkill('# Notes\n\nJust text.\n', 'notes.eval.md');
    expect(shown(readCases([file])).problems).toEqual([
      'notes.eval.md:1 error: not a case file: no section Input or <prompt>',
    ]);
  });
});

describe('YAML anchors', () => {
  test('aliases and merge keys are expanded, and problems point at the place of the value', () => {
    const { file } = inSkill(
      `defaults:
  expect: &usual { output: { contains: yes-or-no } }
cases:
  - { id: a, input: A, expect: *usual }
  - { id: b, input: B, expect: { <<: *usual, outcome: done } }
`,
      'cases.yaml',
    );
    expect(shown(readCases([file]))).toEqual({
      cases: [
        { id: 'a', input: 'A', expect: { output: [{ type: 'contains', text: 'yes-or-no' }] } },
        { id: 'b', input: 'B', expect: { output: [{ type: 'contains', text: 'yes-or-no' }], outcome: ['done'] } },
      ],
      problems: [],
      passedOver: [],
    });
  });

  test.each([
    [
      'a bomb',
      `a: &a [x, x]\n${'bcdefghi'
        .split('')
        .map(
          (key, place) =>
            `${key}: &${key} [${Array(9)
              .fill(`*${'abcdefgh'[place] ?? ''}`)
              .join(', ')}]`,
        )
        .join('\n')}\ncases: []\n`,
    ],
    ['a circle', 'cases: &c\n  - { input: A, expect: *c }\n'],
  ])('%s is refused', (_, text) => {
    const { file } = inSkill(text, 'cases.yaml');
    expect(shown(readCases([file])).problems).toHaveLength(1);
  });
});

test('an inline flag at the start of an expression is read', () => {
  const { file } = inSkill('input: A\nexpect: { output: { regex: "(?i)paris" } }\n', 'case.yaml');
  expect(shown(readCases([file])).problems).toEqual([]);
});

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { verifies } from '../../conformance/verifies.ts';
import { PROJECT } from '../../files-below.ts';
import { caseLike, folderOf, inOrder, inSkill, readIn, skillMd } from './support.ts';

const WHOLE = `
cases:
  - id: whole
    name: All of it
    description: For people
    input: Summarise orders.csv
    files: [files/orders.csv, evals/files/orders.csv]
    skills:
      target: target
      distractors: [../../other]
    expect:
      skills_all_of: [target]
      skills_any_of: [target, other]
      skills_none_of: [other]
      skills_only: [target]
      trigger: true
      sequence:
        - must_occur load_skill before run_script
        - 'must_occur read_resource {"path": "/\\\\.md$/"}'
        - forbid write_file
      actions:
        ordered: [load_skill, { tool: run_script, arguments: { script: report.mjs }, exact: true }]
        unordered: ["read_*"]
        forbid: [{ tool: delete_file }]
      output:
        contains: rows
        not_contains: [sorry, error]
        ignore_case: true
        regex: "[0-9]+ rows"
        not_regex: ["^I cannot"]
        json_schema: { type: object }
        files:
          - { path: out/*.md, contains: "#", media_type: text/markdown }
          - { path: out/*.tmp, exists: false }
        checkers:
          - { script: check.sh, arguments: [out] }
      disclosure: { resources_only: ["target/references/*"], unloaded_bytes: 0 }
      security: { denied: [network_request], asked: [run_script], no_escape: true }
      outcome: [done, degraded]
      streaming: true
      rubric: [The tone is friendly., { id: order, text: Columns come first. }]
    constraints:
      max_turns: 4
      max_tool_calls: 6
      max_script_runs: 1
      max_tokens: 9000
      max_context_tokens: 8000
      timeout_s: 30
      forbid_tools: ["mcp_*"]
    mock:
      turns:
        - toolCalls: [{ name: load_skill, input: { skill: target } }]
        - text: 12 rows
    protocol: actions
    config: { agent: { model: rules } }
    approve: yes
    repeat: 3
    tags: [csv, csv, smoke]
`;

const FILES = {
  'other/SKILL.md': skillMd('other'),
  'target/evals/files/orders.csv': 'a,b\n',
  'target/evals/check.sh': 'exit 0\n',
};

describe('cases of our own format', () => {
  verifies('EVAL-1', 'every key of a case is read', () => {
    const { file, root, dir } = inSkill(WHOLE, 'cases.yaml', FILES);
    const { cases, problems } = readCases([file]);
    expect(problems).toEqual([]);
    expect(cases).toEqual([
      {
        id: 'whole',
        name: 'All of it',
        place: { file, line: 3, column: 5 },
        input: 'Summarise orders.csv',
        files: [path.join(dir, 'evals/files/orders.csv'), path.join(dir, 'evals/files/orders.csv')],
        skills: { target: 'target', folders: [dir, path.join(root, 'other')] },
        expect: {
          skills: { allOf: ['target'], anyOf: ['target', 'other'], noneOf: ['other'], only: ['target'] },
          trigger: true,
          actions: {
            ordered: [{ tool: 'load_skill' }, { tool: 'run_script', arguments: { script: 'report.mjs' }, exact: true }],
            unordered: [{ tool: 'read_*' }, { tool: 'read_resource', arguments: { path: '/\\.md$/' } }],
            forbid: [{ tool: 'delete_file' }, { tool: 'write_file' }],
            before: [inOrder({ tool: 'load_skill' }, { tool: 'run_script' })],
          },
          disclosure: { resourcesOnly: ['target/references/*'], unloadedBytes: 0 },
          security: { denied: [{ tool: 'network_request' }], asked: [{ tool: 'run_script' }], noEscape: true },
          outcome: ['done', 'degraded'],
          output: [
            { type: 'contains', text: 'rows', ignoreCase: true },
            { type: 'contains', text: 'sorry', ignoreCase: true, not: true },
            { type: 'contains', text: 'error', ignoreCase: true, not: true },
            { type: 'matches', pattern: '[0-9]+ rows' },
            { type: 'matches', pattern: '^I cannot', not: true },
            { type: 'json', schema: { type: 'object' } },
            { type: 'file', path: 'out/*.md', contains: '#', mediaType: 'text/markdown' },
            { type: 'file', path: 'out/*.tmp', exists: false },
            { type: 'checker', script: path.join(dir, 'evals/check.sh'), arguments: ['out'] },
          ],
          streaming: true,
          rubric: [
            { id: 'rubric-1', text: 'The tone is friendly.' },
            { id: 'order', text: 'Columns come first.' },
          ],
        },
        limits: { turns: 4, toolCalls: 6, scriptRuns: 1, tokens: 9000, contextTokens: 8000 },
        forbidTools: ['mcp_*'],
        answers: {
          type: 'script',
          turns: [{ toolCalls: [{ name: 'load_skill', input: { skill: 'target' } }] }, { text: '12 rows' }],
        },
        protocol: 'actions',
        config: { agent: { model: 'rules' } },
        approve: 'yes',
        repeat: 3,
        timeoutMs: 30_000,
        tags: ['csv', 'smoke'],
      },
    ]);
  });

  const one = { input: 'Do it', expect: { trigger: true } };

  test.each([
    ['one case', one, 'cases.json', ['target-cases']],
    ['a list', [one, { ...one, id: 'second' }], 'cases.json', ['target-cases-1', 'second']],
    ['a suite', { cases: [one] }, 'anything.json', ['target-anything']],
    [
      'lines of JSON',
      `${JSON.stringify(one)}\n\n${JSON.stringify({ ...one, id: 7 })}\n`,
      'x.jsonl',
      ['target-x-1', '7'],
    ],
    ['YAML with a byte order mark', '\uFEFF- input: Do it\n  expect: {trigger: true}\n', 'x.yml', ['target-x']],
  ])('are %s', (_, content, name, ids) => {
    const { cases, problems } = readIn(content, name);
    expect(problems).toEqual([]);
    expect(cases.map(({ id }) => id)).toEqual(ids);
    expect(cases[0]).toEqual(caseLike({ id: ids[0] ?? '', expect: { trigger: true } }));
  });

  test('defaults apply to each case, and setup equals the keys beside it', () => {
    const { cases, problems } = readIn({
      defaults: { constraints: { max_turns: 3, timeout_s: 9 }, expect: { outcome: 'done' }, tags: ['all'], repeat: 2 },
      cases: [
        { id: 'a', input: 'Do it', constraints: { max_turns: 5 }, setup: { approve: true, protocol: 'tools' } },
        { id: 'b', input: 'Do it', tags: [], expect: { streaming: true } },
      ],
    });
    expect(problems).toEqual([]);
    expect(cases).toEqual([
      caseLike({
        id: 'a',
        limits: { turns: 5 },
        timeoutMs: 9000,
        expect: { outcome: ['done'] },
        approve: 'yes',
        protocol: 'tools',
        repeat: 2,
        tags: ['all'],
      }),
      caseLike({
        id: 'b',
        limits: { turns: 3 },
        timeoutMs: 9000,
        expect: { outcome: ['done'], streaming: true },
        repeat: 2,
      }),
    ]);
  });

  test('a cassette is inside the suite, and a limit alone is an expectation', () => {
    const content = { id: 'taped', input: 'Do it', cassette: 'tapes/one.jsonl', constraints: { max_tool_calls: 0 } };
    const { file, dir } = inSkill(content, 'case.json', { 'target/evals/tapes/one.jsonl': '' });
    expect(readCases([file])).toMatchObject({
      problems: [],
      cases: [
        caseLike({
          id: 'taped',
          answers: { type: 'cassette', file: path.join(dir, 'evals/tapes/one.jsonl') },
          limits: { toolCalls: 0 },
        }),
      ],
    });
  });

  test('a project suite names its skills by folder, and formats become checks', () => {
    const root = folderOf({
      'skills/one/SKILL.md': skillMd('one'),
      'evals/cases.json': [
        {
          id: 'j',
          input: 'x',
          skills: { target: 'one', folders: ['../skills'] },
          expect: { output: { format: 'json' } },
        },
        { id: 'm', input: 'x', expect: { output: { format: 'markdown' } } },
      ],
    });
    const { cases, problems } = readCases([root]);
    expect(problems).toEqual([]);
    expect(cases.map(({ skills, expect: asked }) => ({ skills, output: asked.output }))).toEqual([
      { skills: { target: 'one', folders: [path.join(root, 'skills')] }, output: [{ type: 'json' }] },
      { skills: { folders: [] }, output: [{ type: 'matches', pattern: expect.stringContaining('#{1,6} ') }] },
    ]);
  });
});

describe('docs/eval-cases.md', () => {
  test('has a valid example', () => {
    const [, text = ''] =
      /```yaml\n([\s\S]*?)```/.exec(readFileSync(path.join(PROJECT, 'docs/eval-cases.md'), 'utf8')) ?? [];
    const root = folderOf({
      'csv-report/SKILL.md': skillMd('csv-report'),
      'text-diff/SKILL.md': skillMd('text-diff'),
      'csv-report/evals/files/orders.csv': '',
      'csv-report/evals/cases.yaml': text,
    });
    const { cases, problems } = readCases([root]);
    expect(problems).toEqual([]);
    expect(cases.map(({ id, skills }) => [id, skills])).toEqual([
      ['counts-rows', { target: 'csv-report', folders: [path.join(root, 'csv-report'), path.join(root, 'text-diff')] }],
    ]);
  });
});

describe('case folders of skills-agent', () => {
  verifies('EVAL-1', 'case.json is read with its mock and files', () => {
    const root = folderOf({
      'evals/report/case.json': {
        input: '统计这个表',
        expected: {
          skills: ['csv-report'],
          actions: [
            'must_occur load_skill before run_script',
            'load_skill',
            { type: 'run_script', payload: { script: 'a.py' } },
          ],
          output: { keywords: ['行'], format: 'markdown' },
        },
        constraints: { maxToolCalls: 4, forbidden_tools: ['write_file'] },
      },
      'evals/report/mock.json': { turns: [{ text: '# 12 行' }] },
      'evals/report/files/a.csv': 'a\n1\n',
      'evals/quiet/case.json': { input: '你好', expected: { skills: [], output: '好' } },
    });
    const { cases, problems, passedOver, suites } = readCases([path.join(root, 'evals')]);
    expect(problems).toEqual([]);
    expect(suites.map(({ shape }) => shape)).toEqual(['case-folder', 'case-folder']);
    expect(passedOver).toEqual([
      {
        file: path.join(root, 'evals/report/mock.json'),
        reason: 'answers of a scripted model',
      },
    ]);
    expect(cases).toEqual([
      caseLike({
        id: 'quiet',
        name: '你好',
        input: '你好',
        skills: { folders: [] },
        expect: { skills: { only: [] }, output: [{ type: 'contains', text: '好' }] },
      }),
      caseLike({
        id: 'report',
        name: '统计这个表',
        input: '统计这个表',
        files: [path.join(root, 'evals/report/files/a.csv')],
        skills: { folders: [] },
        expect: {
          skills: { allOf: ['csv-report'] },
          actions: {
            ordered: [{ tool: 'load_skill' }, { tool: 'run_script', arguments: { script: 'a.py' } }],
            before: [inOrder({ tool: 'load_skill' }, { tool: 'run_script' })],
          },
          output: [
            { type: 'contains', text: '行' },
            { type: 'matches', pattern: expect.stringContaining('#{1,6} ') },
          ],
        },
        limits: { toolCalls: 4 },
        forbidTools: ['write_file'],
        answers: { type: 'script', turns: [{ text: '# 12 行' }] },
      }),
    ]);
  });

  test('problems are located in the original file', () => {
    const root = folderOf({
      'evals/a/case.json': {
        input: 'x',
        expected: { skills: { allof: ['a'] }, output: { regex: '(a)\\1' }, actions: ['must_occur a before'] },
        constraints: { maxToolCall: 1 },
      },
      'evals/b/case.json': { input: 'x', expected: { output: 'y' } },
      'evals/b/mock.json': '{"turns": 7}',
      'evals/c/case.json': {
        input: 'x',
        expected: { output: { regex: '(a)\\1' }, actions: ['must_occur a then b'] },
      },
    });
    const { cases, problems } = readCases([path.join(root, 'evals')]);
    expect(cases).toEqual([]);
    expect(problems.map(({ file, line, message }) => [path.relative(root, file), line, message])).toEqual([
      ['evals/a/case.json', 5, 'unknown key "expected.skills.allof"'],
      ['evals/a/case.json', 17, 'unknown key "constraints.maxToolCall"'],
      ['evals/b/case.json', 1, 'cannot use mock.json beside the case: not JSON with a turns array'],
      ['evals/c/case.json', 8, 'invalid tool name "a then b"'],
      ['evals/c/case.json', 5, 'backreferences are not supported: they cannot be matched in linear time'],
    ]);
  });

  test('two keys that mean the same are an error that names both, so no expectation is ignored', () => {
    const read = (written: Readonly<Record<string, unknown>>, mock?: unknown): readonly string[] => {
      const files = {
        'evals/a/case.json': { input: 'x', ...written },
        ...(mock === undefined ? {} : { 'evals/a/mock.json': mock }),
      };
      const { cases, problems } = readCases([path.join(folderOf(files), 'evals')]);
      expect(cases).toEqual([]);
      return problems.map(({ message }) => message);
    };
    const expected = { output: 'y' };
    expect([
      read({ expected, expect: { output: { contains: 'never' } } }),
      read({ expected: { actions: ['a'], steps: ['b'] } }),
      read({ expected: { output: { keywords: ['a'], contains: ['b'] } } }),
      read({ expected: { skills: { allOf: ['a'], all_of: ['b'] } } }),
      read({ expected, constraints: { maxTurns: 9, max_turns: 1 } }),
      read({ expected: { actions: [{ type: 'a', name: 'b' }] } }),
      read({ expected, mock: { turns: [{ text: 'a' }] } }, { turns: [{ text: 'y' }] }),
    ]).toEqual([
      ['the case has both "expected" and "expect"'],
      ['the case has both "expected.actions" and "expected.steps"'],
      ['the case has both "expected.output.keywords" and "expected.output.contains"'],
      ['the case has both "expected.skills.allOf" and "expected.skills.all_of"'],
      ['the case has both "constraints.maxTurns" and "constraints.max_turns"'],
      ['unknown key "expected.actions.0.name"'],
      ['the case has both "mock" and a mock.json beside it'],
    ]);
  });

  test('defaults of a file hold for its cases in this form, too', () => {
    const { cases, problems } = readIn({ defaults: { repeat: 3 }, cases: [{ input: 'x', expected: { output: 'y' } }] });
    expect([problems, cases.map(({ repeat }) => repeat)]).toEqual([[], [3]]);
  });

  test('a skill may be written as in actions, and errors name the keys that the author wrote', () => {
    const root = folderOf({
      'evals/a/case.json': { input: 'x', expected: { skills: [{ name: 'pdf', source: 'project' }] } },
      'evals/b/case.json': { input: 'x', expected: { skill: 'pdf' } },
      'evals/c/case.json': { input: 'x', expected: { skills: ['pdf', 7], output: { keywords: 7 } } },
    });
    const { cases, problems } = readCases([path.join(root, 'evals')]);
    expect(cases.map(({ expect: { skills } }) => skills)).toEqual([{ allOf: ['pdf'] }]);
    expect(problems.map(({ line, message, hint, severity }) => [line, message, hint, severity])).toEqual([
      [7, 'the source of a skill is not checked', 'remove it: the suite names the folders of its skills', 'warning'],
      [4, 'unknown key "expected.skill"', 'did you mean skills?', 'error'],
      [6, '"expected.skills.1" must be a string', 'see schemas/eval-case.schema.json', 'error'],
      [9, '"expected.output.keywords" must be a string or a list', 'see schemas/eval-case.schema.json', 'error'],
    ]);
  });
});

test('a named folder with any name is read, and other files in it are skipped with a reason', () => {
  const root = folderOf({
    'mine/first.json': { cases: [{ id: 'a', input: 'x', expect: { outcome: 'done' } }] },
    'mine/package.json': { name: 'other' },
  });
  const { cases, problems, passedOver } = readCases([path.join(root, 'mine')]);
  expect([cases.map(({ id }) => id), problems, passedOver.map(({ file }) => path.basename(file))]).toEqual([
    ['a'],
    [],
    ['package.json'],
  ]);
});

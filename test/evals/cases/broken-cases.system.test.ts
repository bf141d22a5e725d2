import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { folderOf, inSkill, readIn, skillMd } from './support.ts';

/** The errors of one file, each as `line:column message`. */
function errorsOf(content: unknown, name?: string): readonly string[] {
  const { cases, problems } = readIn(content, name);
  expect(cases).toEqual([]);
  return problems.map(({ line, column, message }) => `${String(line)}:${String(column)} ${message}`);
}

const own = (expectations: object, more: object = {}): unknown => [
  { id: 'a', input: 'Do it', expect: expectations, ...more },
];

describe('a case that cannot pass, or cannot fail, is refused by line', () => {
  test.each([
    [
      'loaded and not',
      own({ skills_all_of: ['target'], skills_none_of: ['target'] }),
      /^\d+:\d+ "target" must be loaded and must not be loaded$/,
    ],
    [
      'loaded, but not among the only ones',
      own({ skills_all_of: ['target'], skills_only: [] }),
      /skills_only lacks it/,
    ],
    ['any of none', own({ skills_any_of: [] }), /skills_any_of is empty/],
    ['any of those that are shut', own({ skills_any_of: ['target'], skills_only: [] }), /none of them may be/],
    [
      'trigger against none of',
      own({ trigger: true, skills_none_of: ['target'] }),
      /trigger wants "target" to be loaded/,
    ],
    [
      'quiet against all of',
      own({ trigger: false, skills_all_of: ['target'] }),
      /trigger wants "target" to stay quiet/,
    ],
    [
      'the same text',
      own({ output: { contains: 'Total: 3', not_contains: ['Total'] } }),
      /must contain "Total: 3" and must not contain "Total"/,
    ],
    [
      'the same text in another case',
      own({ output: { contains: 'A', not_contains: 'a', ignore_case: true } }),
      /must contain "A"/,
    ],
    [
      'a circle',
      own({ sequence: ['must_occur a before b', 'must_occur b before c', 'must_occur c before a'] }),
      /"a" must come before "b" and/,
    ],
    ['before itself', own({ sequence: ['must_occur a before a'] }), /"a" must come before "a"/],
    [
      'wanted and forbidden',
      own({ sequence: ['must_occur run_script', 'forbid run_*'] }),
      /"run_script" must occur and is forbidden/,
    ],
    [
      'wanted and forbidden by constraints',
      own({ actions: { ordered: ['a'] } }, { constraints: { forbid_tools: ['*'] } }),
      /"a" must occur/,
    ],
    [
      'denied, so tried, and forbidden',
      own({ security: { denied: ['write_file'] }, actions: { forbid: ['write_file'] } }),
      /"write_file" must occur/,
    ],
    [
      'more actions than calls',
      own({ actions: { ordered: ['a', 'b'] } }, { constraints: { max_tool_calls: 1 } }),
      /2 actions must occur, and max_tool_calls is 1/,
    ],
    [
      'a file that is not there and has text',
      own({ output: { files: [{ path: 'a', exists: false, contains: 'x' }] } }),
      /must not be there/,
    ],
    ['markdown with a schema', own({ output: { format: 'markdown', json_schema: {} } }), /cannot be markdown/],
    ['no outcome', own({ outcome: [] }), /outcome is an empty list/],
    ['nothing asked', own({}), /nothing is asked of the run/],
    ['a sentence with nothing to look for', own({ output: { contains: '' } }), /contains is an empty text/],
  ])('%s', (_, content, message) => {
    expect(errorsOf(content)).toEqual([expect.stringMatching(message)]);
  });
});

describe('what is written wrong is told by line, with what was probably meant', () => {
  test('unknown keys, wrong types, numbers without an end', () => {
    const { problems, cases } = readIn(
      `- input: Do it\n  expects: {trigger: true}\n  constraints: {max_tool_calls: 1}\n- input: 7\n  expect:\n    triger: true\n    output: {contains: 5}\n  repeat: 0\n- input: x\n  expect: {trigger: true}\n  config: {a: [.nan]}\n  constraints: {timeout_s: 1.5}\n`,
      'cases.yaml',
    );
    expect(cases).toEqual([]);
    expect(problems.map(({ line, column, message, hint }) => [line, column, message, hint])).toEqual([
      [2, 3, '"expects" means nothing here', 'did you mean expect?'],
      [4, 3, '"input" must be a string', 'see schemas/eval-case.schema.json'],
      [6, 5, '"expect.triger" means nothing here', 'did you mean trigger?'],
      [7, 14, '"expect.output.contains" must be a string or a list', 'see schemas/eval-case.schema.json'],
      [8, 3, '"repeat" must be a whole number from 1 to 1000', 'see schemas/eval-case.schema.json'],
      [11, 16, 'this is not a finite number', 'write a number that is not too large'],
    ]);
  });

  test.each([
    [
      '[{"id":"a","input":"x","expect":{"trigger":true},"config":{"__proto__":{"a":1}}}]',
      'a key may not be called __proto__',
    ],
    ['[{"id":"a","input":"x","expect":{"trigger":true},"repeat":1e999}]', 'this is not a finite number'],
    ['[{"id":"a","id":"b","input":"x","expect":{"trigger":true}}]', 'the key "id" stands there twice'],
    ['[{"id":"a","input":" ","expect":{"trigger":true}}]', 'input is empty'],
    ['[{"id":"../a","input":"x","expect":{"trigger":true}}]', '"../a" cannot be the id of a case'],
    ['[{"id":"a\\u0007","input":"x","expect":{"trigger":true}}]', '"a\\x07" cannot be the id of a case'],
    ['[{"id":"CON","input":"x","expect":{"trigger":true}}]', '"CON" cannot be the id of a case'],
    ['[{"id":"a","input":"x","mock":{"turns":[]},"expect":{"trigger":true}}]', 'mock.turns is empty'],
    [
      '[{"id":"a","input":"x","setup":{"approve":"yes"},"approve":"no","expect":{"trigger":true}}]',
      '"approve" stands beside setup and in it',
    ],
    [
      '[{"id":"a","input":"x","expect":{"sequence":["load then run"]}}]',
      '"load then run" is no sentence about actions',
    ],
    ['[{"id":"a","input":"x","expect":{"sequence":["forbid a b"]}}]', '"a b" is no name of a tool'],
    [
      '[{"id":"a","input":"x","expect":{"rubric":[{"id":"r","text":"a"},{"id":"r","text":"b"}]}}]',
      'the id "r" stands here twice',
    ],
    [
      '[{"id":"a","input":"x","expect":{"output":{"files":[{"path":"../a","sha256":"x"}]}}}]',
      '"../a" is no pattern below the workspace',
    ],
    ['{"cases":[{"id":"a","input":"x","expect":{"trigger":true}}],"default":{}}', '"default" means nothing here'],
    ['{"cases":[7]}', 'a case must be an object'],
    ['{"evals":[7,{"id":1}]}', 'this is neither a query nor a case'],
    ['{"evals":[{"id":1,"prompt":"x"}]}', 'nothing is asked of the run'],
    ['[{"query":"x","should_trigger":"maybe"}]', 'should_trigger is "maybe"'],
    ['{"evals":[{"prompt":"x","assertions":["a"],"files":[{"content":"x"}]}]}', 'this is no path of a file'],
  ])('%s', (content, message) => {
    const { problems } = readIn(content);
    expect(problems.map((problem) => problem.message)).toContain(message);
    expect(problems.every(({ severity, line, hint }) => severity === 'error' && line === 1 && hint !== '')).toBe(true);
  });

  test.each([
    ['(a)\\1', 'the expression has a back reference, which cannot be matched in linear time'],
    ['(?<x>a)\\k<x>', 'the expression has a back reference, which cannot be matched in linear time'],
    ['a(?=b)', 'the expression looks ahead or behind, which cannot be matched in linear time'],
    ['(?<!a)b', 'the expression looks ahead or behind, which cannot be matched in linear time'],
    ['a{5000}', 'the expression repeats something more than 1000 times'],
    ['(', 'it is no regular expression'],
    ['', 'the expression is empty'],
  ])('the expression %j', (pattern, message) => {
    expect(errorsOf(own({ output: { regex: pattern } }))).toEqual([expect.stringContaining(message)]);
    if (pattern !== '')
      expect(errorsOf(own({ actions: { ordered: [{ tool: 'a', arguments: { x: `/${pattern}/` } }] } }))).toEqual([
        expect.stringContaining(message),
      ]);
  });

  test.each(['[\\]()]\\\\1', '\\(?=', '(?:a|b){2,30}c'])('the expression %j is fine', (pattern) => {
    expect(readIn(own({ output: { regex: pattern } })).problems).toEqual([]);
  });

  test('equal ids of our own format are an error that names both places', () => {
    const { file } = inSkill([
      { id: 'a', input: 'x', expect: { trigger: true } },
      { id: 'a', input: 'y', expect: { trigger: true } },
    ]);
    const { cases, problems } = readCases([file]);
    expect(cases.map(({ input }) => input)).toEqual(['x']);
    expect(problems).toEqual([
      {
        file,
        line: 10,
        column: 5,
        message: `the id "a" is taken by the case at ${file}:3`,
        hint: 'give each case an id of its own',
        severity: 'error',
      },
    ]);
  });
});

describe('what a case names must be there', () => {
  test('files, skills and folders that are missing', () => {
    const { file } = inSkill([
      { id: 'a', input: 'x', files: ['files/gone.csv'], expect: { trigger: true } },
      { id: 'b', input: 'x', expect: { skills_all_of: ['traget'] } },
      { id: 'c', input: 'x', skills: { distractors: ['../../gone'] }, expect: { trigger: true } },
      { id: 'd', input: 'x', skills: { target: 'nobody' }, expect: { trigger: false } },
      { id: 'e', input: 'x', expect: { skills_none_of: ['gone'] } },
    ]);
    const { cases, problems } = readCases([file]);
    expect(cases.map(({ id }) => id)).toEqual(['e']);
    expect(problems.map(({ line, message, hint, severity }) => [line, message, hint, severity])).toEqual([
      [
        6,
        'the file "files/gone.csv" is not there',
        'write its path from this file, or from the skill in which it lies',
        'error',
      ],
      [16, 'there is no skill "traget"', 'did you mean target?', 'error'],
      [
        26,
        'the folder of skills "../../gone" is not there',
        'write its path from this file, such as ../../other-skill',
        'error',
      ],
      [37, 'there is no skill "nobody"', 'name a skill of skills.folders or of the suite', 'error'],
      [47, 'there is no skill "gone"', 'name a skill of skills.folders or of the suite', 'warning'],
    ]);
  });

  test('files may be missing where somebody only counts', () => {
    const content = [{ id: 'a', input: 'x', files: ['gone.csv'], expect: { trigger: true } }];
    const { cases, problems } = readIn(content, 'cases.json', { missingFiles: 'warning' });
    expect(cases.map(({ id, files }) => [id, files])).toEqual([['a', []]]);
    expect(problems.map(({ severity }) => severity)).toEqual(['warning']);
  });

  test('nothing outside the suite is taken: files, cassettes and checkers, links included', () => {
    const outside = ['../../secret.txt', '/etc/passwd', '~/x', 'file:///etc/passwd', 'link', 'a\u0000b', ''];
    const { file, dir } = inSkill(
      [
        ...outside.map((name, place) => ({
          id: `f${String(place)}`,
          input: 'x',
          files: [name],
          expect: { trigger: true },
        })),
        ...outside.map((name, place) => ({
          id: `t${String(place)}`,
          input: 'x',
          cassette: name,
          expect: { trigger: true },
        })),
        ...outside.map((name, place) => ({
          id: `c${String(place)}`,
          input: 'x',
          expect: { output: { checkers: [{ script: name }] } },
        })),
      ],
      'cases.json',
      { 'secret.txt': 'x' },
    );
    symlinkSync(path.join(dir, '../secret.txt'), path.join(dir, 'evals/link'));
    const { cases, problems } = readCases([file]);
    expect(cases).toEqual([]);
    const reasons = [
      'lies outside the folder of the suite',
      'is not relative',
      'is not relative',
      'is not relative',
      'lies outside the folder of the suite',
      'has a control character',
      'is empty',
    ];
    expect(problems.map(({ message }) => message.replace(/^the path "[^"]*" /, ''))).toEqual([
      ...reasons,
      ...reasons,
      ...reasons,
    ]);
  });
});

describe('files that are none', () => {
  test('empty suites are errors, not passes', () => {
    for (const content of [[], { cases: [] }, { evals: [] }, { shouldTrigger: [], shouldNotTrigger: [] }])
      expect(errorsOf(content)).toEqual(['1:1 there are no cases in this file']);
    const root = folderOf({ 'skill/SKILL.md': skillMd('skill') });
    expect(readCases([root]).problems).toEqual([
      {
        file: root,
        line: 1,
        column: 1,
        message: 'there are no cases here',
        hint: 'an empty suite is no pass: write evals/cases.yaml, or let eval init write it',
        severity: 'error',
      },
    ]);
    expect(readCases([path.join(root, 'gone')]).problems.map(({ message }) => message)).toEqual([
      'there is no such file or folder',
    ]);
  });

  test('a folder whose only files were passed over says why', () => {
    const root = folderOf({ 'mine/one.json': '{"a":\n  [1,}', 'mine/two.json': '{"name": "x", "version": "1"}' });
    expect(readCases([path.join(root, 'mine')]).problems.map(({ message }) => message)).toEqual([
      'there are no cases here; "one.json" was passed over: it is no JSON here (line 2); "two.json" was passed over: a manifest, no cases',
    ]);
  });

  test.each([
    ['{"a":\n  [1,}', 'evals.json', '2:6 it is no JSON here'],
    ['{"a":1}\n{"a":\n', 'a.jsonl', '2:6 it is no JSON here'],
    ['a: [1\nb: 2\n', 'a.yaml', '2:1 it is no YAML here (bad_indent)'],
    ['cases: []\ncases: []\n', 'a.yaml', '2:1 a key stands there twice'],
    ['a: &x [1]\nb: *x\n', 'a.yaml', '2:4 it has an alias, which is not followed'],
    ['prompt,should_trigger\n"x', 'a.csv', '2:1 a quote has no end, or text follows it'],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'a.json', '1:1 it is nested deeper than 64 levels'],
    [`a: ${'['.repeat(2000)}`, 'a.yaml', '1:1 it is nested deeper than 64 levels'],
    [`#${'x'.repeat(1024 * 1024)}`, 'a.yaml', '1:1 it has more than 1048576 characters of YAML'],
    ['7', 'a.json', '1:1 this is no case file: it holds neither an object nor a list'],
  ])('broken text, %#', (content, name, message) => {
    expect(errorsOf(content, name)).toEqual([message]);
  });

  test('files that are too large, no text, or no files', () => {
    const root = folderOf({});
    writeFileSync(path.join(root, 'evals.json'), Buffer.from([0x22, 0xff, 0x22]));
    writeFileSync(path.join(root, 'cases.json'), ' '.repeat(16 * 1024 * 1024 + 1));
    const { problems } = readCases([root]);
    expect(problems.map(({ message }) => message)).toEqual([
      'the file cannot be read: larger than 16777216 bytes',
      'the file is not UTF-8',
    ]);
  });

  test('what lies beside cases is passed over with the reason, and what cases work on is not looked at', () => {
    const root = folderOf({
      'a/evals/evals.json': { evals: [{ id: 1, prompt: 'x', assertions: ['a'] }] },
      'a/evals/files/evals.json': [],
      'a/evals/report.json': { results: [] },
      'a/evals/_meta.json': { slug: 'a', latest: {} },
      'a/evals/notes.json': '{broken',
      'a/evals/eval_metadata.json': { eval_id: 0, eval_name: 'n', prompt: 'x', assertions: ['a'] },
      'a/evals/grading.json': { expectations: [{ text: 'a', passed: true, evidence: 'b' }], summary: {} },
      'a/evals/trigger-results.json': { results: [{ query: 'x', should_trigger: true, trigger_rate: 0 }] },
      'a/tests/units.json': [{ input: 'a', expected: 'b' }],
      'a/tests/queries.json': { queries: [{ query: 'x', expected_files: ['a.md'] }] },
      'a/tests/none.json': [],
      'a/triggers.json': [{ pattern: 'x', run: 'y' }],
      'a/data.json': [{ prompt: 'x', assertions: ['a'] }],
      'a/node_modules/b/evals/evals.json': { evals: [] },
    });
    mkdirSync(path.join(root, 'a/evals/dir.json'));
    const { cases, problems, passedOver } = readCases([root]);
    expect(problems).toEqual([]);
    expect(cases.map(({ id }) => id)).toEqual(['a-1']);
    expect(passedOver.map(({ file, reason }) => [path.relative(root, file), reason])).toEqual([
      ['a/evals/_meta.json', 'metadata of a published skill, no cases'],
      ['a/evals/eval_metadata.json', 'what is kept of a run, no cases'],
      ['a/evals/grading.json', 'what is kept of a run, no cases'],
      ['a/evals/notes.json', 'it is no JSON here (line 1)'],
      ['a/evals/report.json', 'a report of results, no cases'],
      ['a/evals/trigger-results.json', 'a report of results, no cases'],
      ['a/tests/none.json', 'an empty list'],
      ['a/tests/queries.json', 'queries for a search engine and the documents it must find, no cases for an agent'],
      ['a/tests/units.json', 'its entries have a request, but nothing says what must come of it'],
      ['a/triggers.json', 'rules that start a command by a pattern: nothing is asked of an agent'],
    ]);
  });

  test('a file that was named twice is read once', () => {
    const { file, root } = inSkill([{ id: 'a', input: 'x', expect: { trigger: true } }], 'cases.json');
    expect(readCases([file, root]).cases).toHaveLength(1);
  });

  test('whoever stops it gets the reason', () => {
    const { root } = inSkill([]);
    expect(() => readCases([root], { signal: AbortSignal.abort(new Error('enough')) })).toThrow('enough');
  });
});

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { folderOf, inSkill, readIn, skillMd } from './support.ts';

/** Formats the errors of one file as `line:column message`. */
function errorsOf(content: unknown, name?: string): readonly string[] {
  const { cases, problems } = readIn(content, name);
  expect(cases).toEqual([]);
  return problems.map(({ line, column, message }) => `${String(line)}:${String(column)} ${message}`);
}

const own = (expectations: object, more: object = {}): unknown => [
  { id: 'a', input: 'Do it', expect: expectations, ...more },
];

describe('rejects a case that cannot pass or cannot fail', () => {
  test.each([
    [
      'required and excluded skill',
      own({ skills_all_of: ['target'], skills_none_of: ['target'] }),
      /^\d+:\d+ "target" must be loaded and must not be loaded$/,
    ],
    [
      'required skill missing in skills_only',
      own({ skills_all_of: ['target'], skills_only: [] }),
      /skills_only does not list it/,
    ],
    ['empty skills_any_of', own({ skills_any_of: [] }), /skills_any_of is empty/],
    [
      'skills_any_of with excluded skills only',
      own({ skills_any_of: ['target'], skills_only: [] }),
      /other expectations exclude all of them/,
    ],
    [
      'trigger and skills_none_of',
      own({ trigger: true, skills_none_of: ['target'] }),
      /trigger expects "target" to load/,
    ],
    [
      'no trigger and skills_all_of',
      own({ trigger: false, skills_all_of: ['target'] }),
      /trigger expects "target" not to load/,
    ],
    [
      'required and forbidden text',
      own({ output: { contains: 'Total: 3', not_contains: ['Total'] } }),
      /must contain "Total: 3" and must not contain "Total"/,
    ],
    [
      'required and forbidden text that differ in case',
      own({ output: { contains: 'A', not_contains: 'a', ignore_case: true } }),
      /must contain "A"/,
    ],
    [
      'cyclic order',
      own({ sequence: ['must_occur a before b', 'must_occur b before c', 'must_occur c before a'] }),
      /"a" must come before "b" and/,
    ],
    ['an action before itself', own({ sequence: ['must_occur a before a'] }), /"a" must come before "a"/],
    [
      'required and forbidden action',
      own({ sequence: ['must_occur run_script', 'forbid run_*'] }),
      /"run_script" must occur and is forbidden/,
    ],
    [
      'action forbidden by constraints',
      own({ actions: { ordered: ['a'] } }, { constraints: { forbid_tools: ['*'] } }),
      /"a" must occur/,
    ],
    [
      'denied and forbidden action',
      own({ security: { denied: ['write_file'] }, actions: { forbid: ['write_file'] } }),
      /"write_file" must occur/,
    ],
    [
      'more actions than max_tool_calls',
      own({ actions: { ordered: ['a', 'b'] } }, { constraints: { max_tool_calls: 1 } }),
      /2 actions must occur, but max_tool_calls is 1/,
    ],
    [
      'absent file with content',
      own({ output: { files: [{ path: 'a', exists: false, contains: 'x' }] } }),
      /cannot be combined with content checks/,
    ],
    [
      'markdown with a JSON Schema',
      own({ output: { format: 'markdown', json_schema: {} } }),
      /format: markdown cannot be combined/,
    ],
    ['empty outcome', own({ outcome: [] }), /outcome is empty/],
    ['no expectations', own({}), /the case has no expectations/],
    ['empty text', own({ output: { contains: '' } }), /contains is empty/],
  ])('%s', (_, content, message) => {
    expect(errorsOf(content)).toEqual([expect.stringMatching(message)]);
  });
});

describe('reports mistakes by line with a suggestion', () => {
  test('unknown keys, wrong types and infinite numbers', () => {
    const { problems, cases } = readIn(
      `- input: Do it\n  expects: {trigger: true}\n  constraints: {max_tool_calls: 1}\n- input: 7\n  expect:\n    triger: true\n    output: {contains: 5}\n  repeat: 0\n- input: x\n  expect: {trigger: true}\n  config: {a: [.nan]}\n  constraints: {timeout_s: 1.5}\n`,
      'cases.yaml',
    );
    expect(cases).toEqual([]);
    expect(problems.map(({ line, column, message, hint }) => [line, column, message, hint])).toEqual([
      [2, 3, 'unknown key "expects"', 'did you mean expect?'],
      [4, 3, '"input" must be a string', 'see schemas/eval-case.schema.json'],
      [6, 5, 'unknown key "expect.triger"', 'did you mean trigger?'],
      [7, 14, '"expect.output.contains" must be a string or a list', 'see schemas/eval-case.schema.json'],
      [8, 3, '"repeat" must be a whole number from 1 to 1000', 'see schemas/eval-case.schema.json'],
      [11, 16, 'the number is not finite', 'write a smaller number'],
    ]);
  });

  test.each([
    [
      '[{"id":"a","input":"x","expect":{"trigger":true},"config":{"__proto__":{"a":1}}}]',
      'the key __proto__ is not allowed',
    ],
    ['[{"id":"a","input":"x","expect":{"trigger":true},"repeat":1e999}]', 'the number is not finite'],
    ['[{"id":"a","id":"b","input":"x","expect":{"trigger":true}}]', 'duplicate key "id"'],
    ['[{"id":"a","input":" ","expect":{"trigger":true}}]', 'input is empty'],
    ['[{"id":"../a","input":"x","expect":{"trigger":true}}]', 'invalid case id "../a"'],
    ['[{"id":"a\\u0007","input":"x","expect":{"trigger":true}}]', 'invalid case id "a\\x07"'],
    ['[{"id":"CON","input":"x","expect":{"trigger":true}}]', 'invalid case id "CON"'],
    ['[{"id":"a","input":"x","mock":{"turns":[]},"expect":{"trigger":true}}]', 'mock.turns is empty'],
    [
      '[{"id":"a","input":"x","setup":{"approve":"yes"},"approve":"no","expect":{"trigger":true}}]',
      '"approve" is set in the case and in its setup',
    ],
    ['[{"id":"a","input":"x","expect":{"sequence":["load then run"]}}]', 'invalid sequence "load then run"'],
    ['[{"id":"a","input":"x","expect":{"sequence":["forbid a b"]}}]', 'invalid tool name "a b"'],
    [
      '[{"id":"a","input":"x","expect":{"rubric":[{"id":"r","text":"a"},{"id":"r","text":"b"}]}}]',
      'duplicate rubric id "r"',
    ],
    [
      '[{"id":"a","input":"x","expect":{"output":{"files":[{"path":"../a","sha256":"x"}]}}}]',
      '"../a" is not a path inside the workspace',
    ],
    ['{"cases":[{"id":"a","input":"x","expect":{"trigger":true}}],"default":{}}', 'unknown key "default"'],
    ['{"cases":[7]}', 'a case must be an object'],
    ['{"evals":[7,{"id":1}]}', 'an entry must be a query or a case'],
    ['{"evals":[{"id":1,"prompt":"x"}]}', 'the case has no expectations'],
    ['[{"query":"x","should_trigger":"maybe"}]', 'should_trigger is "maybe"'],
    ['{"evals":[{"prompt":"x","assertions":["a"],"files":[{"content":"x"}]}]}', 'a file must be a path'],
  ])('%s', (content, message) => {
    const { problems } = readIn(content);
    expect(problems.map((problem) => problem.message)).toContain(message);
    expect(problems.every(({ severity, line, hint }) => severity === 'error' && line === 1 && hint !== '')).toBe(true);
  });

  test.each([
    ['(a)\\1', 'backreferences are not supported: they cannot be matched in linear time'],
    ['(?<x>a)\\k<x>', 'backreferences are not supported: they cannot be matched in linear time'],
    ['a(?=b)', 'lookahead and lookbehind are not supported: they cannot be matched in linear time'],
    ['(?<!a)b', 'lookahead and lookbehind are not supported: they cannot be matched in linear time'],
    ['a{5000}', 'the regular expression has a repeat count of 5000; the limit is 1000'],
    ['(', 'invalid regular expression: Unterminated group'],
    ['', 'the regular expression is empty'],
  ])('rejects the regular expression %j', (pattern, message) => {
    expect(errorsOf(own({ output: { regex: pattern } }))).toEqual([expect.stringContaining(message)]);
    if (pattern !== '')
      expect(errorsOf(own({ actions: { ordered: [{ tool: 'a', arguments: { x: `/${pattern}/` } }] } }))).toEqual([
        expect.stringContaining(message),
      ]);
  });

  test.each(['[\\]()]\\\\1', '\\(?=', '(?:a|b){2,30}c'])('accepts the regular expression %j', (pattern) => {
    expect(readIn(own({ output: { regex: pattern } })).problems).toEqual([]);
  });

  test('duplicate ids of our own format are an error with both positions', () => {
    const { file } = inSkill([
      { id: 'a', input: 'x', expect: { trigger: true } },
      { id: 'a', input: 'y', expect: { trigger: true } },
    ]);
    const { cases, problems } = readCases([file]);
    expect(cases.map(({ input }) => input)).toEqual(['x']);
    expect(problems).toEqual([
      {
        code: 'input/invalid',
        file,
        line: 10,
        column: 5,
        message: `duplicate id "a": already used at ${file}:3`,
        hint: 'give each case a unique id',
        severity: 'error',
      },
    ]);
  });
});

describe('files and skills that a case names', () => {
  test('must exist', () => {
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
      [6, 'the file "files/gone.csv" does not exist', 'write its path relative to this file or to the skill', 'error'],
      [16, 'unknown skill "traget"', 'did you mean target?', 'error'],
      [
        26,
        'the skill folder "../../gone" does not exist',
        'write its path relative to this file, such as ../../other-skill',
        'error',
      ],
      [37, 'unknown skill "nobody"', 'name a skill from skills.folders or the suite', 'error'],
      [47, 'unknown skill "gone"', 'name a skill from skills.folders or the suite', 'warning'],
    ]);
  });

  test('may be missing with missingFiles: warning', () => {
    const content = [{ id: 'a', input: 'x', files: ['gone.csv'], expect: { trigger: true } }];
    const { cases, problems } = readIn(content, 'cases.json', { missingFiles: 'warning' });
    expect(cases.map(({ id, files }) => [id, files])).toEqual([['a', []]]);
    expect(problems.map(({ severity }) => severity)).toEqual(['warning']);
  });

  test('must be inside the suite, also through links', () => {
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
      'is outside the suite folder',
      'is not relative',
      'is not relative',
      'is not relative',
      'is outside the suite folder',
      'contains a control character',
      'is empty',
    ];
    expect(problems.map(({ message }) => message.replace(/^the path "[^"]*" /, ''))).toEqual([
      ...reasons,
      ...reasons,
      ...reasons,
    ]);
  });
});

describe('files without cases', () => {
  test('are errors if they are empty', () => {
    for (const content of [[], { cases: [] }, { evals: [] }, { shouldTrigger: [], shouldNotTrigger: [] }])
      expect(errorsOf(content)).toEqual(['1:1 the file contains no cases']);
    const root = folderOf({ 'skill/SKILL.md': skillMd('skill') });
    expect(readCases([root]).problems).toEqual([
      {
        code: 'input/invalid',
        file: root,
        line: 1,
        column: 1,
        message: 'no cases found',
        hint: 'write evals/cases.yaml, or run skillwright eval init',
        severity: 'error',
      },
    ]);
    expect(readCases([path.join(root, 'gone')]).problems.map(({ message }) => message)).toEqual([
      'no such file or folder',
    ]);
  });

  test('are listed with the reason if a folder has no other files', () => {
    const root = folderOf({ 'mine/one.json': '{"a":\n  [1,}', 'mine/two.json': '{"name": "x", "version": "1"}' });
    expect(readCases([path.join(root, 'mine')]).problems.map(({ message }) => message)).toEqual([
      'no cases found; skipped "one.json": invalid JSON (line 2); skipped "two.json": a manifest',
    ]);
  });

  test.each([
    ['{"a":\n  [1,}', 'evals.json', '2:6 invalid JSON'],
    ['{"a":1}\n{"a":\n', 'a.jsonl', '2:6 invalid JSON'],
    ['a: [1\nb: 2\n', 'a.yaml', '2:1 invalid YAML (bad_indent)'],
    ['cases: []\ncases: []\n', 'a.yaml', '2:1 duplicate key'],
    ['a: &x [*x]\n', 'a.yaml', '1:1 nested deeper than 64 levels'],
    ['prompt,should_trigger\n"x', 'a.csv', '2:1 unterminated quote, or text after a closing quote'],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'a.json', '1:1 nested deeper than 64 levels'],
    [`a: ${'['.repeat(2000)}`, 'a.yaml', '1:1 nested deeper than 64 levels'],
    [`#${'x'.repeat(1024 * 1024)}`, 'a.yaml', '1:1 the file has 1048577 characters of YAML; the limit is 1048576'],
    ['7', 'a.json', '1:1 not a case file: the file holds neither an object nor a list'],
  ])('report invalid syntax, %#', (content, name, message) => {
    expect(errorsOf(content, name)).toEqual([message]);
  });

  test('are errors if they are too large or not UTF-8', () => {
    const root = folderOf({});
    writeFileSync(path.join(root, 'evals.json'), Buffer.from([0x22, 0xff, 0x22]));
    writeFileSync(path.join(root, 'cases.json'), ' '.repeat(16 * 1024 * 1024 + 1));
    const { problems } = readCases([root]);
    expect(problems.map(({ message }) => message)).toEqual([
      'cannot read the file: larger than 16777216 bytes',
      'the file is not valid UTF-8',
    ]);
  });

  test.each([
    ['hard.json', '{"cases": []}}', 'invalid JSON'],
    ['hard.json', '', 'the file is empty'],
    ['hard.jsonl', '{"input": "x", "expect": {}}\n{broken\n', 'invalid JSON'],
    ['hard.yaml', 'cases:\n\t- id: a\n', expect.any(String)],
  ])('in a folder of cases are an error if they cannot be parsed: %s', (name, text, message) => {
    const easy = { cases: [{ id: 'a', input: 'x', expect: { trigger: true } }] };
    const root = folderOf({ 'a/SKILL.md': '---\nname: a\ndescription: A.\n---\n', 'a/evals/easy.json': easy });
    writeFileSync(path.join(root, 'a/evals', name), text);
    const { problems } = readCases([path.join(root, 'a')]);
    expect(problems.map((one) => [path.basename(one.file), one.severity, one.message])).toEqual([
      [name, 'error', message],
    ]);
  });

  test('are skipped with a reason, and inputs of cases are not read', () => {
    const root = folderOf({
      'a/evals/evals.json': { evals: [{ id: 1, prompt: 'x', assertions: ['a'] }] },
      'a/evals/files/evals.json': [],
      'a/evals/report.json': { results: [] },
      'a/evals/_meta.json': { slug: 'a', latest: {} },
      'a/tests/notes.json': '{broken',
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
      ['a/triggers.json', 'rules that run a command for a pattern'],
      ['a/evals/_meta.json', 'metadata of a published skill'],
      ['a/evals/eval_metadata.json', 'metadata of a run'],
      ['a/evals/grading.json', 'metadata of a run'],
      ['a/evals/report.json', 'a report of results'],
      ['a/evals/trigger-results.json', 'a report of results'],
      ['a/tests/none.json', 'an empty list'],
      ['a/tests/notes.json', 'invalid JSON (line 1)'],
      ['a/tests/queries.json', 'search engine queries with expected documents'],
      ['a/tests/units.json', 'the entries have requests but no expectations'],
    ]);
  });

  test('are read once if they are named twice', () => {
    const { file, root } = inSkill([{ id: 'a', input: 'x', expect: { trigger: true } }], 'cases.json');
    expect(readCases([file, root]).cases).toHaveLength(1);
  });

  test('stops with the reason of the signal', () => {
    const { root } = inSkill([]);
    expect(() => readCases([root], { signal: AbortSignal.abort(new Error('enough')) })).toThrow('enough');
  });
});

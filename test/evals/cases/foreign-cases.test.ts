import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { verifies } from '../../conformance/verifies.ts';
import { folderOf, inSkill, lines, shown, skillMd } from './support.ts';

describe('waza', () => {
  const EVAL = `name: target-eval
skill: target
config:
  trials_per_task: 3
  timeout_seconds: 60
graders:
  - type: text
    name: no_crash
    config: { regex_not_match: ["(?i)fatal error"] }
tasks:
  - "tasks/*.yaml"
`;

  verifies('EVAL-1', 'a waza suite is read with its tasks, shared graders, fixtures and settings', () => {
    const root = folderOf({
      'target/SKILL.md': skillMd('target'),
      'target/evals/eval.yaml': EVAL,
      'target/evals/fixtures/a.py': 'x = 1\n',
      'target/evals/tasks/b-tools.yaml': `id: tools
inputs: { prompt: Edit it }
expected:
  outcomes: [{ type: task_completed }]
  behavior: { max_tool_calls: 5, max_tokens: 900, required_tools: [view], forbidden_tools: [bash] }
graders:
  - { type: action_sequence, name: order, config: { matching_mode: in_order_match, expected_actions: [view, edit] } }
  - { type: skill_invocation, name: skills, config: { mode: any_order, required_skills: [target], allow_extra: false } }
`,
      'target/evals/tasks/a-text.yaml': `id: text
name: Explains
tags: [python]
inputs:
  prompt: Explain a.py
  files: [{ path: a.py }]
expected:
  output_contains: [one]
  output_contains_any: [assigns, sets]
  output_not_contains: [two]
graders:
  - { type: code, name: long, config: { assertions: ["len(output) > 10", "'x' in output.lower()"] } }
  - { type: prompt, name: clear, config: { prompt: Is it clear? } }
  - { type: file, name: out, config: { must_exist: [out.md], must_not_exist: [tmp.txt] } }
`,
    });
    expect(shown(readCases([path.join(root, 'target')]))).toEqual({
      cases: [
        {
          id: 'text',
          input: 'Explain a.py',
          expect: {
            output: [
              { type: 'contains', text: 'one', ignoreCase: true },
              { type: 'contains', text: 'x', ignoreCase: true },
              { type: 'contains', text: 'two', ignoreCase: true, not: true },
              { type: 'matches', pattern: '(?i)(?:assigns|sets)' },
              { type: 'matches', pattern: '^[\\s\\S]{11}' },
              { type: 'matches', pattern: '(?i)fatal error', not: true },
              { type: 'file', path: 'out.md' },
              { type: 'file', path: 'tmp.txt', exists: false },
            ],
            rubric: lines('Is it clear?'),
          },
          tags: ['python'],
          repeat: 3,
          timeoutMs: 60_000,
          files: ['a.py'],
        },
        {
          id: 'tools',
          input: 'Edit it',
          expect: {
            skills: { allOf: ['target'], only: ['target'] },
            actions: {
              ordered: [{ tool: 'read_file' }, { tool: 'edit_file' }],
              unordered: [{ tool: 'read_file' }],
              forbid: [{ tool: 'run_command' }],
            },
            outcome: ['done'],
            output: [{ type: 'matches', pattern: '(?i)fatal error', not: true }],
          },
          limits: { toolCalls: 5, tokens: 900 },
          repeat: 3,
          timeoutMs: 60_000,
        },
      ],
      problems: [],
      passedOver: [],
    });
  });

  test('tasks inside the suite file are read, and their validators too', () => {
    const { file } = inSkill(
      `skill: target
executor: mock
tasks:
  - id: run
    prompt: Run it
    expected: Starts the run
    validators: [{ type: text, config: { regex_match: ["run.*eval"] } }]
`,
      'eval.yaml',
    );
    expect(shown(readCases([file]))).toEqual({
      cases: [
        {
          id: 'run',
          input: 'Run it',
          expect: { output: [{ type: 'matches', pattern: 'run.*eval' }], rubric: lines('Starts the run') },
        },
      ],
      problems: [],
      passedOver: [],
    });
  });

  test('what is not read is named: a grader, a missing task file, a disabled task, inline files', () => {
    const root = folderOf({
      'target/SKILL.md': skillMd('target'),
      'target/evals/eval.yaml': `skill: target
tasks_from: rows.csv
tasks:
  - tasks/one.yaml
  - tasks/gone.yaml
  - "more/*.yaml"
graders:
  - { type: program, name: lint, config: { command: ./lint.sh } }
`,
      'target/evals/tasks/one.yaml': 'id: one\ninputs: { prompt: Do it }\nexpected: { output_contains: [ok] }\n',
      'target/evals/tasks/two.yaml':
        'id: two\nenabled: false\ninputs: { prompt: Do it }\nexpected: { output_contains: [ok] }\n',
      'target/evals/tasks/three.yaml':
        'id: three\ninputs: { prompt: Do, files: [{ path: a.txt, content: x }] }\nexpected: { output_contains: [ok] }\n',
    });
    expect(shown(readCases([path.join(root, 'target')]))).toEqual({
      cases: [
        {
          id: 'one',
          input: 'Do it',
          expect: {
            output: [{ type: 'contains', text: 'ok', ignoreCase: true }],
            ungraded: ['the grader "lint" of type "program" is not read'],
          },
        },
      ],
      problems: [
        'eval.yaml:2 error: tasks_from is not read',
        'one.yaml:1 warning: the grader "lint" of type "program" is not read',
        'eval.yaml:5 error: the task file "tasks/gone.yaml" does not exist',
        'eval.yaml:6 error: no task file matches "more/*.yaml"',
        'three.yaml:2 error: inline content of "a.txt" is not read',
      ],
      passedOver: ['two.yaml: the task is disabled'],
    });
  });
});

describe('promptfoo', () => {
  verifies('EVAL-1', 'a promptfoo configuration is read with anchors, default assertions and other files', () => {
    const root = folderOf({
      'target/SKILL.md': skillMd('target'),
      'target/evals/promptfooconfig.yaml': `prompts:
  - "Answer: {{ question }}"
  - file://prompt.txt
providers: [openai:gpt-5]
assertionTemplates:
  polite: { type: icontains, value: please }
defaultTest:
  assert: &usual
    - type: skill-used
      value: plugin:target
tests:
  - description: Capital
    vars: { question: Capital of France? }
    assert:
      - &paris { type: contains, value: Paris }
      - $ref: "#/assertionTemplates/polite"
  - vars: { question: Again }
    assert:
      - *paris
      - { type: llm-rubric, value: "Answers {{question}}" }
      - { type: javascript, value: output.length > 3 }
  - file://more.yaml
`,
      'target/evals/prompt.txt': 'In short: {{question}}\n',
      'target/evals/more.yaml': `- vars: { question: JSON }
  assert:
    - { type: is-json, value: { type: object } }
    - { type: not-icontains, value: sorry }
    - { type: contains-any, value: [a, b] }
    - { type: equals, value: "{}" }
`,
    });
    const skills = { allOf: ['target'] };
    const capital = {
      skills,
      output: [
        { type: 'contains', text: 'please', ignoreCase: true },
        { type: 'matches', pattern: 'Paris' },
      ],
    };
    const again = {
      skills,
      output: [{ type: 'contains', text: 'Paris' }],
      rubric: lines('Answers Again'),
      ungraded: ['the assertion "javascript" is not read: programs of other tools do not run'],
    };
    const json = {
      skills,
      output: [
        { type: 'contains', text: 'sorry', ignoreCase: true, not: true },
        { type: 'matches', pattern: '(?:a|b)' },
        { type: 'matches', pattern: '^\\s*\\{\\}\\s*$' },
        { type: 'json', schema: { type: 'object' } },
      ],
    };
    expect(shown(readCases([path.join(root, 'target')]))).toEqual({
      cases: [
        { id: 'target-promptfooconfig-1', input: 'Answer: Capital of France?', expect: capital },
        { id: 'target-promptfooconfig-2', input: 'In short: Capital of France?', expect: capital },
        { id: 'target-promptfooconfig-3', input: 'Answer: Again', expect: again },
        { id: 'target-promptfooconfig-4', input: 'In short: Again', expect: again },
        { id: 'target-promptfooconfig-5', input: 'Answer: JSON', expect: json },
        { id: 'target-promptfooconfig-6', input: 'In short: JSON', expect: json },
      ],
      problems: [
        'promptfooconfig.yaml:21 warning: the assertion "javascript" is not read: programs of other tools do not run',
      ],
      passedOver: [],
    });
  });

  test('a list of tests alone takes the request from its variables', () => {
    const { file } = inSkill(
      `- description: quiet
  vars: { prompt: Sort this list }
  assert: [{ type: not-skill-used, value: target }]
`,
      'routing.yaml',
    );
    expect(shown(readCases([file]))).toEqual({
      cases: [{ id: 'target-routing', input: 'Sort this list', expect: { skills: { noneOf: ['target'] } } }],
      problems: [],
      passedOver: [],
    });
  });

  test('tests of a program, prompts of a program and unknown variables are named', () => {
    const { file } = inSkill(
      `prompts: [file://prompt.js, "{{missing}}"]
tests:
  - file://generate.js
  - vars: { a: b }
    assert: [{ type: contains, value: x }]
`,
      'promptfooconfig.yaml',
    );
    expect(shown(readCases([file]))).toEqual({
      cases: [],
      problems: [
        'promptfooconfig.yaml:1 error: the prompt "file://prompt.js" is not read',
        'promptfooconfig.yaml:3 error: the tests in "file://generate.js" are not read',
        'promptfooconfig.yaml:4 error: the prompt uses {{missing}}, which the test does not set',
      ],
      passedOver: [],
    });
  });
});

describe('cases with execution.prompt', () => {
  verifies('EVAL-1', 'a plugin case is read with its graders, and prompt.md and graders/ beside it', () => {
    const root = folderOf({
      'target/SKILL.md': skillMd('target'),
      'target/evals/first/case.yaml': `schema_version: "1.1"
name: first
tags: [fast]
runs: 2
execution: { prompt: Finish it, max_turns: 4, timeout_seconds: 30, allowed_tools: [Skill, Read] }
graders:
  - { type: regex, name: answer, pattern: finished, flags: i }
  - { type: regex, name: clean, pattern: error, match: not_contains }
  - { type: tool_used, name: fired, tool: Skill }
  - { type: tool_used, name: quiet, tool: Bash, max: 0 }
  - { type: tool_order, name: order, before: Read, after: { tool: Write } }
  - { type: file_exists, name: file, path: out.txt }
  - { type: llm, name: good, criteria: It is good }
  - { type: regex, name: trace, target: trace, pattern: x }
`,
      'target/evals/second/prompt.md': '---\nmax_turns: 2\n---\n\nSay hello.\n',
      'target/evals/second/graders/answer.md': '---\ntype: llm\n---\n\nIt greets.\n',
      'target/evals/second/graders/word.md': '---\ntype: regex\npattern: hello\n---\n',
    });
    expect(shown(readCases([path.join(root, 'target')]))).toEqual({
      cases: [
        {
          id: 'first',
          input: 'Finish it',
          expect: {
            trigger: true,
            actions: {
              forbid: [{ tool: 'run_command' }],
              // oxlint-disable-next-line unicorn/no-thenable
              before: [{ first: { tool: 'read_file' }, then: { tool: 'write_file' } }],
            },
            output: [
              { type: 'matches', pattern: '(?i)finished' },
              { type: 'matches', pattern: 'error', not: true },
              { type: 'file', path: 'out.txt' },
            ],
            rubric: lines('It is good'),
            ungraded: ['the grader "trace" reads the trace, which is not read'],
          },
          limits: { turns: 4 },
          tags: ['fast'],
          repeat: 2,
          timeoutMs: 30_000,
        },
        {
          id: 'second',
          input: 'Say hello.',
          expect: { output: [{ type: 'matches', pattern: 'hello' }], rubric: lines('It greets.') },
          limits: { turns: 2 },
        },
      ],
      problems: ['case.yaml:14 warning: the grader "trace" reads the trace, which is not read'],
      passedOver: [],
    });
  });

  test('a set-up script is an error, because nothing runs it', () => {
    const { file } = inSkill(
      'name: a\nexecution: { prompt: Go }\ncontext: { scaffold_script: setup.sh }\ngraders: [{ type: llm, name: g, criteria: Good }]\n',
      'case.yaml',
    );
    expect(shown(readCases([file])).problems).toEqual(['case.yaml:3 error: context.scaffold_script is not run']);
  });
});

/** The written case format: one constant is the published schema, the validator and the type. `case.ts` has the parsed form. */
import { jsonSchema, THRESHOLDS_SCHEMA, type FromSchema, type JsonSchema } from '#core';

const MAX_COUNT = 1_000_000_000;
const MAX_REPEAT = 1000;
const DAY_SECONDS = 86_400;
const OUTCOMES = ['done', 'degraded', 'failed', 'refused', 'cancelled'] as const;

const flag = (description: string) => ({ type: 'boolean', description }) as const;
const texts = (description: string) => jsonSchema.list(description, jsonSchema.text('One entry.'));
const textOrTexts = (description: string) =>
  ({ description, anyOf: [jsonSchema.text('One text.'), texts('Several texts.')] }) as const;
const count = (description: string, minimum: number, maximum = MAX_COUNT) =>
  ({ type: 'integer', description, minimum, maximum }) as const;
const anything = (description: string) => jsonSchema.map(description, true);

const ACTION_PATTERN = {
  description: 'A tool name, in which * matches any characters, or an object with arguments.',
  anyOf: [
    jsonSchema.text('A tool name.'),
    jsonSchema.section(
      'A tool with arguments.',
      {
        tool: jsonSchema.text('The tool name; * matches any characters.'),
        arguments: anything('Expected argument values; a text /between slashes/ is a regular expression.'),
        exact: flag('Allow no other arguments.'),
        any_outcome: flag('Count refused and failed actions too (default: only actions that succeeded).'),
      },
      ['tool'],
    ),
  ],
} as const satisfies JsonSchema;

const patterns = (description: string) => jsonSchema.list(description, ACTION_PATTERN);

const OUTPUT_FILE = jsonSchema.section(
  'A file that must exist, or must not, after the run.',
  {
    path: jsonSchema.text('A glob relative to the workspace, such as out/*.md.'),
    exists: flag('Set to false if no such file may exist.'),
    contains: jsonSchema.text('Text that the file must contain.'),
    sha256: jsonSchema.text('SHA-256 of the file, as 64 hexadecimal digits.'),
    media_type: jsonSchema.text('Media type, such as application/pdf.'),
  },
  ['path'],
);

const CHECKER = jsonSchema.section(
  'A script that checks the outputs in the sandbox; exit code 0 passes.',
  {
    script: jsonSchema.text('Path relative to this file, inside the suite.'),
    arguments: texts('Arguments of the script.'),
  },
  ['script'],
);

const OUTPUT = jsonSchema.section('Checks of the answer and the files.', {
  contains: textOrTexts('Text that the answer must contain.'),
  not_contains: textOrTexts('Text that the answer must not contain.'),
  ignore_case: flag('Ignore case in contains and not_contains.'),
  regex: textOrTexts('Regular expression that must match the answer. Backreferences and lookaround are not supported.'),
  not_regex: textOrTexts('Regular expression that must not match the answer.'),
  format: jsonSchema.choice('Format of the answer.', ['json', 'markdown']),
  json_schema: anything('JSON Schema of the answer.'),
  files: jsonSchema.list('Files in the workspace.', OUTPUT_FILE),
  checkers: jsonSchema.list('Scripts that check the outputs.', CHECKER),
});

export const EXPECT = jsonSchema.section('Expectations, which must all hold.', {
  skills_all_of: texts('Skills that must all load.'),
  skills_any_of: texts('Skills of which at least one must load.'),
  skills_none_of: texts('Skills that must not load.'),
  skills_only: texts('The only skills that may load.'),
  trigger: flag('Whether skills.target must load.'),
  sequence: texts('must_occur TOOL, must_occur TOOL before TOOL, or forbid TOOL.'),
  actions: jsonSchema.section('Actions of the run.', {
    ordered: patterns('Must occur in this order; other actions may occur between.'),
    unordered: patterns('Must occur in any order.'),
    forbid: patterns('Must not occur.'),
  }),
  disclosure: jsonSchema.section('Skill content that the model may see.', {
    resources_only: texts('The only resources that may be read, as skill/path patterns.'),
    unloaded_bytes: count('Bytes of unloaded skill bodies that the model saw; must be 0.', 0, 0),
  }),
  security: jsonSchema.section('Security expectations.', {
    denied: patterns('Must be attempted and denied.'),
    asked: patterns('Must request an approval.'),
    no_escape: flag('No action may have an effect outside the project, the workspace and loaded skills.'),
  }),
  outcome: {
    description: 'Expected outcome of the run.',
    anyOf: [
      jsonSchema.choice('One outcome.', OUTCOMES),
      jsonSchema.list('One of several outcomes.', jsonSchema.choice('One outcome.', OUTCOMES)),
    ],
  },
  output: OUTPUT,
  streaming: flag('The streamed text must equal the answer.'),
  rubric: jsonSchema.list('Lines for a judge model, for what code cannot check.', {
    description: 'One line.',
    anyOf: [
      jsonSchema.text('The line.'),
      jsonSchema.section(
        'A line with an id.',
        {
          id: jsonSchema.text('Unique in its case.'),
          text: jsonSchema.text('The line.'),
          examples: jsonSchema.list(
            'Answers with a known verdict: the report says how often the judge agrees.',
            jsonSchema.section(
              'One answer.',
              { answer: jsonSchema.text('The answer.'), holds: flag('Whether the line holds for it.') },
              ['answer', 'holds'],
            ),
          ),
        },
        ['id', 'text'],
      ),
    ],
  }),
});

const CONSTRAINTS = jsonSchema.section('Budget of the run; also graded.', {
  max_turns: count('Maximum number of model answers.', 1),
  max_tool_calls: count('Maximum number of tool calls.', 0),
  max_script_runs: count('Maximum number of program runs.', 0),
  max_tokens: count('Maximum number of tokens of all requests and answers.', 1),
  max_context_tokens: count('Maximum number of tokens of one request.', 1),
  timeout_s: count('Timeout of the run in seconds.', 1, DAY_SECONDS),
  forbid_tools: texts('Tools that must not be called; * matches any characters.'),
});

const SKILLS = jsonSchema.section('Installed skills.', {
  target: jsonSchema.text('Name of the evaluated skill (default: the skill that contains this file).'),
  folders: texts('Skill folders relative to this file (default: those of the suite).'),
  distractors: texts('Folders of additional skills that should not load, relative to this file.'),
});

const FILES = texts('Files for the workspace, relative to this file or to the skill that contains it.');
const APPROVE = {
  description: 'Answer to approval requests (default: no).',
  anyOf: [jsonSchema.choice('As a word.', ['yes', 'no']), flag('As true or false.')],
} as const satisfies JsonSchema;
const PROTOCOL = jsonSchema.choice('Protocol between agent and model.', ['tools', 'actions']);
const CONFIG = anything('Project configuration for this case, as in .agent/config.json.');

const CASE_PROPERTIES = {
  id: { description: 'Id, unique in the suite.', anyOf: [jsonSchema.text('As text.'), count('As a number.', 0)] },
  name: jsonSchema.text('Name for reports.'),
  description: jsonSchema.text('Comment for readers of this file.'),
  input: jsonSchema.text('Request of the user.'),
  setup: jsonSchema.section('Groups the keys of the case with the same names.', {
    files: FILES,
    skills: SKILLS,
    config: CONFIG,
    approve: APPROVE,
    protocol: PROTOCOL,
  }),
  files: FILES,
  skills: SKILLS,
  expect: EXPECT,
  constraints: CONSTRAINTS,
  mock: jsonSchema.section(
    'Scripted answers instead of a model.',
    {
      turns: jsonSchema.list('Answers in order.', anything('One answer.')),
      harness_check: flag('The answers were generated: used only without --model, and counted in no pass rate.'),
    },
    ['turns'],
  ),
  cassette: jsonSchema.text('File of recorded answers, relative to this file, inside the suite.'),
  approve: APPROVE,
  protocol: PROTOCOL,
  config: CONFIG,
  repeat: count('Number of attempts.', 1, MAX_REPEAT),
  tags: texts('Tags to select cases by.'),
  quarantine: jsonSchema.section(
    'A flaky case: run and shown, but not counted until this day.',
    {
      until: jsonSchema.text(
        'The last day, such as 2026-12-31; at most 90 days from today. Afterwards the case counts again.',
      ),
      passed: count('How many attempts passed when it was measured.', 1),
      of: count('How many attempts were made.', 2),
    },
    ['until', 'passed', 'of'],
  ),
  draft: flag('Not confirmed by a person yet: the case is not run and counts in no verdict.'),
} as const satisfies Readonly<Record<string, JsonSchema>>;

export const EVAL_CASE_SCHEMA = jsonSchema.section('One case: request, skills and expectations.', CASE_PROPERTIES, [
  'input',
]);

export const EVAL_SUITE_SCHEMA = jsonSchema.section(
  'Several cases with shared defaults.',
  {
    $schema: jsonSchema.text('Location of this schema, for editors.'),
    defaults: jsonSchema.section('Defaults for keys of cases.', CASE_PROPERTIES),
    thresholds: THRESHOLDS_SCHEMA,
    cases: jsonSchema.list('The cases.', EVAL_CASE_SCHEMA),
  },
  ['cases'],
);

/** The published schema: a suite, a list of cases, or one case. */
export const EVAL_CASE_JSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'skillwright evaluation cases',
  anyOf: [
    {
      ...EVAL_SUITE_SCHEMA,
      properties: {
        $schema: EVAL_SUITE_SCHEMA.properties.$schema,
        defaults: EVAL_SUITE_SCHEMA.properties.defaults,
        thresholds: EVAL_SUITE_SCHEMA.properties.thresholds,
        cases: { type: 'array', description: 'The cases.', items: { $ref: '#/$defs/case' } },
      },
    },
    { type: 'array', description: 'A list of cases.', items: { $ref: '#/$defs/case' } },
    { $ref: '#/$defs/case' },
  ],
  $defs: { case: EVAL_CASE_SCHEMA },
} as const;

export type WrittenCase = FromSchema<typeof EVAL_CASE_SCHEMA>;
export type WrittenExpect = FromSchema<typeof EXPECT>;
export type WrittenOutput = FromSchema<typeof OUTPUT>;
export type WrittenPattern = FromSchema<typeof ACTION_PATTERN>;

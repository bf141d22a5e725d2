/** The case format as people write it: one constant is the published schema, the check and the type. `case.ts` is what it becomes. */
import type { FromSchema, JsonSchema, ObjectSchema } from '../../core/json/json-schema.ts';

const MAX_COUNT = 1_000_000_000;
export const MAX_REPEAT = 1000;
const DAY_SECONDS = 86_400;
const OUTCOMES = ['done', 'degraded', 'failed', 'refused', 'cancelled'] as const;

const text = <D extends string>(description: D): { readonly type: 'string'; readonly description: D } => ({
  type: 'string',
  description,
});
const flag = <D extends string>(description: D): { readonly type: 'boolean'; readonly description: D } => ({
  type: 'boolean',
  description,
});
const texts = <D extends string>(description: D) =>
  ({ type: 'array', description, items: text('One of them.') }) as const satisfies JsonSchema;
const textOrTexts = <D extends string>(description: D) =>
  ({ description, anyOf: [text('One.'), texts('Several.')] }) as const satisfies JsonSchema;
const count = <D extends string>(description: D, minimum: number, maximum = MAX_COUNT) =>
  ({ type: 'integer', description, minimum, maximum }) as const satisfies JsonSchema;
const anything = <D extends string>(description: D) =>
  ({ type: 'object', description, additionalProperties: true }) as const satisfies JsonSchema;

const ACTION_PATTERN = {
  description: 'An action: the name of its tool, * stands for any characters; or with arguments.',
  anyOf: [
    text('The name of a tool.'),
    {
      type: 'object',
      description: 'A tool and its arguments.',
      properties: {
        tool: text('Its name; * stands for any characters.'),
        arguments: anything('Arguments that must be equal; a text /between slashes/ is a regular expression.'),
        exact: flag('No other arguments may be there.'),
      },
      required: ['tool'],
      additionalProperties: false,
    },
  ],
} as const satisfies JsonSchema;

const patterns = <D extends string>(description: D) =>
  ({ type: 'array', description, items: ACTION_PATTERN }) as const satisfies JsonSchema;

const OUTPUT_FILE = {
  type: 'object',
  description: 'A file that the run must leave, or must not.',
  properties: {
    path: text('A pattern below the workspace: out/*.md.'),
    exists: flag('false: there must be none.'),
    contains: text('Stands in it.'),
    sha256: text('Of its bytes, as 64 hexadecimal digits.'),
    media_type: text('Such as application/pdf.'),
  },
  required: ['path'],
  additionalProperties: false,
} as const satisfies JsonSchema;

const CHECKER = {
  type: 'object',
  description: 'A program of the suite that looks at the outputs: exit 0 passes. It runs in the sandbox.',
  properties: { script: text('Its path from this file, inside the suite.'), arguments: texts('Its arguments.') },
  required: ['script'],
  additionalProperties: false,
} as const satisfies JsonSchema;

const OUTPUT = {
  type: 'object',
  description: 'What the answer and the files must be like.',
  properties: {
    contains: textOrTexts('Stands in the answer.'),
    not_contains: textOrTexts('Does not stand in the answer.'),
    ignore_case: flag('For contains and not_contains.'),
    regex: textOrTexts('Matches the answer. No back references, no look-around: matching takes linear time.'),
    not_regex: textOrTexts('Does not match the answer.'),
    format: { type: 'string', description: 'What the answer is.', enum: ['json', 'markdown'] },
    json_schema: anything('A JSON Schema that the answer keeps.'),
    files: { type: 'array', description: 'Files of the workspace.', items: OUTPUT_FILE },
    checkers: { type: 'array', description: 'Programs that look at the outputs.', items: CHECKER },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const EXPECT = {
  type: 'object',
  description: 'All that must hold. What is absent is not asked.',
  properties: {
    skills_all_of: texts('Skills that are all loaded.'),
    skills_any_of: texts('At least one of them is loaded.'),
    skills_none_of: texts('None of them is loaded.'),
    skills_only: texts('No skill but these is loaded.'),
    trigger: flag('Whether skills.target is loaded.'),
    sequence: texts('must_occur TOOL, must_occur TOOL before TOOL, or forbid TOOL.'),
    actions: {
      type: 'object',
      description: 'Actions of the run.',
      properties: {
        ordered: patterns('In this order; others may stand between.'),
        unordered: patterns('In any order.'),
        forbid: patterns('Never.'),
      },
      additionalProperties: false,
    },
    disclosure: {
      type: 'object',
      description: 'What of the skills was shown to the model.',
      properties: {
        resources_only: texts('No resource but these is read, as skill/path patterns.'),
        unloaded_bytes: count('Bytes of bodies that were not loaded: 0.', 0, 0),
      },
      additionalProperties: false,
    },
    security: {
      type: 'object',
      description: 'What must have been kept from the model.',
      properties: {
        denied: patterns('Were tried and denied.'),
        asked: patterns('A person was asked.'),
        no_escape: flag('Nothing was allowed outside the project, the workspace and loaded skills.'),
      },
      additionalProperties: false,
    },
    outcome: {
      description: 'How the run ends.',
      anyOf: [
        { type: 'string', description: 'One.', enum: OUTCOMES },
        {
          type: 'array',
          description: 'One of these.',
          items: { type: 'string', description: 'One.', enum: OUTCOMES },
        },
      ],
    },
    output: OUTPUT,
    streaming: flag('What was shown while it grew is what was answered.'),
    rubric: {
      type: 'array',
      description: 'Sentences for a judge; never for what code can check.',
      items: {
        description: 'A sentence.',
        anyOf: [
          text('The sentence.'),
          {
            type: 'object',
            description: 'With an id.',
            properties: { id: text('Unique in its case.'), text: text('The sentence.') },
            required: ['id', 'text'],
            additionalProperties: false,
          },
        ],
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const CONSTRAINTS = {
  type: 'object',
  description: 'What the run may use; also graded.',
  properties: {
    max_turns: count('Answers of the model.', 1),
    max_tool_calls: count('Calls of tools.', 0),
    max_script_runs: count('Programs that are run.', 0),
    max_tokens: count('Of all requests and answers together.', 1),
    max_context_tokens: count('Of one request.', 1),
    timeout_s: count('Seconds until the run is ended.', 1, DAY_SECONDS),
    forbid_tools: texts('Tools that must not be called; * stands for any characters.'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const SKILLS = {
  type: 'object',
  description: 'Which skills are there.',
  properties: {
    target: text('The skill that is evaluated, by name. Absent: that of the folder in which this file lies.'),
    folders: texts('Folders of skills, from this file. Absent: those of the suite.'),
    distractors: texts('Folders of skills that are there and should stay quiet, from this file.'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const FILES = texts('Files that are brought to the workspace: from this file, or from the skill in which it lies.');
const APPROVE = {
  description: 'What is answered where a person is asked; no where nothing is said.',
  anyOf: [{ type: 'string', description: 'In words.', enum: ['yes', 'no'] }, flag('The same as true or false.')],
} as const satisfies JsonSchema;
const PROTOCOL = { type: 'string', description: 'How the model acts.', enum: ['tools', 'actions'] } as const;
const CONFIG = anything('Configuration of the project of the case, as .agent/config.json holds it.');

const CASE_PROPERTIES = {
  id: { description: 'Unique in the suite.', anyOf: [text('A word.'), count('A number.', 0)] },
  name: text('What people read in reports.'),
  description: text('For people who read this file.'),
  input: text('What the person asks.'),
  setup: {
    type: 'object',
    description: 'What is there before the run: the keys of the case with the same names, gathered.',
    properties: { files: FILES, skills: SKILLS, config: CONFIG, approve: APPROVE, protocol: PROTOCOL },
    additionalProperties: false,
  },
  files: FILES,
  skills: SKILLS,
  expect: EXPECT,
  constraints: CONSTRAINTS,
  mock: {
    type: 'object',
    description: 'Answers of the scripted model.',
    properties: { turns: { type: 'array', description: 'In order.', items: anything('One answer.') } },
    required: ['turns'],
    additionalProperties: false,
  },
  cassette: text('A file of recorded answers, from this file, inside the suite.'),
  approve: APPROVE,
  protocol: PROTOCOL,
  config: CONFIG,
  repeat: count('How often it is run.', 1, MAX_REPEAT),
  tags: texts('Words to choose cases by.'),
} as const satisfies Readonly<Record<string, JsonSchema>>;

export const EVAL_CASE_SCHEMA = {
  type: 'object',
  description: 'One case: what is asked, of which skills, and what must come of it.',
  properties: CASE_PROPERTIES,
  required: ['input'],
  additionalProperties: false,
} as const satisfies ObjectSchema;

export const EVAL_SUITE_SCHEMA = {
  type: 'object',
  description: 'Several cases, and what they have in common.',
  properties: {
    $schema: text('Where this schema lies, for an editor.'),
    defaults: {
      type: 'object',
      description: 'Keys of cases that do not have them.',
      properties: CASE_PROPERTIES,
      additionalProperties: false,
    },
    cases: { type: 'array', description: 'The cases.', items: EVAL_CASE_SCHEMA },
  },
  required: ['cases'],
  additionalProperties: false,
} as const satisfies ObjectSchema;

/** The schema as it is published: a suite, a list of cases, or one case. */
export const EVAL_CASE_JSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'skillwright evaluation cases',
  anyOf: [
    {
      ...EVAL_SUITE_SCHEMA,
      properties: {
        $schema: EVAL_SUITE_SCHEMA.properties.$schema,
        defaults: EVAL_SUITE_SCHEMA.properties.defaults,
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

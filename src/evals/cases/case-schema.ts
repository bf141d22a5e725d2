/** The written case format: one constant is the published schema, the validator and the type. `case.ts` has the parsed form. */
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
  ({ type: 'array', description, items: text('One entry.') }) as const satisfies JsonSchema;
const textOrTexts = <D extends string>(description: D) =>
  ({ description, anyOf: [text('One text.'), texts('Several texts.')] }) as const satisfies JsonSchema;
const count = <D extends string>(description: D, minimum: number, maximum = MAX_COUNT) =>
  ({ type: 'integer', description, minimum, maximum }) as const satisfies JsonSchema;
const anything = <D extends string>(description: D) =>
  ({ type: 'object', description, additionalProperties: true }) as const satisfies JsonSchema;

const ACTION_PATTERN = {
  description: 'A tool name, in which * matches any characters, or an object with arguments.',
  anyOf: [
    text('A tool name.'),
    {
      type: 'object',
      description: 'A tool with arguments.',
      properties: {
        tool: text('The tool name; * matches any characters.'),
        arguments: anything('Expected argument values; a text /between slashes/ is a regular expression.'),
        exact: flag('Allow no other arguments.'),
        any_outcome: flag('Count refused and failed actions too (default: only actions that succeeded).'),
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
  description: 'A file that must exist, or must not, after the run.',
  properties: {
    path: text('A glob relative to the workspace, such as out/*.md.'),
    exists: flag('Set to false if no such file may exist.'),
    contains: text('Text that the file must contain.'),
    sha256: text('SHA-256 of the file, as 64 hexadecimal digits.'),
    media_type: text('Media type, such as application/pdf.'),
  },
  required: ['path'],
  additionalProperties: false,
} as const satisfies JsonSchema;

const CHECKER = {
  type: 'object',
  description: 'A script that checks the outputs in the sandbox; exit code 0 passes.',
  properties: {
    script: text('Path relative to this file, inside the suite.'),
    arguments: texts('Arguments of the script.'),
  },
  required: ['script'],
  additionalProperties: false,
} as const satisfies JsonSchema;

const OUTPUT = {
  type: 'object',
  description: 'Checks of the answer and the files.',
  properties: {
    contains: textOrTexts('Text that the answer must contain.'),
    not_contains: textOrTexts('Text that the answer must not contain.'),
    ignore_case: flag('Ignore case in contains and not_contains.'),
    regex: textOrTexts(
      'Regular expression that must match the answer. Backreferences and lookaround are not supported.',
    ),
    not_regex: textOrTexts('Regular expression that must not match the answer.'),
    format: { type: 'string', description: 'Format of the answer.', enum: ['json', 'markdown'] },
    json_schema: anything('JSON Schema of the answer.'),
    files: { type: 'array', description: 'Files in the workspace.', items: OUTPUT_FILE },
    checkers: { type: 'array', description: 'Scripts that check the outputs.', items: CHECKER },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const EXPECT = {
  type: 'object',
  description: 'Expectations, which must all hold.',
  properties: {
    skills_all_of: texts('Skills that must all load.'),
    skills_any_of: texts('Skills of which at least one must load.'),
    skills_none_of: texts('Skills that must not load.'),
    skills_only: texts('The only skills that may load.'),
    trigger: flag('Whether skills.target must load.'),
    sequence: texts('must_occur TOOL, must_occur TOOL before TOOL, or forbid TOOL.'),
    actions: {
      type: 'object',
      description: 'Actions of the run.',
      properties: {
        ordered: patterns('Must occur in this order; other actions may occur between.'),
        unordered: patterns('Must occur in any order.'),
        forbid: patterns('Must not occur.'),
      },
      additionalProperties: false,
    },
    disclosure: {
      type: 'object',
      description: 'Skill content that the model may see.',
      properties: {
        resources_only: texts('The only resources that may be read, as skill/path patterns.'),
        unloaded_bytes: count('Bytes of unloaded skill bodies that the model saw; must be 0.', 0, 0),
      },
      additionalProperties: false,
    },
    security: {
      type: 'object',
      description: 'Security expectations.',
      properties: {
        denied: patterns('Must be attempted and denied.'),
        asked: patterns('Must request an approval.'),
        no_escape: flag('No action may have an effect outside the project, the workspace and loaded skills.'),
      },
      additionalProperties: false,
    },
    outcome: {
      description: 'Expected outcome of the run.',
      anyOf: [
        { type: 'string', description: 'One outcome.', enum: OUTCOMES },
        {
          type: 'array',
          description: 'One of several outcomes.',
          items: { type: 'string', description: 'One outcome.', enum: OUTCOMES },
        },
      ],
    },
    output: OUTPUT,
    streaming: flag('The streamed text must equal the answer.'),
    rubric: {
      type: 'array',
      description: 'Lines for a judge model, for what code cannot check.',
      items: {
        description: 'One line.',
        anyOf: [
          text('The line.'),
          {
            type: 'object',
            description: 'A line with an id.',
            properties: { id: text('Unique in its case.'), text: text('The line.') },
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
  description: 'Budget of the run; also graded.',
  properties: {
    max_turns: count('Maximum number of model answers.', 1),
    max_tool_calls: count('Maximum number of tool calls.', 0),
    max_script_runs: count('Maximum number of program runs.', 0),
    max_tokens: count('Maximum number of tokens of all requests and answers.', 1),
    max_context_tokens: count('Maximum number of tokens of one request.', 1),
    timeout_s: count('Timeout of the run in seconds.', 1, DAY_SECONDS),
    forbid_tools: texts('Tools that must not be called; * matches any characters.'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const SKILLS = {
  type: 'object',
  description: 'Installed skills.',
  properties: {
    target: text('Name of the evaluated skill (default: the skill that contains this file).'),
    folders: texts('Skill folders relative to this file (default: those of the suite).'),
    distractors: texts('Folders of additional skills that should not load, relative to this file.'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const FILES = texts('Files for the workspace, relative to this file or to the skill that contains it.');
const APPROVE = {
  description: 'Answer to approval requests (default: no).',
  anyOf: [{ type: 'string', description: 'As a word.', enum: ['yes', 'no'] }, flag('As true or false.')],
} as const satisfies JsonSchema;
const PROTOCOL = {
  type: 'string',
  description: 'Protocol between agent and model.',
  enum: ['tools', 'actions'],
} as const;
const CONFIG = anything('Project configuration for this case, as in .agent/config.json.');

const CASE_PROPERTIES = {
  id: { description: 'Id, unique in the suite.', anyOf: [text('As text.'), count('As a number.', 0)] },
  name: text('Name for reports.'),
  description: text('Comment for readers of this file.'),
  input: text('Request of the user.'),
  setup: {
    type: 'object',
    description: 'Groups the keys of the case with the same names.',
    properties: { files: FILES, skills: SKILLS, config: CONFIG, approve: APPROVE, protocol: PROTOCOL },
    additionalProperties: false,
  },
  files: FILES,
  skills: SKILLS,
  expect: EXPECT,
  constraints: CONSTRAINTS,
  mock: {
    type: 'object',
    description: 'Scripted answers instead of a model.',
    properties: {
      turns: { type: 'array', description: 'Answers in order.', items: anything('One answer.') },
      harness_check: flag('The answers were generated: used only without --model, and counted in no pass rate.'),
    },
    required: ['turns'],
    additionalProperties: false,
  },
  cassette: text('File of recorded answers, relative to this file, inside the suite.'),
  approve: APPROVE,
  protocol: PROTOCOL,
  config: CONFIG,
  repeat: count('Number of attempts.', 1, MAX_REPEAT),
  tags: texts('Tags to select cases by.'),
} as const satisfies Readonly<Record<string, JsonSchema>>;

export const EVAL_CASE_SCHEMA = {
  type: 'object',
  description: 'One case: request, skills and expectations.',
  properties: CASE_PROPERTIES,
  required: ['input'],
  additionalProperties: false,
} as const satisfies ObjectSchema;

export const EVAL_SUITE_SCHEMA = {
  type: 'object',
  description: 'Several cases with shared defaults.',
  properties: {
    $schema: text('Location of this schema, for editors.'),
    defaults: {
      type: 'object',
      description: 'Defaults for keys of cases.',
      properties: CASE_PROPERTIES,
      additionalProperties: false,
    },
    cases: { type: 'array', description: 'The cases.', items: EVAL_CASE_SCHEMA },
  },
  required: ['cases'],
  additionalProperties: false,
} as const satisfies ObjectSchema;

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

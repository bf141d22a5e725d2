import type { InputRequest } from '../core/action.ts';
import { isObject } from '../core/json/json-schema.ts';
import type { JsonSchema, ObjectSchema } from '../core/json/json-schema.ts';
import type { OutputParameters } from '../core/outputs.ts';
import type { Offer, ToolInput } from '../core/tool.ts';
import {
  count,
  flag,
  inputOf,
  isSet,
  listOf,
  numberOf,
  optionalTextOf,
  skillName,
  text,
  textOf,
  texts,
  textsOf,
} from './parameters.ts';

/** The parameters of tools that run programs, as trpc has them, and their way into actions. */

export const DAY_IN_SECONDS = 86_400;
const MOST_BYTES = 1_099_511_627_776;

export const environment: JsonSchema = {
  type: 'object',
  description: 'Environment variables.',
  additionalProperties: text('Its value.'),
};

export const timeout = count('Seconds until the command is ended.', 1, DAY_IN_SECONDS, 300);

const input: ObjectSchema = inputOf(
  'A file to bring into the workspace.',
  {
    from: text('artifact://name[@version], host://path, workspace://path or skill://name/path.'),
    to: text('Where it goes in the workspace; work/inputs/<name> where nothing is said.'),
    mode: { type: 'string', description: 'Copied, or linked where possible.', enum: ['copy', 'link'], default: 'copy' },
    pin: flag('Keep the version that was found the first time.'),
  },
  ['from'],
);

const outputs: ObjectSchema = inputOf('Files to collect afterwards.', {
  globs: texts('Patterns in the workspace; ** and $OUTPUT_DIR/** are understood.'),
  inline: flag('Give the contents in the result.'),
  save: flag('Keep the files as artifacts.'),
  name_template: text('What the names of artifacts start with.'),
  max_files: count('Files collected.', 1, 10_000, 100),
  max_file_bytes: count('Bytes of one file.', 1, MOST_BYTES, 4 * 1024 * 1024),
  max_total_bytes: count('Bytes of all files.', 1, MOST_BYTES, 64 * 1024 * 1024),
});

/** What every program may be given and asked for. */
export const givenParameters = {
  stdin: text('What it reads from its standard input.'),
  timeout,
  inputs: { type: 'array', description: 'Files to bring into the workspace first.', items: input },
  outputs,
} as const;

export function runParameters(offer: Offer): Readonly<Record<string, JsonSchema>> {
  return {
    skill: skillName(offer),
    command: text('The shell command.'),
    cwd: text('Folder below the skill; the skill itself where nothing is said.'),
    env: environment,
    stdin: text('What the command reads from its standard input.'),
    editor_text: text('What an editor that the command opens will have written.'),
    output_files: texts('Patterns of files to collect, such as out/*.txt.'),
    timeout,
    save_as_artifacts: flag('Keep the collected files as artifacts.'),
    omit_inline_content: flag('Leave the contents of files out of the result.'),
    artifact_prefix: text('What the names of artifacts start with.'),
    inputs: { type: 'array', description: 'Files to bring into the workspace first.', items: input },
    outputs,
  };
}

export const yieldTime = (byDefault: number): JsonSchema =>
  count('Milliseconds to wait for output.', 0, 600_000, byDefault);
export const pollLines = count('Lines of output to return at most.', 1, 20_000, 40);

/** What a program is given, from input that has passed the schema. */
export function programOf(input: ToolInput): {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly timeoutSeconds?: number;
} {
  const stdin = optionalTextOf(input, 'stdin');
  const seconds = numberOf(input, 'timeout') ?? numberOf(input, 'timeout_sec') ?? numberOf(input, 'timeoutSec');
  const env = textMapOf(input, 'env');
  return {
    ...(env === undefined ? {} : { env }),
    ...(stdin === undefined ? {} : { stdin }),
    ...(seconds === undefined ? {} : { timeoutSeconds: seconds }),
  };
}

export function inputsOf(input: ToolInput): readonly InputRequest[] {
  return listOf(input, 'inputs').flatMap((item) => {
    if (!isObject(item)) return [];
    const to = optionalTextOf(item, 'to');
    const mode = optionalTextOf(item, 'mode');
    return [
      {
        from: textOf(item, 'from'),
        ...(to === undefined ? {} : { to }),
        ...(mode === 'copy' || mode === 'link' ? { mode } : {}),
        ...(isSet(item, 'pin') ? { pin: true } : {}),
      },
    ];
  });
}

/** Both ways to ask for files, as they were given: one mechanism reads them. */
export function outputsOf(input: ToolInput): OutputParameters {
  const declared = Object.hasOwn(input, 'outputs') && isObject(input['outputs']) ? input['outputs'] : undefined;
  const prefix = optionalTextOf(input, 'artifact_prefix');
  return {
    output_files: textsOf(input, 'output_files'),
    save_as_artifacts: isSet(input, 'save_as_artifacts'),
    omit_inline_content: isSet(input, 'omit_inline_content'),
    ...(prefix === undefined ? {} : { artifact_prefix: prefix }),
    ...(declared === undefined ? {} : { outputs: manifestOf(declared) }),
  };
}

function manifestOf(declared: ToolInput): NonNullable<OutputParameters['outputs']> {
  const name = optionalTextOf(declared, 'name_template');
  const number = (key: 'max_files' | 'max_file_bytes' | 'max_total_bytes'): object => {
    const value = numberOf(declared, key);
    return value === undefined ? {} : { [key]: value };
  };
  return {
    globs: textsOf(declared, 'globs'),
    inline: isSet(declared, 'inline'),
    save: isSet(declared, 'save'),
    ...(name === undefined ? {} : { name_template: name }),
    ...number('max_files'),
    ...number('max_file_bytes'),
    ...number('max_total_bytes'),
  };
}

function textMapOf(input: ToolInput, key: string): Readonly<Record<string, string>> | undefined {
  const value = Object.hasOwn(input, key) ? input[key] : undefined;
  if (!isObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => (typeof item === 'string' ? [[name, item]] : [])),
  );
}

import { jsonSchema, isObject, type JsonSchema, type ObjectSchema, type Offer, type Action, type OfType } from '#core';
import {
  isSet,
  readList,
  named,
  readNumber,
  readOptionalText,
  rare,
  skillName,
  readText,
  texts,
  readTexts,
  type ToolInput,
} from './parameters.ts';

/** The parameters of tools that run programs, as trpc defines them, and their conversion to actions. */

export const DAY_IN_SECONDS = 86_400;
const MOST_BYTES = 1_099_511_627_776;

export const environment: JsonSchema = {
  type: 'object',
  description: 'Environment variables.',
  additionalProperties: jsonSchema.text('Its value.'),
};

export const timeout = jsonSchema.count('Timeout of the command in seconds.', 1, DAY_IN_SECONDS, 300);

const input: ObjectSchema = jsonSchema.section(
  'A file.',
  {
    from: jsonSchema.text('artifact://name[@version], host://path, workspace://path or skill://name/path.'),
    to: jsonSchema.text('Destination in the workspace (default: work/inputs/<name>).'),
    mode: {
      type: 'string',
      description: 'Copy the file, or link it where possible.',
      enum: ['copy', 'link'],
      default: 'copy',
    },
    pin: jsonSchema.flag('Keep the version that was resolved first.'),
  },
  ['from'],
);

const outputs: ObjectSchema = jsonSchema.section(
  'Files to collect: {globs, inline, save, name_template, max_files, max_file_bytes, max_total_bytes}.',
  {
    globs: texts('Patterns in the workspace, including ** and $OUTPUT_DIR/**.'),
    inline: jsonSchema.flag('Include the contents in the result.'),
    save: jsonSchema.flag('Keep the files as artifacts.'),
    name_template: jsonSchema.text('Prefix of the artifact names.'),
    max_files: jsonSchema.count('Files collected.', 1, 10_000, 100),
    max_file_bytes: jsonSchema.count('Maximum bytes of one file.', 1, MOST_BYTES, 4 * 1024 * 1024),
    max_total_bytes: jsonSchema.count('Maximum bytes of all files.', 1, MOST_BYTES, 64 * 1024 * 1024),
  },
);

const inputs: JsonSchema = {
  type: 'array',
  description:
    'Files to copy in: {from: artifact://name[@version] | host://path | workspace://path | skill://name/path, to, mode: copy | link, pin}.',
  items: input,
};

/** Packages for the skill. Offered only where they can be installed. */
export function packagesParameter({ execution }: Offer): Readonly<Record<string, JsonSchema>> {
  return execution?.hasPackages === true ? { packages: texts('Packages to install first: pypdf, npm:docx.') } : {};
}

/** The inputs and outputs that every program supports. Models seldom need them, so the first wrong call explains them. */
export const programParameters: Readonly<Record<string, JsonSchema>> = {
  stdin: rare(jsonSchema.text('The standard input.')),
  timeout: rare(timeout),
  inputs: rare(inputs),
  outputs: rare(outputs),
};

export function runParameters(offer: Offer): Readonly<Record<string, JsonSchema>> {
  return {
    skill: skillName,
    command: named(jsonSchema.text('The shell command.')),
    cwd: named(jsonSchema.text('Folder below the skill (default: the skill folder).')),
    env: named(environment),
    stdin: named(jsonSchema.text('The standard input of the command.')),
    editor_text: named(jsonSchema.text('The text that an editor opened by the command will contain.')),
    output_files: texts('Patterns such as out/*.txt.'),
    timeout: named(timeout),
    save_as_artifacts: named(jsonSchema.flag('Keep the collected files as artifacts.')),
    omit_inline_content: named(jsonSchema.flag('Omit the contents of files from the result.')),
    artifact_prefix: named(jsonSchema.text('Prefix of the artifact names.')),
    inputs: { ...inputs, brief: 'text' },
    outputs: { ...outputs, brief: 'text' },
    ...packagesParameter(offer),
  };
}

export const yieldTime = (byDefault: number): JsonSchema =>
  named(jsonSchema.count('Milliseconds to wait for output.', 0, 600_000, byDefault));
export const pollLines = named(jsonSchema.count('Maximum lines of output to return.', 1, 20_000, 40));

export function readProgramOptions(input: ToolInput): {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly timeoutSeconds?: number;
  readonly packages?: readonly string[];
} {
  const stdin = readOptionalText(input, 'stdin');
  const seconds = readNumber(input, 'timeout') ?? readNumber(input, 'timeout_sec') ?? readNumber(input, 'timeoutSec');
  const env = readTextMap(input, 'env');
  const packages = readTexts(input, 'packages');
  return {
    env,
    stdin,
    timeoutSeconds: seconds,
    ...(packages.length === 0 ? {} : { packages }),
  };
}

export function readInputs(input: ToolInput): readonly NonNullable<OfType<Action, 'run_script'>['inputs']>[number][] {
  return readList(input, 'inputs').flatMap((item) => {
    if (!isObject(item)) return [];
    const to = readOptionalText(item, 'to');
    const mode = readOptionalText(item, 'mode');
    return [
      {
        from: readText(item, 'from'),
        to,
        ...(mode === 'copy' || mode === 'link' ? { mode } : {}),
        ...(isSet(item, 'pin') ? { pin: true } : {}),
      },
    ];
  });
}

/** Passes both forms of requesting files on as given; one mechanism handles them. */
export function readOutputs(input: ToolInput): NonNullable<OfType<Action, 'run_command'>['outputs']> {
  const declared = Object.hasOwn(input, 'outputs') && isObject(input['outputs']) ? input['outputs'] : undefined;
  const prefix = readOptionalText(input, 'artifact_prefix');
  return {
    output_files: readTexts(input, 'output_files'),
    save_as_artifacts: isSet(input, 'save_as_artifacts'),
    omit_inline_content: isSet(input, 'omit_inline_content'),
    artifact_prefix: prefix,
    outputs: declared === undefined ? undefined : readManifest(declared),
  };
}

function readManifest(
  declared: ToolInput,
): NonNullable<NonNullable<OfType<Action, 'run_command'>['outputs']>['outputs']> {
  const name = readOptionalText(declared, 'name_template');
  const number = (key: 'max_files' | 'max_file_bytes' | 'max_total_bytes'): object => {
    const value = readNumber(declared, key);
    return value === undefined ? {} : { [key]: value };
  };
  return {
    globs: readTexts(declared, 'globs'),
    ...(Object.hasOwn(declared, 'inline') ? { inline: isSet(declared, 'inline') } : {}),
    save: isSet(declared, 'save'),
    name_template: name,
    ...number('max_files'),
    ...number('max_file_bytes'),
    ...number('max_total_bytes'),
  };
}

function readTextMap(input: ToolInput, key: string): Readonly<Record<string, string>> | undefined {
  const value = Object.hasOwn(input, key) ? input[key] : undefined;
  if (!isObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => (typeof item === 'string' ? [[name, item]] : [])),
  );
}

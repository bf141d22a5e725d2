import { jsonSchema, type Action, type FromSchema, type Offer, type OfType } from '#core';
import { named, onlyIf, rare, skillName, texts } from './parameters.ts';

/** The parameters of tools that run programs, as trpc defines them, and their conversion to actions. */

export const DAY_IN_SECONDS = 86_400;
const MOST_BYTES = 1_099_511_627_776;

export const environment = jsonSchema.map('Environment variables.', jsonSchema.text('Its value.'));

/** In the system of trpc 0 is the default, too. */
export const timeout = jsonSchema.count('Timeout of the command in seconds.', 0, DAY_IN_SECONDS, 300);

const outputs = jsonSchema.section(
  'Files to collect: {globs, inline, save, name_template, max_files, max_file_bytes, max_total_bytes}.',
  {
    globs: texts('Patterns in the workspace, including ** and $OUTPUT_DIR/**.'),
    inline: jsonSchema.flag('Include the contents in the result.'),
    save: jsonSchema.flag('Keep the files as artifacts.'),
    name_template: jsonSchema.text('Prefix of the artifact names.'),
    // As with the timeout, 0 is the default.
    max_files: jsonSchema.count('Files collected.', 0, 10_000, 100),
    max_file_bytes: jsonSchema.count('Maximum bytes of one file.', 0, MOST_BYTES, 4 * 1024 * 1024),
    max_total_bytes: jsonSchema.count('Maximum bytes of all files.', 0, MOST_BYTES, 64 * 1024 * 1024),
  },
);

const inputs = jsonSchema.list(
  'Files to copy in: {from: artifact://name[@version] | host://path | workspace://path | skill://name/path, to, mode: copy | link, pin}.',
  jsonSchema.section(
    'A file.',
    {
      from: jsonSchema.text('artifact://name[@version], host://path, workspace://path or skill://name/path.'),
      to: jsonSchema.text('Destination in the workspace (default: work/inputs/<name>).'),
      mode: jsonSchema.choice('Copy the file, or link it where possible.', ['copy', 'link'], 'copy'),
      pin: jsonSchema.flag('Keep the version that was resolved first.'),
    },
    ['from'],
  ),
);

/** Packages for the skill. Offered only where they can be installed. */
export function packagesParameter({ execution }: Offer) {
  return onlyIf(execution?.hasPackages === true, { packages: texts('Packages to install first: pypdf, npm:docx.') });
}

/** The inputs and outputs that every program supports. Models seldom need them, so the first wrong call explains them. */
export const programParameters = {
  stdin: rare(jsonSchema.text('The standard input.')),
  timeout: rare(timeout),
  inputs: rare(inputs),
  outputs: rare(outputs),
};

export function runParameters(offer: Offer) {
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
    inputs: { ...inputs, brief: 'text' as const },
    outputs: { ...outputs, brief: 'text' as const },
    ...packagesParameter(offer),
  };
}

export type RunParameters = ReturnType<typeof runParameters>;
export type RunInput = { readonly [K in keyof RunParameters]?: FromSchema<RunParameters[K]> };

export const yieldTime = (byDefault: number) =>
  named(jsonSchema.count('Milliseconds to wait for output.', 0, 600_000, byDefault));
export const pollLines = named(jsonSchema.count('Maximum lines of output to return.', 1, 20_000, 40));

export function toProgramOptions({ env, stdin, timeout: timeoutSeconds, packages = [] }: RunInput) {
  return {
    env,
    stdin,
    timeoutSeconds: timeoutSeconds || undefined,
    packages: packages.length === 0 ? undefined : packages,
  };
}

/** Passes both forms of requesting files on as given; one mechanism handles them. */
export function toOutputs(input: RunInput): NonNullable<OfType<Action, 'run_command'>['outputs']> {
  const { max_files: files, max_file_bytes: fileBytes, max_total_bytes: totalBytes, ...outputs } = input.outputs ?? {};
  return {
    output_files: input.output_files ?? [],
    save_as_artifacts: input.save_as_artifacts ?? false,
    omit_inline_content: input.omit_inline_content ?? false,
    artifact_prefix: input.artifact_prefix,
    outputs: input.outputs && {
      globs: [],
      save: false,
      ...outputs,
      max_files: files || undefined,
      max_file_bytes: fileBytes || undefined,
      max_total_bytes: totalBytes || undefined,
    },
  };
}

import type { JsonSchema, ObjectSchema } from '../core/json-schema.ts';
import type { DeclaredTool, Offer } from '../core/tool.ts';
import { count, flag, inputOf, skillName, text, texts } from './parameters.ts';

/** The tools of trpc that run things: their contract, written down until there is something to run them with. */

const DAY_IN_SECONDS = 86_400;
const MOST_BYTES = 1_099_511_627_776;

const environment: JsonSchema = {
  type: 'object',
  description: 'Environment variables.',
  additionalProperties: text('Its value.'),
};

const timeout = count('Seconds until the command is ended.', 1, DAY_IN_SECONDS, 300);

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

function runParameters(offer: Offer): Readonly<Record<string, JsonSchema>> {
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

const sessionId = text('The session, as skill_exec gave it.');
const yieldTime = (byDefault: number): JsonSchema => count('Milliseconds to wait for output.', 0, 600_000, byDefault);
const pollLines = count('Lines of output to return at most.', 1, 20_000, 40);

export const TRPC_DECLARED: readonly DeclaredTool[] = [
  {
    name: 'skill_run',
    description: 'Run a command in the workspace of a skill and collect its output files.',
    schema: (offer) => inputOf('What to run.', runParameters(offer), ['skill', 'command']),
  },
  {
    name: 'skill_exec',
    description: 'Start a command of a skill that may ask questions; answer them with skill_write_stdin.',
    schema: (offer) =>
      inputOf(
        'What to run.',
        {
          ...runParameters(offer),
          tty: flag('Give the command a terminal.'),
          yield_ms: yieldTime(1_000),
          poll_lines: pollLines,
        },
        ['skill', 'command'],
      ),
  },
  {
    name: 'skill_write_stdin',
    description: 'Write to a session of skill_exec; without characters it only looks for new output.',
    schema: () =>
      inputOf(
        'What to write.',
        {
          session_id: sessionId,
          chars: text('The characters.'),
          submit: flag('Add a line end.'),
          yield_ms: yieldTime(400),
          poll_lines: pollLines,
        },
        ['session_id'],
      ),
  },
  {
    name: 'skill_poll_session',
    description: 'Look for new output of a session of skill_exec.',
    schema: () =>
      inputOf('Which session.', { session_id: sessionId, yield_ms: yieldTime(400), poll_lines: pollLines }, [
        'session_id',
      ]),
  },
  {
    name: 'skill_kill_session',
    description: 'End a session of skill_exec.',
    schema: () => inputOf('Which session.', { session_id: sessionId }, ['session_id']),
  },
  {
    name: 'workspace_exec',
    description: 'Run a shell command in the workspace.',
    schema: () =>
      inputOf(
        'What to run.',
        {
          command: text('The shell command.'),
          cwd: text('Folder in the workspace.'),
          env: environment,
          stdin: text('What the command reads from its standard input.'),
          timeout,
          timeout_sec: count('Another name of timeout.', 1, DAY_IN_SECONDS),
          timeoutSec: count('Another name of timeout.', 1, DAY_IN_SECONDS),
          yield_time_ms: count('Milliseconds to wait for output before the command goes on as a session.', 0, 600_000),
          yieldMs: count('Another name of yield_time_ms.', 0, 600_000),
          background: flag('Do not wait.'),
          tty: flag('Give the command a terminal.'),
          pty: flag('Another name of tty.'),
        },
        ['command'],
      ),
  },
];

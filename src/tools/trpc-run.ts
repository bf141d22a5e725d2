import {
  jsonSchema,
  type JsonSchema,
  type Offer,
  type ToolRow,
  type Observation,
  type OfType,
  type Action,
} from '#core';
import { isSet, named, readNumber, readOptionalText, rare, readText, type ToolInput } from './parameters.ts';
import {
  DAY_IN_SECONDS,
  environment,
  readInputs,
  readOutputs,
  pollLines,
  readProgramOptions,
  runParameters,
  timeout,
  yieldTime,
} from './run-parameters.ts';
import { canRun, observed, singleAction } from './single-action.ts';

/** The tools of trpc that run programs. Offered only if execution is enabled. */

const sessionId = named(jsonSchema.text('The session id that skill_exec returned.'));

/** The schema of skill_run describes these; a model is sent the two that are required. */
const startParameters = (offer: Offer): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(
    Object.entries(runParameters(offer)).map(([key, schema]) => [
      key,
      key === 'skill' || key === 'command' ? schema : rare(schema),
    ]),
  );

const canTalk = (offer: Offer): boolean => canRun(offer) && offer.execution?.hasInteraction === true;

const skillRun: ToolRow = singleAction({
  name: 'skill_run',
  description:
    'Run a shell command in the folder of a skill and collect its output files. Write results to $OUTPUT_DIR.',
  action: 'run_command',
  schema: (offer) => jsonSchema.section('What to run.', runParameters(offer), ['skill', 'command']),
  toAction: (input) => ({ type: 'run_command', ...readCommand(input) }),
  toResult: ({ result }) => result,
  isOffered: canRun,
});

const skillExec: ToolRow = singleAction({
  name: 'skill_exec',
  description:
    'Start a command that may ask questions; answer them with skill_write_stdin. Takes the parameters of skill_run, too.',
  action: 'start_command',
  schema: (offer) =>
    jsonSchema.section<Record<string, JsonSchema>>(
      'What to run.',
      {
        ...startParameters(offer),
        tty: named(jsonSchema.flag('Give the command a terminal.')),
        yield_ms: yieldTime(1_000),
        poll_lines: pollLines,
      },
      ['skill', 'command'],
    ),
  toAction: (input) => ({
    type: 'start_command',
    ...readCommand(input),
    ...readWaitOptions(input),
    terminal: isSet(input, 'tty'),
  }),
  toResult: seen,
  isOffered: canTalk,
});

const writeStdin: ToolRow = singleAction({
  name: 'skill_write_stdin',
  description: 'Write to a session of skill_exec.',
  action: 'write_input',
  schema: () =>
    jsonSchema.section(
      'What to write.',
      {
        session_id: sessionId,
        chars: named(jsonSchema.text('The characters.')),
        submit: jsonSchema.flag('Append a line break.'),
        yield_ms: yieldTime(400),
        poll_lines: pollLines,
      },
      ['session_id'],
    ),
  toAction: (input) => ({
    type: 'write_input',
    session: readText(input, 'session_id'),
    chars: readText(input, 'chars'),
    submit: isSet(input, 'submit'),
    ...readWaitOptions(input),
  }),
  toResult: seen,
  isOffered: canTalk,
});

const pollSession: ToolRow = singleAction({
  name: 'skill_poll_session',
  description: 'Get new output of a session.',
  action: 'poll_command',
  schema: () =>
    jsonSchema.section('Which session.', { session_id: sessionId, yield_ms: yieldTime(400), poll_lines: pollLines }, [
      'session_id',
    ]),
  toAction: (input) => ({ type: 'poll_command', session: readText(input, 'session_id'), ...readWaitOptions(input) }),
  toResult: seen,
  isOffered: canTalk,
});

const killSession: ToolRow = singleAction({
  name: 'skill_kill_session',
  description: 'End a session.',
  action: 'kill_command',
  schema: () => jsonSchema.section('Which session.', { session_id: sessionId }, ['session_id']),
  toAction: (input) => ({ type: 'kill_command', session: readText(input, 'session_id') }),
  toResult: ({ session, status }) => ({ ok: true, session_id: session, status }),
  isOffered: canTalk,
});

/** Waits for the end, or continues as a session on request: then skill_write_stdin and the other session tools apply. */
const workspaceExec: ToolRow = {
  name: 'workspace_exec',
  description: 'Run a shell command in the workspace. Skills that ran before are in skills/<name>.',
  action: 'run_command',
  isOffered: canRun,
  schema: (offer) =>
    jsonSchema.section(
      'What to run.',
      {
        command: named(jsonSchema.text('The shell command.')),
        cwd: named(jsonSchema.text('Folder in the workspace (default: its root).')),
        env: named(environment),
        stdin: named(jsonSchema.text('The standard input of the command.')),
        timeout: named(timeout),
        timeout_sec: rare(jsonSchema.count('Alias of timeout.', 1, DAY_IN_SECONDS)),
        timeoutSec: rare(jsonSchema.count('Alias of timeout.', 1, DAY_IN_SECONDS)),
        ...(canTalk(offer) ? sessionParameters : {}),
      },
      ['command'],
    ),
  toActions(input, offer) {
    const cwd = readOptionalText(input, 'cwd') ?? '';
    // Other actions without a skill start in work/; an absolute or $WORK_DIR path is used as it is.
    const folder = /^[/$]/.test(cwd) ? cwd : `$WORKSPACE_DIR/${cwd}`;
    const command = { command: readText(input, 'command'), cwd: folder, ...readProgramOptions(input) };
    const wait = isSet(input, 'background') ? 0 : (readNumber(input, 'yield_time_ms') ?? readNumber(input, 'yieldMs'));
    const terminal = isSet(input, 'tty') || isSet(input, 'pty');
    if (!canTalk(offer) || (wait === undefined && !terminal)) return [{ type: 'run_command', ...command }];
    return [{ type: 'start_command', ...command, terminal, yieldMs: wait }];
  },
  toResult([observation]) {
    return observation?.type === 'command-seen'
      ? seen(observation)
      : workspaceResult(observed(observation, 'run_command'));
  },
};

const sessionParameters = {
  yield_time_ms: rare(
    jsonSchema.count('Milliseconds to wait for output before the command continues as a session.', 0, 600_000),
  ),
  yieldMs: rare(jsonSchema.count('Alias of yield_time_ms.', 0, 600_000)),
  background: named(jsonSchema.flag('Do not wait.')),
  tty: named(jsonSchema.flag('Give the command a terminal.')),
  pty: rare(jsonSchema.flag('Alias of tty.')),
};

export const TRPC_RUN: readonly ToolRow[] = [skillRun, skillExec, writeStdin, pollSession, killSession, workspaceExec];

function readCommand(input: ToolInput): Omit<OfType<Action, 'run_command'>, 'type'> & { readonly skill: string } {
  const cwd = readOptionalText(input, 'cwd');
  const editorText = readOptionalText(input, 'editor_text');
  return {
    skill: readText(input, 'skill'),
    command: readText(input, 'command'),
    ...(cwd === undefined || cwd === '' ? {} : { cwd }),
    editorText,
    ...readProgramOptions(input),
    inputs: readInputs(input),
    outputs: readOutputs(input),
  };
}

function readWaitOptions(input: ToolInput): { readonly yieldMs?: number; readonly pollLines?: number } {
  const yieldMs = readNumber(input, 'yield_ms');
  const lines = readNumber(input, 'poll_lines');
  return { yieldMs, pollLines: lines };
}

function seen({
  session,
  status,
  output,
  offset,
  nextOffset,
  exitCode,
  question,
  result,
}: OfType<Observation, 'command-seen'>): unknown {
  return {
    status,
    session_id: session,
    output,
    offset,
    next_offset: nextOffset,
    exit_code: exitCode,
    interaction: question === undefined ? undefined : { needs_input: true, ...question },
    result,
  };
}

/** Both streams in one text, like the shell tool of trpc. */
function workspaceResult({ result }: Pick<OfType<Observation, 'program-ran'>, 'result'>): unknown {
  const { stdout, stderr, exit_code: exitCode, timed_out: timedOut, reason, warnings, isolation } = result;
  return {
    status: 'exited',
    output: [stdout, stderr].filter((part) => part !== '').join('\n'),
    exit_code: exitCode,
    timed_out: timedOut,
    truncated: warnings.some((warning) => warning.endsWith(' truncated')),
    reason,
    isolation,
    warnings,
  };
}

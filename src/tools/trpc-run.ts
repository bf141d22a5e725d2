import { jsonSchema, type Offer, type ToolRow, type Observation, type OfType } from '#core';
import { named, onlyIf, rare } from './parameters.ts';
import {
  DAY_IN_SECONDS,
  environment,
  pollLines,
  runParameters,
  timeout,
  toOutputs,
  toProgramOptions,
  yieldTime,
  type RunInput,
  type RunParameters,
} from './run-parameters.ts';
import { canRun, defineTool, hasExecution, observed, singleAction } from './single-action.ts';

/** The tools of trpc that run programs. Offered only if execution is enabled. */

const sessionId = named(jsonSchema.text('The session id that skill_exec returned.'));

/** The schema of skill_run describes these; a model is sent the two that are required. */
function startParameters(offer: Offer): RunParameters {
  const { skill, command, ...others } = runParameters(offer);
  const unsent = Object.fromEntries(Object.entries(others).map(([key, schema]) => [key, rare(schema)]));
  // The same keys and types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { skill, command, ...(unsent as unknown as typeof others) };
}

const canTalk = (offer: Offer): boolean => canRun(offer) && offer.execution?.hasInteraction === true;

const skillRun: ToolRow = singleAction({
  name: 'skill_run',
  description:
    'Run a shell command in the folder of a skill and collect its output files. Write results to $OUTPUT_DIR.',
  action: 'run_command',
  schema: (offer) => jsonSchema.section('What to run.', runParameters(offer), ['skill', 'command']),
  toAction: (input) => ({ type: 'run_command', ...toCommand(input) }),
  toResult: ({ result }) => result,
  // Without skills it says that a skill is unknown, as the tools that load do.
  isOffered: hasExecution,
});

const skillExec: ToolRow = singleAction({
  name: 'skill_exec',
  description:
    'Start a command that may ask questions; answer them with skill_write_stdin. Takes the parameters of skill_run, too.',
  action: 'start_command',
  schema: (offer) =>
    jsonSchema.section(
      'What to run.',
      {
        ...startParameters(offer),
        tty: named(jsonSchema.flag('Give the command a terminal.')),
        yield_ms: yieldTime(1_000),
        poll_lines: pollLines,
      },
      ['skill', 'command'],
    ),
  toAction: ({ tty: terminal = false, ...input }) => ({
    type: 'start_command',
    ...toCommand(input),
    ...toWaitOptions(input),
    terminal,
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
  toAction: ({ session_id: session, chars = '', submit = false, ...wait }) => ({
    type: 'write_input',
    session,
    chars,
    submit,
    ...toWaitOptions(wait),
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
  toAction: ({ session_id: session, ...wait }) => ({ type: 'poll_command', session, ...toWaitOptions(wait) }),
  toResult: seen,
  isOffered: canTalk,
});

const killSession: ToolRow = singleAction({
  name: 'skill_kill_session',
  description: 'End a session.',
  action: 'kill_command',
  schema: () => jsonSchema.section('Which session.', { session_id: sessionId }, ['session_id']),
  toAction: ({ session_id: session }) => ({ type: 'kill_command', session }),
  toResult: ({ session, status }) => ({ ok: true, session_id: session, status }),
  isOffered: canTalk,
});

/** Waits for the end, or continues as a session on request: then skill_write_stdin and the other session tools apply. */
const workspaceExec: ToolRow = defineTool({
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
        timeout_sec: rare(jsonSchema.count('Alias of timeout.', 0, DAY_IN_SECONDS)),
        timeoutSec: rare(jsonSchema.count('Alias of timeout.', 0, DAY_IN_SECONDS)),
        ...onlyIf(canTalk(offer), sessionParameters),
      },
      ['command'],
    ),
  toActions({ command: line, cwd = '', tty, pty, background, ...input }, offer) {
    // Other actions without a skill start in work/; an absolute or $WORK_DIR path is used as it is.
    const folder = /^[/$]/.test(cwd) ? cwd : `$WORKSPACE_DIR/${cwd}`;
    const seconds = input.timeout || input.timeout_sec || input.timeoutSec;
    const command = { command: line, cwd: folder, ...toProgramOptions({ ...input, timeout: seconds }) };
    const wait = background === true ? 0 : (input.yield_time_ms ?? input.yieldMs);
    const terminal = tty === true || pty === true;
    if (!canTalk(offer) || (wait === undefined && !terminal)) return [{ type: 'run_command', ...command }];
    return [{ type: 'start_command', ...command, terminal, yieldMs: wait }];
  },
  toResult([observation]) {
    return observation?.type === 'command-seen'
      ? seen(observation)
      : workspaceResult(observed(observation, 'run_command'));
  },
});

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

function toCommand(input: RunInput & { readonly skill: string; readonly command: string }) {
  const { skill, command, cwd, editor_text: editorText, inputs = [] } = input;
  return {
    skill,
    command,
    cwd: cwd || undefined,
    editorText,
    ...toProgramOptions(input),
    inputs: inputs.map(withAbsolutePath),
    outputs: toOutputs(input),
  };
}

/** Their documentation writes `host://abs/path` and means the path `/abs/path`, which rules and records have to see. */
function withAbsolutePath<Input extends { readonly from: string }>(input: Input): Input {
  return { ...input, from: input.from.replace(/^host:\/\/(?=[^/.~$])/, 'host:///') };
}

interface WaitInput {
  readonly yield_ms?: number;
  readonly poll_lines?: number;
}

function toWaitOptions({ yield_ms: yieldMs, poll_lines: lines }: WaitInput) {
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

import {
  count,
  flag,
  text,
  type CommandSeen,
  type JsonSchema,
  type Offer,
  type ProgramRan,
  type RunCommand,
  type ToolInput,
  type ToolRow,
} from '#core';
import { inputOf, isSet, named, numberOf, optionalTextOf, rare, textOf } from './parameters.ts';
import {
  DAY_IN_SECONDS,
  environment,
  inputsOf,
  outputsOf,
  pollLines,
  programOf,
  runParameters,
  timeout,
  yieldTime,
} from './run-parameters.ts';
import { canRun, observed, singleAction } from './single-action.ts';

/** The tools of trpc that run programs. Offered only if execution is enabled. */

const sessionId = named(text('The session id that skill_exec returned.'));

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
  schema: (offer) => inputOf('What to run.', runParameters(offer), ['skill', 'command']),
  toAction: (input) => ({ type: 'run_command', ...commandOf(input) }),
  toResult: ({ result }) => result,
  isOffered: canRun,
});

const skillExec: ToolRow = singleAction({
  name: 'skill_exec',
  description:
    'Start a command that may ask questions; answer them with skill_write_stdin. Takes the parameters of skill_run, too.',
  action: 'start_command',
  schema: (offer) =>
    inputOf(
      'What to run.',
      {
        ...startParameters(offer),
        tty: named(flag('Give the command a terminal.')),
        yield_ms: yieldTime(1_000),
        poll_lines: pollLines,
      },
      ['skill', 'command'],
    ),
  toAction: (input) => ({
    type: 'start_command',
    ...commandOf(input),
    ...waitingOf(input),
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
    inputOf(
      'What to write.',
      {
        session_id: sessionId,
        chars: named(text('The characters.')),
        submit: flag('Append a line break.'),
        yield_ms: yieldTime(400),
        poll_lines: pollLines,
      },
      ['session_id'],
    ),
  toAction: (input) => ({
    type: 'write_input',
    session: textOf(input, 'session_id'),
    chars: textOf(input, 'chars'),
    submit: isSet(input, 'submit'),
    ...waitingOf(input),
  }),
  toResult: seen,
  isOffered: canTalk,
});

const pollSession: ToolRow = singleAction({
  name: 'skill_poll_session',
  description: 'Get new output of a session.',
  action: 'poll_command',
  schema: () =>
    inputOf('Which session.', { session_id: sessionId, yield_ms: yieldTime(400), poll_lines: pollLines }, [
      'session_id',
    ]),
  toAction: (input) => ({ type: 'poll_command', session: textOf(input, 'session_id'), ...waitingOf(input) }),
  toResult: seen,
  isOffered: canTalk,
});

const killSession: ToolRow = singleAction({
  name: 'skill_kill_session',
  description: 'End a session.',
  action: 'kill_command',
  schema: () => inputOf('Which session.', { session_id: sessionId }, ['session_id']),
  toAction: (input) => ({ type: 'kill_command', session: textOf(input, 'session_id') }),
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
    inputOf(
      'What to run.',
      {
        command: named(text('The shell command.')),
        cwd: named(text('Folder in the workspace (default: its root).')),
        env: named(environment),
        stdin: named(text('The standard input of the command.')),
        timeout: named(timeout),
        timeout_sec: rare(count('Alias of timeout.', 1, DAY_IN_SECONDS)),
        timeoutSec: rare(count('Alias of timeout.', 1, DAY_IN_SECONDS)),
        ...(canTalk(offer) ? sessionParameters : {}),
      },
      ['command'],
    ),
  toActions(input, offer) {
    const cwd = optionalTextOf(input, 'cwd') ?? '';
    // Other actions without a skill start in work/; an absolute or $WORK_DIR path is used as it is.
    const folder = /^[/$]/.test(cwd) ? cwd : `$WORKSPACE_DIR/${cwd}`;
    const command = { command: textOf(input, 'command'), cwd: folder, ...programOf(input) };
    const wait = isSet(input, 'background') ? 0 : (numberOf(input, 'yield_time_ms') ?? numberOf(input, 'yieldMs'));
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
  yield_time_ms: rare(count('Milliseconds to wait for output before the command continues as a session.', 0, 600_000)),
  yieldMs: rare(count('Alias of yield_time_ms.', 0, 600_000)),
  background: named(flag('Do not wait.')),
  tty: named(flag('Give the command a terminal.')),
  pty: rare(flag('Alias of tty.')),
};

export const TRPC_RUN: readonly ToolRow[] = [skillRun, skillExec, writeStdin, pollSession, killSession, workspaceExec];

function commandOf(input: ToolInput): Omit<RunCommand, 'type'> & { readonly skill: string } {
  const cwd = optionalTextOf(input, 'cwd');
  const editorText = optionalTextOf(input, 'editor_text');
  return {
    skill: textOf(input, 'skill'),
    command: textOf(input, 'command'),
    ...(cwd === undefined || cwd === '' ? {} : { cwd }),
    editorText,
    ...programOf(input),
    inputs: inputsOf(input),
    outputs: outputsOf(input),
  };
}

function waitingOf(input: ToolInput): { readonly yieldMs?: number; readonly pollLines?: number } {
  const yieldMs = numberOf(input, 'yield_ms');
  const lines = numberOf(input, 'poll_lines');
  return { yieldMs, pollLines: lines };
}

/** The state of a session under the names of trpc. */
function seen({ session, status, output, offset, nextOffset, exitCode, question, result }: CommandSeen): unknown {
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
function workspaceResult({ result }: Pick<ProgramRan, 'result'>): unknown {
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

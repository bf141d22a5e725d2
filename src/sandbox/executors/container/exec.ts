import { setImmediate, setTimeout as delay } from 'node:timers/promises';

import { printable, quoted, type SkillError, type AttachedWorkspace } from '#core';
import { executorFailed } from '../failures.ts';
import { engineFailure, type EngineClient } from './client.ts';
import { takeExecOutput, type ExecOutput } from './exec-output.ts';
import { field, numberField, textField } from './json-answer.ts';
import { userText } from './settings.ts';
import type { WarmContainer } from './warm-container.ts';
import { withinTime, type Child } from '../../process/child-process.ts';
import type { Identity } from '../../program-types.ts';

/** A program to run in a container. */
export interface ExecProgram {
  readonly argv: readonly string[];
  /** Path inside the container. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: Identity;
  readonly hasTerminal: boolean;
  readonly hasInput: boolean;
  readonly maxOutputBytes: number;
}

/** Intervals for polling whether a program still runs. The end of its stream tells sooner, unless another process keeps it open. */
const POLL_FIRST_MS = 200;
const POLL_SLOWEST_MS = 1000;
/** Interval after the stream has ended, until the engine reports the exit. */
const POLL_ENDED_MS = 5;
/** The stream ends when every process that could write to it is gone; an engine that is silent for this long is broken. */
const BROKEN_MS = 25_000;
const END_OF_INPUT = Uint8Array.of(4);

/** Variables that engines set on their own. */
const ENGINE_ENV = ['PATH', 'HOSTNAME', 'TERM', 'HOME', 'container'] as const;

/** Starts a program. `kill` removes the whole container: nothing less ends everything that a program may have started. */
export async function startExec(
  client: EngineClient,
  container: WarmContainer,
  { program, streams }: { readonly program: ExecProgram; readonly streams: Parameters<AttachedWorkspace['run']>[1] },
): Promise<Child> {
  const { hasTerminal, hasInput, argv } = program;
  const { signal } = streams;
  const created = await client.post(`/containers/${container.id}/exec`, {
    signal,
    json: {
      AttachStdin: hasInput,
      AttachStdout: true,
      AttachStderr: true,
      Tty: hasTerminal,
      User: userText(program.user),
      WorkingDir: program.cwd,
      Env: environment(program.env, container, client.kind),
      Cmd: argv,
    },
  });
  const execId = textField(field(created.body, 'Id'));
  if (execId === undefined) throw engineFailure('the container engine returned no exec id', 'no id');
  const { socket, head } = await client.converse(`/exec/${execId}/start`, {
    signal,
    json: { Detach: false, Tty: hasTerminal },
  });
  const output = takeExecOutput(socket, head, {
    stdout: streams.stdout,
    stderr: streams.stderr,
    isTerminal: hasTerminal,
    maxBytes: program.maxOutputBytes,
  });
  const following: Following = { client, container, execId, output };
  let isKilled = false;
  let hunted = 0;
  const exited = followExit(following);
  const ended = (async (): Promise<Awaited<Child['ended']>> => {
    const exit = await exited;
    await withinTime(output.closed);
    // Before the end is reported, leftover processes must have stopped writing into the workspace, and to the stream.
    if (container.isOpen && (await container.hasLeftovers())) hunted = 1;
    if (isKilled || hunted > 0) await container.remove();
    if (!isKilled) await drain(output);
    const message = output.engineMessage();
    if (!isKilled && message !== undefined && (exit.exitCode === 126 || exit.exitCode === 127)) {
      socket.destroy();
      throw startFailure(argv[0] ?? '', message);
    }
    output.finish();
    return exit;
  })();
  return {
    pid: 0,
    exited,
    ended,
    refused: output.refused,
    write: (bytes) => {
      if (socket.writable) socket.write(bytes);
    },
    closeInput: () => {
      if (!socket.writable || !hasInput) return;
      // A terminal has no end of file; its line discipline turns ^D into one.
      if (hasTerminal) socket.write(END_OF_INPUT);
      else socket.end();
    },
    kill: () => {
      isKilled = true;
      // `ended` awaits the same promise and reports a failure.
      container.remove().catch(() => socket.destroy());
    },
    hunted: () => hunted,
  };
}

/** Exactly the given variables. Those of the image and the engine are unset, which only Docker supports. */
function environment(
  env: Readonly<Record<string, string>>,
  { imageEnv }: WarmContainer,
  kind: EngineClient['kind'],
): readonly string[] {
  const unwanted = kind === 'docker' ? new Set([...ENGINE_ENV, ...imageEnv]) : new Set<string>();
  return [
    ...[...unwanted].filter((name) => !Object.hasOwn(env, name)),
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
  ];
}

interface Following {
  readonly client: EngineClient;
  readonly container: WarmContainer;
  readonly execId: string;
  readonly output: ExecOutput;
}

/** Waits until the engine reports the exit: a stream may end before its program or continue after it. */
async function followExit({ client, container, execId, output }: Following): Promise<Awaited<Child['ended']>> {
  let isStreamOver = false;
  let pause = POLL_FIRST_MS;
  const streamOver = output.closed.then(() => {
    isStreamOver = true;
    pause = POLL_ENDED_MS;
  });
  for (;;) {
    const waiting = new AbortController();
    // A pending timer would keep the process alive.
    const passed = delay(pause, undefined, { signal: waiting.signal }).catch(ignoreAbort);
    await (isStreamOver ? passed : Promise.race([streamOver, passed]));
    waiting.abort();
    const { status, body } = await client.get(`/exec/${execId}/json`, { also: [404, 409, 500] });
    // The container is gone, and the program with it.
    if (status !== 200 || !container.isOpen) return { signal: 'SIGKILL' };
    const exitCode = numberField(field(body, 'ExitCode'));
    if (field(body, 'Running') === false && exitCode !== undefined) return { exitCode };
    pause = Math.min(pause * 2, POLL_SLOWEST_MS);
  }
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
}

/** Waits for the end of the stream; gives up on an engine that sends nothing for BROKEN_MS. */
async function drain(output: ExecOutput): Promise<void> {
  const over = output.closed.then(() => true);
  for (let before: number | undefined; before !== output.lastBytesAt();) {
    before = output.lastBytesAt();
    if ((await withinTime(over, BROKEN_MS)) === true) return;
    // Node runs timers before it reads sockets: bytes that arrived while this process was busy must not count as silence.
    await setImmediate();
  }
}

function startFailure(command: string, message: string): SkillError<'executor/failed'> {
  const cause = printable(message);
  const hint = 'check that the program exists in the image and is executable';
  return executorFailed('container', `${quoted(command)} cannot be started: ${cause}`, { hint, cause });
}

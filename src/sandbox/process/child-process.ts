import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { timerMs, isDirectory, isPresent, isSystemError } from '#platform';
import {
  countText,
  invalidInput,
  printable,
  quoted,
  shellWord,
  SkillError,
  type ProgramEnd,
  type AttachedWorkspace,
} from '#core';
import type { ProcessRow } from './proc.ts';
import { cpuTimer } from './cpu-timer.ts';
import { childSlots, type Inherited } from './inherited-descriptors.ts';
import { RUN_MARK, followTree, processTable, type ProcessTable } from './process-tree.ts';
import type { OutputPipes } from './output-pipes.ts';
import { ignoreClosed, takeOutput } from './child-output.ts';
import type { RunLimits, Identity } from '../program-types.ts';

type RunStreams = Parameters<AttachedWorkspace['run']>[1];

/** A process to start. It inherits nothing from this process except what is listed here. */
export interface ChildSpec {
  readonly argv: readonly string[];
  /** Path on the host. */
  readonly cwd: string;
  /** The whole environment, except for the variable `RUN_MARK`. Its `PATH` is searched for the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly identity?: Identity;
  /**
   * The whole input, if it is known: the child sees a file, which it can seek in and reopen. Without it, input is written later through
   * a socket: bash then assumes a remote shell and reads `~/.bashrc`, unless SHLVL is set.
   */
  readonly stdin?: Uint8Array;
  /** The descriptors 3, 4, ... of the child. */
  readonly inherited?: readonly Inherited[];
  readonly terminal?: boolean;
  /** Limit for stdout and stderr together; further output is not passed to the sinks and counts as refused. */
  readonly maxOutputBytes?: number;
  /** The child takes all its descendants with it (pid namespace, container client): no search for survivors. */
  readonly isContained?: boolean;
  /** The child adopts all its descendants and ends them on SIGTERM. A search of /proc from here misses programs that fork without end. */
  readonly isReaper?: boolean;
  /** Shared between programs, so that one scan of /proc serves all of them. */
  readonly processes?: ProcessTable;
  /** Named pipes for the outputs (default: sockets, which programs cannot open by path). */
  readonly pipes?: OutputPipes;
  /** The name in errors. */
  readonly executor?: string;
}

interface ChildExit {
  readonly exitCode?: number;
  readonly signal?: string;
}

/** A running process in its own process group. */
export interface Child {
  readonly pid: number;
  /** Resolves when the process exited, all its descendants are gone, and its outputs are drained or closed. */
  readonly ended: Promise<ChildExit>;
  /** Resolves when the process exited; descendants may still run. */
  readonly exited?: Promise<ChildExit>;
  /** Resolves when a sink refused output or the limit was exceeded; never otherwise. */
  readonly refused?: Promise<void>;
  write(bytes: Uint8Array): void;
  closeInput(): void;
  /** Sends SIGKILL to the group and all known descendants. May be called at any time. */
  kill(): void;
  /** The descendants among these processes. */
  members?(rows: readonly ProcessRow[]): readonly ProcessRow[];
  /** Number of processes that left the group or outlived the child and were killed one by one. */
  hunted?(): number;
}

/** How long the streams may stay open after the exit, for the last lines of a process that was left behind. */
const GRACE_MS = 250;
/** How often and at which interval killed processes are checked. */
const MAX_TRIES = 500;
const GONE_MS = 5;
/** How long a killed process may take to disappear, and a launcher to end the processes of its program. */
const KILLED_MS = 10_000;
const REAPED_MS = 8_000;
/** How long output and descendants may take after a program exited by itself: hundreds may end at once. */
const LEFT_MS = 30_000;
const POLL_MS = 100;
/** The pause after a check is at least this many times the processor time of the check. */
const POLL_SHARE = 3;

const SCRIPT = '/usr/bin/script';

/** Starts a process. Throws `executor/failed` if the system refuses, `executor/unavailable` if no terminal can be created. */
export async function startChild(spec: ChildSpec, streams: RunStreams): Promise<Child> {
  checkSpec(spec);
  const mark = randomUUID();
  const { command, args, env } = buildCommand(spec, mark);
  const pipes = await spec.pipes?.take();
  const slots = childSlots(spec.inherited ?? [], spec.terminal === true ? undefined : spec.stdin, spec.identity);
  let child: ChildProcess;
  try {
    if (slots.uncovered.length > 0)
      throw failed(spec, `it would inherit the open descriptors ${slots.uncovered.join(', ')} of this process`);
    child = spawn(command, args, {
      cwd: spec.cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: [slots.input, pipes?.[0].writer ?? 'pipe', pipes?.[1].writer ?? 'pipe', ...slots.stdio],
      uid: spec.identity?.uid,
      gid: spec.identity?.gid,
    });
  } catch (error) {
    for (const pipe of pipes ?? []) pipe.read().destroy();
    if (isSystemError(error)) throw failed(spec, printable(error.message), error);
    throw error;
  } finally {
    slots.close();
    for (const { writer } of pipes ?? []) closeSync(writer);
  }
  const outputs = pipes === undefined ? undefined : ([pipes[0].read(), pipes[1].read()] as const);
  return await follow(child, { spec, streams, mark, outputs });
}

function checkSpec({ argv, cwd, env }: ChildSpec): void {
  const words = [...argv, cwd, ...Object.entries(env).flat()];
  const [command = ''] = argv;
  const withNul = words.find((word) => word.includes('\0'));
  if (command === '' || withNul !== undefined)
    throw invalidInput(
      command === '' ? 'no program given' : `${quoted(withNul ?? '')} contains a NUL character`,
      'words without NUL characters',
      'give the program and its arguments as words without NUL characters',
    );
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function buildCommand(spec: ChildSpec, mark: string): Command {
  const [command = '', ...args] = spec.argv;
  const env = { ...spec.env, [RUN_MARK]: mark };
  if (spec.terminal !== true) return { command, args, env };
  if (!isPresent(SCRIPT))
    throw new SkillError({
      code: 'executor/unavailable',
      message: `cannot create a terminal: ${SCRIPT} is missing`,
      hint: 'install util-linux, or run without a terminal',
      data: { executor: spec.executor ?? 'local', reasons: [`${SCRIPT} is missing`], install: 'apt install bsdutils' },
    });
  if (process.platform === 'darwin') return { command: SCRIPT, args: ['-q', '/dev/null', ...spec.argv], env };
  // `script` passes the line to `$SHELL`, which must be a POSIX shell.
  const line = `exec ${spec.argv.map(shellWord).join(' ')}`;
  return { command: SCRIPT, args: ['-qefc', line, '/dev/null'], env: { ...env, SHELL: '/bin/sh' } };
}

function failed(spec: ChildSpec, cause: string, error?: unknown): SkillError<'executor/failed'> {
  return new SkillError({
    code: 'executor/failed',
    message: `cannot start ${quoted(spec.argv[0] ?? '')}: ${cause}`,
    hint: 'check that the program exists and is executable',
    data: { executor: spec.executor ?? 'local', cause },
    cause: error,
  });
}

/** A missing program and a missing working directory are both ENOENT. */
function startFailure(spec: ChildSpec, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  if (error.code === 'ENOENT' && !isDirectory(spec.cwd))
    return failed(spec, `the working directory ${quoted(spec.cwd)} does not exist`, error);
  return failed(spec, error.code === 'ENOENT' ? 'program not found' : printable(error.message), error);
}

interface Following {
  readonly spec: ChildSpec;
  readonly streams: RunStreams;
  readonly mark: string;
  /** Replace the streams of the child. */
  readonly outputs: readonly [Readable, Readable] | undefined;
}

async function follow(child: ChildProcess, { spec, streams, mark, outputs }: Following): Promise<Child> {
  const { stdin } = child;
  const [stdout, stderr] = outputs ?? [child.stdout, child.stderr];
  if (stdout === null || stderr === null) throw new TypeError('the child process has no output streams');
  stdin?.on('error', ignoreClosed);
  // All listeners are registered before the first await: a short program may have exited by then.
  const intake = takeOutput([stdout, streams.stdout], [stderr, streams.stderr], spec.maxOutputBytes ?? Infinity);
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve({ ...(code === null ? {} : { exitCode: code }), ...(signal === null ? {} : { signal }) }),
    );
  });
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(startFailure(spec, error)));
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
  const tree = followTree(pid, mark, spec.processes ?? processTable());
  let isOver = false;
  const ended = (async () => {
    const exit = await exited;
    let over = performance.now();
    stdin?.destroy();
    await withinTime(Promise.race([intake.closed, intake.refused]), GRACE_MS);
    // A killed process takes a moment to disappear, longer with more memory.
    for (let tries = 0; spec.isContained !== true && tree.killSurvivors(over) && tries < MAX_TRIES; tries += 1) {
      await delay(GONE_MS);
      over = performance.now();
    }
    await intake.drain();
    isOver = true;
    return exit;
  })();
  return {
    pid,
    exited,
    ended,
    refused: intake.refused,
    write: (bytes) => {
      if (stdin?.writable === true) stdin.write(bytes);
    },
    closeInput: () => {
      if (stdin?.writable === true) stdin.end();
    },
    kill: () => {
      if (isOver) return;
      if (spec.isContained === true) tree.killGroup();
      else if (spec.isReaper === true) {
        tree.terminate();
        // A launcher that hangs cannot reap.
        void withinTime(ended, REAPED_MS).then(
          (end) => end ?? tree.kill(),
          () => undefined,
        );
      } else tree.kill();
    },
    members: (rows) => tree.members(rows),
    hunted: () => tree.hunted(),
  };
}

export interface Supervision {
  readonly limits: RunLimits;
  readonly streams: RunStreams;
  /** `performance.now()` when the program was requested: the time limit counts from there. */
  readonly started: number;
  /**
   * Checks limits without events (disk, memory, processes) about every 100 ms, less often if it is slow, and once after the end. A
   * returned reason ends the program.
   */
  readonly poll?: (isLast: boolean) => ProgramEnd['reason'] | undefined;
  /** Asks for the next check in less than 100 ms. */
  readonly pauseMs?: () => number;
}

/** Waits for a child, and kills it when a limit is reached or the signal aborts. The first reason is reported. */
export async function supervise(child: Child, supervision: Supervision): Promise<ProgramEnd> {
  const { limits, streams, started, poll, pauseMs = (): number => POLL_MS } = supervision;
  const watching = new AbortController();
  let durationMs = 0;
  let isRefused = false;
  try {
    const reason = await new Promise<ProgramEnd['reason']>((resolve, reject) => {
      const left = Math.max(0, limits.wallMs - (performance.now() - started));
      const settle = (why: ProgramEnd['reason']) => (): void => resolve(why);
      whenPassed(timerMs(left), watching.signal, settle('timeout'));
      // A derived signal: many programs may share the caller's, and Node warns about more than ten listeners.
      const leaving = streams.signal === undefined ? undefined : AbortSignal.any([streams.signal]);
      if (leaving?.aborted === true) resolve('cancelled');
      leaving?.addEventListener('abort', settle('cancelled'), { signal: watching.signal });
      child.refused?.then(() => {
        isRefused = true;
        resolve('output');
      }, reject);
      (child.exited ?? child.ended).then(settle('exited'), reject);
      child.ended.catch(reject);
      if (poll !== undefined) pollUntil({ poll, pauseMs }, watching.signal).then(resolve, reject);
    });
    durationMs = Math.round(performance.now() - started);
    if (reason !== 'exited') child.kill();
    const ended = await withinTime(child.ended, reason === 'exited' ? LEFT_MS : KILLED_MS);
    const exit = ended ?? (reason === 'exited' ? await child.exited : undefined);
    const found = reason === 'exited' ? (isRefused ? 'output' : poll?.(true)) : undefined;
    const isOver = ended !== undefined;
    return programEnd({ reason: found ?? reason, exit, isOver, durationMs, hunted: child.hunted?.() ?? 0 });
  } catch (error) {
    child.kill();
    throw error;
  } finally {
    watching.abort();
  }
}

interface Ending {
  readonly reason: ProgramEnd['reason'];
  readonly exit: ChildExit | undefined;
  /** All processes are gone and all output was read. */
  readonly isOver: boolean;
  readonly durationMs: number;
  readonly hunted: number;
}

function programEnd({ reason, exit, isOver, durationMs, hunted }: Ending): ProgramEnd {
  const warnings: string[] = [];
  if (exit === undefined) warnings.push('the program was killed but has not exited');
  else if (!isOver) warnings.push('processes of the program are still running; its last output may be missing');
  if (hunted > 0) {
    const outlived = countText(hunted, 'process', 'processes');
    warnings.push(
      `${outlived} outlived the program or left its process group, and ${hunted === 1 ? 'was' : 'were'} killed`,
    );
  }
  if (reason === 'exited' && exit?.signal === undefined)
    return { reason, exitCode: exit?.exitCode, durationMs, warnings };
  return { reason: reason === 'exited' ? 'signal' : reason, signal: exit?.signal, durationMs, warnings };
}

/** Polls until a reason is found; rejects what `poll` throws. */
function pollUntil(
  { poll, pauseMs }: Required<Pick<Supervision, 'poll' | 'pauseMs'>>,
  signal: AbortSignal,
): Promise<ProgramEnd['reason']> {
  const pause = (): number => Math.min(POLL_MS, pauseMs());
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const timer = cpuTimer();
      try {
        const reason = poll(false);
        if (reason !== undefined) resolve(reason);
        else whenPassed(Math.max(pause(), timer() * POLL_SHARE), signal, look);
      } catch (error) {
        // A bug: reject the waiting promise instead of crashing in the event loop.
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    whenPassed(pause(), signal, look);
  });
}

function whenPassed(ms: number, signal: AbortSignal, act: () => void): void {
  if (signal.aborted) return;
  const stop = (): void => clearTimeout(timer);
  const timer = setTimeout(() => {
    // Otherwise listeners accumulate: a long program is polled thousands of times with one signal.
    signal.removeEventListener('abort', stop);
    act();
  }, ms);
  signal.addEventListener('abort', stop, { once: true });
}

export async function withinTime<T>(promise: Promise<T>, ms = GRACE_MS): Promise<T | undefined> {
  const waiting = new AbortController();
  try {
    return await Promise.race([
      promise,
      new Promise<undefined>((resolve) => whenPassed(ms, waiting.signal, () => resolve(undefined))),
    ]);
  } finally {
    waiting.abort();
  }
}

interface ChildRun extends Omit<Supervision, 'started'> {
  readonly stdin: Uint8Array;
}

/** Runs a process until it ends. */
export async function runChild(spec: ChildSpec, { stdin, ...run }: ChildRun): Promise<ProgramEnd> {
  const started = performance.now();
  if (run.streams.signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
  const child = await startChild({ maxOutputBytes: run.limits.outputBytes, stdin, ...spec }, run.streams);
  return await supervise(child, { ...run, started });
}

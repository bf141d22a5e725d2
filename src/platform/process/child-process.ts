import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { SkillError } from '../../core/errors.ts';
import type { EndReason, Identity, ProgramEnd, RunLimits, RunStreams } from '../../core/execution.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { ignoreClosed, takeOutput } from './child-output.ts';
import { childSlots } from './inherited-descriptors.ts';
import type { Inherited } from './inherited-descriptors.ts';
import { isDirectory, isPresent, isSystemError } from '../fs/paths.ts';
import type { OutputPipes } from './output-pipes.ts';
import { ProcessTable, ProcessTree, RUN_MARK } from './process-tree.ts';
import type { ProcessRow } from './process-tree.ts';

/** A process to be started. Nothing of ours reaches it but what is written here. */
export interface ChildSpec {
  readonly argv: readonly string[];
  /** On the host. */
  readonly cwd: string;
  /** All of it, but for the mark that `RUN_MARK` names. `PATH` of it is where the first word is looked for. */
  readonly env: Readonly<Record<string, string>>;
  readonly identity?: Identity;
  /**
   * All of its input, where that is known: a file to the child, which it can seek in and open again. Without it input is written later,
   * and arrives through a socket: bash then takes itself for a remote shell and reads `~/.bashrc`, unless SHLVL is set.
   */
  readonly stdin?: Uint8Array;
  /** What the child finds at descriptors 3, 4, ... */
  readonly inherited?: readonly Inherited[];
  readonly terminal?: boolean;
  /** Of stdout and stderr together; what is more is not given to the sinks, and counts as refused by them. */
  readonly maxOutputBytes?: number;
  /** Nothing of it outlives the child (a namespace of processes, a client of an engine): survivors are not looked for. */
  readonly isContained?: boolean;
  /** Shared by those who run many programs: one look at the machine serves all of them. */
  readonly processes?: ProcessTable;
  /** Where its outputs come from; sockets otherwise, which no program can open by name. */
  readonly pipes?: OutputPipes;
  /** Named in errors. */
  readonly executor?: string;
}

export interface ChildExit {
  readonly exitCode?: number;
  readonly signal?: string;
}

/** A process that runs, in a group of its own. */
export interface Child {
  readonly pid: number;
  /** The exit is known, every process that came from it is gone, every descriptor of ours drained or cut. */
  readonly ended: Promise<ChildExit>;
  /** The exit is known; others of its processes may still run. */
  readonly exited?: Promise<ChildExit>;
  /** Resolves when a sink took no more, or more came than was allowed; never otherwise. */
  readonly refused?: Promise<void>;
  write(bytes: Uint8Array): void;
  closeInput(): void;
  /** SIGKILL to the group and all known descendants. May be called at any time. */
  kill(): void;
  /** Those of these processes that came from it. */
  members?(rows: readonly ProcessRow[]): readonly ProcessRow[];
  /** Processes that had left the group or outlived the child, and had to be ended one by one. */
  hunted?(): number;
}

/** How long after its exit a child's streams may stay open, because a process it left behind writes its last lines. */
const GRACE_MS = 250;
/** How often, and after how long, it is seen whether killed processes are gone. */
const MAX_TRIES = 500;
const GONE_MS = 5;
/** How long a killed process may take to be gone. */
const KILLED_MS = 10_000;
/** How long, after a program ended by itself, its last output and what it left behind may take: hundreds may end at once. */
const LEFT_MS = 30_000;
const POLL_MS = 100;
/** A look at the disk may take this part of the time at most. */
const POLL_SHARE = 10;
const MAX_TIMER_MS = 2_147_483_647;

const SCRIPT = '/usr/bin/script';

/** Starts a process. Throws `SkillError` `executor/failed` where the system refuses, `executor/unavailable` where there is no terminal. */
export async function startChild(spec: ChildSpec, streams: RunStreams): Promise<Child> {
  checkSpec(spec);
  const mark = randomUUID();
  const { command, args, env } = commandOf(spec, mark);
  const pipes = await spec.pipes?.take();
  const slots = childSlots(spec.inherited ?? [], spec.terminal === true ? undefined : spec.stdin);
  let child: ChildProcess;
  try {
    if (slots.uncovered.length > 0)
      throw failed(spec, `descriptors ${slots.uncovered.join(', ')} of this process would reach the program`);
    child = spawn(command, args, {
      cwd: spec.cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: [slots.input, pipes?.[0].writer ?? 'pipe', pipes?.[1].writer ?? 'pipe', ...slots.stdio],
      ...(spec.identity === undefined ? {} : { uid: spec.identity.uid, gid: spec.identity.gid }),
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
  if (command === '' || words.some((word) => word.includes('\0')))
    throw new SkillError({
      code: 'input/invalid',
      message: command === '' ? 'there is no program to run' : `a NUL is in ${quoted(words.find(hasNul) ?? '')}`,
      hint: 'give the program and its arguments as words without NUL characters',
      data: { expected: 'words without NUL characters' },
    });
}

function hasNul(word: string): boolean {
  return word.includes('\0');
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function commandOf(spec: ChildSpec, mark: string): Command {
  const [command = '', ...args] = spec.argv;
  const env = { ...spec.env, [RUN_MARK]: mark };
  if (spec.terminal !== true) return { command, args, env };
  if (!isPresent(SCRIPT))
    throw new SkillError({
      code: 'executor/unavailable',
      message: `no terminal can be made: ${SCRIPT} is missing`,
      hint: 'install util-linux, or run without a terminal',
      data: { executor: spec.executor ?? 'local', reasons: [`${SCRIPT} is missing`], install: 'apt install bsdutils' },
    });
  if (process.platform === 'darwin') return { command: SCRIPT, args: ['-q', '/dev/null', ...spec.argv], env };
  // It takes a line for `$SHELL`; ours is one, whatever the program wants to see there.
  const line = `exec ${spec.argv.map(shellWord).join(' ')}`;
  return { command: SCRIPT, args: ['-qefc', line, '/dev/null'], env: { ...env, SHELL: '/bin/sh' } };
}

function failed(spec: ChildSpec, cause: string, error?: unknown): SkillError<'executor/failed'> {
  return new SkillError({
    code: 'executor/failed',
    message: `${quoted(spec.argv[0] ?? '')} cannot be started: ${cause}`,
    hint: 'check that the program exists and may be run',
    data: { executor: spec.executor ?? 'local', cause },
    ...(error === undefined ? {} : { cause: error }),
  });
}

/** The system's refusal, told apart from a folder that is not there: both are ENOENT. */
function startFailure(spec: ChildSpec, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  if (error.code === 'ENOENT' && !isDirectory(spec.cwd))
    return failed(spec, `the folder ${quoted(spec.cwd)} is missing`, error);
  return failed(spec, error.code === 'ENOENT' ? 'there is no such program' : printable(error.message), error);
}

interface Following {
  readonly spec: ChildSpec;
  readonly streams: RunStreams;
  readonly mark: string;
  /** Instead of the child's own. */
  readonly outputs: readonly [Readable, Readable] | undefined;
}

async function follow(child: ChildProcess, { spec, streams, mark, outputs }: Following): Promise<Child> {
  const { stdin } = child;
  const [stdout, stderr] = outputs ?? [child.stdout, child.stderr];
  if (stdout === null || stderr === null) throw new TypeError('a child without its streams');
  stdin?.on('error', ignoreClosed);
  // All of it before the first wait: a short program may be over by then.
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
  const tree = new ProcessTree(pid, mark, spec.processes ?? new ProcessTable());
  let isOver = false;
  const ended = (async () => {
    const exit = await exited;
    let over = performance.now();
    stdin?.destroy();
    await withinTime(Promise.race([intake.closed, intake.refused]), GRACE_MS);
    // A killed process takes a moment to be gone, the more the more memory it had.
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
      else tree.kill();
    },
    members: (rows) => tree.members(rows),
    hunted: () => tree.hunted(),
  };
}

export interface Watch {
  readonly limits: RunLimits;
  readonly streams: RunStreams;
  /** `performance.now()` when the program was asked for: the time limit counts from there. */
  readonly started: number;
  /**
   * Looks at what no event tells (disk, memory, processes): about every 100 ms, less often where it is slow, and once after the end.
   * A reason ends the program.
   */
  readonly poll?: (isLast: boolean) => EndReason | undefined;
}

/** Waits for the end of a child and brings it about where a limit is reached or nobody wants it any more. The first reason counts. */
export async function supervise(child: Child, { limits, streams, started, poll }: Watch): Promise<ProgramEnd> {
  const watching = new AbortController();
  let durationMs = 0;
  let isRefused = false;
  try {
    const reason = await new Promise<EndReason>((resolve, reject) => {
      const left = Math.max(0, limits.wallMs - (performance.now() - started));
      const settle = (why: EndReason) => (): void => resolve(why);
      whenPassed(Math.min(left, MAX_TIMER_MS), watching.signal, settle('timeout'));
      // One of its own for each: many programs may hang on the caller's, and Node warns of more than ten listeners.
      const leaving = streams.signal === undefined ? undefined : AbortSignal.any([streams.signal]);
      if (leaving?.aborted === true) resolve('cancelled');
      leaving?.addEventListener('abort', settle('cancelled'), { signal: watching.signal });
      void child.refused?.then(() => {
        isRefused = true;
        resolve('output');
      });
      (child.exited ?? child.ended).then(settle('exited'), reject);
      child.ended.catch(reject);
      if (poll !== undefined) pollUntil(poll, { signal: watching.signal, found: resolve, failed: reject });
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
  readonly reason: EndReason;
  readonly exit: ChildExit | undefined;
  /** Nothing is left of it, and all that it wrote was taken. */
  readonly isOver: boolean;
  readonly durationMs: number;
  readonly hunted: number;
}

function programEnd({ reason, exit, isOver, durationMs, hunted }: Ending): ProgramEnd {
  const warnings: string[] = [];
  if (exit === undefined) warnings.push('the program was killed and is still not gone');
  else if (!isOver) warnings.push('what the program left behind is still not gone; its last output may be missing');
  if (hunted === 1) warnings.push('1 process had left the program or outlived it, and was ended');
  if (hunted > 1) warnings.push(`${String(hunted)} processes had left the program or outlived it, and were ended`);
  if (reason === 'exited' && exit?.signal === undefined)
    return { reason, ...(exit?.exitCode === undefined ? {} : { exitCode: exit.exitCode }), durationMs, warnings };
  return {
    reason: reason === 'exited' ? 'signal' : reason,
    ...(exit?.signal === undefined ? {} : { signal: exit.signal }),
    durationMs,
    warnings,
  };
}

/** What a kill by nobody of ours means where the kernel counted one for memory since: the program was ended for its memory. */
export function withMemoryKills(end: ProgramEnd, kills: number): ProgramEnd {
  const isKilled = end.signal === 'SIGKILL' || end.exitCode === 137;
  if (kills === 0 || !isKilled || (end.reason !== 'signal' && end.reason !== 'exited')) return end;
  return { reason: 'memory', signal: 'SIGKILL', durationMs: end.durationMs, warnings: end.warnings };
}

interface Polling {
  readonly signal: AbortSignal;
  readonly found: (reason: EndReason) => void;
  readonly failed: (error: unknown) => void;
}

function pollUntil(poll: (isLast: boolean) => EndReason | undefined, { signal, found, failed }: Polling): void {
  const look = (): void => {
    const began = performance.now();
    let reason: EndReason | undefined;
    try {
      reason = poll(false);
    } catch (error) {
      // A bug, handed to whoever waits for the end instead of to the loop of events.
      failed(error);
      return;
    }
    if (reason !== undefined) found(reason);
    else whenPassed(Math.max(POLL_MS, (performance.now() - began) * POLL_SHARE), signal, look);
  };
  whenPassed(POLL_MS, signal, look);
}

function whenPassed(ms: number, signal: AbortSignal, act: () => void): void {
  if (signal.aborted) return;
  const stop = (): void => clearTimeout(timer);
  const timer = setTimeout(() => {
    // A program of an hour is looked at thousands of times, under one signal.
    signal.removeEventListener('abort', stop);
    act();
  }, ms);
  signal.addEventListener('abort', stop, { once: true });
}

async function withinTime<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
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

export interface ChildRun extends Omit<Watch, 'started' | 'poll'> {
  readonly stdin: Uint8Array;
  readonly poll?: (child: Child, isLast: boolean) => EndReason | undefined;
}

/** Runs a process to its end. */
export async function runChild(spec: ChildSpec, { stdin, limits, streams, poll }: ChildRun): Promise<ProgramEnd> {
  const started = performance.now();
  if (streams.signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
  const child = await startChild({ maxOutputBytes: limits.outputBytes, stdin, ...spec }, streams);
  if (spec.terminal === true) {
    child.write(stdin);
    child.closeInput();
  }
  return await supervise(child, {
    limits,
    streams,
    started,
    ...(poll === undefined ? {} : { poll: (isLast) => poll(child, isLast) }),
  });
}

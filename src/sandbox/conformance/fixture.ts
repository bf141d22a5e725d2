import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';

import {
  defined,
  DEFAULT_LIMITS,
  isSkillError,
  toRelativePath,
  type Executor,
  type OutputSink,
  type ProgramEnd,
  type ProgramSpec,
  isProblem,
} from '#core';
import { inConfined, isPresent, removeTree } from '#platform';
import { programEnvironment } from '../process/program-environment.ts';
import { openWorkspaces, type Workspace } from '../workspace/workspace.ts';
import { CaseSkipped } from './case.ts';
import { SKILL, writeConformanceSkill } from './skill.ts';
import type { RunLimits, RunningProgram } from '../program-types.ts';

/** Time limit for programs of cases without their own limit. */
const WALL_MS = 120_000;
const MAX_READ_BYTES = 64 * 1024 * 1024;

export interface RunOptions extends Partial<Omit<ProgramSpec, 'argv' | 'limits' | 'env' | 'stdin'>> {
  readonly limits?: Partial<RunLimits>;
  /** Added to the environment of every skill program. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array | string;
  readonly signal?: AbortSignal;
  readonly stdout?: OutputSink;
  readonly stderr?: OutputSink;
}

interface PreparedRun {
  readonly spec: ProgramSpec;
  /** `$RUN_DIR`, relative to the workspace. */
  readonly runFolder: string;
}

export interface ProgramResult {
  readonly end: ProgramEnd;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** `stdout` as UTF-8. */
  readonly text: string;
  /** `$RUN_DIR`, relative to the workspace. */
  readonly runFolder: string;
}

/** Captures output and lets callers wait for a text in it. */
export interface CapturedOutput extends OutputSink {
  bytes(): Buffer;
  /** Resolves when the text has arrived. The deadline of the case limits the wait. */
  until(text: string): Promise<void>;
}

export function captureOutput(): CapturedOutput {
  const chunks: Buffer[] = [];
  const waiting = new Set<() => void>();
  const bytes = (): Buffer => Buffer.concat(chunks);
  return {
    bytes,
    write(chunk) {
      chunks.push(Buffer.from(chunk));
      for (const look of waiting) look();
      return true;
    },
    until: (text) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (!bytes().includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

/** A workspace with the skill of the suite, and operations for the cases. */
export type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** `base` is the parent folder of the fixture's files. */
export async function openFixture(executor: Executor, base: string) {
  mkdirSync(base, { recursive: true });
  const folder = mkdtempSync(path.join(base, 'conformance-'));
  // Programs may run as another user, who has to traverse it.
  chmodSync(folder, 0o711);
  const workspaces = openWorkspaces({ base: path.join(folder, 'workspaces') });
  const close = async (): Promise<void> => {
    try {
      await workspaces.close();
    } finally {
      await removeTree(folder);
    }
  };
  try {
    const skillSource = writeConformanceSkill(path.join(folder, 'skills'));
    const workspace = await workspaces.open('conformance', executor);
    const staged = await workspace.stage({ name: SKILL, dir: skillSource });
    return { executor, base, folder, skillSource, workspace, staged, close, ...operations(workspace) };
  } catch (error) {
    await close();
    throw error;
  }
}

function operations(workspace: Workspace) {
  const { attached, place } = workspace;
  const { root } = attached;
  const programs = new Map<string, Promise<ProgramResult>>();

  /** Prepares a program like the runtime does: it starts in the folder of the skill and has its own run folder. */
  const prepare = (argv: readonly string[], { limits, env, stdin, cwd, network }: RunOptions = {}): PreparedRun => {
    const { path: runFolder } = workspace.newRunFolder();
    const home = workspace.homeOf({ name: SKILL, source: 'conformance' });
    const environment = programEnvironment({
      root,
      runFolder,
      home,
      skill: { name: SKILL, folder: SKILL },
      declared: env,
    });
    assert.equal(environment.type, 'environment');
    const spec: ProgramSpec = {
      argv,
      cwd: cwd ?? `skills/${SKILL}`,
      env: environment.type === 'environment' ? environment.env : {},
      stdin: typeof stdin === 'string' ? Buffer.from(stdin) : (stdin ?? new Uint8Array()),
      limits: { ...DEFAULT_LIMITS, wallMs: WALL_MS, ...limits },
      network: network ?? [],
      home,
    };
    return { spec, runFolder };
  };
  const runPrepared = async ({ spec, runFolder }: PreparedRun, options: RunOptions = {}): Promise<ProgramResult> => {
    const [stdout, stderr] = [captureOutput(), captureOutput()];
    const streams = { stdout: options.stdout ?? stdout, stderr: options.stderr ?? stderr, signal: options.signal };
    const end = await attached.run(spec, streams);
    return { end, stdout: stdout.bytes(), stderr: stderr.bytes(), text: stdout.bytes().toString('utf8'), runFolder };
  };
  const run = (argv: readonly string[], options: RunOptions = {}): Promise<ProgramResult> =>
    runPrepared(prepare(argv, options), options);
  /** Runs a script with `sh`; `words` are `$1` and so on. */
  const shell = (script: string, options: RunOptions = {}, words: readonly string[] = []): Promise<ProgramResult> =>
    run(['sh', '-c', script, 'sh', ...words], options);
  /** Runs a script that must exit with 0. */
  const mustSucceed = async (script: string, options: RunOptions = {}): Promise<ProgramResult> => {
    const ran = await shell(script, options);
    assertExit(ran, 0);
    return ran;
  };
  return {
    attached,
    /** Path of the workspace inside the sandbox. */
    root,
    isIsolating: attached.capabilities.isolation !== 'none',
    prepare,
    runPrepared,
    run,
    shell,
    mustSucceed,
    /** The output of a script that must exit with 0. */
    print: async (script: string, options: RunOptions = {}): Promise<string> =>
      (await mustSucceed(script, options)).text,
    /** Starts an interactive program. Captures stdout and stderr together. */
    async startInteractive(
      argv: readonly string[],
      { terminal = false, ...options }: RunOptions & { readonly terminal?: boolean } = {},
    ): Promise<RunningProgram & { readonly runFolder: string; readonly output: CapturedOutput }> {
      assert(attached.start !== undefined, 'capabilities claim interaction, but there is no `start`');
      const { spec, runFolder } = prepare(argv, options);
      const output = captureOutput();
      const running = await attached.start(spec, { stdout: output, stderr: output, terminal });
      return {
        ended: running.ended,
        write: (bytes) => running.write(bytes),
        closeInput: () => running.closeInput(),
        kill: () => running.kill(),
        runFolder,
        output,
      };
    },
    /** Starts a script and waits until it prints `ready`. */
    async startReady(script: string, options: RunOptions = {}) {
      const stdout = captureOutput();
      const prepared = prepare(['sh', '-c', script], options);
      const running = runPrepared(prepared, { ...options, stdout });
      await Promise.race([stdout.until('ready\n'), running]);
      return { running, runFolder: prepared.runFolder };
    },
    /** A program that is refused, and has not run. */
    async mustRefuse(argv: readonly string[], options: RunOptions = {}): Promise<void> {
      const prepared = prepare(argv, options);
      await assert.rejects(runPrepared(prepared), (error) => isSkillError(error) && error.code === 'input/invalid');
      assert.equal(isPresent(path.join(place.root, prepared.runFolder, 'ran')), false);
    },
    /** Path on the host. */
    onHost: (relative: string): string => path.join(place.root, relative),
    /** Reads a file of a program on the host. Returns `undefined` where it does not exist. */
    read(relative: string): Buffer | undefined {
      const reading = toRelativePath(relative);
      assert(!isProblem(reading), relative);
      const file = inConfined(
        place.root,
        (directory) => directory.read(reading, { maxBytes: MAX_READ_BYTES }),
        () => assert.fail('the workspace does not exist'),
      );
      return file.type === 'read' ? file.bytes : undefined;
    },
    async requireProgram(program: string): Promise<void> {
      const looking = programs.get(program) ?? shell(`command -v ${program} > /dev/null`);
      programs.set(program, looking);
      const { end } = await looking;
      if (end.exitCode !== 0) throw new CaseSkipped(`${program} is not installed`);
    },
  };
}

/** The parts of an end that are the same in every run. */
export function pickStableEnd({ reason, exitCode, signal }: ProgramEnd): Partial<ProgramEnd> {
  return defined({ reason, exitCode, signal });
}

export function assertExit({ end, stderr }: Pick<ProgramResult, 'end' | 'stderr'>, exitCode: number): void {
  assert.deepEqual(
    pickStableEnd(end),
    { reason: 'exited', exitCode },
    `stderr: ${stderr.toString('utf8').slice(0, 2000)}`,
  );
}

/** Capabilities and programs that a case requires. */
export interface Needs {
  readonly limits?: readonly (keyof RunLimits)[];
  readonly interaction?: boolean;
  readonly terminal?: boolean;
  /** Programs that must be installed inside the sandbox. */
  readonly programs?: readonly string[];
}

export interface CaseDefinition {
  readonly name: string;
  readonly requirement: `${'EXEC' | 'ENV'}-${number}`;
  readonly isIsolation?: boolean;
  readonly needs?: Needs;
  /** Runs in its own workspace, because it damages, fills or detaches it. Other cases share one. */
  readonly ownWorkspace?: boolean;
  run(fixture: Fixture): Promise<void>;
}

type CaseOptions = Pick<CaseDefinition, 'isIsolation' | 'needs' | 'ownWorkspace'>;
type Conform = readonly [run: CaseDefinition['run']] | readonly [options: CaseOptions, run: CaseDefinition['run']];

/** Defines a case. Options come before its function, as in test runners. */
export function conform(requirement: CaseDefinition['requirement'], name: string, ...rest: Conform): CaseDefinition {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  return { name, requirement, ...options, run };
}

/** A case of one script that must exit with 0 and whose whole output is known. */
export function prints(
  requirement: CaseDefinition['requirement'],
  name: string,
  script: string,
  expected: string | Uint8Array,
  options: RunOptions = {},
): CaseDefinition {
  return conform(requirement, name, async (fixture) => {
    const { stdout, text } = await fixture.mustSucceed(script, options);
    assert.deepEqual(
      typeof expected === 'string' ? text : stdout,
      typeof expected === 'string' ? expected : Buffer.from(expected),
    );
  });
}

export const ISOLATED = { isIsolation: true };
export const ALONE = { ownWorkspace: true };

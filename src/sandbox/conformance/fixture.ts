import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';

import {
  defined,
  DEFAULT_LIMITS,
  toRelativePath,
  type AttachedWorkspace,
  type Executor,
  type OutputSink,
  type ProgramEnd,
  type ProgramSpec,
  type RunLimits,
  type RunningProgram,
  type StagedSkill,
  isProblem,
} from '#core';
import { openConfined, removeTree } from '#platform';
import { openWorkspaces, type Workspace } from '../workspace/workspace.ts';
import { CaseSkipped } from './case.ts';
import { SKILL, writeConformanceSkill } from './skill.ts';
import { programEnvironment } from '../process/program-environment.ts';

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

export interface PreparedRun {
  readonly spec: ProgramSpec;
  /** `$RUN_DIR`, relative to the workspace. */
  readonly runFolder: string;
}

export interface ProgramResult {
  readonly end: ProgramEnd;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** `$RUN_DIR`, relative to the workspace. */
  readonly runFolder: string;
}

export interface InteractiveProgram extends RunningProgram {
  readonly runFolder: string;
  readonly output: CapturedOutput;
}

/** Captures output and lets callers wait for a text in it. */
export class CapturedOutput implements OutputSink {
  readonly #chunks: Buffer[] = [];
  readonly #waiting = new Set<() => void>();

  write(chunk: Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk));
    for (const look of this.#waiting) look();
    return true;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Resolves when the text has arrived. The deadline of the case limits the wait. */
  async until(text: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!this.bytes.includes(text)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}

export interface FixtureOptions {
  readonly executor: Executor;
  /** Parent folder of the fixture's files. */
  readonly base: string;
}

/** A workspace with the skill of the suite, and operations for the cases. */
export class Fixture {
  readonly executor: Executor;
  readonly workspace: Workspace;
  readonly staged: StagedSkill;
  /** Source folder of the staged skill. */
  readonly skillSource: string;
  /** Folder of this fixture on the host. */
  readonly folder: string;
  readonly base: string;
  readonly #close: () => Promise<void>;
  readonly #programs = new Map<string, Promise<ProgramResult>>();

  private constructor(options: FixtureOptions, parts: FixtureParts) {
    this.executor = options.executor;
    this.base = options.base;
    this.workspace = parts.workspace;
    this.staged = parts.staged;
    this.skillSource = parts.skillSource;
    this.folder = parts.folder;
    this.#close = parts.close;
  }

  static async open(options: FixtureOptions): Promise<Fixture> {
    const { executor, base } = options;
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
      return new Fixture(options, { workspace, staged, skillSource, folder, close });
    } catch (error) {
      await close();
      throw error;
    }
  }

  get attached(): AttachedWorkspace {
    return this.workspace.attached;
  }

  get isIsolating(): boolean {
    return this.attached.capabilities.isolation !== 'none';
  }

  /** Path of the workspace inside the sandbox. */
  get root(): string {
    return this.attached.root;
  }

  /** Prepares a program like the runtime does: it starts in the folder of the skill and has its own run folder. */
  prepare(argv: readonly string[], { limits, env, stdin, cwd, network }: RunOptions = {}): PreparedRun {
    const run = this.workspace.newRunFolder();
    const home = this.workspace.homeOf({ name: SKILL, source: 'conformance' });
    const environment = programEnvironment({
      root: this.root,
      runFolder: run.path,
      home,
      skillName: SKILL,
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
    return { spec, runFolder: run.path };
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<ProgramResult> {
    return await this.runPrepared(this.prepare(argv, options), options);
  }

  async runPrepared({ spec, runFolder }: PreparedRun, options: RunOptions = {}): Promise<ProgramResult> {
    const stdout = new CapturedOutput();
    const stderr = new CapturedOutput();
    const { signal } = options;
    const end = await this.attached.run(spec, {
      stdout: options.stdout ?? stdout,
      stderr: options.stderr ?? stderr,
      signal,
    });
    return { end, stdout: stdout.bytes, stderr: stderr.bytes, runFolder };
  }

  /** Runs a script with `sh`; `words` are `$1` and so on. */
  async shell(script: string, options: RunOptions = {}, words: readonly string[] = []): Promise<ProgramResult> {
    return await this.run(['sh', '-c', script, 'sh', ...words], options);
  }

  /** Runs a script that must exit with 0. */
  async mustSucceed(script: string, options: RunOptions = {}): Promise<ProgramResult> {
    const ran = await this.shell(script, options);
    assertExit(ran, 0);
    return ran;
  }

  /** Starts an interactive program. Captures stdout and stderr together. */
  async startInteractive(
    argv: readonly string[],
    options: RunOptions & { readonly terminal?: boolean } = {},
  ): Promise<InteractiveProgram> {
    const { attached } = this;
    assert(attached.start !== undefined, 'capabilities claim interaction, but there is no `start`');
    const { spec, runFolder } = this.prepare(argv, options);
    const output = new CapturedOutput();
    const streams = { stdout: output, stderr: output, terminal: options.terminal ?? false };
    const running = await attached.start(spec, streams);
    return {
      ended: running.ended,
      write: (bytes) => running.write(bytes),
      closeInput: () => running.closeInput(),
      kill: () => running.kill(),
      runFolder,
      output,
    };
  }

  /** Path on the host. */
  onHost(relative: string): string {
    return path.join(this.workspace.place.root, relative);
  }

  /** Reads a file of a program on the host. Returns `undefined` where it does not exist. */
  read(relative: string): Buffer | undefined {
    const opening = openConfined(this.workspace.place.root);
    assert(opening.type === 'open', 'the workspace does not exist');
    try {
      const reading = toRelativePath(relative);
      assert(!isProblem(reading), relative);
      const file = opening.directory.read(reading, { maxBytes: MAX_READ_BYTES });
      return file.type === 'read' ? file.bytes : undefined;
    } finally {
      opening.directory.close();
    }
  }

  async requireProgram(program: string): Promise<void> {
    const looking = this.#programs.get(program) ?? this.shell(`command -v ${program} > /dev/null`);
    this.#programs.set(program, looking);
    const { end } = await looking;
    if (end.exitCode !== 0) throw new CaseSkipped(`${program} is not installed`);
  }

  async close(): Promise<void> {
    await this.#close();
  }
}

interface FixtureParts {
  readonly workspace: Workspace;
  readonly staged: StagedSkill;
  readonly skillSource: string;
  readonly folder: string;
  readonly close: () => Promise<void>;
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

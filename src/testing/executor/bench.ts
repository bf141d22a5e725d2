import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';

import { DEFAULT_LIMITS } from '../../core/execution.ts';
import type {
  AttachedWorkspace,
  Executor,
  OutputSink,
  ProgramEnd,
  ProgramSpec,
  RunLimits,
  RunningProgram,
  StagedSkill,
} from '../../core/execution.ts';
import { toRelativePath } from '../../core/path.ts';
import { openConfined } from '../../platform/fs/confined-directory.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { programEnvironment } from '../../platform/process/program-environment.ts';
import { openWorkspaces } from '../../sandbox/workspace/workspace.ts';
import type { Workspace } from '../../sandbox/workspace/workspace.ts';
import { CaseSkipped } from './case.ts';
import { SKILL, writeConformanceSkill } from './skill.ts';

/** No case asks for a program that takes longer than this, unless the executor does not end it. */
const WALL_MS = 45_000;
const MAX_READ_BYTES = 64 * 1024 * 1024;

export interface RunOptions extends Partial<Omit<ProgramSpec, 'argv' | 'limits' | 'env' | 'stdin'>> {
  readonly limits?: Partial<RunLimits>;
  /** On top of what every program of a skill gets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array | string;
  readonly signal?: AbortSignal;
  readonly stdout?: OutputSink;
  readonly stderr?: OutputSink;
}

export interface Prepared {
  readonly spec: ProgramSpec;
  /** `$RUN_DIR`, below the workspace. */
  readonly runFolder: string;
}

export interface Ran {
  readonly end: ProgramEnd;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** `$RUN_DIR`, below the workspace. */
  readonly runFolder: string;
}

export interface Talk extends RunningProgram {
  readonly runFolder: string;
  readonly output: TakenOutput;
}

/** Keeps what comes and lets others wait for a text in it. */
export class TakenOutput implements OutputSink {
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

  /** Resolves when the text has come; the deadline of the case bounds it. */
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

export interface BenchOptions {
  readonly executor: Executor;
  /** Where a folder of the suite's own is made. */
  readonly base: string;
}

/** A workspace with the skill of the suite in it, and what the cases do with it. */
export class Bench {
  readonly executor: Executor;
  readonly workspace: Workspace;
  readonly staged: StagedSkill;
  /** The skill's own folder, of which the staged one is a copy. */
  readonly skillSource: string;
  /** Of this bench alone, on the host. */
  readonly folder: string;
  readonly base: string;
  readonly #close: () => Promise<void>;

  private constructor(options: BenchOptions, parts: BenchParts) {
    this.executor = options.executor;
    this.base = options.base;
    this.workspace = parts.workspace;
    this.staged = parts.staged;
    this.skillSource = parts.skillSource;
    this.folder = parts.folder;
    this.#close = parts.close;
  }

  static async open(options: BenchOptions): Promise<Bench> {
    const { executor, base } = options;
    mkdirSync(base, { recursive: true });
    const folder = mkdtempSync(path.join(base, 'conformance-'));
    // Programs may run as somebody else, who passes through.
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
      return new Bench(options, { workspace, staged, skillSource, folder, close });
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

  /** Where programs see the workspace. */
  get root(): string {
    return this.attached.root;
  }

  /** What a program is given, as the runtime would: from the folder of the skill, with a run folder of its own. */
  prepare(argv: readonly string[], { limits, env, stdin, cwd, network }: RunOptions = {}): Prepared {
    const run = this.workspace.newRunFolder();
    const environment = programEnvironment({
      root: this.root,
      runFolder: run.path,
      skillName: SKILL,
      ...(env === undefined ? {} : { declared: env }),
    });
    assert.equal(environment.type, 'environment');
    const spec: ProgramSpec = {
      argv,
      cwd: cwd ?? `skills/${SKILL}`,
      env: environment.type === 'environment' ? environment.env : {},
      stdin: typeof stdin === 'string' ? Buffer.from(stdin) : (stdin ?? new Uint8Array()),
      limits: { ...DEFAULT_LIMITS, wallMs: WALL_MS, ...limits },
      network: network ?? [],
    };
    return { spec, runFolder: run.path };
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return await this.runPrepared(this.prepare(argv, options), options);
  }

  async runPrepared({ spec, runFolder }: Prepared, options: RunOptions = {}): Promise<Ran> {
    const stdout = new TakenOutput();
    const stderr = new TakenOutput();
    const { signal } = options;
    const end = await this.attached.run(spec, {
      stdout: options.stdout ?? stdout,
      stderr: options.stderr ?? stderr,
      ...(signal === undefined ? {} : { signal }),
    });
    return { end, stdout: stdout.bytes, stderr: stderr.bytes, runFolder };
  }

  /** A program for `sh`; its words are `$1` and so on. */
  async shell(script: string, options: RunOptions = {}, words: readonly string[] = []): Promise<Ran> {
    return await this.run(['sh', '-c', script, 'sh', ...words], options);
  }

  /** The same, with an end of status 0. */
  async must(script: string, options: RunOptions = {}): Promise<Ran> {
    const ran = await this.shell(script, options);
    assertExit(ran, 0);
    return ran;
  }

  /** A program to talk to. Both streams go to one place. */
  async talk(argv: readonly string[], options: RunOptions & { readonly terminal?: boolean } = {}): Promise<Talk> {
    const { attached } = this;
    assert(attached.start !== undefined, 'capabilities speak of interaction, and there is no `start`');
    const { spec, runFolder } = this.prepare(argv, options);
    const output = new TakenOutput();
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

  /** On the host. */
  onHost(relative: string): string {
    return path.join(this.workspace.place.root, relative);
  }

  /** What a program left, read by the host; nothing where there is no such file. */
  read(relative: string): Buffer | undefined {
    const opening = openConfined(this.workspace.place.root);
    assert(opening.type === 'open', 'the workspace is gone');
    try {
      const reading = toRelativePath(relative);
      assert(reading.type === 'path', relative);
      const file = opening.directory.read(reading.path, { maxBytes: MAX_READ_BYTES });
      return file.type === 'read' ? file.bytes : undefined;
    } finally {
      opening.directory.close();
    }
  }

  async need(program: string): Promise<void> {
    const { end } = await this.shell(`command -v ${program} > /dev/null`);
    if (end.exitCode !== 0) throw new CaseSkipped(`${program} is not there`);
  }

  async close(): Promise<void> {
    await this.#close();
  }
}

interface BenchParts {
  readonly workspace: Workspace;
  readonly staged: StagedSkill;
  readonly skillSource: string;
  readonly folder: string;
  readonly close: () => Promise<void>;
}

/** How it ended, without what differs from run to run. */
export function endOf({ reason, exitCode, signal }: ProgramEnd): Pick<ProgramEnd, 'reason' | 'exitCode' | 'signal'> {
  return {
    reason,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
  };
}

export function assertExit({ end, stderr }: Pick<Ran, 'end' | 'stderr'>, exitCode: number): void {
  assert.deepEqual(endOf(end), { reason: 'exited', exitCode }, `stderr: ${stderr.toString('utf8').slice(0, 2000)}`);
}

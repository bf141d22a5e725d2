import { chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import {
  DEFAULT_LIMITS,
  type AttachedWorkspace,
  type Executor,
  type OutputSink,
  type ProgramEnd,
  type ProgramSpec,
} from '../src/core/execution.ts';
import { isSkillError } from '../src/core/errors.ts';
import { hiddenNames } from '../src/policy/protected-names.ts';
import { bubblewrapExecutor } from '../src/sandbox/executors/bubblewrap/executor.ts';
import { landlockExecutor } from '../src/sandbox/executors/landlock/executor.ts';
import { namespacesExecutor } from '../src/sandbox/executors/namespaces/executor.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';
import { runChild } from '../src/sandbox/process/child-process.ts';

const ROUNDS = 60;
const CONCURRENT = 200;
const AT_ONCE = 4;
const NOTHING: OutputSink = { write: () => true };

/** What isolation costs: `true` under each embedded sandbox against plain `spawn` in the same minute, and many runs at once. */
export async function benchExecutors({ workDir }: { readonly workDir: string }): Promise<readonly BenchRow[]> {
  return [
    ...(await benchOne(bubblewrapExecutor(), { workDir, most: 5, bare: true })),
    ...(await benchOne(namespacesExecutor(), { workDir, most: 6 })),
    ...(await benchOne(landlockExecutor(), { workDir })),
  ];
}

interface Bench {
  readonly workDir: string;
  /** The bound of the ratio. */
  readonly most?: number;
  /** Also measures bubblewrap without a profile. */
  readonly bare?: boolean;
}

async function benchOne(executor: Executor, options: Bench): Promise<readonly BenchRow[]> {
  const { name } = executor;
  let workspace: AttachedWorkspace;
  try {
    workspace = await executor.attach(makeWorkspace(options.workDir, executor));
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return [{ name, value: Number.NaN, unit: '', note: `not measured: ${error.message}` }];
  }
  const sandboxed = async (): Promise<ProgramEnd> => await workspace.run(spec(['true']), streams());
  const ratios: number[] = [];
  const bareRatios: number[] = [];
  const plainTimes: number[] = [];
  const sandboxedTimes: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Both within the same few milliseconds: the machine is shared.
    const first = await timed(plain);
    const middle = await timed(sandboxed);
    const last = await timed(plain);
    plainTimes.push(first, last);
    sandboxedTimes.push(middle);
    ratios.push(middle / ((first + last) / 2));
    if (options.bare === true) bareRatios.push((await timed(bare)) / ((first + last) / 2));
  }
  const ratio = median(ratios);
  const plainRate = await throughput(plain);
  const sandboxedRate = await throughput(sandboxed);
  const share = (sandboxedRate.perSecond * ratio) / plainRate.perSecond;
  const hiding = await benchHiding(workspace, name, options.workDir);
  await workspace.detach();
  const { most } = options;
  return [
    { name: 'plain `true`', value: median(plainTimes), unit: 'ms' },
    { name: `\`true\` under ${name}`, value: median(sandboxedTimes), unit: 'ms' },
    {
      name: `\`true\` under ${name}, of plain`,
      value: ratio,
      unit: 'x',
      ...(most === undefined ? {} : { bound: `<= ${String(most)}`, ok: ratio <= most }),
    },
    ...(bareRatios.length === 0
      ? []
      : [
          {
            name: 'bubblewrap with namespaces alone, of plain',
            value: median(bareRatios),
            unit: 'x',
            note: 'no limits, no filter, every file shown',
          },
        ]),
    {
      name: `${String(CONCURRENT)} runs at once under ${name}: lost`,
      value: sandboxedRate.lost,
      unit: 'runs',
      bound: '= 0',
      ok: sandboxedRate.lost === 0,
    },
    {
      name: `${String(CONCURRENT)} runs at once under ${name}, of plain runs times the overhead`,
      value: share,
      unit: 'x',
      bound: '>= 0.8',
      ok: share >= 0.8,
      note: `${sandboxedRate.perSecond.toFixed(0)} a second; plain ${plainRate.perSecond.toFixed(0)}`,
    },
    ...hiding,
  ];
}

/** What it costs that files of a project are hidden by name when programs open them. */
async function benchHiding(workspace: AttachedWorkspace, name: string, workDir: string): Promise<readonly BenchRow[]> {
  const project = makeProject(workDir);
  const mounts = [{ source: project, target: project, access: 'read' }] as const;
  const hidden = { folders: [project], free: [], secrets: [], names: hiddenNames() };
  const starts: number[] = [];
  const reads: number[] = [];
  const started = { ...spec(['true']), mounts };
  const reading = { ...spec(['sh', '-c', `cat ${project}/*/*`]), mounts };
  for (let round = 0; round < ROUNDS / 4; round += 1) {
    const run = async (program: ProgramSpec): Promise<number> =>
      await timed(async () => await workspace.run(program, streams()));
    starts.push((await run({ ...started, hidden })) / (await run(started)));
    reads.push((await run({ ...reading, hidden })) / (await run(reading)));
  }
  return [
    {
      name: `\`true\` with a project under ${name}, of the same with nothing hidden`,
      value: median(starts),
      unit: 'x',
    },
    { name: `\`cat\` of 10,000 files under ${name}, of the same with nothing hidden`, value: median(reads), unit: 'x' },
  ];
}

let project: string | undefined;

function makeProject(workDir: string): string {
  if (project !== undefined) return project;
  project = path.join(workDir, 'project');
  for (let folder = 0; folder < 100; folder += 1) {
    mkdirSync(path.join(project, String(folder)), { recursive: true });
    for (let file = 0; file < 100; file += 1)
      writeFileSync(path.join(project, String(folder), `${String(file)}.txt`), 'text\n');
  }
  return project;
}

async function plain(): Promise<ProgramEnd> {
  return await runChild(
    { argv: ['/bin/true'], cwd: '/', env: { PATH: '/usr/bin:/bin' }, isContained: true },
    { stdin: new Uint8Array(), limits: DEFAULT_LIMITS, streams: streams() },
  );
}

/** What the tool costs by itself, in the same minute. */
async function bare(): Promise<ProgramEnd> {
  return await runChild(
    {
      argv: ['/usr/bin/bwrap', '--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '/bin/true'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      isContained: true,
    },
    { stdin: new Uint8Array(), limits: DEFAULT_LIMITS, streams: streams() },
  );
}

function spec(argv: readonly string[]): ProgramSpec {
  return { argv, cwd: 'work', env: {}, stdin: new Uint8Array(), limits: DEFAULT_LIMITS, network: [] };
}

function streams(): { readonly stdout: OutputSink; readonly stderr: OutputSink } {
  return { stdout: NOTHING, stderr: NOTHING };
}

async function timed(run: () => Promise<ProgramEnd>): Promise<number> {
  const started = performance.now();
  const end = await run();
  if (end.reason !== 'exited' || end.exitCode !== 0) throw new Error(`\`true\` ended with ${JSON.stringify(end)}`);
  return performance.now() - started;
}

interface Throughput {
  readonly perSecond: number;
  readonly lost: number;
}

/** All asked for at once; as many run as a caller with bounds would let run. */
async function throughput(run: () => Promise<ProgramEnd>): Promise<Throughput> {
  const started = performance.now();
  let next = 0;
  let lost = 0;
  const worker = async (): Promise<void> => {
    while (next < CONCURRENT) {
      next += 1;
      const end = await run();
      if (end.reason !== 'exited' || end.exitCode !== 0) lost += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { perSecond: (1000 * CONCURRENT) / (performance.now() - started), lost };
}

function makeWorkspace(
  workDir: string,
  { identity }: Executor,
): { readonly id: string; readonly root: string; readonly skills: readonly [] } {
  chmodSync(workDir, 0o711);
  const root = mkdtempSync(path.join(workDir, 'workspace-'));
  chmodSync(root, 0o711);
  for (const name of ['skills', 'work', 'work/inputs', 'out', 'runs']) {
    mkdirSync(path.join(root, name));
    if (identity !== undefined) chownSync(path.join(root, name), identity.uid, identity.gid);
  }
  return { id: path.basename(root), root, skills: [] };
}

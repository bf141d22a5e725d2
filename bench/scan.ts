import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { makeSkills } from './make-skills.ts';
import { importPeer } from './peers.ts';
import type { BenchRow } from './row.ts';

export interface BenchScanOptions {
  /** Real names and descriptions; generated ones where there are none. */
  readonly dataDir: string | undefined;
  readonly peersDir: string;
  readonly workDir: string;
}

const COUNT = 10_000;
const MANY = 50_000;
const ROUNDS = 5;
const PEER_ROUNDS = 3;
const WORKER = fileURLToPath(new URL('scan-worker.js', import.meta.url));

interface Measured {
  readonly milliseconds: number;
  readonly skills: number;
  readonly rssMb: number;
}

/** Reading ten thousand skills: every run is a new process, runs are interleaved, and figures are ratios of medians. */
export async function benchScan({ dataDir, peersDir, workDir }: BenchScanOptions): Promise<BenchRow[]> {
  const directory = path.join(workDir, 'skills');
  const half = path.join(workDir, 'half');
  makeSkills({ directory, count: COUNT, dataDir });
  makeSkills({ directory: half, count: COUNT / 2, dataDir });
  const measure = (loader: string, folder = directory): Measured =>
    runWorker([loader, folder, peersDir, path.join(workDir, `${path.basename(folder)}.cache`)]);

  const first = measure('fill');
  const steady: Readonly<Record<string, readonly number[]>> = JSON.parse(
    runText(['steady', directory, peersDir, path.join(workDir, 'skills.cache')]),
  );
  const warm = (name: string): number => median(steady[name] ?? []);
  const fresh = interleave(ROUNDS, {
    stat: () => measure('stat'),
    read4k: () => measure('read4k'),
    cold: () => measure('cold'),
    rescan: () => measure('rescan'),
    half: () => measure('cold', half),
  });
  const middle = (name: keyof typeof fresh): number => median(fresh[name].map(({ milliseconds }) => milliseconds));
  const bound = (name: string, value: number, limit: number, unit: string, note: string): BenchRow => ({
    name,
    value,
    unit,
    bound: `<= ${String(limit)}`,
    ok: value <= limit,
    note,
  });
  const skills = `${String(first.skills)} skills`;
  const rows: BenchRow[] = [
    { name: 'open and read 4 KB of each of 10,000 SKILL.md', value: warm('read4k'), unit: 'ms' },
    { name: 'stat each SKILL.md', value: warm('stat'), unit: 'ms' },
    bound(
      'scan of 10,000 skills, nothing remembered',
      warm('cold') / warm('read4k'),
      5,
      'x read 4 KB',
      `${warm('cold').toFixed(0)} ms, ${skills}`,
    ),
    bound(
      'rescan by the cache file, nothing changed',
      warm('rescan') / warm('stat'),
      1.8,
      'x stat',
      `${warm('rescan').toFixed(0)} ms`,
    ),
    {
      name: 'the same, every entry built',
      value: warm('rescanAll') / warm('stat'),
      unit: 'x stat',
      note: `${warm('rescanAll').toFixed(0)} ms`,
    },
    {
      name: 'first scan of a process',
      value: middle('cold') / middle('read4k'),
      unit: 'x read 4 KB',
      note: `${middle('cold').toFixed(0)} ms`,
    },
    {
      name: 'first rescan of a process',
      value: middle('rescan') / middle('stat'),
      unit: 'x stat',
      note: `${middle('rescan').toFixed(0)} ms`,
    },
    bound(
      '10,000 skills against 5,000',
      middle('cold') / middle('half'),
      2.2,
      'x',
      `${middle('half').toFixed(0)} ms for 5,000`,
    ),
    { name: 'peak memory, 10,000 skills', value: Math.max(...fresh.cold.map(({ rssMb }) => rssMb)), unit: 'MB' },
  ];
  rows.push(...(await peerRows({ directory, peersDir, workDir, cold: middle('cold') })));

  rmSync(directory, { recursive: true });
  rmSync(half, { recursive: true });
  makeSkills({ directory, count: MANY, dataDir });
  const many = { cold: measure('cold'), fill: measure('fill'), rescanAll: measure('rescanAll') };
  const peak = Math.max(...Object.values(many).map(({ rssMb }) => rssMb));
  rows.push(
    bound(
      'peak memory, 50,000 skills, with writing and reading the cache',
      peak,
      300,
      'MB',
      `${many.cold.milliseconds.toFixed(0)} ms, ${String(many.cold.skills)} skills`,
    ),
  );
  return rows;
}

interface PeerInput {
  readonly directory: string;
  readonly peersDir: string;
  readonly workDir: string;
  readonly cold: number;
}

/** The usual loops and other products on the same files; above 1 they are slower. What cannot be installed is said, not counted. */
async function peerRows({ directory, peersDir, workDir, cold }: PeerInput): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  const loops = {
    jsYaml: 'js-yaml 4.1.0 loop',
    grayMatter: 'gray-matter 4.0.3 loop',
    yaml: 'yaml 2.9.1 loop',
    deepagents: 'deepagents 1.14.1 listSkills',
  };
  for (const [loader, name] of Object.entries(loops)) {
    try {
      // The first run installs.
      runWorker([loader, directory, peersDir, '']);
      const runs = Array.from({ length: PEER_ROUNDS }, () => runWorker([loader, directory, peersDir, '']));
      const time = median(runs.map(({ milliseconds }) => milliseconds));
      rows.push({
        name,
        value: time / cold,
        unit: 'x our scan',
        note: `${time.toFixed(0)} ms, ${String(runs[0]?.skills)} skills, ${String(Math.round(runs[0]?.rssMb ?? 0))} MB`,
      });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      rows.push({ name, value: Number.NaN, unit: 'x our scan', note: 'could not be installed or run here' });
    }
  }
  return [...rows, await openskillsRow({ directory, peersDir, workDir, cold })];
}

/** openskills is a command only: whole processes are compared. */
async function openskillsRow({ directory, peersDir, workDir }: PeerInput): Promise<BenchRow> {
  const name = 'openskills 1.5.0 list, whole process';
  const home = path.join(workDir, 'home');
  mkdirSync(path.join(home, '.claude'), { recursive: true });
  symlinkSync(directory, path.join(home, '.claude', 'skills'));
  const command = path.join(peersDir, 'openskills@1.5.0', 'node_modules/openskills/dist/cli.js');
  const time = (args: readonly string[]): number => {
    const started = performance.now();
    execFileSync(process.execPath, args, {
      cwd: home,
      env: { HOME: home, PATH: process.env['PATH'] ?? '' },
      stdio: 'ignore',
      timeout: 120_000,
    });
    return performance.now() - started;
  };
  try {
    // Importing it would run it: the module asked for is its package file.
    await importPeer(peersDir, 'openskills@1.5.0', 'openskills/package.json').catch(() => undefined);
    const times = interleave(PEER_ROUNDS, {
      theirs: () => time([command, 'list']),
      ours: () => time([WORKER, 'cold', directory, peersDir, '']),
    });
    return {
      name,
      value: median(times.theirs) / median(times.ours),
      unit: 'x our process',
      note: `${median(times.theirs).toFixed(0)} ms against ${median(times.ours).toFixed(0)} ms`,
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { name, value: Number.NaN, unit: 'x our process', note: 'could not be installed or run here' };
  }
}

function runWorker(args: readonly string[]): Measured {
  return JSON.parse(runText(args));
}

function runText(args: readonly string[]): string {
  const output = execFileSync(process.execPath, [WORKER, ...args], {
    encoding: 'utf8',
    timeout: 300_000,
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return output.trim().split('\n').at(-1) ?? '';
}

/** Runs each once, then each again, so that noise hits all alike; the first round is thrown away. */
function interleave<K extends string, T>(
  rounds: number,
  runs: Readonly<Record<K, () => T>>,
): Readonly<Record<K, readonly T[]>> {
  const names = Object.keys(runs) as K[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<K, T[]>;
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const result = runs[name]();
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { makeSkills } from './make-skills.ts';
import { importPeer } from './peers.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

export interface BenchScanOptions {
  /** Real names and descriptions; generated ones where there are none. */
  readonly dataDir: string | undefined;
  readonly peersDir: string;
  readonly workDir: string;
}

const COUNT = 10_000;
const MANY = 50_000;
const ROUNDS = 7;
const PEER_ROUNDS = 3;
const WORKER = fileURLToPath(new URL('scan-worker.js', import.meta.url));

interface Measured {
  readonly milliseconds: number;
  /** Of the floor that was asked for with the loader: its first run, in the same process just before it. */
  readonly firstFloorMs: number;
  /** The faster of its runs before and after, of which the second finds its code compiled. */
  readonly floorMs: number;
  readonly skills: number;
  readonly rssMb: number;
}

/**
 * Reading ten thousand skills. `fresh` rows are new processes, interleaved, each with its floor measured in the same process; modules are
 * loaded and the files are in the page cache, the code has never run, neither ours nor the floor's. The figure is the median of the
 * ratios. `warm code` rows are the medians of many rounds in one process.
 */
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
    cold: () => measure('cold/read4k'),
    rescan: () => measure('rescan/stat'),
    half: () => measure('cold', half),
    whole: () => measure('cold'),
  });
  const middle = (name: keyof typeof fresh): number => median(fresh[name].map(({ milliseconds }) => milliseconds));
  const ratio = (name: keyof typeof fresh): number =>
    median(fresh[name].map(({ milliseconds, floorMs }) => milliseconds / floorMs));
  const firstRatio = (name: keyof typeof fresh): number =>
    median(fresh[name].map(({ milliseconds, firstFloorMs }) => milliseconds / firstFloorMs));
  const floor = (name: keyof typeof fresh): string =>
    `${middle(name).toFixed(0)} ms over ${median(fresh[name].map(({ floorMs }) => floorMs)).toFixed(0)} ms`;
  const firstFloor = (name: keyof typeof fresh): string =>
    `${middle(name).toFixed(0)} ms over ${median(fresh[name].map(({ firstFloorMs }) => firstFloorMs)).toFixed(0)} ms`;
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
    {
      name: 'cold scan of 10,000 skills, fresh process, first run over first run',
      value: firstRatio('cold'),
      unit: 'x read 4 KB',
      note: `${firstFloor('cold')}, ${skills}, median of ${String(ROUNDS)} processes`,
    },
    {
      name: 'the same, warm code',
      value: warm('cold') / warm('read4k'),
      unit: 'x read 4 KB',
      note: `${warm('cold').toFixed(0)} ms over ${warm('read4k').toFixed(0)} ms`,
    },
    {
      name: 'unchanged rescan with the cache file, fresh process',
      value: ratio('rescan'),
      unit: 'x stat',
      note: floor('rescan'),
    },
    bound(
      'the same, warm code',
      warm('rescan') / warm('stat'),
      3,
      'x stat',
      `${warm('rescan').toFixed(0)} ms over ${warm('stat').toFixed(0)} ms`,
    ),
    {
      name: 'the same, warm code, every entry built',
      value: warm('rescanAll') / warm('stat'),
      unit: 'x stat',
      note: `${warm('rescanAll').toFixed(0)} ms`,
    },
    bound(
      'cold scan, 10,000 skills against 5,000',
      middle('whole') / middle('half'),
      2.2,
      'x',
      `${middle('whole').toFixed(0)} ms against ${middle('half').toFixed(0)} ms`,
    ),
    { name: 'peak memory, 10,000 skills', value: Math.max(...fresh.whole.map(({ rssMb }) => rssMb)), unit: 'MB' },
  ];
  rows.push(jsYamlRow({ directory, peersDir }));
  rows.push(...(await peerRows({ directory, peersDir, workDir, cold: middle('whole') })));

  rmSync(directory, { recursive: true });
  rmSync(half, { recursive: true });
  makeSkills({ directory, count: MANY, dataDir });
  const many = { cold: measure('cold'), fill: measure('fill'), rescanAll: measure('rescanAll') };
  const peak = Math.max(...Object.values(many).map(({ rssMb }) => rssMb));
  rows.push(
    bound(
      'peak memory, 50,000 skills, with writing and reading the cache',
      peak,
      400,
      'MB',
      `${many.cold.milliseconds.toFixed(0)} ms, ${String(many.cold.skills)} skills`,
    ),
  );
  return rows;
}

/** A cold scan against the loop that most products have: read each file and parse its frontmatter with js-yaml. */
function jsYamlRow({ directory, peersDir }: Pick<PeerInput, 'directory' | 'peersDir'>): BenchRow {
  const name = 'cold scan over a js-yaml 4.1.0 loop, fresh processes';
  try {
    // The first run installs js-yaml.
    runWorker(['jsYaml', directory, peersDir, '']);
    const runs = interleave(ROUNDS, {
      theirs: () => runWorker(['jsYaml', directory, peersDir, '']).milliseconds,
      ours: () => runWorker(['cold', directory, peersDir, '']).milliseconds,
    });
    const value = median(runs.ours.map((time, round) => time / (runs.theirs[round] ?? Number.NaN)));
    const note = `${median(runs.ours).toFixed(0)} ms over ${median(runs.theirs).toFixed(0)} ms`;
    return { name, value, unit: 'x js-yaml', bound: '<= 1.2', ok: value <= 1.2, note };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { name, value: Number.NaN, unit: 'x js-yaml', note: 'js-yaml could not be installed or run here' };
  }
}

interface PeerInput {
  readonly directory: string;
  readonly peersDir: string;
  readonly workDir: string;
  readonly cold: number;
}

/** The usual loops and other products on the same files; above 1 they are slower. A peer that cannot be installed gets a note and no figure. */
async function peerRows({ directory, peersDir, workDir, cold }: PeerInput): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  const loops = {
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
    // Importing its main module would run the command, so only its package file is imported.
    await importPeer(peersDir, 'openskills@1.5.0', 'openskills/package.json').catch(() => undefined);
    const times = interleave(PEER_ROUNDS, {
      theirs: () => time([command, 'list']),
      ours: () => time([WORKER, 'cold', directory, peersDir, '']),
    });
    const value = median(times.theirs) / median(times.ours);
    return {
      name,
      value,
      unit: 'x our process',
      bound: '> 1',
      ok: value > 1,
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

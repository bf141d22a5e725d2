import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { median } from './median.ts';
import type { BenchRow } from './row.ts';

export interface BenchCollectOptions {
  readonly project: string;
  readonly workDir: string;
}

const FEW = 100;
const MANY = 10_000;
const VERY_MANY = 100_000;
const ROUNDS = 5;

/** What collecting the outputs of a run costs: memory over the number of files, and time against a walk that checks nothing. */
export function benchCollect({ project, workDir }: BenchCollectOptions): BenchRow[] {
  const roots = new Map([FEW, MANY, VERY_MANY].map((count) => [count, makeOutputs(workDir, count)]));
  const collect = (count: number, maxFiles: number): Collecting =>
    measure(path.join(project, 'dist/sandbox/outputs/collect.js'), roots.get(count) ?? '', maxFiles);
  const few = collect(FEW, FEW);
  const capped = collect(MANY, FEW);
  const veryMany = collect(VERY_MANY, FEW);
  const whole = collect(MANY, MANY);
  const growth = (veryMany.peak - few.peak) / 1024;
  const ratio = median(whole.rounds.map(({ collected, bare }) => collected / bare));
  const micro = (pick: (round: Round) => number): string =>
    `${((median(whole.rounds.map(pick)) * 1000) / MANY).toFixed(0)} µs`;
  const mebi = ({ peak }: Collecting): string => `${(peak / 1024).toFixed(0)} MiB`;
  return [
    {
      name: 'files collected of 10,000 with the limits as they are',
      value: capped.files,
      unit: 'files',
      bound: '= 100',
      ok: capped.files === FEW,
      note: `${String(capped.skipped)} more listed, the rest counted`,
    },
    {
      name: 'peak memory for 100,000 output files over that for 100',
      value: growth,
      unit: 'MiB',
      bound: '<= 32',
      ok: growth <= 32,
      note: `${mebi(few)} for 100, ${mebi(capped)} for 10,000, ${mebi(veryMany)} for 100,000`,
    },
    {
      name: 'collecting all of 10,000 files against readdir, lstat and readFile',
      value: ratio,
      unit: 'x bare walk',
      bound: '<= 6',
      ok: ratio <= 6,
      note: `${micro(({ collected }) => collected)} against ${micro(({ bare }) => bare)} a file; digest and media type included`,
    },
  ];
}

function makeOutputs(workDir: string, count: number): string {
  const root = path.join(workDir, `outputs-${String(count)}`);
  for (let number = 0; number < count; number += 1) {
    const folder = path.join(root, 'out', String(number % FEW));
    if (number < FEW) mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `file-${String(number)}.txt`), `line ${String(number)}\n`);
  }
  return root;
}

interface Round {
  readonly collected: number;
  readonly bare: number;
}

interface Collecting {
  readonly files: number;
  readonly skipped: number;
  /** KiB, of the whole process. */
  readonly peak: number;
  readonly rounds: readonly Round[];
}

/** In a process of its own, so that its peak is that of the collection. The bare walk comes after the peak is taken. */
function measure(module: string, root: string, maxFiles: number): Collecting {
  const text = `
    import { lstatSync, readFileSync, readdirSync } from 'node:fs';
    const [module, root, maxFiles, rounds] = process.argv.slice(1);
    const { collectOutputs } = await import(module);
    const collect = () => collectOutputs(root, { globs: ['out/**'], maxFiles: Number(maxFiles) });
    const { files, skipped } = await collect();
    const peak = process.resourceUsage().maxRSS;
    const walk = (folder) => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const file = folder + '/' + entry.name;
        if (entry.isDirectory()) walk(file);
        else if (lstatSync(file).isFile()) readFileSync(file);
      }
    };
    const timed = async (act) => {
      const start = performance.now();
      await act();
      return performance.now() - start;
    };
    const measured = [];
    for (let round = 0; round < Number(rounds); round += 1)
      measured.push({ collected: await timed(collect), bare: await timed(() => walk(root + '/out')) });
    console.log(JSON.stringify({ files: files.length, skipped: skipped.length, peak, rounds: measured }));`;
  const output = execFileSync(
    process.execPath,
    ['--input-type=module', '-e', text, module, root, String(maxFiles), String(ROUNDS)],
    { encoding: 'utf8', timeout: 300_000 },
  );
  return JSON.parse(output) as Collecting;
}

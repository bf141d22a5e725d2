import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { openArchive } from '../src/packs/archive/archive.ts';
import { HOSTILE_ARCHIVES } from '../test/corpus/archives.ts';
import type { BenchRow } from './row.ts';

/** A process of its own says what it took: memory is the most it ever had, above what it had before. */
const PROGRAM = `
import { readFileSync } from 'node:fs';
const { openArchive } = await import(process.argv[1]);
const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
const before = peak();
const began = performance.now();
const opened = await openArchive(process.argv[2]);
const outcome = opened.type === 'archive' ? await opened.extract(process.argv[3]) : opened;
const milliseconds = performance.now() - began;
console.log(JSON.stringify({ code: outcome.code ?? 'accepted', megabytes: (peak() - before) / 1024, milliseconds }));
`;

interface Outcome {
  readonly code: string;
  readonly megabytes: number;
  readonly milliseconds: number;
  /** Names that stand where it was to be unpacked. */
  readonly left: number;
}

/** Numbers of the list of attacks: bombs of 1 GiB, and more entries than anybody needs. */
const MEASURED: ReadonlySet<number | undefined> = new Set([59, 62]);

/** What is refused, and at which cost: before a byte is written where the table of contents says enough. */
export async function benchArchives({
  project,
  workDir,
}: {
  readonly project: string;
  readonly workDir: string;
}): Promise<readonly BenchRow[]> {
  const folder = path.join(workDir, 'archives');
  const run = (bytes: Buffer): Outcome => {
    mkdirSync(folder, { recursive: true });
    const [archive, to] = [path.join(folder, 'archive.zip'), path.join(folder, 'to')];
    writeFileSync(archive, bytes);
    const door = pathToFileURL(path.join(project, 'dist/packs/archive/archive.js')).href;
    const options = ['--input-type=module', '--eval', PROGRAM, door, archive, to];
    // The program above writes nothing else.
    const outcome: Omit<Outcome, 'left'> = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' }));
    const left = existsSync(to) ? readdirSync(to).length : 0;
    rmSync(folder, { recursive: true, force: true });
    return { ...outcome, left };
  };
  const measured = HOSTILE_ARCHIVES.filter(({ attack }) => MEASURED.has(attack));
  return [
    ...measured.flatMap(({ name, attack, bytes }) => refusedRows(name, run(bytes()), attack === 59)),
    await corpusRow(folder),
  ];
}

function refusedRows(what: string, outcome: Outcome, isTimed: boolean): readonly BenchRow[] {
  const { code, megabytes, milliseconds, left } = outcome;
  const isRefused = code !== 'accepted' && left === 0;
  return [
    {
      name: `${what}: refused in`,
      value: milliseconds,
      unit: 'ms',
      bound: isTimed ? '<= 100' : 'refused',
      ok: isRefused && (!isTimed || milliseconds <= 100),
      note: code,
    },
    { name: `${what}: memory`, value: megabytes, unit: 'MB', bound: '<= 50', ok: isRefused && megabytes <= 50 },
  ];
}

async function corpusRow(folder: string): Promise<BenchRow> {
  let refused = 0;
  for (const { bytes, code, format } of HOSTILE_ARCHIVES) {
    mkdirSync(folder, { recursive: true });
    const [archive, to] = [path.join(folder, `archive.${format}`), path.join(folder, 'to')];
    writeFileSync(archive, bytes());
    const opened = await openArchive(archive);
    const outcome = opened.type === 'archive' ? await opened.extract(to) : opened;
    if (opened.type === 'archive') opened.close();
    const isEmpty = !existsSync(to) || readdirSync(to).length === 0;
    if (outcome.type === 'refused' && outcome.code === code && isEmpty) refused += 1;
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    name: 'hostile archives refused, each with its code, and nothing left',
    value: refused,
    unit: `of ${String(HOSTILE_ARCHIVES.length)}`,
    bound: 'all',
    ok: refused === HOSTILE_ARCHIVES.length,
  };
}

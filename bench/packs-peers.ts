import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { HOSTILE_FOLDERS, type Attack } from './hostile-folders.ts';
import { makePlainSkills, makeRichSkills } from './make-packs.ts';
import type { BenchRow } from './row.ts';

interface Tool {
  readonly name: string;
  readonly command: (source: string) => readonly string[];
}

type Outcome = 'refused' | 'installed' | 'leaked' | 'crashed';

const PEERS = ['skills@1.5.18', 'openskills@1.5.0'];
const MAX_MS = 20_000;
/** The slowest needs minutes for thousands of skills. */
const MAX_MANY_MS = 240_000;
const SECRET = 'a secret of the user 6e1f';

/**
 * The same hostile folders given to us and to others, each in a project and a home of its own. `leaked`: what lies outside the source came into
 * the project, or what the source has came outside the place of skills. No network besides the installation of the peers.
 */
export function benchPacksPeers({
  project,
  workDir,
  sourcesDir,
}: {
  readonly project: string;
  readonly workDir: string;
  /** A folder with clones of collections, if they are to be installed with every tool. */
  readonly sourcesDir?: string | undefined;
}): readonly BenchRow[] {
  const home = path.join(workDir, 'peers');
  const problem = installPeers(home);
  const ours: Tool = {
    name: 'skillwright',
    command: (source) => [path.join(project, 'dist/command/skillwright.js'), 'install', source, '--yes', '--offline'],
  };
  const bin = (name: string): string => path.join(home, 'node_modules/.bin', name);
  const others: readonly Tool[] = [
    {
      name: 'skills',
      command: (source) => [bin('skills'), 'add', source, '-y', '--agent', 'claude-code', '--skill', '*'],
    },
    { name: 'openskills', command: (source) => [bin('openskills'), 'install', source, '-y'] },
  ];
  if (problem !== undefined) console.log(`  peers are left out: ${problem}`);
  const tools = problem === undefined ? [ours, ...others] : [ours];
  const rows = HOSTILE_FOLDERS.map((attack) => ({
    attack,
    outcomes: tools.map((tool) => attackWith(attack, tool, workDir)),
  }));
  console.log(tableText(tools, rows));
  const bad = rows
    .filter(
      ({ attack, outcomes: [first] }) => first !== 'refused' && !(attack.isHarmless === true && first === 'installed'),
    )
    .map(({ attack }) => attack.name);
  return [
    {
      name: 'hostile folders that we refuse or install without harm',
      value: rows.length - bad.length,
      unit: `of ${String(rows.length)}`,
      bound: 'all',
      ok: bad.length === 0,
      ...(bad.length === 0 ? {} : { note: bad.join(', ') }),
    },
    ...(sourcesDir === undefined ? [] : collectionRows(tools, sourcesDir, workDir)),
    ...timeRows(tools, workDir),
  ];
}

function installPeers(home: string): string | undefined {
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'package.json'), '{"private":true}');
  const options = ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefix', home, ...PEERS];
  const { status } = spawnSync('npm', options, { stdio: 'ignore', timeout: 120_000 });
  return status === 0 ? undefined : 'npm cannot install them here';
}

/** A project, a home with a secret, and the source, in a folder of their own. */
interface Place {
  readonly top: string;
  readonly cwd: string;
  readonly home: string;
  readonly source: string;
}

function makePlace(workDir: string): Place {
  const top = path.join(workDir, 'attacked');
  rmSync(top, { recursive: true, force: true });
  const place = {
    top,
    cwd: path.join(top, 'a/b/project'),
    home: path.join(top, 'home'),
    source: path.join(top, 'source'),
  };
  for (const folder of [path.join(place.cwd, '.git'), place.home, place.source]) mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(place.home, 'secret.txt'), SECRET);
  return place;
}

function run(tool: Tool, { cwd, home, source }: Place, timeout: number) {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, '.config'),
    XDG_CACHE_HOME: path.join(home, '.cache'),
    XDG_DATA_HOME: path.join(home, '.local/share'),
    CI: '1',
    DISABLE_TELEMETRY: '1',
    DO_NOT_TRACK: '1',
  };
  return spawnSync(process.execPath, tool.command(source), {
    cwd,
    env,
    timeout,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1024 * 1024,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function attackWith(attack: Attack, tool: Tool, workDir: string): Outcome {
  const place = makePlace(workDir);
  attack.make(place.source, place.home);
  const { status, signal, stderr } = run(tool, place, MAX_MS);
  const files = filesBelow(place.cwd);
  const isLeaked = files.some(holdsSecret) || attack.isOutside(place.top, place.cwd);
  if (isLeaked) return 'leaked';
  if (signal !== null || (status !== 0 && /^\s+at .+:\d+:\d+\)?$/m.test(stderr))) return 'crashed';
  return files.some((file) => path.basename(file) === 'SKILL.md') ? 'installed' : 'refused';
}

function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(place) : [place];
  });
}

/** Links count: whoever reads the skill reads what they lead to. */
function holdsSecret(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return filesBelow(file).some(holdsSecret);
  return stats?.isFile() === true && stats.size < 10_000 && readFileSync(file, 'utf8').includes(SECRET);
}

interface TableRow {
  readonly attack: Attack;
  readonly outcomes: readonly Outcome[];
}

/** As Markdown, for the page about installing. */
function tableText(tools: readonly Tool[], rows: readonly TableRow[]): string {
  const line = (cells: readonly string[]): string => `  | ${cells.join(' | ')} |`;
  return [
    line(['Attack', ...tools.map(({ name }) => name)]),
    line(['---', ...tools.map(() => '---')]),
    ...rows.map(({ attack, outcomes }) => line([attack.name, ...outcomes])),
  ].join('\n');
}

interface Attempt {
  readonly seconds: number;
  readonly skills: number;
  readonly files: number;
  readonly isDone: boolean;
}

/** Installs each collection with each tool and prints the table. Our tool must install every skill that has a description. */
function collectionRows(tools: readonly Tool[], sourcesDir: string, workDir: string): readonly BenchRow[] {
  const names = readdirSync(sourcesDir).filter((name) => statSync(path.join(sourcesDir, name)).isDirectory());
  const line = (cells: readonly string[]): string => `  | ${cells.join(' | ')} |`;
  console.log(line(['collection', 'skills', ...tools.map(({ name }) => `${name}: skills, files, s`)]));
  console.log(line(['---', '--:', ...tools.map(() => '---')]));
  return names.map((name) => {
    const source = path.join(sourcesDir, name);
    const found = filesBelow(source).filter(
      (file) => path.basename(file) === 'SKILL.md' && !/\/(?:\.git|node_modules)\//.test(file),
    );
    const attempts = tools.map((tool) => installCollection(tool, source, workDir));
    const cells = attempts.map(
      ({ skills, files, seconds, isDone }) =>
        `${String(skills)}, ${String(files)}, ${seconds.toFixed(1)}${isDone ? '' : ' (failed)'}`,
    );
    console.log(line([name, String(found.length), ...cells]));
    const ours = attempts[0]?.skills ?? 0;
    return {
      name: `skills of ${name} that we install`,
      value: ours,
      unit: `of ${String(found.length)}`,
      note: attempts.map(({ seconds }, at) => `${tools[at]?.name ?? ''} ${seconds.toFixed(1)} s`).join(', '),
    };
  });
}

function installCollection(tool: Tool, source: string, workDir: string): Attempt {
  const place = { ...makePlace(workDir), source };
  execFileSync('sync', ['-f', workDir]);
  const began = performance.now();
  const { status } = run(tool, place, MAX_MANY_MS);
  const seconds = (performance.now() - began) / 1000;
  const files = filesBelow(place.cwd).filter((file) => !/\/\.(?:git|skillwright)\//.test(file));
  const skills = files.filter((file) => path.basename(file) === 'SKILL.md').length;
  return { seconds, skills, files: files.length, isDone: status === 0 };
}

function timeRows(tools: readonly Tool[], workDir: string): readonly BenchRow[] {
  const sets = [
    { name: '18 skills, 411 files', make: (folder: string) => void makeRichSkills(folder), most: MAX_MS },
    { name: '5000 skills', make: (folder: string) => makePlainSkills(folder, 5_000), most: MAX_MANY_MS },
  ];
  return sets.flatMap(({ name, make, most }) =>
    tools.map((tool) => {
      const place = makePlace(workDir);
      make(place.source);
      execFileSync('sync', ['-f', workDir]);
      const began = performance.now();
      const { status } = run(tool, place, most);
      const seconds = (performance.now() - began) / 1000;
      const count = filesBelow(place.cwd).filter((file) => path.basename(file) === 'SKILL.md').length;
      const note = `${String(count)} installed${status === 0 ? '' : ', not finished'}`;
      return { name: `${tool.name}: the command for ${name}`, value: seconds, unit: 's', note };
    }),
  );
}

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { median } from './median.ts';
import type { BenchRow } from './row.ts';
import { readRetrievalData } from './search-data.ts';

const RUNS = 25;
const PROMPT = 'Merge the tables of these two spreadsheets into one report';
/** The resident process reads the bodies of all skills after its first answer. */
const WARM_MS = 15_000;

interface Options {
  readonly project: string;
  readonly dataDir: string | undefined;
  readonly workDir: string;
}

/** What a prompt waits for the hook of `skillwright activate`, with the process that answers it and without. */
export async function benchHook({ project, dataDir, workDir }: Options): Promise<readonly BenchRow[]> {
  const many = openHook(path.join(workDir, 'hook'), { project, dataDir, count: 2000 });
  many.ask();
  await sleep(WARM_MS);
  // The second review finds the files old enough to be kept.
  many.ask();
  await sleep(WARM_MS / 3);
  // The first answer without the process keeps its compiled code.
  many.askAlone();
  const times = { resident: [] as number[], node: [] as number[], alone: [] as number[] };
  for (let run = 0; run < RUNS; run += 1) {
    times.resident.push(timed(many.ask));
    times.node.push(
      timed(() => execFileSync(process.execPath, ['-e', '0'], { env: { PATH: process.env['PATH'] ?? '' } })),
    );
    times.alone.push(many.askAlone());
    // The process that each of these starts finds its folder gone and ends.
    await sleep(500);
  }
  many.close();
  const [resident, node, alone] = [
    median(times.resident),
    median(times.node),
    median(times.alone) / median(times.node),
  ];
  return [
    { name: 'hook, 2,000 skills', value: resident, unit: 'ms', bound: '<= 25', ok: resident <= 25 },
    { name: 'node -e 0', value: node, unit: 'ms' },
    {
      name: 'hook without the resident process, 2,000 skills',
      value: alone,
      unit: 'x node -e 0',
      bound: '<= 1.5',
      ok: alone <= 1.5,
      note: `${median(times.alone).toFixed(1)} ms`,
    },
  ];
}

interface Hook {
  readonly ask: () => void;
  /** Asks where no resident process runs; returns the milliseconds. */
  readonly askAlone: () => number;
  readonly close: () => void;
}

function openHook(
  top: string,
  { project, dataDir, count }: Omit<Options, 'workDir'> & { readonly count: number },
): Hook {
  const [home, cwd] = [path.join(top, 'home'), path.join(top, 'project')];
  mkdirSync(path.join(cwd, '.git'), { recursive: true });
  for (const { name, description, body } of skillsOf(dataDir, count)) {
    const folder = path.join(home, '.claude/skills', name);
    mkdirSync(folder, { recursive: true });
    const head = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`;
    writeFileSync(path.join(folder, 'SKILL.md'), `${head}\n${body}\n`);
  }
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const command = path.join(project, 'dist/command/skillwright.js');
  const activate = (...words: readonly string[]): void => {
    execFileSync(process.execPath, [command, 'activate', '--agent', 'claude-code', '--yes', ...words], {
      cwd,
      env,
      stdio: 'ignore',
    });
  };
  activate();
  const folder = path.join(home, '.agent/activation');
  const input = JSON.stringify({ session_id: 'bench', cwd, prompt: PROMPT });
  const ask = (own = folder): void => {
    execFileSync('sh', [path.join(own, 'hook.sh'), 'claude-code'], { cwd, env, input });
  };
  let number = 0;
  return {
    ask: () => ask(),
    askAlone() {
      number += 1;
      const own = path.join(top, `alone-${String(number)}`);
      mkdirSync(own, { mode: 0o700 });
      // What a user's folder has but the socket.
      for (const name of ['hook.sh', 'compiled.bin'])
        if (existsSync(path.join(folder, name))) cpSync(path.join(folder, name), path.join(own, name));
      const wall = timed(() => ask(own));
      if (existsSync(path.join(own, 'compiled.bin')))
        cpSync(path.join(own, 'compiled.bin'), path.join(folder, 'compiled.bin'));
      // The resident process that it started must not find its folder.
      renameSync(own, `${own}-gone`);
      rmSync(`${own}-gone`, { recursive: true });
      return wall;
    },
    // The resident process ends at its next prompt, or when it is idle.
    close: () => activate('--remove'),
  };
}

/** Real skills, or made up ones without the data. */
function skillsOf(dataDir: string | undefined, count: number) {
  const data = readRetrievalData(dataDir);
  const made = Array.from({ length: count }, (_, at) => ({
    name: `skill-${String(at)}`,
    description: `Does work number ${String(at)}.`,
    body: '',
  }));
  return made.map(({ name, description, body }, at) => {
    const skill = data?.skills[at];
    return skill === undefined
      ? { name, description, body }
      : { name, description: skill.description, body: data?.bodies.get(skill.id) ?? '' };
  });
}

function timed(act: () => void): number {
  const started = process.hrtime.bigint();
  act();
  return Number(process.hrtime.bigint() - started) / 1e6;
}

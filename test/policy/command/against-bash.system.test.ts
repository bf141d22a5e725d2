/**
 * Random lines are run by bash, whose PATH has only programs that note their start: no line may start a program if all rules that allow it mean others.
 * `RANDOM_LINES=200000` runs more of them, and `RANDOM_SEED=…` the same ones again.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, vi } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import {
  firstUncovered,
  isTransparent,
  readCommandPattern,
  type CommandPattern,
} from '../../../src/policy/command/command-pattern.ts';
import type { SimpleCommand } from '../../../src/policy/command/command-words.ts';
import { verifies } from '../../conformance/verifies.ts';
import { needs } from '../../needs.ts';
import { PROGRAMS, randomLine, randomNumbers } from './random-lines.ts';

const BASH = ['/bin/bash', '/usr/bin/bash'].find((file) => existsSync(file)) ?? 'bash';
const SYSTEM = 'env xargs find sh bash timeout nice nohup cat true stdbuf ionice grep wc'.split(' ');
const BUILTINS = ['source', 'eval', 'command', 'nonexistent'];
/** Folders in which names mean other programs: relative ones that PATH may get, and those of the numbers that arithmetic gives it. */
const FOLDERS = ['.', 'alt', '1', '2', '5', '10'];
const LINES = Number(process.env['RANDOM_LINES'] ?? '600');
const SEED = Number(process.env['RANDOM_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const WORKERS = 4;
const LIMIT_MS = 2_000;
vi.setConfig({ testTimeout: 60_000 + LINES * 100 });

/** A folder of its own for each worker, so that lines do not meet. */
interface Worker {
  readonly root: string;
  run(line: string): Promise<readonly string[]>;
}

function openWorker(root: string): Worker {
  const [bin, work, log] = ['bin', 'work', 'log'].map((name) => path.join(root, name)) as [string, string, string];
  mkdirSync(bin, { recursive: true });
  for (const name of SYSTEM) {
    const file = ['/usr/bin', '/bin'].map((folder) => path.join(folder, name)).find((each) => existsSync(each));
    if (file !== undefined) symlinkSync(file, path.join(bin, name));
  }
  const folders = [
    { folder: bin, shown: '' },
    ...FOLDERS.map((name) => ({ folder: path.join(work, name), shown: `${name}/` })),
  ];
  const writeAll = (): void => {
    rmSync(work, { recursive: true, force: true });
    for (const { folder, shown } of folders) {
      mkdirSync(folder, { recursive: true });
      for (const name of PROGRAMS) {
        // `bash p` reads the file as a script of bash, which is the program then; only its first line sets -u.
        const text = `#!/bin/sh -u\ncase $- in *u*) echo ${shown}${name} >>${log};; esac\necho out\n`;
        const file = path.join(folder, name);
        writeFileSync(file, text);
        chmodSync(file, 0o755);
      }
    }
    writeFileSync(path.join(work, 'code'), 'a[$(q)]\n');
    writeFileSync(path.join(work, 'value'), 'PATH=alt\n');
  };
  writeAll();
  let count = 0;
  return {
    root,
    async run(line) {
      count += 1;
      // Lines leave files behind, which globs and redirections of later ones find.
      if (count % 200 === 0) writeAll();
      rmSync(log, { force: true });
      await runShell(line, work, { PATH: bin, HOME: work, LC_ALL: 'C.UTF-8', FUNCNEST: '20' });
      return existsSync(log)
        ? readFileSync(log, 'utf8')
            .split('\n')
            .filter((name) => name !== '')
        : [];
    },
  };
}

async function runShell(line: string, cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
  const limits = 'ulimit -t 2 -f 2000; exec "$0" --noprofile --norc -c "$1"';
  const child = spawn('/bin/sh', ['-c', limits, BASH, line], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group is gone.
    }
  };
  const timer = setTimeout(end, LIMIT_MS);
  await new Promise<void>((resolve) => child.once('close', () => resolve()));
  clearTimeout(timer);
  // Programs in the background get a moment to note their start.
  if (line.includes('&') || line.includes('>(')) await new Promise((resolve) => setTimeout(resolve, 15));
  end();
}

function rules(names: readonly string[]): readonly CommandPattern[] {
  return names.map((name) => {
    const pattern = readCommandPattern(`${name}:*`);
    return 'problem' in pattern ? expect.fail(pattern.problem) : pattern;
  });
}

/** Rules for everything but one program: those that name it by its path for one of PATH, and the other way round. */
const OTHER_RULES = new Map(
  PROGRAMS.flatMap((program) => {
    const others = PROGRAMS.filter((name) => name !== program);
    const paths = ['./*', 'alt/*', '*/*'];
    return [
      [program, rules([...SYSTEM, ...others, ...paths, ...BUILTINS])] as const,
      [`/${program}`, rules([...SYSTEM, ...PROGRAMS, ...BUILTINS])] as const,
    ];
  }),
);

/** Whether rules that do not mean a program allow the line that started it. */
function isAllowedWithout(started: string, commands: readonly SimpleCommand[]): boolean {
  const patterns = OTHER_RULES.get(started.includes('/') ? `/${path.basename(started)}` : started) ?? [];
  return firstUncovered(patterns, commands) === undefined;
}

describe('against a real bash', needs('bash'), () => {
  const root = mkdtempSync(path.join(tmpdir(), 'against-bash-'));
  const workers: Worker[] = [];
  beforeAll(() => {
    for (let index = 0; index < WORKERS; index += 1) workers.push(openWorker(path.join(root, String(index))));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  verifies(['POL-6', 'POL-14'], 'no program starts that the rules which allow a random line do not name', async () => {
    const next = randomNumbers(SEED);
    const wrong: { readonly line: string; readonly others: readonly string[] }[] = [];
    let left = LINES;
    let run = 0;
    await Promise.all(
      workers.map(async (worker) => {
        while (left > 0) {
          left -= 1;
          const line = randomLine(next);
          const read = readCommandLine(line);
          if (read.type === 'unclear' || !isTransparent(read)) continue;
          run += 1;
          const started = await worker.run(line);
          const others = started.filter((name) => isAllowedWithout(name, read.commands));
          if (others.length > 0) wrong.push({ line, others });
        }
      }),
    );
    console.log(
      `seed ${String(SEED)}: ${String(LINES)} lines, ${String(run)} of them clear and run; ${String(wrong.length)} start others`,
    );
    expect(wrong).toEqual([]);
    expect(run).toBeGreaterThan(LINES / 20);
  });
});

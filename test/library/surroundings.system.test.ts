/** The built library where things are missing: a home, programs, a disk to write to, the main thread. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-surroundings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = path.join(folder, 'main.mjs');
writeFileSync(
  program,
  `import { Worker, isMainThread } from 'node:worker_threads';
  import { memorySkills, openSkills } from ${JSON.stringify(path.join(PROJECT, 'dist/lib/index.js'))};
  async function main() {
    const sources = [${JSON.stringify(path.join(PROJECT, 'skills'))}];
    if (process.argv.includes('memory')) sources.push(memorySkills([{ name: 'mem', description: 'x', body: 'canary' }]));
    const library = await openSkills({ from: sources, execute: process.argv.includes('run') });
    const chat = await library.conversation();
    const results = [library.skills.length, (await chat.call('load_skill', { skill: 'text-diff' })).isError ?? false];
    if (process.argv.includes('run')) {
      const command = 'node scripts/diff.mjs assets/before.txt assets/after.txt';
      results.push((await chat.call('run_command', { skill: 'text-diff', command })).text.includes('Release notes'));
    }
    await library.close();
    return results;
  }
  if (isMainThread && process.argv.includes('worker')) {
    new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), trackUnmanagedFds: false });
  } else await main().then((results) => console.log(JSON.stringify(results)), ({ code, hint }) => console.log(code, hint));`,
);

async function start(env: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<string> {
  const options = { cwd: folder, env, timeout: 120_000 };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...words], options);
  return stdout + stderr;
}

/** What is true of this machine is not asked: programs run, or the reason is named. */
const ranOrRefused = /^(?:\[4,false,true\]|executor\/unavailable .+)\n$/;

test('opens, loads and runs without a home and without any program in the path', async () => {
  expect(await start({}, 'memory', 'run')).toMatch(ranOrRefused);
});

test('does so in a worker thread without a warning', async () => {
  expect(await start({}, 'memory', 'run', 'worker')).toMatch(ranOrRefused);
});

test('reads folders where no file can be written, and names the setting that other sources need', async () => {
  const env = { TMPDIR: path.join(folder, 'missing') };
  expect(await start(env)).toBe('[3,false]\n');
  expect(await start(env, 'memory')).toBe('io/failed set TMPDIR to a folder that this process may write\n');
});

import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { buildIndex } from '../../../src/skills/registry/registry.ts';
import { runs } from '../../property-runs.ts';
import { built, rootsOf, scratch, settle, writeSkill } from './support.ts';

const SKILLS = 20;

/** Looks again and again; half of the time something has changed, so that the cache is written. Prints what it saw that was wrong. */
const WORKER = `
  import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
  const [, module, root, cacheFile, own, rounds] = process.argv;
  const { buildIndex } = await import(module);
  const options = { roots: [{ source: 't', path: root, priority: 1, explicit: true }], cacheFile };
  const dir = root + '/own-' + own;
  const wrong = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    const description = 'Round ' + (round >> 1) + ' of ' + own + '.';
    if (round % 2 === 0) {
      writeFileSync(dir + '/SKILL.md', '---\\nname: own-' + own + '\\ndescription: ' + description + '\\n---\\n');
      utimesSync(dir + '/SKILL.md', 1e9 + round, 1e9 + round);
    }
    const { skills, report } = await buildIndex(options);
    const mine = skills.find(({ name }) => name === 'own-' + own);
    if (mine?.description !== description) wrong.push('own ' + mine?.description + ' for ' + description);
    const steady = skills.filter(({ name, description }) => name.startsWith('steady-') && description === 'About ' + name + '.').length;
    if (steady !== ${String(SKILLS)}) wrong.push('steady ' + steady);
    if (report.cache.status === 'unwritable') wrong.push('unwritable ' + report.cache.reason);
  }
  console.log(JSON.stringify(wrong));`;

function finished(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
    child.once('error', reject);
    child.once('exit', () => resolve(output));
  });
}

function makeSkills(root: string): void {
  for (let number = 0; number < SKILLS; number += 1)
    writeSkill(path.join(root, `steady-${String(number)}`), { description: `About steady-${String(number)}.` });
  for (const own of ['a', 'b']) writeSkill(path.join(root, `own-${own}`));
}

test('two processes that refresh many times, and a third that tears the cache, never see a wrong index', async () => {
  const base = scratch();
  const root = path.join(base, 'skills');
  const cacheFile = path.join(base, 'cache', 'x.cache');
  makeSkills(root);
  await settle();
  await buildIndex({ roots: rootsOf(['t', root]), cacheFile });
  const tear = `
    import { rmSync, truncateSync, writeFileSync } from 'node:fs';
    const acts = [() => writeFileSync(process.argv[1], 'garbage'), () => rmSync(process.argv[1], { force: true }), () => truncateSync(process.argv[1], 300)];
    for (let round = 0; ; round += 1) {
      try { acts[round % 3](); } catch (error) { if (error.code !== 'ENOENT') throw error; }
      await new Promise((resolve) => setTimeout(resolve, 7));
    }`;
  const tearing = spawn(process.execPath, ['--input-type=module', '-e', tear, cacheFile], { stdio: 'ignore' });
  const workers = ['a', 'b'].map((own) =>
    spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        WORKER,
        built('skills/registry/registry.js'),
        root,
        cacheFile,
        own,
        String(runs(500)),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], timeout: 170_000 },
    ),
  );
  const outputs = await Promise.all(workers.map(finished));
  tearing.kill('SIGKILL');
  expect(outputs).toEqual(['[]\n', '[]\n']);
});

test('a process killed while it writes leaves a cache that works and, in time, nothing else', async () => {
  const base = scratch();
  const root = path.join(base, 'skills');
  const cacheFile = path.join(base, 'cache', 'x.cache');
  makeSkills(root);
  for (let number = 0; number < 400; number += 1) writeSkill(path.join(root, 'many', `s${String(number)}`));
  await settle();
  const write = `
    import { rmSync } from 'node:fs';
    const { buildIndex } = await import(process.argv[1]);
    for (;;) {
      rmSync(process.argv[3], { force: true });
      await buildIndex({ roots: [{ source: 't', path: process.argv[2], priority: 1, explicit: true }], cacheFile: process.argv[3] });
      process.stdout.write('.');
    }`;
  for (let round = 0; round < 8; round += 1) {
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', write, built('skills/registry/registry.js'), root, cacheFile],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    await new Promise((resolve) => {
      child.stdout.once('data', resolve);
    });
    await settle(5 + round * 3);
    const end = finished(child);
    child.kill('SIGKILL');
    await end;
    const { skills } = await buildIndex({ roots: rootsOf(['t', root]), cacheFile });
    expect(skills).toHaveLength(SKILLS + 2 + 400);
  }
  for (const name of readdirSync(path.dirname(cacheFile)))
    if (name.endsWith('.tmp')) utimesSync(path.join(path.dirname(cacheFile), name), 1, 1);
  writeFileSync(path.join(path.dirname(cacheFile), '.x.cache.000000000000.tmp'), '');
  utimesSync(path.join(path.dirname(cacheFile), '.x.cache.000000000000.tmp'), 1, 1);
  rmSync(cacheFile);
  await buildIndex({ roots: rootsOf(['t', root]), cacheFile });
  expect(readdirSync(path.dirname(cacheFile))).toEqual(['x.cache']);
});

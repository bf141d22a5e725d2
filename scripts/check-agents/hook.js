/**
 * Adds the hook to a real agent CLI with `skillwright activate`, sends a prompt, and looks for the hint in what a mock model receives. Then
 * removes the hook and compares the files of the agent with those before.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startMockModel } from './mock-model.js';
import { readVersion, startAgent, writeStartFiles } from './start-agent.js';

const NAME = 'brass-lantern-polish';
/** Gemini CLI and Qwen Code escape the bracket before it. */
const HINT = `skill name="${NAME}"`;
/** In a folder of Skillwright that agents do not read. */
const DESCRIPTION = 'Polishes brass lanterns. Use it when a lantern of brass has lost its shine.';
/** Files of the user that have to come back as they were. */
const FILES = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  'gemini-cli': '.gemini/settings.json',
  'github-copilot': '.copilot/hooks/skillwright.json',
  opencode: '.config/opencode/plugins/skillwright.js',
  pi: '.pi/agent/extensions/skillwright.js',
  'qwen-code': '.qwen/settings.json',
};
/** The first starts the resident process, which answers the second. */
const PROMPTS = { other: 'Tell me a joke', fits: 'Polish the brass lantern, it lost its shine' };

const OTHERS = 20;

function writeSkill(home, name, description) {
  const folder = path.join(home, '.agent/skills', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'SKILL.md'), `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`);
}

/** One row: whether the hint arrived, stayed away from another prompt, and left no trace when removed. */
export async function checkHook(id, { bin, world, command }) {
  const top = mkdtempSync(path.join(world, `hook-${id}-`));
  const [home, project] = ['home', 'project'].map((name) => path.join(top, name));
  for (const one of [path.join(home, 'tmp'), project]) mkdirSync(one, { recursive: true });
  spawnSync('git', ['init', '-q'], { cwd: project });
  writeSkill(home, NAME, DESCRIPTION);
  for (let at = 0; at < OTHERS; at += 1) writeSkill(home, `other-${at}`, `Makes number ${at} of other things.`);
  const mock = await startMockModel({ rules: {} });
  const options = { home, project, url: mock.url, bin };
  writeStartFiles(id, options);
  if (id === 'claude-code') {
    mkdirSync(path.join(home, '.claude'), { recursive: true });
    writeFileSync(path.join(home, '.claude/settings.json'), '{\n   "env": { "A" : "1" }\n}');
  }
  // Qwen Code rewrites its settings when it first starts.
  await startAgent(id, { ...options, prompt: PROMPTS.other, hasFiles: true });
  const file = path.join(home, FILES[id]);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const activate = (...words) =>
    spawnSync(process.execPath, [command, 'activate', '--agent', id, '--yes', ...words], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: home },
      encoding: 'utf8',
    });
  const added = activate();
  const seen = {};
  for (const [name, prompt] of Object.entries(PROMPTS)) {
    const start = mock.requests.length;
    const { status, output } = await startAgent(id, { ...options, prompt, hasFiles: true, withHooks: true });
    const own = mock.requests.slice(start).map(({ text }) => text.replaceAll('\\"', '"'));
    seen[name] =
      status === 0 && own.length > 0
        ? own.filter((text) => text.includes(HINT)).length
        : `exit code ${status}: ${output.slice(-200)}`;
    await sleep(2000);
  }
  mock.close();
  const removed = activate('--remove');
  const after = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const isRestored = after === before && !existsSync(path.join(home, '.agent/activation'));
  await sleep(1000);
  rmSync(top, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  const problems = [
    ...(added.status === 0 ? [] : [`activate: ${added.stderr.trim()}`]),
    ...(seen.fits > 0 ? [] : [`no hint: ${seen.fits}`]),
    ...(seen.other === 0 ? [] : [`hint for another prompt: ${seen.other}`]),
    ...(removed.status === 0 && isRestored ? [] : [`not restored: ${removed.stderr.trim()}`]),
  ];
  return { id, version: readVersion(id, { bin, home: world }), problems };
}

/** Prints one row per agent; returns whether all are good. */
export function printHooks(rows) {
  console.log('\nWhat skillwright activate does in agents:\n');
  console.log('| agent | hint in the request, none for another prompt, files restored |');
  console.log('| --- | --- |');
  for (const { id, version, problems } of rows)
    console.log(`| ${id} ${version} | ${problems.length === 0 ? 'yes' : problems.join('; ')} |`);
  return rows.every(({ problems }) => problems.length === 0);
}

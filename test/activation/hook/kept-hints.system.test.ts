import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { openAnswers } from '../../../src/activation/hook/answer-prompt.ts';
import { hookScript } from '../../../src/activation/hook/hook-script.ts';
import { useKept } from '../../../src/activation/hook/kept-hints.ts';
import { PROJECT } from '../../files-below.ts';
import { plainSkill, writeSkill } from '../odd-skills.ts';

const NAME = 'brass-lantern-polish';
const DESCRIPTION = 'Polishes brass lanterns. Use it when a lantern of brass has lost its shine.';
const LONG_AGO = 1_700_000_000;

let top: string;
let home: string;
let project: string;
let skill: string;

beforeEach(() => {
  top = mkdtempSync(path.join(os.tmpdir(), 'kept-'));
  [home, project] = [path.join(top, 'home'), path.join(top, 'project')];
  skill = path.join(home, '.agent/skills', NAME);
  mkdirSync(path.join(project, '.git'), { recursive: true });
  mkdirSync(path.join(home, '.agent/activation'), { recursive: true, mode: 0o700 });
  writeSkill(skill, plainSkill(NAME, DESCRIPTION));
  for (let at = 0; at < 5; at += 1)
    writeSkill(path.join(home, '.agent/skills', `other-${String(at)}`), plainSkill(`other-${String(at)}`));
});
afterEach(() => {
  // The program starts a process for the next prompt, which fails but may write why.
  rmSync(top, { recursive: true, force: true, maxRetries: 20 });
});

const countSkills = ({ index }: { readonly index: { readonly size: number } }): number => index.size;
const prompt = (text: string): string => JSON.stringify({ session_id: 's', cwd: project, prompt: text });
const POLISH = 'Polish the brass lantern, it lost its shine';

/** What the resident process does after a prompt; returns its answer and the file that it keeps. */
async function keep(): Promise<{ readonly text: string; readonly file: string }> {
  const answers = openAnswers({ cache: {} });
  // A change within the last two seconds may not show in the times of a folder, so nothing is kept until then.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
  await answers.prepare('claude-code', { cwd: project, home, env: {} });
  await answers.review();
  vi.useRealTimers();
  const { text } = await answers.answer({ agent: 'claude-code', input: prompt(POLISH), home, env: {} });
  const cache = path.join(home, '.cache/skillwright');
  return { text, file: path.join(cache, readdirSync(cache)[0] ?? '') };
}

/** What the program prints that a hook starts, without the part of it that reads skills. */
async function run(input: string): Promise<string> {
  const program = path.join(top, 'hook.cjs');
  copyFileSync(path.join(PROJECT, 'dist/command/hook.js'), program);
  copyFileSync(path.join(PROJECT, 'dist/command/hook-answer.js'), path.join(top, 'hook-answer.js'));
  const child = spawn(process.execPath, [program, 'claude-code', path.join(home, '.agent/activation')], {
    env: { HOME: home },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input);
  await new Promise((resolve) => child.on('close', resolve));
  return Buffer.concat(chunks).toString('utf8');
}

describe('a hook where no process serves', () => {
  test('answers from what the last process kept, until a hinted skill changes', async () => {
    const { text, file } = await keep();
    expect(text).toContain(`<skill name=\\"${NAME}\\"`);
    expect(statSync(file).mode & 0o077).toBe(0);
    // On a loaded machine Node alone may take longer than a hook waits.
    await expect.poll(async () => run(prompt(POLISH)), { timeout: 60_000 }).toBe(text);
    expect(await run(prompt('Tell me a joke'))).toBe('');
    expect(await run(prompt(`/${NAME} now`))).toBe('');
    writeSkill(skill, plainSkill(NAME, `${DESCRIPTION} Now.`));
    expect(await run(prompt(POLISH))).toBe('');
  });

  test('keeps its compiled code after an answer, and compiles again if that is damaged', async () => {
    const { text } = await keep();
    const compiled = path.join(home, '.agent/activation/compiled.bin');
    await run(prompt('Tell me a joke'));
    expect(existsSync(compiled)).toBe(false);
    await expect.poll(async () => run(prompt(POLISH)), { timeout: 60_000 }).toBe(text);
    const whole = readFileSync(compiled);
    expect(statSync(compiled).mode & 0o077).toBe(0);
    for (const at of [0, 300, whole.length >> 1, whole.length - 1]) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      writeFileSync(compiled, damaged);
      await expect.poll(async () => run(prompt(POLISH)), { timeout: 60_000 }).toBe(text);
      expect(readFileSync(compiled).equals(damaged)).toBe(false);
    }
    // Only one file: those that it replaced are gone.
    const names = readdirSync(path.dirname(compiled)).filter((name) => name !== 'last-failure');
    expect(names.toSorted()).toEqual(['compiled.bin', 'hints.jsonl']);
  });

  test.each([
    ['crashes', 'kill -SEGV $$', false],
    ['fails', 'exit 1', false],
    ['says nothing', 'exit 0', true],
  ])('where Node %s, the prompt goes on', async (_, body, isKept) => {
    const folder = path.join(home, '.agent/activation');
    const [node, script] = [path.join(top, 'node'), path.join(folder, 'hook.sh')];
    writeFileSync(node, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    writeFileSync(script, hookScript({ node, program: 'hook.js' }));
    writeFileSync(path.join(folder, 'compiled.bin'), 'code');
    const child = spawn('/bin/sh', [script, 'claude-code'], { env: { ...process.env, HOME: home }, stdio: 'ignore' });
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
    expect(existsSync(path.join(folder, 'compiled.bin'))).toBe(isKept);
  });

  test('answers nothing from a file that is damaged', async () => {
    const { file } = await keep();
    expect(useKept(file, countSkills)).toBe(6);
    const bytes = readFileSync(file);
    const flipped = (at: number): Buffer => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 0x10;
      return copy;
    };
    const cut = [0, 5, 16, bytes.length >> 1, bytes.length - 1].map((length) => bytes.subarray(0, length));
    const longer = Buffer.concat([bytes, Buffer.alloc(4)]);
    // What a file system shows of a block that it lost.
    const withHole = Buffer.from(bytes).fill(0, 512, 1024);
    const all = [...cut, ...[0, 4, 8, 12, 16, 20].map(flipped), longer, withHole, Buffer.alloc(bytes.length)];
    for (const damaged of all) {
      writeFileSync(file, damaged);
      expect(useKept(file, countSkills)).toBeUndefined();
    }
    writeFileSync(file, bytes);
    expect(useKept(file, countSkills)).toBe(6);
  });

  test.each([
    ['a skill was added', () => writeSkill(path.join(home, '.agent/skills/new-one'), plainSkill('new-one'))],
    ['a skill was removed', () => rmSync(skill, { recursive: true })],
    ['trust changed', () => writeFileSync(path.join(home, '.agent/trust.json'), '{}')],
    ['the agent reads another folder', () => writeSkill(path.join(project, '.claude/skills/own'), plainSkill('own'))],
    [
      'settings changed',
      () => {
        mkdirSync(path.join(home, '.claude'), { recursive: true });
        writeFileSync(path.join(home, '.claude/settings.json'), '{}');
      },
    ],
    ['a folder has other times', () => utimesSync(path.join(home, '.agent/skills'), LONG_AGO, LONG_AGO)],
  ])('reads the skills again after %s', async (_, change) => {
    const { file } = await keep();
    change();
    expect(useKept(file, countSkills)).toBeUndefined();
  });
});

test('the first prompt after an edit of a skill gets it as it is', async () => {
  const answers = openAnswers();
  const ask = async (text: string): Promise<string> =>
    (await answers.answer({ agent: 'claude-code', input: prompt(text), home, env: {} })).text;
  expect(await ask(POLISH)).toContain('Polishes brass lanterns.');
  writeSkill(skill, plainSkill(NAME, 'Bakes sourdough bread. Use it when a dough of sourdough is ready.'));
  expect(await ask(POLISH)).not.toContain('Polishes');
  expect(await ask('The sourdough is ready, bake the bread')).toContain('Bakes sourdough bread.');
});

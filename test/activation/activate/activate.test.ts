import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { hookStates, planActivation } from '#activation';
import { needs } from '../../needs.ts';

let home: string;
let settings: string;
let folder: string;

beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'activate-'));
  settings = path.join(home, '.claude/settings.json');
  folder = path.join(home, '.agent/activation');
  mkdirSync(path.dirname(settings));
});
afterEach(() => {
  for (const closed of [home, path.join(home, '.agent')]) if (existsSync(closed)) chmodSync(closed, 0o700);
  rmSync(home, { recursive: true, force: true });
});

const surroundings = () => ({ cwd: home, home, env: {}, osHome: home });
const plan = (isRemoving = false, agents: readonly string[] = isRemoving ? [] : ['claude-code']) =>
  planActivation({ surroundings: surroundings(), agents, isRemoving });
const states = () => hookStates(surroundings()).map(({ agent, status }) => [agent, status]);

test('a settings file that is a link to a missing file is refused and stays', () => {
  symlinkSync('nowhere.json', settings);
  expect(plan().changes.map(({ problem }) => problem)).toEqual([
    {
      code: 'input/invalid',
      message: `${settings} is a link to a file that does not exist`,
      hint: 'create that file, or remove the link',
    },
  ]);
  expect(lstatSync(settings).isSymbolicLink()).toBe(true);
});

test('a folder that cannot be written is named', needs('an ordinary user'), async () => {
  mkdirSync(path.join(home, '.agent'));
  chmodSync(path.join(home, '.agent'), 0o500);
  await expect(plan().apply()).rejects.toThrow(`${folder} cannot be written (EACCES)`);
  expect(existsSync(settings)).toBe(false);
});

describe('after the folder of the hook was deleted by hand', () => {
  const before = '{\n  "hooks": {\n    "UserPromptSubmit": [\n      { "hooks": [] }\n    ]\n  }\n}\n';

  test('activating again makes a hook that works', async () => {
    writeFileSync(settings, before);
    await plan().apply();
    rmSync(folder, { recursive: true });
    expect(states()).toEqual([['claude-code', 'broken']]);
    await plan().apply();
    expect(states()).toEqual([['claude-code', 'active']]);
    expect(readFileSync(settings, 'utf8').match(/hook\.sh/g)).toHaveLength(1);
    await plan(true).apply();
    expect(readFileSync(settings, 'utf8')).toBe(before);
  });

  test('removing takes out the entries, and the files that are ours', async () => {
    writeFileSync(settings, before);
    const extension = path.join(home, '.pi/agent/extensions/skillwright.js');
    await plan(false, ['claude-code', 'pi']).apply();
    expect(existsSync(extension)).toBe(true);
    rmSync(folder, { recursive: true });
    await plan(true).apply();
    expect(readFileSync(settings, 'utf8')).toBe(before);
    expect(existsSync(extension)).toBe(false);
    expect(existsSync(folder)).toBe(false);
    expect(plan(true).changes).toEqual([]);
  });
});

test.each([
  ['activating', false],
  ['removing', true],
])('%s removes what a killed activation left beside the settings, and nothing else', async (_, isRemoving) => {
  writeFileSync(settings, '{}\n');
  await plan().apply();
  const others = ['.settings.json.swp', '.settings.json.mine.tmp', 'settings.json.m2f1qr0f1p32yc9zbw.tmp'];
  for (const name of [...others, '.settings.json.m2f1qr0f1p32yc9zbw.tmp'])
    writeFileSync(path.join(path.dirname(settings), name), '{');
  await plan(isRemoving).apply();
  expect(readdirSync(path.dirname(settings)).toSorted()).toEqual([...others, 'settings.json'].toSorted());
});

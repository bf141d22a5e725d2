import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { treeOf } from '../packs/root/support.ts';
import { runCli, spawnCli, type CliResult } from './run-cli.ts';

let base = '';
let project = '';

const at = (below: string): string => path.join(project, below);
const cli = (...words: readonly string[]): Promise<CliResult> =>
  runCli(project, words, { HOME: path.join(base, 'home') });

/** A source with this many skills; gives its folder. */
function source(count: number): string {
  const folder = path.join(base, 'source');
  for (let number = 1; number <= count; number += 1)
    writeSkill(path.join(folder, 'skills', `skill-${String(number).padStart(2, '0')}`));
  return folder;
}

beforeEach(() => {
  base = scratch();
  project = path.join(base, 'project');
  for (const folder of ['project/.git', 'home']) mkdirSync(path.join(base, folder), { recursive: true });
});

describe('install --agent', () => {
  verifies(
    'INST-2',
    'puts 18 skills in for Claude Code; uninstall --all leaves nothing, and restore brings all back',
    async () => {
      const folder = source(18);
      const names = readdirSync(path.join(folder, 'skills'));
      const installed = await cli('install', folder, '--yes', '-a', 'claude-code');
      expect(installed).toMatchObject({ status: 0 });
      expect(installed.out).toBe(names.map((name) => `installed ${name}\n`).join(''));
      expect(installed.err).toContain('for claude-code  .claude/skills: 18 links');
      expect(readdirSync(at('.claude/skills'))).toEqual(names);
      expect(readlinkSync(at('.claude/skills/skill-07'))).toBe('../../.agents/skills/skill-07');
      const linked = treeOf(project);

      const listed = JSON.parse((await cli('list', '--source', 'project', '--json')).out) as { skills: object[] };
      expect(listed.skills).toHaveLength(18);
      for (const skill of listed.skills)
        expect(skill).toMatchObject({ agents: expect.arrayContaining(['claude-code', 'codex']) });
      expect((await cli('list')).out).toContain('\nAgents\n  claude-code: 18 skills\n');
      expect(await cli('verify')).toMatchObject({ status: 0 });

      expect(await cli('uninstall', '--all', '--yes')).toMatchObject({ status: 0 });
      expect(readdirSync(project).toSorted()).toEqual(['.agents', '.git']);
      expect(readdirSync(at('.agents/skills')).toSorted()).toEqual(['.skillwright', 'skills.lock.json']);

      expect(await cli('restore', '--yes')).toMatchObject({ status: 0 });
      expect(treeOf(project)).toEqual(linked);

      for (const name of names) rmSync(at(`.agents/skills/${name}`), { recursive: true });
      rmSync(at('.claude'), { recursive: true });
      const doctor = await cli('doctor', '--no-probe');
      expect(doctor.out).toContain('skill-01 (claude-code) is missing: run skillwright install --frozen');
      expect((await cli('verify')).out).toContain(`missing link ${at('.claude/skills/skill-01')} for claude-code`);
      expect(await cli('install', '--frozen')).toMatchObject({ status: 0 });
      expect(treeOf(project)).toEqual(linked);
    },
  );

  verifies(
    'INST-2',
    'links only for agents that do not read .agents/skills, and adds agents to installed skills',
    async () => {
      const folder = source(2);
      expect(await cli('install', folder, '--yes', '-a', 'codex', '-a', 'cursor')).toMatchObject({ status: 0 });
      expect(readdirSync(project).toSorted()).toEqual(['.agents', '.git']);
      const more = await cli('install', folder, '--yes', '-a', 'windsurf', '--agent', 'roo');
      expect(more).toMatchObject({ status: 0, out: '' });
      expect(readdirSync(at('.windsurf/skills'))).toEqual(['skill-01', 'skill-02']);
      expect(await cli('uninstall', 'skill-01', '--yes', '-a', 'roo')).toMatchObject({ status: 0 });
      expect(readdirSync(at('.roo/skills'))).toEqual(['skill-02']);
      expect(existsSync(at('.agents/skills/skill-01/SKILL.md'))).toBe(true);
      expect(await cli('uninstall', 'skill-01', '--yes', '-a', 'codex')).toMatchObject({
        status: 1,
        err: expect.stringContaining('codex reads'),
      });
    },
  );

  test('all: links for every detected agent, in the home folder with --scope user', async () => {
    for (const folder of ['.claude', '.codeium/windsurf', '.codex'])
      mkdirSync(path.join(base, 'home', folder), { recursive: true });
    expect(await cli('install', source(1), '--yes', '--agent', 'all', '--scope', 'user')).toMatchObject({ status: 0 });
    const links = ['.claude/skills', '.codeium/windsurf/skills'].map((folder) =>
      readlinkSync(path.join(base, 'home', folder, 'skill-01')),
    );
    expect(links).toEqual(['../../.agents/skills/skill-01', '../../../.agents/skills/skill-01']);
    const doctor = JSON.parse((await cli('doctor', '--no-probe', '--json')).out) as {
      findings: { name: string; detail: string }[];
    };
    expect(doctor.findings.find(({ name }) => name === 'agents')?.detail).toMatch(
      /^claude-code \(.*\), codex \(.*\), windsurf /,
    );
  });

  test('--copy copies, and a second --to links to the first', async () => {
    const folder = source(1);
    expect(await cli('install', folder, '--yes', '-a', 'claude-code', '--copy')).toMatchObject({ status: 0 });
    expect(treeOf(at('.claude/skills/skill-01'))).toEqual(treeOf(at('.agents/skills/skill-01')));
    expect(await cli('install', folder, '--yes', '--to', 'one', '--to', 'deep/two', '--to', '../three')).toMatchObject({
      status: 0,
    });
    expect(readlinkSync(at('deep/two/skill-01'))).toBe('../../one/skill-01');
    expect(readlinkSync(at('../three/skill-01'))).toBe('../project/one/skill-01');
    rmSync(at('deep'), { recursive: true });
    expect(await cli('install', '--frozen', '--to', 'one')).toMatchObject({ status: 1 });
    expect(existsSync(at('deep'))).toBe(false);
    expect(await cli('install', '--frozen', '--to', 'one', '--to', 'deep/two')).toMatchObject({ status: 0 });
    expect(readlinkSync(at('deep/two/skill-01'))).toBe('../../one/skill-01');
    expect(await cli('uninstall', 'skill-01', '--yes', '--to', 'one')).toMatchObject({ status: 0 });
    expect([at('deep'), at('../three')].filter((place) => existsSync(place))).toEqual([]);
  });
});

describe('folders of agents that are not as expected', () => {
  test('an agent that was named but got nothing is not told to be named', async () => {
    writeFileSync(at('.claude'), 'a file');
    const end = await cli('install', source(1), '--yes', '-a', 'claude-code');
    expect(end.status).toBe(1);
    expect(end.err).toContain('not for claude-code\n');
    expect(end.err).not.toContain('name it with --agent');
  });

  verifies(
    'INST-2',
    'an entry of others stays, is named with its agent, and everything else is installed',
    async () => {
      mkdirSync(at('.claude/skills/skill-01'), { recursive: true });
      writeFileSync(at('.claude/skills/skill-01/mine.md'), 'mine');
      const end = await cli('install', source(2), '--yes', '-a', 'claude-code', '-a', 'roo');
      expect(end.status).toBe(1);
      expect(end.out).toBe('installed skill-01\ninstalled skill-02\n');
      expect(end.err).toContain('not touched, made by others: skill-01');
      expect(end.err).toContain(
        `claude-code: "${at('.claude/skills/skill-01')}" exists and was not created by skillwright`,
      );
      expect(readFileSync(at('.claude/skills/skill-01/mine.md'), 'utf8')).toBe('mine');
      expect(readdirSync(at('.claude/skills'))).toEqual(['skill-01', 'skill-02']);
      expect(readdirSync(at('.roo/skills'))).toEqual(['skill-01', 'skill-02']);
      expect(await cli('uninstall', '--all', '--yes')).toMatchObject({ status: 0 });
      expect(readdirSync(at('.claude/skills'))).toEqual(['skill-01']);
    },
  );

  test.each([
    [
      'a link out of the project',
      () => symlinkSync(path.join(base, 'home'), at('.claude')),
      'is a link that leads out of',
    ],
    ['a file', () => writeFileSync(at('.claude'), 'mine'), 'is a file or below a file, not a folder'],
    ['a broken link', () => symlinkSync('nowhere/at/all', at('.claude')), 'is or is below a broken link'],
  ])('%s: the skills are installed, and nothing is written through it', async (_, make, reason) => {
    make();
    const end = await cli('install', source(1), '--yes', '-a', 'claude-code', '--json');
    const { unplaced } = JSON.parse(end.out) as { unplaced: { message: string }[] };
    expect(existsSync(at('.agents/skills/skill-01/SKILL.md'))).toBe(true);
    expect(readdirSync(path.join(base, 'home')).filter((name) => name === 'skills')).toEqual([]);
    expect(readdirSync(project)).not.toContain('nowhere');
    expect(end.status).toBe(1);
    expect(unplaced).toMatchObject([{ message: expect.stringContaining(reason) }]);
  });

  test('an unknown agent is a usage error before anything happens', async () => {
    const end = await cli('install', source(1), '--yes', '-a', 'claude');
    expect(end).toMatchObject({ status: 2, err: expect.stringContaining('did you mean claude-code') });
    expect(existsSync(at('.agents'))).toBe(false);
  });

  test('a lock of a clone that names a folder of no agent makes no link there', async () => {
    expect(await cli('install', source(1), '--yes', '-a', 'claude-code')).toMatchObject({ status: 0 });
    const lock = at('.agents/skills/skills.lock.json');
    writeFileSync(lock, readFileSync(lock, 'utf8').replace('../../.claude/skills', '../../node_modules'));
    mkdirSync(at('node_modules'));
    const end = await cli('install', '--frozen');
    expect(end).toMatchObject({ status: 1, err: expect.stringContaining('is not the folder of a known agent') });
    expect(readdirSync(at('node_modules'))).toEqual([]);
  });
});

test('two installs at once for two agents both arrive', async () => {
  const folder = source(6);
  const env = { HOME: path.join(base, 'home') };
  const ends = await Promise.all([
    spawnCli(project, ['install', folder, 'skill-01', 'skill-02', '--yes', '-a', 'claude-code'], env),
    spawnCli(project, ['install', folder, 'skill-03', 'skill-02', '--yes', '-a', 'roo'], env),
  ]);
  expect(ends.map(({ status }) => status)).toEqual([0, 0]);
  expect(readdirSync(at('.claude/skills'))).toEqual(['skill-01', 'skill-02']);
  expect(readdirSync(at('.roo/skills'))).toEqual(['skill-02', 'skill-03']);
  expect(await cli('verify')).toMatchObject({ status: 0 });
});

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { runCli, type CliResult } from './run-cli.ts';
import { skipUnless } from '../needs.ts';

let base = '';
let project = '';

const at = (below: string): string => path.join(project, below);
const source = (): string => path.join(base, 'source');
const cli = (...words: readonly string[]): Promise<CliResult> =>
  runCli(project, words, { HOME: path.join(base, 'home') });
const writeJson = (file: string, value: unknown): void =>
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);

beforeEach(() => {
  base = scratch();
  project = path.join(base, 'project');
  for (const folder of ['project/.git', 'home']) mkdirSync(path.join(base, folder), { recursive: true });
  for (const name of ['alpha', 'beta']) writeSkill(path.join(source(), 'skills', name));
  writeFileSync(path.join(source(), 'skills/alpha/metadata.json'), '{}');
});

/** Copies as `npx skills` does: without metadata.json. */
function copySkill(name: string, to: string): void {
  cpSync(path.join(source(), 'skills', name), to, {
    recursive: true,
    filter: (file) => path.basename(file) !== 'metadata.json',
  });
}

/** What `skills add file:///… -a claude-code -a codex` (1.7.4) leaves in a project. */
function leftBySkills(): void {
  const entry = (name: string) => ({
    source: `file://${source()}`,
    sourceUrl: `file://${source()}`,
    sourceType: 'git',
    skillPath: `skills/${name}/SKILL.md`,
    computedHash: '2d8e0ca247ef1014e83952173b0fe63931092e3cbfdb57756f36bbfa332386dc',
  });
  writeJson(at('skills-lock.json'), { version: 1, skills: { alpha: entry('alpha'), beta: entry('beta') } });
  mkdirSync(at('.claude/skills'), { recursive: true });
  for (const name of ['alpha', 'beta']) {
    copySkill(name, at(`.agents/skills/${name}`));
    symlinkSync(`../../.agents/skills/${name}`, at(`.claude/skills/${name}`));
  }
}

/** What `openskills install …` (1.5.0) leaves in a project. */
function leftByOpenskills(): void {
  for (const name of ['alpha', 'beta']) {
    cpSync(path.join(source(), 'skills', name), at(`.claude/skills/${name}`), { recursive: true });
    writeJson(at(`.claude/skills/${name}/.openskills.json`), {
      source: source(),
      sourceType: 'local',
      localPath: path.join(source(), 'skills', name),
      installedAt: '2026-11-16T07:42:54.587Z',
    });
  }
}

async function expectMigrated(): Promise<void> {
  expect(await cli('verify')).toMatchObject({ status: 0 });
  for (const name of ['alpha', 'beta'])
    expect(readlinkSync(at(`.claude/skills/${name}`))).toBe(`../../.agents/skills/${name}`);
  // The file that the other tool left out is back.
  expect(existsSync(at('.agents/skills/alpha/metadata.json'))).toBe(true);
  expect(await cli('uninstall', '--all', '--yes')).toMatchObject({ status: 0 });
  expect(existsSync(at('.claude'))).toBe(false);
}

describe('lock --import', () => {
  verifies('INST-4', 'takes over a project of npx skills with its links', async () => {
    leftBySkills();
    expect(await cli('lock', '--import', 'skills-lock.json', '--yes')).toMatchObject({
      status: 0,
      out: 'installed alpha\ninstalled beta\n',
    });
    await expectMigrated();
  });

  verifies('INST-4', 'takes over the copies of openskills and lists a skill without a source', async () => {
    leftByOpenskills();
    writeSkill(at('.claude/skills/own'));
    const end = await cli('lock', '--import', '.claude/skills', '--yes');
    expect(end).toMatchObject({ status: 1, out: 'installed alpha\ninstalled beta\n' });
    expect(end.err).toContain(
      'cannot import "own": it has no .openskills.json, so its source is unknown: install it from its source',
    );
    expect(readFileSync(at('.claude/skills/own/SKILL.md'), 'utf8')).toContain('name: own');
    expect(lstatSync(at('.claude/skills/alpha')).isSymbolicLink()).toBe(true);
  });

  test('installs a user lock into the root of the user', async () => {
    mkdirSync(path.join(base, 'home/.agents/skills'), { recursive: true });
    const lock = path.join(base, 'home/.agents/.skill-lock.json');
    writeJson(lock, {
      version: 3,
      skills: {
        beta: {
          source: source(),
          sourceType: 'local',
          sourceUrl: source(),
          skillFolderHash: '9023f36c806f982392154a63f9ed2383cc63d71fe00f882d3a87a1ee9483642f',
          installedAt: '2026-11-16T08:22:29.933Z',
          updatedAt: '2026-11-16T08:22:29.933Z',
        },
      },
      dismissed: {},
    });
    expect(await cli('lock', '--import', lock, '--yes')).toMatchObject({ status: 0, out: 'installed beta\n' });
    expect(existsSync(path.join(base, 'home/.agents/skills/beta/SKILL.md'))).toBe(true);
    expect(existsSync(at('.agents'))).toBe(false);
  });

  verifies('INST-4', 'keeps a skill that was edited, and lists why each one could not be matched', async () => {
    leftBySkills();
    writeFileSync(at('.agents/skills/beta/SKILL.md'), 'mine');
    writeJson(at('skills-lock.json'), {
      version: 1,
      skills: {
        ...(JSON.parse(readFileSync(at('skills-lock.json'), 'utf8')) as { skills: object }).skills,
        gone: {
          source: `file://${source()}`,
          sourceUrl: `file://${source()}`,
          sourceType: 'git',
          skillPath: 'skills/gone/SKILL.md',
        },
        lost: { source: '../nowhere', sourceType: 'local' },
        odd: { source: 'x', sourceType: 'bucket' },
      },
    });
    const end = await cli('lock', '--import', '.', '--yes', '--json');
    const { installed, failed, unread } = JSON.parse(end.out) as Record<
      string,
      { name: string; code: string; message: string }[]
    >;
    expect(end.status).toBe(1);
    expect(installed).toEqual(['alpha']);
    expect(failed?.map(({ name, code }) => `${name} ${code}`)).toEqual([
      'beta install/foreign',
      'gone pack/unknown-skill',
      'lost source/missing',
    ]);
    expect(failed?.[0]?.message).toContain('its files are not those of the source');
    expect(unread).toEqual([{ name: 'odd', reason: 'unknown source type: "bucket"' }]);
    expect(readFileSync(at('.agents/skills/beta/SKILL.md'), 'utf8')).toBe('mine');
  });

  test('refuses a folder that has none of the files', async () => {
    expect(await cli('lock', '--import', '.')).toMatchObject({
      status: 1,
      err: expect.stringContaining('has no skills-lock.json, no .skill-lock.json and no skill with .openskills.json'),
    });
  });
});

/** A folder with `node_modules/skills` and `node_modules/openskills`, and a Node that runs them. */
const PEERS = process.env['TEST_PEERS'] ?? '';
const PEER_NODE = process.env['TEST_PEERS_NODE'] ?? process.execPath;
const hasPeers = existsSync(path.join(PEERS, 'node_modules/skills/bin/cli.mjs'));

describe(
  'what the real programs write',
  skipUnless(hasPeers, 'the npm packages skills and openskills in the folder TEST_PEERS'),
  () => {
    const run = (script: string, ...words: readonly string[]): void => {
      const env = {
        PATH: process.env['PATH'],
        HOME: path.join(base, 'home'),
        DISABLE_TELEMETRY: '1',
        DO_NOT_TRACK: '1',
      };
      const end = spawnSync(PEER_NODE, [path.join(PEERS, 'node_modules', script), ...words], {
        cwd: project,
        env,
        encoding: 'utf8',
      });
      expect({ status: end.status, text: end.status === 0 ? '' : end.stdout + end.stderr }).toEqual({
        status: 0,
        text: '',
      });
    };

    test('of npx skills, from a git repository, is imported', async () => {
      const git = (...words: readonly string[]) =>
        spawnSync('git', ['-C', source(), '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words]);
      for (const words of [
        ['init', '-q', '-b', 'main'],
        ['add', '-A'],
        ['commit', '-qm', 'x'],
      ])
        git(...words);
      run('skills/bin/cli.mjs', 'add', `file://${source()}`, '-y', '-a', 'claude-code', '-a', 'codex');
      expect(await cli('lock', '--import', '.', '--yes')).toMatchObject({ status: 0 });
      await expectMigrated();
    });

    test('of npx skills, for one agent, is imported', async () => {
      run('skills/bin/cli.mjs', 'add', source(), '-y', '-a', 'claude-code');
      expect(lstatSync(at('.claude/skills/alpha')).isDirectory()).toBe(true);
      expect(await cli('lock', '--import', 'skills-lock.json', '--yes')).toMatchObject({ status: 0 });
      await expectMigrated();
    });

    test('of npx skills, for a user, is imported', async () => {
      run('skills/bin/cli.mjs', 'add', source(), '-g', '-y', '-a', 'claude-code', '-a', 'codex');
      const lock = path.join(base, 'home/.agents/.skill-lock.json');
      expect(await cli('lock', '--import', lock, '--yes')).toMatchObject({ status: 0 });
      expect(readdirSync(path.join(base, 'home/.claude/skills'))).toEqual(['alpha', 'beta']);
      expect(await cli('verify', '--scope', 'user')).toMatchObject({ status: 0 });
    });

    test('of openskills is imported', async () => {
      run('openskills/dist/cli.js', 'install', source(), '-y');
      expect(await cli('lock', '--import', '.', '--yes')).toMatchObject({ status: 0 });
      await expectMigrated();
    });
  },
);

import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { runCli, skillText, temporaryFolder, writeFiles, type CliResult } from './run-cli.ts';

interface World {
  readonly folder: string;
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
  readonly done: (...words: readonly string[]) => Promise<CliResult>;
  readonly at: (below: string) => string;
}

/** A project with the sources of two skills. */
function world(files: Readonly<Record<string, string>> = {}): World {
  const folder = temporaryFolder();
  for (const made of ['.git', 'home', '.claude/skills']) mkdirSync(path.join(folder, made), { recursive: true });
  writeFiles(folder, {
    'source/alpha/SKILL.md': skillText('alpha', 'Works on tables.'),
    'source/beta/SKILL.md': skillText('beta', 'Writes letters.'),
    ...files,
  });
  const run = (...words: readonly string[]): Promise<CliResult> => runCli(folder, words);
  return {
    folder,
    run,
    async done(...words) {
      const result = await run(...words);
      expect({ words, status: result.status, err: result.status === 0 ? '' : result.err }).toEqual({
        words,
        status: 0,
        err: '',
      });
      return result;
    },
    at: (below) => path.join(folder, below),
  };
}

const LINK = '.claude/skills/beta';
const FOR_CLAUDE = ['install', './source', 'beta', '-a', 'claude-code', '--yes'];

describe('a copy for an agent', () => {
  test('counts as visible for that agent', async () => {
    const { done } = world();
    const { err } = await done(...FOR_CLAUDE, '--copy');
    expect(err).not.toContain('not for claude-code');
    expect(err).toContain('1 skill for claude-code');
    expect((await done('list', '--json')).out).toContain('"claude-code"');
  });

  test('becomes a link and a link a copy, while they are unchanged', async () => {
    const { done, at, run } = world();
    for (const copy of [true, false, true, false]) {
      await done(...FOR_CLAUDE, ...(copy ? ['--copy'] : []));
      expect([copy, lstatSync(at(LINK)).isDirectory()]).toEqual([copy, copy]);
      await done('verify');
    }
    await done(...FOR_CLAUDE, '--copy');
    writeFileSync(at(`${LINK}/mine.md`), 'mine');
    const refused = await run(...FOR_CLAUDE);
    expect([refused.status, refused.err.includes('changed the folders')]).toEqual([1, false]);
    expect(readFileSync(at(`${LINK}/mine.md`), 'utf8')).toBe('mine');
  });

  test('of another program with the same files is not replaced', async () => {
    const { done, at, run } = world();
    await done('install', './source', 'beta', '--yes');
    writeFiles(at(LINK), { 'SKILL.md': skillText('beta', 'Writes letters.') });
    expect((await run(...FOR_CLAUDE)).status).toBe(1);
    expect(lstatSync(at(LINK)).isDirectory()).toBe(true);
  });
});

describe('uninstall --agent', () => {
  test('says what it removed, and that nothing was left to remove', async () => {
    const { done, at } = world();
    await done(...FOR_CLAUDE);
    const first = await done('uninstall', 'beta', '-a', 'claude-code', '--yes');
    expect([first.out, existsSync(at(LINK)), existsSync(at('.agents/skills/beta'))]).toEqual([
      'removed beta for claude-code\n',
      false,
      true,
    ]);
    const second = await done('uninstall', 'beta', '-a', 'claude-code', '--yes');
    expect([second.out, second.err.includes('beta is not in the folder of claude-code')]).toEqual(['', true]);
  });
});

describe('restore', () => {
  test('changes nothing while the place of a link is taken, and follows its own hint afterwards', async () => {
    const { done, run, at } = world();
    await done(...FOR_CLAUDE);
    rmSync(at(LINK));
    writeFiles(at(LINK), { 'mine.md': 'mine' });
    await run('uninstall', 'beta', '--yes');
    const refused = await run('restore', 'beta', '--yes');
    expect([refused.status, existsSync(at('.agents/skills/beta'))]).toEqual([1, false]);
    expect(refused.err).toContain('move it away and run the command again');
    renameSync(at(LINK), at('moved'));
    await done('restore', 'beta', '--yes');
    expect(lstatSync(at(LINK)).isSymbolicLink()).toBe(true);
  });
});

describe('uninstall', () => {
  test('of a required skill names the command that helps', async () => {
    const needy = skillText('needy', 'Needs beta.').replace('---\n', '---\nrequires: [skill:beta]\n');
    const { done, run } = world({ 'source/needy/SKILL.md': needy });
    await done('install', './source', '--yes');
    const { status, err } = await run('uninstall', 'beta', '--yes');
    expect([status, err.includes('skillwright uninstall beta needy')]).toEqual([1, true]);
    await done('uninstall', 'beta', 'needy', '--yes');
  });
});

describe('the source of an install', () => {
  test('is a local repository with a revision or folder, as an address or as a path', async () => {
    const { folder, done, at } = world();
    const git = (...words: readonly string[]): void =>
      void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
        cwd: at('work'),
        stdio: 'pipe',
      });
    writeFiles(at('work'), { 'gg/gamma/SKILL.md': skillText('gamma', 'On a branch.') });
    git('init', '-q', '-b', 'feat');
    git('add', '.');
    git('commit', '-qm', 'x');
    git('clone', '-q', '--bare', '.', '../g3.git');
    for (const source of [
      `file://${folder}/g3.git#feat`,
      `file://${folder}/g3.git#:gg`,
      './g3.git#feat',
      './g3.git#feat:gg',
    ])
      expect((await done('install', source, '--dry-run')).out).toContain('would install gamma');
  });

  test('has one skill per name: what a skill declares comes before the folder of another one', async () => {
    const { done } = world({
      'names/foo/SKILL.md': skillText('bar', 'Is bar.'),
      'names/bar/SKILL.md': skillText('baz', 'Is baz.'),
    });
    const { out, err } = await done('install', './names', 'bar', '--yes');
    expect(out.match(/^installed .*/gm)).toEqual(['installed bar']);
    expect(out + err).toContain('the folder of that name has "baz"');
  });

  test('names the reason if the skill is there and left out', async () => {
    const { run } = world({ [`source/${'x/'.repeat(40)}deep/SKILL.md`]: skillText('deep', 'Deep.') });
    const { status, err } = await run('install', './source', 'deep', '--yes');
    expect([status, /"deep", but it is left out: .*folders deep/.test(err)]).toEqual([1, true]);
  });

  test('is named as the user gave it if the archive is damaged', async () => {
    const { run } = world({ 'damaged.zip': `PK\u0003\u0004${'x'.repeat(200)}` });
    const { status, err } = await run('install', './damaged.zip', '--yes');
    expect([status, err.includes('"./damaged.zip"'), err.includes('staging')]).toEqual([1, true, false]);
  });

  test('over plain http names the setting that allows it', async () => {
    const { run } = world();
    const { status, err } = await run('install', 'http://example.org/pack.zip', '--yes');
    expect([status, err.includes('install.allow_http')]).toEqual([3, true]);
  });
});

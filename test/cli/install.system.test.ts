import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { beforeEach, describe, expect, test } from 'vitest';

import { readLock } from '../../src/packs/lock/lock-file.ts';
import { verifyRoot } from '../../src/packs/verify-root.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { atTerminal } from './pseudo-terminal.ts';
import { runCli, spawnCli, type CliResult } from './run-cli.ts';
import { needs } from '../needs.ts';

const COMMAND = path.join(PROJECT, 'dist/command/skillwright.js');

let base = '';
let project = '';
let root = '';

beforeEach(() => {
  base = scratch();
  project = path.join(base, 'project');
  root = path.join(project, '.agents/skills');
  for (const folder of [path.join(project, '.git'), path.join(base, 'home')]) mkdirSync(folder, { recursive: true });
});

function sw(...words: readonly string[]): Promise<CliResult> {
  return runCli(project, words, { HOME: path.join(base, 'home') });
}

function json({ out }: CliResult): unknown {
  return JSON.parse(out);
}

function sourceWith(...names: readonly string[]): string {
  for (const name of names)
    writeSkill(path.join(base, 'source', name), { description: `Works on ${name}. Use it for ${name}.` });
  return path.join(base, 'source');
}

const SKILL_MD = (name: string): string =>
  `---\nname: ${name}\ndescription: Works on ${name}. Use it for ${name}.\n---\n\n# ${name}\n\nDo it.\n`;

function zip(files: Readonly<Record<string, string>>): string {
  const file = path.join(base, 'pack.zip');
  writeFileSync(file, zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))));
  return file;
}

describe('install', () => {
  verifies('PACK-1', 'a zip of skills installs, is listed, verifies, and its lock says what it is', async () => {
    const pack = zip({ 'tables/SKILL.md': SKILL_MD('tables'), 'letters/SKILL.md': SKILL_MD('letters') });
    const done = await sw('install', pack, '--yes', '--json');
    expect(done).toMatchObject({ status: 0 });
    expect(json(done)).toMatchObject({
      schema: 1,
      ok: true,
      done: true,
      source: { kind: 'archive', archive: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
      skills: [
        { name: 'letters', change: 'new' },
        { name: 'tables', change: 'new' },
      ],
      indexHash: expect.stringMatching(/^sha256:/),
    });
    expect(json(await sw('list', '--source', 'project', '--json'))).toMatchObject({
      skills: [{ name: 'letters' }, { name: 'tables' }],
    });
    expect(json(await sw('verify', '--json'))).toMatchObject({ ok: true });
    expect(json(await sw('lock', '--json'))).toMatchObject({ skills: [{ name: 'letters' }, { name: 'tables' }] });
  });

  verifies('PACK-5', 'what a stranger made to harm is refused with its code, and the root stays empty', async () => {
    // Where a skill was found, every skill is refused; the others are refused as a source.
    const cases: readonly (readonly [Readonly<Record<string, string>>, string, number])[] = [
      [{ '../evil/SKILL.md': SKILL_MD('evil') }, 'archive/traversal', 1],
      [{ 'tables/skill.txt': 'no skill' }, 'pack/no-skill', 1],
      [{ 'tables/SKILL.md': 'no frontmatter' }, 'pack/format', 3],
      [{ 'tables/SKILL.md': SKILL_MD('tables'), 'tables/CON.txt': 'x' }, 'archive/reserved-name', 1],
    ];
    for (const [files, code, exit] of cases) {
      const { status, out, err } = await sw('install', zip(files), '--yes', '--json');
      expect([status, JSON.parse(out)]).toMatchObject([exit, { ok: false, error: { code } }]);
      expect(err).toContain('hint: ');
    }
    expect(readdirSync(root)).toEqual(['.skillwright']);
    expect(readdirSync(base).toSorted()).toEqual(['home', 'pack.zip', 'project']);
  });

  test('without a terminal the plan is printed and the exit code is 3', async () => {
    const { status, out, err } = await sw('install', sourceWith('tables'));
    expect([status, out]).toEqual([3, '']);
    expect(err).toContain('+ tables');
    expect(err).toContain('pass --yes');
    expect(readdirSync(root)).toEqual(['.skillwright']);
  });

  test('a dry run changes nothing and says what would be', async () => {
    expect(await sw('install', sourceWith('tables'), '--dry-run')).toMatchObject({
      status: 0,
      out: 'would install tables\n',
    });
    expect(readdirSync(root)).toEqual(['.skillwright']);
  });

  test('a clone is taken as a folder, without its .git; a bare repository and file:// by their commits', async () => {
    const source = sourceWith('tables');
    const git = (...args: readonly string[]): unknown =>
      execFileSync('git', ['-C', source, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'one');
    git('clone', '-q', '--bare', source, `${source}-bare.git`);
    expect(await sw('install', source, '--yes')).toMatchObject({ status: 0, out: 'installed tables\n' });
    for (const [at, typed] of [`${source}-bare.git`, `file://${source}-bare.git`, `git+file://${source}`].entries()) {
      const to = ['--to', `elsewhere-${String(at)}`];
      expect(json(await sw('install', typed, '--yes', '--json', '--offline', ...to))).toMatchObject({
        ok: true,
        source: { kind: 'git', revision: expect.stringMatching(/^[0-9a-f]{40}$/) as string },
        skills: [{ name: 'tables', verdict: 'ready' }],
      });
    }
  });

  verifies('PACK-3', 'uninstall moves to the trash, restore brings back, rollback exchanges versions', async () => {
    const source = sourceWith('tables', 'letters');
    await sw('install', source, '-y');
    expect(await sw('uninstall', 'tables', '-y')).toMatchObject({ status: 0, out: 'uninstalled tables\n' });
    expect(existsSync(path.join(root, 'tables'))).toBe(false);
    expect(json(await sw('restore', '--list', '--json'))).toMatchObject({ trash: [{ name: 'tables' }] });
    for (const words of [
      ['tables', '--all'],
      ['--list', '--empty-trash'],
      ['--id', 'some'],
    ])
      expect(await sw('restore', ...words, '-y')).toMatchObject({ status: 2, out: '' });
    expect(await sw('restore', 'tables', '-y')).toMatchObject({ status: 0, out: 'restored tables\n' });
    writeFileSync(path.join(source, 'tables/more.md'), 'more');
    expect(await sw('install', source, '-y')).toMatchObject({
      status: 0,
      out: '',
      err: expect.stringContaining('allowed by: --backup or --force'),
    });
    expect(await sw('install', source, 'tables', '-y')).toMatchObject({
      status: 3,
      err: expect.stringContaining('install/exists'),
    });
    expect(await sw('install', source, '-y', '--force')).toMatchObject({ status: 0, out: 'installed tables\n' });
    expect(await sw('rollback', 'tables', '-y')).toMatchObject({ status: 0, out: 'rolled back tables\n' });
    expect(existsSync(path.join(root, 'tables/more.md'))).toBe(false);
    expect(await sw('rollback', 'tables', '-y')).toMatchObject({ status: 0 });
    expect(existsSync(path.join(root, 'tables/more.md'))).toBe(true);
    expect(await sw('uninstall', 'letters', 'letters', '-y')).toMatchObject({ out: 'uninstalled letters\n' });
    expect(await sw('restore', '--empty-trash', '--dry-run')).toMatchObject({
      status: 0,
      out: '',
      err: 'would delete permanently: letters\n',
    });
    expect(await sw('restore', 'letters', '-y')).toMatchObject({ status: 0, out: 'restored letters\n' });
    expect(await sw('uninstall', 'letters', '-y', '--purge')).toMatchObject({ status: 0, out: 'removed letters\n' });
    expect(await sw('restore', 'letters', '-y')).toMatchObject({ status: 1 });
    expect(await sw('uninstall', '../..', '-y')).toMatchObject({
      status: 1,
      err: expect.stringContaining('not installed'),
    });
    expect(existsSync(project)).toBe(true);
  });

  verifies('PACK-6', 'a lock made here and a clone there: install --frozen, verify, equal digests', async () => {
    sourceWith('tables');
    mkdirSync(path.join(project, 'vendor'));
    execFileSync('cp', ['-r', path.join(base, 'source/tables'), path.join(project, 'vendor/tables')]);
    await sw('install', './vendor', '-y');
    const clone = path.join(base, 'clone');
    mkdirSync(path.join(clone, '.agents/skills'), { recursive: true });
    mkdirSync(path.join(clone, '.git'));
    execFileSync('cp', ['-r', path.join(project, 'vendor'), clone]);
    const lock = readFileSync(path.join(root, 'skills.lock.json'));
    writeFileSync(path.join(clone, '.agents/skills/skills.lock.json'), lock);
    const there = (...words: readonly string[]): Promise<CliResult> =>
      runCli(clone, words, { HOME: path.join(base, 'home') });
    expect(await there('verify')).toMatchObject({ status: 1, out: expect.stringMatching(/^missing +tables /) });
    expect(await there('install', '--frozen')).toMatchObject({ status: 0, out: 'installed tables\n' });
    expect(await there('verify')).toMatchObject({ status: 0 });
    const [here, copied] = await Promise.all([verifyRoot(root), verifyRoot(path.join(clone, '.agents/skills'))]);
    expect({ ...copied, root: '' }).toEqual({ ...here, root: '' });
    expect(readFileSync(path.join(clone, '.agents/skills/skills.lock.json'))).toEqual(lock);
  });

  test('lock --import starts from where the file lies, and says of every entry what became of it', async () => {
    sourceWith('tables');
    const theirs = path.join(project, 'skills-lock.json');
    const local = { source: '../source', sourceType: 'local', computedHash: '' };
    const write = (skills: Readonly<Record<string, unknown>>): void =>
      writeFileSync(theirs, JSON.stringify({ version: 1, skills }));
    mkdirSync(path.join(project, 'docs'));
    const below = (...words: readonly string[]): Promise<CliResult> =>
      runCli(path.join(project, 'docs'), ['lock', '--import', ...words], { HOME: path.join(base, 'home') });
    write({ tables: local });
    expect(await below('../skills-lock.json')).toMatchObject({ status: 3, err: expect.stringContaining('+ tables') });
    expect(await below('../skills-lock.json', '-y')).toMatchObject({ status: 0, out: 'installed tables\n' });
    expect(await verifyRoot(root)).toMatchObject({
      isIntact: true,
      skills: [{ locked: { source: '../../../source' } }],
    });
    write({ letters: local, odd: { source: 'x', sourceType: 'bucket' } });
    const some = await below('../skills-lock.json', '-y', '--json');
    expect({ status: some.status, said: json(some) }).toEqual({
      status: 1,
      said: {
        schema: 1,
        ok: false,
        done: true,
        root,
        installed: [],
        failed: [
          {
            name: 'letters',
            code: 'pack/unknown-skill',
            message: 'the source has no "letters"; it has "tables"',
            hint: 'use the name of a skill that the source has',
          },
        ],
        unread: [{ name: 'odd', reason: 'unknown source type: "bucket"' }],
        unplaced: [],
        indexHash: expect.any(String),
      },
    });
    write({ odd: { source: 'x', sourceType: 'bucket' } });
    expect(json(await below('../skills-lock.json', '-y', '--json'))).toMatchObject({ ok: false, failed: [] });
    writeFileSync(theirs, '{');
    for (const file of ['../skills-lock.json', 'absent.json'])
      expect(json(await below(file, '--json'))).toMatchObject({
        error: {
          message: expect.stringContaining(path.basename(file)),
          hint: expect.stringContaining('name a skills-lock.json'),
        },
      });
  });

  test('two at once lose nothing', async () => {
    for (const name of ['one', 'two'])
      for (let place = 0; place < 10; place += 1)
        writeSkill(path.join(base, name, `${name}-${String(place)}`), { description: `Works. Use it for ${name}.` });
    const both = await Promise.all(
      ['one', 'two'].map((name) =>
        spawnCli(project, ['install', path.join(base, name), '-y'], { HOME: path.join(base, 'home') }),
      ),
    );
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    const lock = readLock(root);
    expect(lock !== undefined && 'skills' in lock ? lock.skills.size : 0).toBe(20);
    expect(await verifyRoot(root)).toMatchObject({ isIntact: true });
  });

  test('killed at any moment, the root is as before or as after, and the next look finds it so', async () => {
    const source = sourceWith('tables', 'letters', 'notes');
    const seen = new Set<number>();
    for (let place = 0; place < 6; place += 1) {
      rmSync(root, { recursive: true, force: true });
      const child = spawn(process.execPath, [COMMAND, 'install', source, '-y', '-q'], {
        cwd: project,
        env: { PATH: process.env['PATH'], HOME: path.join(base, 'home') },
        stdio: 'ignore',
      });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      setTimeout(() => child.kill('SIGKILL'), 60 + place * 80).unref();
      await ended;
      await sw('list', '-q');
      const there = existsSync(root) ? readdirSync(root).filter((name) => /^[a-z]+$/.test(name)) : [];
      seen.add(there.length);
      expect([0, 3]).toContain(there.length);
      if (there.length === 3) expect(await verifyRoot(root)).toMatchObject({ isIntact: true });
    }
    expect(seen.size).toBeGreaterThan(0);
  });

  test('wrong usage: no source, contradicting flags, a root that is a file, no home folder', async () => {
    expect(await sw('install')).toMatchObject({ status: 2, err: expect.stringContaining('missing argument: SOURCE') });
    expect(await sw('install', 'x', '--backup', '--force')).toMatchObject({ status: 2 });
    for (const flag of [['--signature'], ['--lenient'], ['--format', 'sarif']])
      expect(await sw('verify', ...flag)).toMatchObject({
        status: 2,
        err: expect.stringContaining(`${flag.join(' ')} works only with a pack`),
      });
    writeFileSync(path.join(base, 'file'), '');
    expect(await sw('install', sourceWith('tables'), '-y', '--to', path.join(base, 'file'))).toMatchObject({
      status: 1,
    });
    const homeless = await runCli(project, ['install', sourceWith('tables'), '-y', '--scope', 'user'], { HOME: '' });
    expect(homeless).toMatchObject({
      status: 1,
      err: expect.stringMatching(/no home folder[^]*hint: choose a root with --to FOLDER/),
    });
  });
  test('at a terminal the plan is shown, and only a y installs', needs('python3 with pty'), async () => {
    const words = [process.execPath, COMMAND, 'install', sourceWith('tables')];
    const env = { HOME: path.join(base, 'home') };
    const steps = (key: string) => [{ until: '[n] no > ' }, { seconds: 0.6 }, { keys: key }] as const;
    const no = await atTerminal(words, steps('\r'), { cwd: project, env });
    expect(no.status).toBe(3);
    expect(no.text).toContain('tables');
    const yes = await atTerminal(words, steps('y'), { cwd: project, env });
    expect(yes.status).toBe(0);
    expect(existsSync(path.join(root, 'tables/SKILL.md'))).toBe(true);
  });
});

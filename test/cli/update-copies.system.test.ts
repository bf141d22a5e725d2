import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, skillText, writeFiles, type CliResult } from './run-cli.ts';

const LINES = Array.from({ length: 20 }, (_, line) => `line ${String(line + 1)}`);
const textWith = (...edits: readonly (readonly [line: number, text: string])[]): string =>
  `${LINES.map((line, at) => edits.find(([edited]) => edited === at + 1)?.[1] ?? line).join('\n')}\n`;

interface World {
  readonly at: (...parts: readonly string[]) => string;
  readonly read: (file: string) => string;
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
  /** Runs the built command as on a file system that gives every file the same mode. */
  readonly runWithout: (mode: number, ...words: readonly string[]) => CliResult;
}

/** A project beside a source with the skill alpha. */
function world(): World {
  const base = scratch();
  const at = (...parts: readonly string[]): string => path.join(base, ...parts);
  for (const made of ['project/.git', 'home']) mkdirSync(at(made), { recursive: true });
  writeFiles(at('src/alpha'), {
    'SKILL.md': skillText('alpha', 'Works on tables. Use it for tables.'),
    'refs/a.txt': textWith(),
  });
  mkdirSync(at('src/alpha/scripts'));
  writeFileSync(at('src/alpha/scripts/run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  return {
    at,
    read: (file) => readFileSync(at('project', file), 'utf8'),
    run: (...words) => runCli(base, ['-C', at('project'), ...words], { HOME: at('home') }),
    runWithout(mode, ...words) {
      const preload = at('home', 'modes.cjs');
      writeFileSync(preload, oneMode(at('project'), mode));
      const command = path.join(PROJECT, 'dist/command/skillwright.js');
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', preload, command, ...words], {
        cwd: at('project'),
        env: { PATH: process.env['PATH'], HOME: at('home'), SKILLWRIGHT_CACHE_DIR: at('home/cache') },
        encoding: 'utf8',
      });
      return { status: status ?? -1, out: stdout, err: stderr };
    },
  };
}

/** What Node sees of exFAT: files have the mode of the mount, and there are no links. */
const oneMode = (folder: string, mode: number): string => `
  const fs = require('node:fs');
  const device = fs.statSync(${JSON.stringify(folder)}).dev + 1000;
  const isBelow = (file) => {
    try {
      return fs.realpathSync.native(typeof file === 'number' ? '/proc/self/fd/' + file : String(file)).startsWith(${JSON.stringify(folder)});
    } catch { return false; }
  };
  for (const name of ['statSync', 'lstatSync', 'fstatSync']) {
    const real = fs[name];
    fs[name] = (file, ...rest) => {
      const stats = real(file, ...rest);
      if (stats === undefined || !isBelow(file)) return stats;
      if (typeof stats.mode === 'number') {
        stats.dev = device;
        if (stats.isFile()) stats.mode = (stats.mode & ~0o777) | ${String(mode)};
      }
      return stats;
    };
  }
  fs.symlinkSync = () => { throw Object.assign(new Error('EPERM: symlink'), { code: 'EPERM', errno: -1, syscall: 'symlink' }); };
  require('node:module').syncBuiltinESMExports();`;

const SOURCE = 'src/alpha/refs/a.txt';
const COPY = '.claude/skills/alpha/refs/a.txt';

describe('a copy of a skill with local changes', () => {
  for (const mode of ['--merge', '--keep'])
    test(`follows every update (${mode}), rollback, uninstall and restore`, async () => {
      const { at, read, run } = world();
      await run('install', '../src', '-a', 'claude-code', '--copy', '--yes');
      writeFileSync(at('project/.agents/skills/alpha/refs/mine.txt'), 'mine\n');
      for (const version of ['one', 'two']) {
        writeFileSync(at(SOURCE), textWith([15, version]));
        expect(await run('update', mode, '--yes')).toMatchObject({ status: 0 });
        expect(read(COPY)).toBe(textWith([15, version]));
        expect((await run('verify')).out).not.toContain('edited copy');
      }
      writeFileSync(at('project/.agents/skills/alpha/refs/mine.txt'), 'edited after the copy\n');
      expect(await run('rollback', 'alpha', '--yes')).toMatchObject({ status: 0 });
      expect(read(COPY)).toBe(textWith([15, 'one']));
      expect(await run('uninstall', 'alpha', '--yes')).toMatchObject({ status: 0 });
      expect(existsSync(at('project/.claude/skills/alpha'))).toBe(false);
      expect(await run('restore', 'alpha', '--yes')).toMatchObject({ status: 0 });
      expect(read(COPY)).toBe(textWith([15, 'one']));
      expect((await run('verify')).out).not.toContain('edited copy');
    });

  test('that the user edited stays, and the error says so', async () => {
    const { at, read, run } = world();
    await run('install', '../src', '-a', 'claude-code', '--copy', '--yes');
    writeFileSync(at('project', COPY), 'mine\n');
    writeFileSync(at(SOURCE), textWith([15, 'new']));
    const updated = await run('update', '--yes');
    expect(updated).toMatchObject({ status: 1 });
    expect(updated.err).toContain('was edited after it was copied and was kept: move it away first');
    expect(read(COPY)).toBe('mine\n');
    await run('uninstall', 'alpha', '--yes');
    const restored = await run('restore', 'alpha', '--yes');
    expect(restored.err).toContain('was edited after it was copied, so "alpha" was not restored');
  });
});

describe('a file system that gives every file the same mode', () => {
  for (const mode of [0o755, 0o644])
    test(`is no reason to report changes (${mode.toString(8)})`, () => {
      const { at, read, runWithout } = world();
      const run = (...words: readonly string[]): CliResult => runWithout(mode, ...words);
      expect(run('install', '../src', '-a', 'claude-code', '--yes')).toMatchObject({ status: 0 });
      expect(run('verify')).toMatchObject({ status: 0 });
      expect(run('install', '--frozen')).toMatchObject({ status: 0 });
      writeFileSync(at('project/.agents/skills/alpha/refs/a.txt'), textWith([3, 'mine']));
      expect(run('verify').out).toContain('  changed refs/a.txt\n');
      writeFileSync(at(SOURCE), textWith([15, 'new']));
      const updated = run('update', '--merge', '--yes');
      expect(updated).toMatchObject({ status: 0 });
      expect(updated.err).toContain('1 file changed, 0 added, 0 removed');
      expect(read(COPY)).toBe(textWith([3, 'mine'], [15, 'new']));
      expect(run('update', '--force', '--yes')).toMatchObject({ status: 0 });
      expect(read(COPY)).toBe(textWith([15, 'new']));
      expect(run('uninstall', 'alpha', '--yes')).toMatchObject({ status: 0 });
      expect(existsSync(at('project/.claude/skills/alpha'))).toBe(false);
    });

  test('differs from one where a user changed modes', async () => {
    const { at, run } = world();
    await run('install', '../src', '--yes');
    writeFileSync(at('project/.agents/skills/alpha/scripts/run.sh'), '#!/bin/sh\n');
    spawnSync('chmod', ['644', at('project/.agents/skills/alpha/scripts/run.sh')]);
    expect((await run('verify')).out).toContain('  changed scripts/run.sh\n');
  });
});

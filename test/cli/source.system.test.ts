import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { readSourceIndex } from '../../src/packs/browse/source-store.ts';
import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import { skillText, runCli, writeFiles, type CliResult } from './run-cli.ts';

interface World {
  readonly folder: string;
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
}

function world(files: Readonly<Record<string, string>>): World {
  const folder = scratch();
  for (const made of ['.git', 'home']) mkdirSync(path.join(folder, made));
  writeFiles(folder, files);
  return { folder, run: (...words) => runCli(folder, words) };
}

const SLIDES = skillText('slides', 'Makes slide decks. Use it for presentations.');

describe('skillwright source', () => {
  test('add, search, install, update and remove', async () => {
    const { folder, run } = world({ 'my skills/slides/SKILL.md': SLIDES });
    expect(await run('search', 'slide', 'decks')).toMatchObject({ status: 1, out: '' });
    expect(await run('source', 'add', 'team', './my skills')).toEqual({
      status: 0,
      out: 'added team: 1 skill; find them with skillwright search\n',
      err: expect.any(String) as string,
    });
    const source = path.join(folder, 'my skills');
    const command = `skillwright install '${source}' slides`;
    expect(await run('search', 'slide', 'decks')).toMatchObject({
      status: 0,
      out: `not installed:\n        slides  team  Makes slide decks. Use it for presentations.\n          ${command}\n`,
    });
    const found: unknown = JSON.parse((await run('search', 'slide', 'decks', '--json')).out);
    expect(found).toMatchObject({
      results: [],
      available: [{ name: 'slides', from: 'team', source, install: command }],
    });

    expect(await run('install', source, 'slides', '--yes')).toMatchObject({ status: 0 });
    expect(JSON.parse((await run('search', 'slide', 'decks', '--json')).out)).toMatchObject({
      results: [{ name: 'slides' }],
      available: [],
    });

    writeFiles(folder, { 'my skills/letters/SKILL.md': skillText('letters', 'Writes letters.') });
    expect(await run('source', 'update')).toMatchObject({ status: 0, out: 'team: added letters\n' });
    expect(await run('source', 'update', 'team')).toMatchObject({ status: 0, out: 'team: no changes\n' });
    expect(await run('source', 'remove', 'team')).toMatchObject({ status: 0 });
    expect(await run('source', 'remove', 'team')).toMatchObject({
      status: 1,
      err: expect.stringContaining('there is no source "team"') as string,
    });
  });

  test('a source that is gone keeps its index, and the others are updated', async () => {
    const { folder, run } = world({
      'a/slides/SKILL.md': SLIDES,
      'b/letters/SKILL.md': skillText('letters', 'Letters.'),
    });
    await run('source', 'add', 'a', './a');
    await run('source', 'add', 'b', './b');
    rmSync(path.join(folder, 'a'), { recursive: true });
    const updated = await run('source', 'update');
    expect(updated).toMatchObject({ status: 1, out: 'b: no changes\n' });
    expect(updated.err).toMatch(/error: a: ".*\/a" does not exist; the index of \d{4}-\d\d-\d\d is kept/);
    expect((await run('search', 'slide', 'decks')).out).toContain('slides');
  });

  test('hostile text is shown as text', async () => {
    const { run } = world({
      'a/evil/SKILL.md': '---\nname: evil\ndescription: "slides \\e]0;owned\\a\\n\\e[2J $(reboot)"\n---\n\n# x\n',
    });
    expect(await run('source', 'add', 'a', './a')).toMatchObject({ status: 0 });
    const { out } = await run('search', 'slides');
    expect(out).toContain('$(reboot)');
    // eslint-disable-next-line no-control-regex
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u009b]/);
    expect(out.split('\n')).toHaveLength(4);
  });

  test('a killed update leaves the old index or the new one', async () => {
    const { folder, run } = world({ 'a/slides/SKILL.md': SLIDES });
    await run('source', 'add', 'a', './a');
    const sources = path.join(folder, 'home/.agent/sources');
    for (const wait of [80, 160, 240, 400]) {
      const child = spawn(process.execPath, [path.join(PROJECT, 'dist/command/skillwright.js'), 'source', 'update'], {
        cwd: folder,
        env: { PATH: process.env['PATH'] ?? '', HOME: path.join(folder, 'home') },
        stdio: 'ignore',
      });
      const over = once(child, 'exit');
      await sleep(wait);
      child.kill('SIGKILL');
      await over;
      expect(readSourceIndex(readFileSync(path.join(sources, 'a.json'), 'utf8'))?.skills).toHaveLength(1);
    }
    // The lock of a killed process does not stop the next one.
    expect(await run('source', 'update')).toMatchObject({ status: 0, out: 'a: no changes\n' });
    expect(readdirSync(sources).filter((name) => name.endsWith('.json'))).toEqual(['a.json']);
  });
});

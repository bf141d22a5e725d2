import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { createRuntime } from '../../src/runtime/runtime.ts';
import { runCli, skillText, spawnCli, temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';

/** Kills the process right after the change became final. */
const KILLER = `
  const fs = require('node:fs');
  const { renameSync } = fs;
  fs.renameSync = (from, to) => {
    renameSync(from, to);
    if ([from, to].every((one) => String(one).endsWith('/transaction.json'))) process.kill(process.pid, 'SIGKILL');
  };
  require('node:module').syncBuiltinESMExports();`;

/** A project in which a command was killed after its commit and before it moved a folder. */
async function interrupted(words: readonly string[]): Promise<string> {
  const folder = temporaryFolder();
  for (const made of ['.git', 'home']) mkdirSync(path.join(folder, made));
  writeFiles(folder, {
    'source/tables/SKILL.md': skillText('tables', 'Works on tables.'),
    'source/letters/SKILL.md': skillText('letters', 'Writes letters.'),
    'killer.cjs': KILLER,
  });
  expect((await runCli(folder, ['install', './source', 'tables', '--yes'])).status).toBe(0);
  appendFileSync(path.join(folder, 'source/tables/SKILL.md'), 'More.\n');
  const killed = await spawnCli(folder, words, {}, ([node = '', ...rest]) => [
    node,
    '--require',
    path.join(folder, 'killer.cjs'),
    ...rest,
  ]);
  expect(killed.status).not.toBe(0);
  expect(readFileSync(path.join(folder, '.agents/skills/.skillwright/transaction.json'), 'utf8')).toContain('steps');
  return folder;
}

/** Why each skill of the project must not be used; empty if all are trusted. */
async function untrusted(folder: string): Promise<readonly string[]> {
  const runtime = await createRuntime({ cwd: folder, home: path.join(folder, 'home'), env: {}, cache: false });
  const distrust = await runtime.distrust(runtime.index.all, { files: true });
  return [...distrust.values()].map(({ reason }) => reason);
}

const PLUGIN_KILLER = KILLER.replace(
  "[from, to].every((one) => String(one).endsWith('/transaction.json'))",
  "String(to).endsWith(process.env.KILL_AT) && (process.env.KILL_AT === '/desk' || String(from).endsWith('/transaction.json'))",
);

describe('the first install of an Agent Plugin that was killed', () => {
  // Before the plugin is in its place, and after it.
  for (const at of ['/transaction.json', '/desk'])
    for (const word of ['verify', 'list', 'sbom', 'outdated'])
      verifies('PACK-3', `at ${at} is completed by ${word}, or ${word} finds nothing of it`, async () => {
        const folder = temporaryFolder();
        for (const made of ['.git', 'home']) mkdirSync(path.join(folder, made));
        writeFiles(folder, {
          'desk/plugin.json': JSON.stringify({
            $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json',
            name: 'desk',
            version: '1.0.0',
          }),
          'desk/skills/sort/SKILL.md': skillText('sort', 'Sorts letters.'),
          'killer.cjs': PLUGIN_KILLER,
        });
        const killed = await spawnCli(
          folder,
          ['install', './desk', '--yes'],
          { KILL_AT: at },
          ([node = '', ...rest]) => [node, '--require', path.join(folder, 'killer.cjs'), ...rest],
        );
        expect(killed.status).not.toBe(0);
        const plugins = path.join(folder, '.agents/plugins');
        const seen = (): readonly boolean[] =>
          ['desk', 'skills.lock.json', '.skillwright/transaction.json'].map((name) =>
            existsSync(path.join(plugins, name)),
          );
        expect(seen()).toEqual([at === '/desk', false, true]);
        const { out, err } = await runCli(folder, [word]);
        // Nothing lists a plugin that is not there yet; everything else completes the install.
        const isOld = word === 'list' && at === '/transaction.json';
        expect(seen()).toEqual(isOld ? [false, false, true] : [true, true, false]);
        expect(`${out}${err}`.includes('was completed')).toBe(!isOld);
        expect((await runCli(folder, ['verify'])).status).toBe(0);
        expect(seen()).toEqual([true, true, false]);
      });
});

describe('a command that was killed after its commit', () => {
  for (const words of [
    ['update', '--yes'],
    ['install', './source', '--force', '--yes'],
    ['install', './source', 'letters', '-a', 'claude-code', '--copy', '--yes'],
  ])
    verifies('PACK-3', `keeps the consent of the user: ${words.join(' ')}`, async () => {
      const folder = await interrupted(words);
      const listed = await runCli(folder, ['list']);
      expect(listed.status).toBe(0);
      expect(listed.err).toContain('was completed');
      expect(await untrusted(folder)).toEqual([]);
      expect((await runCli(folder, ['verify'])).status).toBe(0);
    });

  for (const words of [['verify'], ['outdated'], ['lock'], ['sbom']])
    test(`is completed by ${words.join(' ')}, which says so`, async () => {
      const folder = await interrupted(['update', '--yes']);
      const { status, err } = await runCli(folder, words);
      expect([status, err.includes('note: an interrupted change of "tables" was completed')]).toEqual([0, true]);
    });

  test('names the folder with the edits that the user made before the next command', async () => {
    const folder = await interrupted(['update', '--yes']);
    writeFileSync(path.join(folder, '.agents/skills/tables/mine.md'), 'mine');
    const { err } = await runCli(folder, ['verify']);
    const kept = /were edited before that; they are in "([^"]+)"/.exec(err)?.[1] ?? '';
    expect(readFileSync(path.join(kept, 'mine.md'), 'utf8')).toBe('mine');
  });
});

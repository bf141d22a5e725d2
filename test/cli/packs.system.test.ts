import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import { skillText, runCli, writeFiles, type CliResult } from './run-cli.ts';

interface World {
  readonly folder: string;
  readonly root: string;
  /** Runs the built command in the folder. */
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
  readonly json: (...words: readonly string[]) => Promise<Record<string, unknown>>;
}

const VERSION = (version: string): string => `metadata:\n  version: "${version}"\n`;

/** A project with the sources of two skills in `source`. */
function world(): World {
  const folder = scratch();
  for (const made of ['.git', 'home']) mkdirSync(path.join(folder, made));
  writeFiles(folder, {
    'source/tables/SKILL.md': skillText('tables', 'Works on tables. Use it for tables.', VERSION('1.0.0')),
    'source/tables/guide.md': 'one\ntwo\nthree\n',
    'source/letters/SKILL.md': skillText('letters', 'Writes letters. Use it for letters.', VERSION('2.1.0')),
  });
  const run = (...words: readonly string[]): Promise<CliResult> => runCli(folder, words);
  return {
    folder,
    root: path.join(folder, '.agents/skills'),
    run,
    json: async (...words) => JSON.parse((await run(...words, '--json')).out) as Record<string, unknown>,
  };
}

describe('pack, keys, sign', () => {
  verifies('PACK-4', 'two builds are the same bytes, whatever the clock, the mask and the times of files', async () => {
    const { folder, run } = world();
    const first = await run('pack', 'source', '-o', 'a.zip');
    expect(first).toMatchObject({ status: 0, out: expect.stringMatching(/^[0-9a-f]{64} {2}\S+a\.zip\n$/) as string });
    const later = new Date('2031-05-06T07:08:09Z');
    for (const file of ['tables/guide.md', 'tables/SKILL.md', 'letters'])
      utimesSync(path.join(folder, 'source', file), later, later);
    chmodSync(path.join(folder, 'source/tables/guide.md'), 0o600);
    const command = path.join(PROJECT, 'dist/command/skillwright.js');
    execFileSync('/bin/sh', ['-c', 'umask 077; exec "$0" "$1" export source -o b.zip', process.execPath, command], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: path.join(folder, 'home'), TZ: 'Asia/Tokyo', LC_ALL: 'C' },
      stdio: 'ignore',
    });
    expect(readFileSync(path.join(folder, 'b.zip')).equals(readFileSync(path.join(folder, 'a.zip')))).toBe(true);
  });

  test('a pack is made beside the skill that it is started in, never over a file, and not at all with --dry-run', async () => {
    const { folder } = world();
    const inside = path.join(folder, 'source/tables');
    const run = (...words: readonly string[]): Promise<CliResult> =>
      runCli(inside, words, { HOME: path.join(folder, 'home') });
    expect(await run('pack', '--dry-run')).toMatchObject({ status: 0 });
    expect(readdirSync(path.join(folder, 'source'))).toEqual(['letters', 'tables']);
    expect(await run('pack')).toMatchObject({
      status: 0,
      out: expect.stringContaining('source/tables-1.0.0.zip') as string,
    });
    expect(await run('pack')).toMatchObject({ status: 1, err: expect.stringContaining('pack/exists') as string });
    expect(await run('pack', '--force')).toMatchObject({ status: 0 });
    expect(readdirSync(inside)).toEqual(['SKILL.md', 'guide.md']);
  });

  test('what is against the specification, holds a secret or is not there is refused with its code', async () => {
    const { folder, run } = world();
    writeFiles(folder, {
      'source/tables/.env': 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz\n',
      'bad/Upper/SKILL.md': skillText('Upper', 'Bad name.'),
    });
    const code = async (...words: readonly string[]): Promise<unknown> => {
      const { status, out } = await run('pack', ...words, '--json', '--dry-run');
      return [status, (JSON.parse(out) as { error: { code: string } }).error.code];
    };
    expect(await code('./source/tables')).toEqual([1, 'pack/secret']);
    expect(await code('./bad')).toEqual([1, expect.stringMatching(/^pack\/(?:name|format)$/)]);
    expect(await code('./nowhere')).toEqual([1, 'source/missing']);
    expect(await code('nobody')).toEqual([1, 'pack/unknown-skill']);
  });

  verifies(['PACK-1', 'PACK-4'], 'a signed pack is taken by whoever pinned the key, and by nobody else', async () => {
    const { folder, run, json } = world();
    await run('pack', 'source/tables', '-o', 'tables.zip');
    const { id, key } = await json('keys', 'new', 'work', '--no-password', '--folder', 'secret');
    expect(id).toMatch(/^[0-9A-F]{16}$/);
    expect(statSync(path.join(folder, 'secret/work.key')).mode & 0o777).toBe(0o600);
    expect(await run('sign', 'tables.zip')).toMatchObject({ status: 2 });
    expect(await run('sign', 'tables.zip', '--key', 'secret/work.key', '--dry-run')).toMatchObject({ status: 0 });
    expect(existsSync(path.join(folder, 'tables.zip.minisig'))).toBe(false);
    expect(await json('sign', 'tables.zip', '--key', 'secret/work.key')).toMatchObject({
      ok: true,
      keyId: id,
      comment: { skills: [{ name: 'tables', version: '1.0.0' }] },
    });

    expect(await run('install', 'tables.zip', '--require-signed', '--yes')).toMatchObject({ status: 3 });
    expect(await run('keys', 'add', 'anna', String(key))).toMatchObject({
      status: 3,
      err: expect.stringContaining('not confirmed: the key was not pinned') as string,
    });
    expect(await json('keys', 'list')).toMatchObject({ keys: [] });
    expect(await run('keys', 'add', 'anna', 'secret/work.pub', '--yes')).toMatchObject({ status: 0 });
    expect(await json('keys')).toMatchObject({ keys: [{ name: 'anna', id, key }], problems: [] });
    expect(await run('verify', './tables.zip', '--signature')).toMatchObject({ status: 0 });
    expect(await run('install', 'tables.zip', '--require-signed', '--yes')).toMatchObject({ status: 0 });
    expect(await run('keys', 'remove', 'anna', '--yes')).toMatchObject({ status: 0 });
    expect(await run('keys', 'remove', 'anna', '--yes')).toMatchObject({ status: 1 });
    expect(await run('verify', './tables.zip', '--signature')).toMatchObject({ status: 1 });
  });

  test('a key that others can read, and one that is none, are not used', async () => {
    const { folder, run } = world();
    await run('pack', 'source/tables', '-o', 'tables.zip');
    await run('keys', 'new', 'work', '--no-password', '--folder', '.');
    chmodSync(path.join(folder, 'work.key'), 0o644);
    expect(await run('sign', 'tables.zip', '--key', 'work.key')).toMatchObject({
      status: 1,
      err: expect.stringContaining('other users have access') as string,
    });
    expect(await run('sign', 'tables.zip', '--key', 'work.pub')).toMatchObject({ status: 1 });
    expect(await run('keys', 'new', 'work', '--no-password', '--folder', '.')).toMatchObject({ status: 1 });
    expect(await run('keys', 'new', 'other', '--folder', '.')).toMatchObject({ status: 3 });
    expect(await run('keys', 'add', 'x', 'RWQnokey', '--yes')).toMatchObject({ status: 1 });
    expect(await run('keys', 'shred')).toMatchObject({ status: 2 });
  });
});

describe('outdated, update, sbom', () => {
  verifies(['PACK-6', 'CLI-1'], 'outdated says it by its status, update shows it before anybody is asked', async () => {
    const { folder, root, run, json } = world();
    await run('install', './source', '--yes');
    expect(await run('outdated')).toMatchObject({ status: 0 });
    writeFiles(folder, {
      'source/tables/SKILL.md': skillText('tables', 'Works on tables. Use it for tables.', VERSION('1.1.0')),
      'source/tables/guide.md': 'one\ntwo\u001B[2J\nthree\nfour\n',
      'source/tables/run.sh': 'chmod 777 .\nchmod 777 ..\n',
    });
    const outdated = await run('outdated', '--json');
    expect(outdated.status).toBe(1);
    expect(JSON.parse(outdated.out)).toMatchObject({
      ok: false,
      skills: [
        { name: 'letters', status: 'current' },
        { name: 'tables', status: 'outdated', from: { version: '1.0.0' }, to: { version: '1.1.0' } },
      ],
    });
    const lock = readFileSync(path.join(root, 'skills.lock.json'), 'utf8');
    const dry = await run('update', '--dry-run');
    expect(dry).toMatchObject({ status: 0, out: 'would update tables\n' });
    expect(dry.err).toContain('+four');
    // Findings that are not critical are counts, unless all are asked for.
    expect(dry.err).toMatch(/^scan medium excess-rights, medium hidden-unicode$/m);
    const findings = await run('update', '--dry-run', '--findings');
    expect(findings.err).toMatch(/^scan .*run\.sh.*chmod 777/m);
    // Nobody is at a terminal, so nobody says yes; and a stranger's text moves no cursor.
    const unasked = await run('update');
    expect(unasked).toMatchObject({ status: 3, out: '' });
    expect(`${dry.err}${unasked.err}`).not.toContain('\u001B');
    expect(readFileSync(path.join(root, 'skills.lock.json'), 'utf8')).toBe(lock);
    expect(await json('update', '--yes')).toMatchObject({
      ok: true,
      done: true,
      skills: [
        { name: 'letters', status: 'current' },
        { name: 'tables', status: 'update', changes: { changed: 2, added: 1, removed: 0 }, lost: [] },
      ],
      indexHash: expect.any(String) as string,
    });
    expect(await run('outdated')).toMatchObject({ status: 0 });
    expect(await run('verify')).toMatchObject({ status: 0 });
    expect(await run('rollback', 'tables', '--yes')).toMatchObject({ status: 0 });
    expect(readFileSync(path.join(root, 'tables/guide.md'), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  verifies(
    'PACK-6',
    'local edits stop it; --keep, --force and a usage that makes no sense do what they say',
    async () => {
      const { folder, root, run, json } = world();
      await run('install', './source', '--yes');
      const guide = path.join(root, 'tables/guide.md');
      appendFileSync(guide, 'mine\n');
      writeFiles(folder, { 'source/tables/guide.md': 'ONE\ntwo\nthree\n', 'source/tables/new.md': 'new\n' });
      const refused = await run('update', '--yes', '--json');
      expect(refused.status).toBe(1);
      expect(JSON.parse(refused.out)).toMatchObject({
        ok: false,
        skills: [{ status: 'current' }, { status: 'refused', error: { code: 'install/edited', path: 'guide.md' } }],
      });
      expect(await json('update', '--keep', '--yes')).toMatchObject({ skills: [{}, { kept: ['guide.md'] }] });
      expect(readFileSync(guide, 'utf8')).toBe('one\ntwo\nthree\nmine\n');
      expect(await json('update', 'tables', '--force', '--yes')).toMatchObject({ skills: [{ lost: ['guide.md'] }] });
      expect(readFileSync(guide, 'utf8')).toBe('ONE\ntwo\nthree\n');
      expect(await run('update', '--keep', '--force')).toMatchObject({ status: 2 });
      expect(await run('update', 'nobody')).toMatchObject({ status: 1 });
    },
  );

  test('sbom lists every file with its sum, says what was changed, and replaces no file', async () => {
    const { folder, root, run, json } = world();
    expect(await run('sbom')).toMatchObject({ status: 1, err: expect.stringContaining('lock/missing') as string });
    await run('install', './source', '--yes');
    expect(JSON.parse((await run('sbom')).out)).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      components: [
        { name: 'letters', version: '2.1.0' },
        { name: 'tables', version: '1.0.0', components: [{ name: 'SKILL.md' }, { name: 'guide.md' }] },
      ],
    });
    rmSync(path.join(root, 'tables/guide.md'));
    writeFileSync(path.join(folder, 'bom.json'), 'mine');
    expect(await run('sbom', '-o', 'bom.json')).toMatchObject({ status: 1 });
    expect(readFileSync(path.join(folder, 'bom.json'), 'utf8')).toBe('mine');
    expect(await json('sbom', 'tables', '-o', 'bom.json', '--force')).toMatchObject({
      names: ['tables'],
      notes: [expect.stringContaining('was edited') as string],
    });
    expect(JSON.parse(readFileSync(path.join(folder, 'bom.json'), 'utf8'))).toMatchObject({
      components: [{ name: 'tables', components: [{ name: 'SKILL.md' }] }],
    });
  });
});

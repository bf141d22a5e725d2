import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { runIds } from '../../src/journal/run-folder.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, writeFiles, skillText, type CliResult } from './run-cli.ts';

interface World {
  readonly root: string;
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
}

function world(): World {
  const root = scratch();
  writeFiles(root, {
    'skills/pdf/SKILL.md': skillText('pdf', 'Reads forms.'),
    'skills/pdf/scripts/go.sh': '#!/bin/sh\necho gone\n',
    'home/.agent/keep': '',
    'a.txt': 'one\n',
  });
  return {
    root,
    run: (...words) => runCli(root, [...words, '--root', path.join(root, 'skills'), '--only-root']),
  };
}

const exec = ['exec', 'pdf', 'go.sh', '--executor', 'local'];

test('a run that does the same again exits 0, one that does not exits 1 and says what is not as it was', async () => {
  const { root, run } = world();
  await run('call', 'read_file', '{"path": "a.txt"}', '--vocabulary', 'skills-agent');
  expect(await run('runs', 'replay', 'last')).toEqual({
    status: 0,
    out: '#1 read_file a.txt: same\n',
    err: 'same: 1 the same, 0 different, 0 not repeated\n',
  });
  writeFileSync(path.join(root, 'a.txt'), 'two\n');
  const { status, out, err } = await run('runs', 'replay', 'last');
  expect([status, err]).toEqual([1, 'different: 0 the same, 1 different, 0 not repeated\n']);
  expect(out).toMatch(/^#1 read_file a.txt: different\n   file: was sha256:\w{64}, is sha256:\w{64}\n   text: was /);
  const json = JSON.parse((await run('runs', 'replay', 'last', '--json')).out) as object;
  expect(json).toMatchObject({ schema: 1, status: 'different', problems: [], steps: [{ call: 1, same: false }] });
  // Nothing is recorded of it.
  expect(runIds(path.join(root, '.agent/runs'))).toHaveLength(1);
});

test('a script is run again with what it ran with; a skill that changed makes it impossible, exit 4', async () => {
  const { root, run } = world();
  expect((await run(...exec)).status).toBe(0);
  expect(await run('runs', 'replay', 'last')).toMatchObject({
    status: 0,
    out: '#1 run_script pdf scripts/go.sh: same\n',
  });
  appendFileSync(path.join(root, 'skills/pdf/SKILL.md'), 'More.\n');
  const { status, out, err } = await run('runs', 'replay', 'last');
  expect([status, err]).toEqual([4, 'impossible: no action was repeated\n']);
  expect(out).toMatch(
    /^impossible: the skill ".*pdf" has changed: its files are sha256-tree:\w+, the record used sha256-tree:\w+\n$/,
  );
});

test('files are written again only with --writes, and then by the answer that the record holds', async () => {
  const { root, run } = world();
  const write = ['call', 'write_file', '{"path": "new.txt", "content": "x"}', '--vocabulary', 'skills-agent'];
  const refused = await run(...write, '--json');
  const { error } = JSON.parse(refused.out) as { readonly error: { readonly data: { readonly approval: string } } };
  expect((await run(...write, '--approve', error.data.approval)).status).toBe(0);
  rmSync(path.join(root, 'new.txt'));
  expect(await run('runs', 'replay', 'last')).toMatchObject({
    status: 0,
    out: '#1 write_file new.txt 1 character: same (not repeated: writes and deletions are not repeated)\n',
  });
  expect(existsSync(path.join(root, 'new.txt'))).toBe(false);
  expect(await run('runs', 'replay', 'last', '--writes')).toMatchObject({ status: 0 });
  expect(existsSync(path.join(root, 'new.txt'))).toBe(true);
  // Another key: the record is a stranger's now, and its answers are nobody's.
  rmSync(path.join(root, 'new.txt'));
  rmSync(path.join(root, 'home/.agent/seal.key'));
  const foreign = await run('runs', 'replay', 'last', '--writes');
  expect([foreign.status, existsSync(path.join(root, 'new.txt'))]).toEqual([1, false]);
  expect(foreign.out).toContain('result: was file-written, is failed: approval/needed');
});

test('--record keeps a record of the replay, which verifies', async () => {
  const { root, run } = world();
  await run('call', 'read_file', '{"path": "a.txt"}', '--vocabulary', 'skills-agent');
  const { err } = await run('runs', 'replay', 'last', '--record');
  expect(err).toMatch(/recorded as \d{8}T\d{6}Z-\w{8}\n$/);
  expect(runIds(path.join(root, '.agent/runs'))).toHaveLength(2);
  expect((await run('runs', 'verify', '--all', '--require-seal')).status).toBe(0);
});

test('what is no run is said to be none', async () => {
  const { run } = world();
  expect(await run('runs', 'replay', 'last')).toMatchObject({ status: 1, out: '' });
  expect((await run('runs', 'replay')).status).toBe(2);
  expect((await run('runs', 'replay', './home')).err).toContain('cannot be read as a run');
});

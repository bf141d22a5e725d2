import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { runsDirectory } from '../../src/journal/run-folder.ts';
import { main } from '../../src/cli/main.ts';
import { sealKey } from '../../src/platform/fs/seal-key.ts';
import { ANSWER, EVENTS, linesOf, startRun, writeRun } from '../journal/support.ts';
import { scratch } from '../skills/registry/support.ts';
import { cli, runCli, spawnCli, type CliResult } from './run-cli.ts';

const HOSTILE = 'do it\n\u001B]0;title\u0007\u202E{"a":1}';

function project(): { readonly root: string; readonly directory: string } {
  const root = scratch();
  return { root, directory: runsDirectory(root) };
}

describe('runs list', () => {
  test('shows id, outcome, request and skills, the newest first', async () => {
    const { root, directory } = project();
    const old = writeRun(directory, { now: () => new Date('2026-01-01T00:00:00Z') });
    const running = startRun(directory, { now: () => new Date('2026-01-02T00:00:00Z') });
    const { status, out } = await cli(root, ['runs']);
    expect([status, out]).toEqual([
      0,
      `${running.id}  running  fill in the form\n${old.id}  done     fill in the form  pdf\n`,
    ]);
    const json = JSON.parse((await cli(root, ['runs', 'list', '--json'])).out) as { runs: readonly object[] };
    expect(json).toMatchObject({
      schema: 1,
      directory,
      runs: [{ id: running.id, standing: 'running' }, { id: old.id }],
    });
    running.end('done', '');
  });

  test('looks where the configuration has runs recorded', async () => {
    const { root } = project();
    const directory = path.join(root, 'records');
    const run = writeRun(directory);
    mkdirSync(path.join(root, '.agent'), { recursive: true });
    writeFileSync(path.join(root, '.agent/config.json'), '{"runs": {"directory": "records"}}');
    const found = await cli(root, ['runs', 'list', '--json']);
    expect(JSON.parse(found.out)).toMatchObject({ directory, runs: [{ id: run.id }] });
    const set = await cli(root, ['runs', 'list', '--set', 'runs.directory=elsewhere']);
    expect(set.err).toBe(`no runs in ${path.join(root, 'elsewhere')}\n`);
  });

  test('says where it looked when there is nothing', async () => {
    const { root, directory } = project();
    expect(await cli(root, ['runs', 'list'])).toEqual({ status: 0, out: '', err: `no runs in ${directory}\n` });
  });
});

describe('runs show', () => {
  test('shows skills with digests, approvals and one line for each event, and nothing acts on the screen', async () => {
    const { root, directory } = project();
    const run = writeRun(directory);
    const hostile = startRun(directory);
    hostile.append({ type: 'note', message: HOSTILE });
    hostile.end('failed', HOSTILE);
    const { out } = await cli(root, ['runs', 'show', run.id]);
    expect(out).toContain('outcome   done: answered');
    expect(out).toContain('Skills\n  project/pdf  sha256:aa\n');
    expect(out).toContain('Approvals\n  #1 load_skill: yes (once, by terminal)\n');
    expect(out).toContain('#1 ask by by risk (built-in): nobody said anything about it');
    expect(out.split('Events\n')[1]?.trimEnd().split('\n')).toHaveLength(EVENTS.length + 3);
    const shown = await cli(root, ['runs', 'show', hostile.id]);
    expect(shown.out).toContain('note: do it\\n\\x1b]0;title\\x07\\u{202e}{"a":1}');
    for (const text of [out, shown.out, (await cli(root, ['runs', 'show', hostile.id, '--json'])).out])
      expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202E]/);
  });

  test('takes a start of an id, last, or a path', async () => {
    const { root, directory } = project();
    const first = writeRun(directory, { now: () => new Date('2026-01-01T00:00:00Z') });
    const last = writeRun(directory, { now: () => new Date('2026-01-02T00:00:00Z') });
    for (const [name, run] of [
      ['20260101', first],
      ['last', last],
      [`.agent/runs/${first.id}`, first],
      [last.path, last],
    ] as const)
      expect((await cli(root, ['runs', 'show', name])).out).toContain(`run       ${run.id}\n`);
  });

  test.each([
    ['2026', 'is a prefix of 2 runs'],
    ['nothing', 'there is no run "nothing"'],
    ['../x', 'cannot be read as a run'],
    ['.', 'cannot be read as a run'],
    ['x\u001B[2J', 'there is no run "x\\x1b[2J"'],
  ])('says of %j what is wrong with it', async (name, message) => {
    const { root, directory } = project();
    writeRun(directory);
    writeRun(directory);
    const { status, out, err } = await cli(root, ['runs', 'show', name]);
    expect([status, out]).toEqual([1, '']);
    expect(err).toContain(message);
  });
});

describe('runs tail', () => {
  test('shows the last events', async () => {
    const { root, directory } = project();
    writeRun(directory);
    const { out } = await cli(root, ['runs', 'tail', 'last', '-n', '2', '--json']);
    const types = out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: { type: string } }).event.type);
    expect(types).toEqual(['content-keep', 'run-end']);
    expect((await cli(root, ['runs', 'tail', 'last'])).out.split('\n')).toHaveLength(11);
  });

  test('goes on with -f as long as the run does, or until it is interrupted', async () => {
    const { root, directory } = project();
    const run = startRun(directory);
    const following = cli(root, ['runs', 'tail', 'last', '-f']);
    for (let number = 0; number < 5; number += 1) {
      await new Promise((resolve) => {
        setTimeout(resolve, 30);
      });
      run.append({ type: 'note', message: `number ${String(number)}` });
    }
    const controller = new AbortController();
    const stream = { write: () => controller.abort() };
    const interrupted = await main({
      words: ['runs', 'tail', 'last', '-f', '--cwd', root],
      streams: { stdout: stream, stderr: stream },
      env: {},
      signal: controller.signal,
    });
    expect(interrupted).toBe(130);
    run.end('done', 'told');
    const { status, out } = await following;
    expect(status).toBe(0);
    expect(out.match(/note: number \d|end: done: told/g)).toEqual([
      ...Array.from({ length: 5 }, (_, number) => `note: number ${String(number)}`),
      'end: done: told',
    ]);
  });
});

describe('runs verify', () => {
  test('exits 4 for what has no seal and 1 for what was changed, and names it', async () => {
    const { root, directory } = project();
    const good = writeRun(directory, { now: () => new Date('2026-01-02T00:00:00Z') });
    const bad = writeRun(directory, { now: () => new Date('2026-01-01T00:00:00Z') });
    const file = path.join(bad.path, 'events.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('naïve', 'naive'));
    expect(await cli(root, ['runs', 'verify', good.id])).toEqual({
      status: 4,
      out: `${good.id}  unsealed: complete, but it may have been rewritten\n`,
      err: '',
    });
    const all = await cli(root, ['runs', 'verify', '--all']);
    expect(all).toEqual({
      status: 1,
      out: [
        `${good.id}  unsealed: complete, but it may have been rewritten`,
        `${bad.id}  tampered, not sealed`,
        '  events.jsonl:10  its hash does not match its text and the previous line line/edited',
        'chain of all runs  unsealed, 2 announced',
        '',
      ].join('\n'),
      err: '',
    });
    const json = JSON.parse((await cli(root, ['runs', 'verify', bad.id, '--json'])).out) as object;
    expect(json).toMatchObject({ schema: 1, runs: [{ id: bad.id, status: 'tampered', problems: [{ line: 10 }] }] });
    expect((await cli(root, ['runs', 'verify', good.id, '--require-seal'])).status).toBe(1);
    expect((await cli(root, ['runs', 'verify', './nowhere'])).status).toBe(1);
    expect((await cli(root, ['runs', 'verify', '--all', good.id])).status).toBe(2);
  });

  test('checks the seal with the key of this user, and says where it cannot', async () => {
    const { root, directory } = project();
    const home = path.join(root, 'home');
    mkdirSync(home);
    const run = writeRun(directory, { sealKey: sealKey(home) });
    const sealed = await spawnCli(root, ['runs', 'verify', 'last', '--require-seal']);
    expect(sealed).toEqual({ status: 0, out: `${run.id}  intact, seal valid\n`, err: '' });
    const gone = writeRun(directory, { sealKey: sealKey(home) });
    rmSync(gone.path, { recursive: true });
    const all = await spawnCli(root, ['runs', 'verify']);
    expect([all.status, all.out.split('\n').slice(0, 2)]).toEqual([
      1,
      [`${run.id}  intact, seal valid`, 'chain of all runs  tampered, 2 announced'],
    ]);
    expect(all.out).toContain(`  ${gone.id}  it began at`);
    rmSync(home, { recursive: true });
    expect(await spawnCli(root, ['runs', 'verify', 'last'])).toEqual({
      status: 4,
      out: `${run.id}  unsealed, seal not verified: its key is not on this machine\n`,
      err: '',
    });
    expect((await spawnCli(root, ['runs', 'verify', 'last', '--require-seal'])).status).toBe(1);
  });
});

test('runs verify judges a copy by itself where no chain is, and its seal only with the key', async () => {
  const { root, directory } = project();
  const home = path.join(root, 'home');
  mkdirSync(home);
  const run = writeRun(directory, { sealKey: sealKey(home), home });
  const copy = path.join(scratch(), run.id);
  cpSync(run.path, copy, { recursive: true });
  const verify = (HOME: string): Promise<CliResult> => runCli(root, ['runs', 'verify', copy], { HOME });
  expect(await verify(home)).toEqual({ status: 0, out: `${run.id}  intact, seal valid\n`, err: '' });
  expect(await verify(scratch())).toMatchObject({ status: 4, out: expect.stringContaining(`${run.id}  unsealed`) });
  // In the folder of the project a chain that is gone is a break.
  rmSync(path.join(directory, 'chain.jsonl'));
  rmSync(path.join(home, '.agent/run-heads'), { recursive: true });
  const own = await runCli(root, ['runs', 'verify', run.id], { HOME: home });
  expect([own.status, own.out.includes('chain/run-unlisted')]).toEqual([1, true]);
  // A copy beside another chain was not announced by it.
  writeRun(path.dirname(copy), { now: () => new Date('2026-01-01T00:00:00Z') });
  expect(await verify(home)).toMatchObject({ status: 1, out: expect.stringContaining('chain/run-unlisted') });
});

test('a home folder that cannot remember a run is named by each command that records one', async () => {
  const { root } = project();
  const home = path.join(root, 'home');
  mkdirSync(path.join(home, '.agent'), { recursive: true });
  writeFileSync(path.join(home, '.agent/run-heads'), '');
  const { err } = await runCli(root, ['run', 'hello', '--model', 'rules', '-q'], { HOME: home });
  expect(
    err.match(/^warning: cannot write ".*run-heads.*" \(E[A-Z]+\): if the newest runs are deleted/gm),
  ).toHaveLength(1);
});

test('runs verify lists what the user knows of, also if no run is left', async () => {
  const { root, directory } = project();
  const home = path.join(root, 'home');
  mkdirSync(home);
  const sw = (...words: readonly string[]): Promise<CliResult> => runCli(root, ['runs', ...words], { HOME: home });
  expect(await sw('verify')).toEqual({ status: 0, out: '', err: `no runs in ${directory}\n` });
  for (const act of [
    () => rmSync(directory, { recursive: true }),
    () => readdirSync(directory).forEach((name) => rmSync(path.join(directory, name), { recursive: true })),
    () => rmSync(path.join(directory, 'chain.jsonl')),
  ]) {
    const run = writeRun(directory, { sealKey: sealKey(home), home });
    act();
    expect((await sw('verify')).status).toBe(1);
    const pruned = await sw('prune', '--missing');
    expect([pruned.status, pruned.out]).toEqual([
      0,
      expect.stringMatching(/^acknowledged: chain\/missing: chain\.jsonl was gone; it had \d+ lines$/m),
    ]);
    const { status, out } = await sw('verify');
    expect([status, out.includes('known since')]).toEqual([0, true]);
    expect(out.includes(`${run.id}  its lines in the chain were lost; recorded as known at`)).toBe(
      existsSync(run.path),
    );
  }
});

describe('runs export', () => {
  test('prints every event with its whole content, and fails where that is lost', async () => {
    const { root, directory } = project();
    const run = writeRun(directory);
    const { status, out } = await cli(root, ['runs', 'export', 'last']);
    expect(status).toBe(0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: unknown });
    expect(lines).toHaveLength(linesOf(run.path).length);
    expect(lines.slice(1, -2).map(({ event }) => event)).toEqual(EVENTS);
    expect(out).toContain(JSON.stringify(ANSWER));
    rmSync(path.join(run.path, 'observations'), { recursive: true });
    expect((await cli(root, ['runs', 'export', 'last'])).status).toBe(1);
  });
});

describe('runs prune', () => {
  test('removes by age and size, and only tells with --dry-run', async () => {
    const { root, directory } = project();
    const old = writeRun(directory, { now: () => new Date('2020-01-01T00:00:00Z') });
    const words = ['runs', 'prune', '--older-than', '30d', '--max-size', '1G'];
    const dry = await cli(root, [...words, '--dry-run', '--json']);
    expect(JSON.parse(dry.out)).toMatchObject({ dryRun: true, removed: [{ id: old.id, reason: 'age' }], kept: 0 });
    expect((await cli(root, ['runs', 'list'])).out).toContain(old.id);
    expect((await cli(root, words)).out).toMatch(new RegExp(`^${old.id}  \\d+ bytes  age\n$`));
    expect((await cli(root, ['runs', 'list'])).out).toBe('');
  });

  test.each([
    [['prune'], 'missing argument: ID, --older-than, --max-size or --missing'],
    [['prune', '--older-than', '30'], '--older-than must be a duration'],
    [['prune', '--older-than', '-1d'], '--older-than must be a duration'],
    [['prune', '--max-size', '1X'], '--max-size must be a size'],
    [['show'], 'missing argument: ID'],
    [['sho', 'last'], 'unknown subcommand of runs: "sho"'],
    [['constructor'], 'unknown subcommand of runs: "constructor"'],
    [['export', 'last', '--format', 'xml'], '--format must be one of jsonl, index'],
  ])('%j is a mistake that is explained', async (words, message) => {
    const { root } = project();
    const { status, err } = await cli(root, ['runs', ...words]);
    expect(status).toBe(2);
    expect(err).toContain(message);
  });
});

test('a journal that is still being written is shown up to its last whole line', async () => {
  const { root, directory } = project();
  const run = startRun(directory);
  appendFileSync(path.join(run.path, 'events.jsonl'), '{"seq":2,"ti');
  const { status, out, err } = await cli(root, ['runs', 'show', 'last']);
  expect(status).toBe(0);
  expect(out).toContain('start: fill in the form');
  expect(err).toContain('the last line is incomplete');
});

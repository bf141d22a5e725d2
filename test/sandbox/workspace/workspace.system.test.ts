import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { isSkillError } from '../../../src/core/errors.ts';
import { openWorkspaces } from '../../../src/sandbox/workspace/workspace.ts';
import { readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { verifies } from '../../conformance/verifies.ts';
import { EVERY_KIND, harvest, plant } from '../../platform/fs/tree-support.ts';
import { scratch } from '../../skills/registry/support.ts';
import { NOBODY, fakeExecutor, openBench } from '../workspace-support.ts';
import { needs } from '../../needs.ts';

const LINKS = { out: '-> ../../out', work: '-> ../../work', inputs: '-> ../../work/inputs' };

function failing(act: () => unknown): Promise<string> {
  return (async () => act())().then(
    () => 'nothing',
    (error: unknown) => (isSkillError(error) ? `${error.code}: ${error.message}` : String(error)),
  );
}

async function digestOf(root: string): Promise<string> {
  const read = await readTreeDigest(root);
  return read.type === 'digest' ? read.digest : read.message;
}

describe('a workspace', () => {
  verifies('EXEC-1', 'has its folders and a metadata.json that says what is in it', async () => {
    const { folder, base, workspaces } = openBench({ now: () => 1_800_000_000_000 });
    const dir = plant(path.join(folder, 'every-kind'), EVERY_KIND);
    const workspace = await workspaces.open('app/user/session', fakeExecutor('isolating'));
    const { root } = workspace.place;
    expect(path.dirname(root)).toBe(base);
    expect(readdirSync(root).toSorted()).toEqual(['.owner', 'home', 'metadata.json', 'out', 'runs', 'skills', 'work']);
    expect(readdirSync(path.join(root, 'work'))).toEqual(['inputs']);
    const { digest } = await workspace.stage({ name: 'every-kind', dir });
    const time = '2027-01-15T08:00:00.000Z';
    const expected = {
      version: 1,
      created: time,
      updated: time,
      skills: [{ name: 'every-kind', dir, digest, stagedAt: time }],
      inputs: [],
      outputs: [],
    };
    expect(workspace.metadata).toEqual(expected);
    expect(JSON.parse(readFileSync(path.join(root, 'metadata.json'), 'utf8'))).toEqual(expected);
    expect(lstatSync(path.join(root, 'metadata.json')).mode & 0o777).toBe(0o600);
  });

  verifies(
    'EXEC-1',
    'without isolation a skill is copied byte for byte, with links to out, work and inputs',
    async () => {
      const { folder, workspaces } = openBench();
      const dir = plant(path.join(folder, 'every-kind'), EVERY_KIND);
      const workspace = await workspaces.open('key', fakeExecutor('local'));
      const staged = await workspace.stage({ name: 'every-kind', dir });
      const place = path.join(workspace.place.root, 'skills/every-kind');
      expect(harvest(place)).toEqual({ ...harvest(dir), ...LINKS });
      expect(staged.digest).toBe(await digestOf(dir));
      expect(realpathSync(path.join(place, 'inputs'))).toBe(path.join(workspace.place.root, 'work/inputs'));
      // A script that writes to its own files must not write into the copy for others.
      const inode = (file: string): number => lstatSync(path.join(file, 'SKILL.md')).ino;
      expect(inode(place)).not.toBe(inode(staged.snapshot));
      expect(lstatSync(path.join(staged.snapshot, 'SKILL.md')).nlink).toBe(1);
    },
  );

  verifies('EXEC-1', 'with isolation a skill is a mount point and a read-only snapshot of the same bytes', async () => {
    const { folder, base, workspaces } = openBench();
    const dir = plant(path.join(folder, 'every-kind'), EVERY_KIND);
    const executor = fakeExecutor('isolating');
    const workspace = await workspaces.open('key', executor);
    const staged = await workspace.stage({ name: 'every-kind', dir });
    expect(readdirSync(path.join(workspace.place.root, 'skills/every-kind'))).toEqual([]);
    expect(staged).toEqual({
      name: 'every-kind',
      digest: await digestOf(dir),
      snapshot: path.join(base, 'snapshots', staged.digest.slice('sha256-tree:'.length), 'every-kind'),
    });
    expect(harvest(staged.snapshot)).toEqual({ ...harvest(dir), ...LINKS });
    const modes = ['', 'SKILL.md', 'scripts', 'scripts/run.sh'].map((file) =>
      (lstatSync(path.join(staged.snapshot, file)).mode & 0o777).toString(8),
    );
    // The mount is read-only; the modes are those that a copy needs.
    expect(modes).toEqual(['755', '644', '755', '755']);
    // The executor was told before, and sees what was staged since.
    expect(executor.attached[0]?.skills).toEqual([staged]);
  });

  test('what a skill has itself under the name of a link stays', async () => {
    const { folder, workspaces } = openBench();
    const dir = plant(path.join(folder, 'own'), { 'SKILL.md': 'x', 'out/example.txt': 'mine' });
    for (const kind of ['local', 'isolating'] as const) {
      const workspace = await workspaces.open('key', fakeExecutor(kind));
      const { snapshot, digest } = await workspace.stage({ name: 'own', dir });
      expect(harvest(snapshot)).toEqual({ ...harvest(dir), work: LINKS.work, inputs: LINKS.inputs });
      expect(digest).toBe(await digestOf(dir));
    }
  });

  test('a change of the skill does not reach a workspace, and reaches the next one', async () => {
    const { folder, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'one', 'scripts/x.sh': { program: 'one' } });
    const executor = fakeExecutor('local');
    const first = await workspaces.open('first', executor);
    const before = await first.stage({ name: 'demo', dir });
    writeFileSync(path.join(dir, 'scripts/x.sh'), 'two');
    expect(await first.stage({ name: 'demo', dir })).toEqual(before);
    expect(readFileSync(path.join(first.place.root, 'skills/demo/scripts/x.sh'), 'utf8')).toBe('one');

    const second = await workspaces.open('second', executor);
    const after = await second.stage({ name: 'demo', dir });
    expect(after.digest).not.toBe(before.digest);
    expect(readFileSync(path.join(second.place.root, 'skills/demo/scripts/x.sh'), 'utf8')).toBe('two');
  });

  test('a modified snapshot is replaced', async () => {
    const { folder, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'one' });
    const executor = fakeExecutor('isolating');
    const first = await (await workspaces.open('first', executor)).stage({ name: 'demo', dir });
    chmodSync(path.join(first.snapshot, 'SKILL.md'), 0o644);
    writeFileSync(path.join(first.snapshot, 'SKILL.md'), 'bad');
    const second = await (await workspaces.open('second', executor)).stage({ name: 'demo', dir });
    expect(second).toEqual(first);
    expect(readFileSync(path.join(second.snapshot, 'SKILL.md'), 'utf8')).toBe('one');
  });

  test('one key is one workspace, however many ask at once; other keys and executors have their own', async () => {
    const { workspaces } = openBench();
    const executor = fakeExecutor('local');
    const all = await Promise.all(Array.from({ length: 20 }, () => workspaces.open('key', executor)));
    expect(new Set(all).size).toBe(1);
    expect(executor.attached.length).toBe(1);
    const others = [
      await workspaces.open('Key', executor),
      await workspaces.open('../../etc', executor),
      await workspaces.open('a/b\0c'.repeat(10_000), executor),
      await workspaces.open('key', fakeExecutor('isolating')),
    ];
    const ids = [...all, ...others].map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
    expect(ids.filter((id) => !/^[0-9a-f]{16}-[0-9a-f]{8}$/.test(id))).toEqual([]);
  });

  test('one skill staged by many at once is staged once', async () => {
    const { folder, base, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), EVERY_KIND);
    const executor = fakeExecutor('local');
    const [one, two] = await Promise.all([workspaces.open('one', executor), workspaces.open('two', executor)]);
    const staged = await Promise.all(
      Array.from({ length: 20 }, (_, place) => (place % 2 === 0 ? one : two).stage({ name: 'demo', dir })),
    );
    expect(new Set(staged.map(({ digest }) => digest)).size).toBe(1);
    expect(readdirSync(path.join(base, 'snapshots')).length).toBe(1);
    expect(readdirSync(path.join(base, 'temporary'))).toEqual([]);
    expect(one.metadata.skills.length).toBe(1);
  });

  test('a caller that cancels does not cancel the others', async () => {
    const { folder, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), {});
    for (let number = 0; number < 300; number += 1) writeFileSync(path.join(dir, String(number)), 'x');
    const executor = fakeExecutor('isolating');
    const [one, two] = await Promise.all([workspaces.open('one', executor), workspaces.open('two', executor)]);
    const giveUp = new AbortController();
    const first = one.stage({ name: 'demo', dir }, { signal: giveUp.signal });
    const second = two.stage({ name: 'demo', dir });
    giveUp.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    expect((await second).name).toBe('demo');
    expect((await one.stage({ name: 'demo', dir })).digest).toBe((await second).digest);
  });

  test('names that would lead elsewhere become folders of the workspace, each its own', async () => {
    const { folder, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'x' });
    const workspace = await workspaces.open('key', fakeExecutor('local'));
    const names = [
      '..',
      '.',
      '',
      'a/b',
      '../demo',
      'a\\b',
      'con',
      'lpt1',
      'nul',
      '.x',
      'a*b',
      ' x',
      'x'.repeat(201),
      'a\0b',
      'x\n',
    ];
    const staged = await Promise.all(names.map(async (name) => (await workspace.stage({ name, dir })).name));
    expect(staged).toEqual(names.map(() => expect.stringMatching(/^demo-[\da-f]{8}$/)));
    expect(new Set(staged).size).toBe(names.length);
    expect(readdirSync(path.join(workspace.place.root, 'skills')).toSorted()).toEqual(staged.toSorted());
  });

  test('a link outside is not staged, and a skill without files is rejected and leaves nothing', async () => {
    const { folder, base, workspaces } = openBench();
    const workspace = await workspaces.open('key', fakeExecutor('local'));
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'x', bad: { link: '/etc/passwd' } });
    const { snapshot } = await workspace.stage({ name: 'demo', dir });
    expect(readdirSync(snapshot).toSorted()).toEqual(['SKILL.md', 'inputs', 'out', 'work']);
    const gone = path.join(folder, 'gone');
    expect(await failing(() => workspace.stage({ name: 'gone', dir: gone }))).toBe(
      'skill/invalid: the skill "gone" cannot be staged: there is no such folder',
    );
    expect(readdirSync(path.join(base, 'temporary'))).toEqual([]);
    // It is not held against the skill.
    plant(gone, { 'SKILL.md': 'x' });
    expect((await workspace.stage({ name: 'gone', dir: gone })).name).toBe('gone');
  });

  test('gives each run a new folder, whatever a program has put there', async () => {
    const { folder, workspaces } = openBench();
    const workspace = await workspaces.open('key', fakeExecutor('local'));
    const { root } = workspace.place;
    expect(workspace.newRunFolder()).toEqual({
      name: 'run-1',
      path: 'runs/run-1',
      host: path.join(root, 'runs/run-1'),
    });
    symlinkSync(folder, path.join(root, 'runs/run-2'));
    writeFileSync(path.join(root, 'runs/run-3'), '');
    expect(workspace.newRunFolder()).toEqual({
      name: 'run-4',
      path: 'runs/run-4',
      host: path.join(root, 'runs/run-4'),
    });
    rmSync(path.join(root, 'runs'), { recursive: true });
    symlinkSync(folder, path.join(root, 'runs'));
    expect(await failing(() => workspace.newRunFolder())).toMatch(/^workspace\/invalid: /);
    expect(readdirSync(folder)).toEqual(['inner']);
  });

  test('a closed workspace leaves nothing and rejects further calls', async () => {
    const { folder, base, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'x' });
    const executor = fakeExecutor('local');
    const workspace = await workspaces.open('key', executor);
    const staging = workspace.stage({ name: 'demo', dir });
    await Promise.all([workspace.close(), workspace.close(), staging.catch(() => undefined)]);
    expect(executor.detached).toEqual([workspace.id]);
    expect(readdirSync(base).toSorted()).toEqual(['digests.json', 'snapshots', 'temporary']);
    expect(readdirSync(path.join(base, 'temporary'))).toEqual([]);
    for (const act of [() => workspace.stage({ name: 'demo', dir }), () => workspace.newRunFolder()])
      expect(await failing(act)).toMatch(/^workspace\/invalid: .* is a closed workspace$/);
    const next = await workspaces.open('key', executor);
    expect(next.id).not.toBe(workspace.id);
  });

  test('kept, it is found again by its key, with its files, its record and its version of the skills', async () => {
    const { folder, base, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'one' });
    const executor = fakeExecutor('local');
    const first = await workspaces.open('key', executor);
    const staged = await first.stage({ name: 'demo', dir });
    writeFileSync(path.join(first.place.root, 'work/state.txt'), 'kept');
    first.newRunFolder();
    const output = { globs: ['out/*'], savedAs: [], limitsHit: false, at: '2026-01-02T03:04:05.000Z' };
    first.note((metadata) => ({ ...metadata, outputs: [output] }));
    expect(first.metadata.outputs).toEqual([output]);
    const closing = first.close({ keep: true });
    writeFileSync(path.join(dir, 'SKILL.md'), 'two');
    // Asked for while it is still being kept.
    const second = await workspaces.open('key', executor);
    await closing;
    expect(second.id).not.toBe(first.id);
    expect(second.metadata).toEqual(first.metadata);
    expect(second.metadata.outputs).toEqual([output]);
    expect(second.warnings).toEqual([]);
    expect(readFileSync(path.join(second.place.root, 'work/state.txt'), 'utf8')).toBe('kept');
    expect(second.newRunFolder().name).toBe('run-2');
    expect(await second.stage({ name: 'demo', dir })).toEqual(staged);

    await second.close({ keep: true });
    expect(readdirSync(base).filter((name) => name.endsWith('.kept')).length).toBe(1);
    const torn = path.join(base, readdirSync(base).find((name) => name.endsWith('.kept')) ?? '', 'metadata.json');
    writeFileSync(torn, readFileSync(torn, 'utf8').slice(0, 50));
    const third = await workspaces.open('key', executor);
    expect(third.warnings).toEqual(['metadata.json was discarded: it is not valid JSON']);
    expect(third.metadata.skills).toEqual([]);
    expect(readFileSync(path.join(third.place.root, 'work/state.txt'), 'utf8')).toBe('kept');
  });

  test('an executor that does not work leaves nothing, or what was kept, and can be tried again', async () => {
    const { base, workspaces } = openBench();
    let isBroken = true;
    const executor = fakeExecutor('local', {
      onAttach: async () => {
        if (isBroken) throw new Error('broken');
      },
    });
    expect(await failing(() => workspaces.open('key', executor))).toBe('Error: broken');
    expect(readdirSync(base).toSorted()).toEqual(['snapshots', 'temporary']);
    isBroken = false;
    const workspace = await workspaces.open('key', executor);
    writeFileSync(path.join(workspace.place.root, 'out/x'), 'x');
    await workspace.close({ keep: true });
    isBroken = true;
    expect(await failing(() => workspaces.open('key', executor))).toBe('Error: broken');
    isBroken = false;
    expect(existsSync(path.join((await workspaces.open('key', executor)).place.root, 'out/x'))).toBe(true);
  });

  test('as root the writable folders belong to whom programs run as, and no other', needs('root'), async () => {
    const { folder, base, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'x' });
    const workspace = await workspaces.open('key', fakeExecutor('local', { identity: NOBODY }));
    await workspace.stage({ name: 'demo', dir });
    const run = workspace.newRunFolder();
    const look = (file: string): string => {
      const { uid, mode } = lstatSync(path.join(workspace.place.root, file));
      return `${file} ${String(uid)} ${(mode & 0o777).toString(8)}`;
    };
    expect(
      ['.', 'work', 'work/inputs', 'out', 'runs', run.path, 'skills', 'skills/demo', 'metadata.json'].map(look),
    ).toEqual([
      '. 0 711',
      'work 65534 700',
      'work/inputs 65534 700',
      'out 65534 700',
      'runs 65534 700',
      'runs/run-1 65534 700',
      'skills 0 755',
      'skills/demo 0 755',
      'metadata.json 0 600',
    ]);
    expect([base, path.join(base, 'snapshots')].map((name) => (lstatSync(name).mode & 0o777).toString(8))).toEqual([
      '711',
      '711',
    ]);
  });
});

describe('the folder of workspaces', () => {
  test('must be absolute, no link, no file, ours, and closed to other writers', async () => {
    const folder = scratch();
    mkdirSync(path.join(folder, 'real'));
    symlinkSync('real', path.join(folder, 'link'));
    writeFileSync(path.join(folder, 'file'), '');
    mkdirSync(path.join(folder, 'open'));
    chmodSync(path.join(folder, 'open'), 0o777);
    const told = async (base: string): Promise<string> => failing(() => openWorkspaces({ base }));
    expect(await told('relative')).toBe('workspace/invalid: the folder "relative" is not an absolute path');
    expect(await told(path.join(folder, 'link'))).toMatch(/^workspace\/invalid: .* is a symbolic link$/);
    expect(await told(path.join(folder, 'file'))).toMatch(/^workspace\/invalid: .* is not a folder$/);
    expect(await told(path.join(folder, 'open'))).toMatch(/^workspace\/invalid: .* can be written by other users$/);
    expect(await told(path.join(folder, 'real'))).toBe('nothing');
    expect(await told(path.join(folder, 'file/below'))).toMatch(/^io\/failed: /);
  });

  test('must be reachable for whom programs run as', needs('root'), async () => {
    const folder = path.join(scratch(), 'closed');
    mkdirSync(folder, { mode: 0o700 });
    const workspaces = openWorkspaces({ base: path.join(folder, 'base') });
    expect(await failing(() => workspaces.open('key', fakeExecutor('local', { identity: NOBODY })))).toMatch(
      /^workspace\/invalid: .* cannot be reached by user 65534, because ".*" denies access$/,
    );
    expect((await workspaces.open('key', fakeExecutor('local'))).warnings).toEqual([]);
    await workspaces.close();
  });
});

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { isSkillError } from '../../../src/core/errors.ts';
import { openWorkspaces } from '../../../src/sandbox/workspace/workspace.ts';
import { removeTree } from '../../../src/platform/fs/remove-tree.ts';
import { digestName, readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { verifies } from '../../conformance/verifies.ts';
import { plant } from '../../platform/fs/tree-support.ts';
import { built, scratch } from '../../skills/registry/support.ts';
import { IS_ROOT, fakeExecutor, openBench } from '../workspace-support.ts';

/** What the workers have in common: an executor that runs nothing. */
const EXECUTOR = `
  const executor = {
    name: 'local',
    attach: async (place) => ({
      capabilities: { isolation: process.argv[2] === 'local' ? 'none' : 'bubblewrap', limits: {} },
      root: place.root,
      detach: async () => undefined,
    }),
  };
  const { openWorkspaces } = await import(${JSON.stringify(built('sandbox/workspace/workspace.js'))});`;

function start(text: string, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, ['--input-type=module', '-e', text, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let output = '';
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
    child.once('close', () => resolve(output));
  });
}

/** Digests by the name of the folder, as they really are. */
async function storedSnapshots(base: string): Promise<readonly (readonly [name: string, digest: string])[]> {
  const found: (readonly [string, string])[] = [];
  for (const name of readdirSync(path.join(base, 'snapshots')))
    for (const skill of readdirSync(path.join(base, 'snapshots', name))) {
      const read = await readTreeDigest(path.join(base, 'snapshots', name, skill), {
        leaveOut: ['out', 'work', 'inputs'],
      });
      found.push([name, read.type === 'digest' ? digestName(read.digest) : read.message]);
    }
  return found;
}

function inFolder(): { readonly folder: string; readonly base: string } {
  const folder = scratch();
  chmodSync(folder, 0o711);
  const inner = path.join(folder, 'inner');
  mkdirSync(inner, { mode: 0o711 });
  onTestFinished(async () => void (await removeTree(inner)));
  return { folder, base: path.join(inner, 'base') };
}

describe('snapshots', () => {
  /** New skills all the time: every moment is one of copying, of putting in place, or of closing. */
  const RESTLESS = `${EXECUTOR}
    import { writeFileSync } from 'node:fs';
    const [, base, , dir] = process.argv;
    const workspaces = openWorkspaces({ base });
    for (let round = 0; ; round += 1) {
      for (let number = 0; number < 60; number += 1) writeFileSync(dir + '/' + number, process.pid + ' ' + round + ' ' + number);
      const workspace = await workspaces.open('key', executor);
      await workspace.stage({ name: 'demo', dir });
      if (round === 0) process.stdout.write('ready');
      await workspace.close();
    }`;

  test('kill -9 at any moment leaves whole snapshots, and what the next start removes', async () => {
    const { folder, base } = inFolder();
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'x' });
    const left = { temporary: 0, workspaces: 0 };
    for (let round = 0; round < 6; round += 1) {
      const child = start(RESTLESS, [base, round % 2 === 0 ? 'local' : 'isolating', dir]);
      await new Promise((resolve) => {
        child.stdout?.once('data', resolve);
      });
      await new Promise((resolve) => {
        setTimeout(resolve, 16 * round);
      });
      const end = ended(child);
      child.kill('SIGKILL');
      await end;
      left.temporary += readdirSync(path.join(base, 'temporary')).length;
      left.workspaces += readdirSync(base).filter((name) => /^[0-9a-f]{16}/.test(name)).length;

      const workspaces = openWorkspaces({ base });
      const workspace = await workspaces.open('after', fakeExecutor('local'));
      expect(readdirSync(base).filter((name) => /^[0-9a-f]{16}/.test(name))).toEqual([workspace.id]);
      expect(readdirSync(path.join(base, 'temporary'))).toEqual([]);
      await workspaces.close();
      for (const [name, digest] of await storedSnapshots(base)) expect(digest).toBe(name);
    }
    // Otherwise nobody was ever killed in the middle of anything.
    expect(left.temporary + left.workspaces).toBeGreaterThan(0);
  });

  verifies(
    'EXEC-1',
    'two processes that stage the same thirty skills concurrently both get them complete',
    async () => {
      const { folder, base } = inFolder();
      for (let number = 0; number < 30; number += 1)
        plant(path.join(folder, `skill-${String(number)}`), {
          'SKILL.md': `number ${String(number)}`,
          'scripts/x.sh': { program: 'exit 0' },
          empty: { folder: true },
        });
      const text = `${EXECUTOR}
      const [, base, , folder, key] = process.argv;
      const workspaces = openWorkspaces({ base });
      const workspace = await workspaces.open(key, executor);
      const digests = [];
      for (let number = 0; number < 30; number += 1)
        digests.push((await workspace.stage({ name: 'skill-' + number, dir: folder + '/skill-' + number })).digest);
      await workspaces.close();
      console.log(JSON.stringify(digests));`;
      const workers = ['a', 'b'].map((key) => start(text, [base, 'local', folder, key]));
      const [one = '', two = ''] = await Promise.all(workers.map(ended));
      const digests: readonly string[] = JSON.parse(one);
      expect(JSON.parse(two)).toEqual(digests);
      const stored = await storedSnapshots(base);
      expect(stored.map(([name]) => name)).toEqual(stored.map(([, digest]) => digest));
      expect(stored.map(([name]) => name).toSorted()).toEqual(digests.map(digestName).toSorted());
      expect(readdirSync(path.join(base, 'temporary'))).toEqual([]);
    },
  );

  test('one tree under two names is two snapshots of one digest', async () => {
    const { folder, workspaces } = openBench();
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'x' });
    const workspace = await workspaces.open('key', fakeExecutor('isolating'));
    const one = await workspace.stage({ name: 'one', dir });
    const two = await workspace.stage({ name: 'two', dir });
    expect(two.digest).toBe(one.digest);
    expect(path.dirname(two.snapshot)).toBe(path.dirname(one.snapshot));
    expect(statSync(two.snapshot).mode & 0o777).toBe(0o755);
    expect(readlinkSync(path.join(two.snapshot, 'out'))).toBe('../../out');
  });

  test('snapshots unused for a week are removed, those of a workspace stay', async () => {
    const { folder, base } = inFolder();
    const dirs = ['used', 'unused', 'fresh'].map((name) => plant(path.join(folder, name), { 'SKILL.md': name }));
    const workspaces = openWorkspaces({ base });
    const workspace = await workspaces.open('key', fakeExecutor('isolating'));
    const staged = [];
    for (const dir of dirs) staged.push(await workspace.stage({ name: path.basename(dir), dir }));
    workspace.record((metadata) => ({
      ...metadata,
      skills: metadata.skills.filter(({ name }) => name === 'used'),
    }));
    const longAgo = Date.now() / 1000 - 8 * 24 * 60 * 60;
    for (const { snapshot, name } of staged) if (name !== 'fresh') utimesSync(path.dirname(snapshot), longAgo, longAgo);
    const next = openWorkspaces({ base });
    await next.open('other', fakeExecutor('isolating'));
    await next.close();
    expect(staged.map(({ snapshot }) => existsSync(snapshot))).toEqual([true, false, true]);
    await workspaces.close();
  });

  test('unused snapshots are removed while a program runs, on request', async () => {
    const { folder, base } = inFolder();
    const workspaces = openWorkspaces({ base });
    const workspace = await workspaces.open('key', fakeExecutor('isolating'));
    const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'demo' });
    const { snapshot } = await workspace.stage({ name: 'demo', dir });
    const old = plant(path.join(base, 'snapshots', 'a'.repeat(64)), { 'demo/SKILL.md': 'old' });
    utimesSync(old, 0, 0);
    await workspace.tidy();
    expect([snapshot, old].map((place) => existsSync(place))).toEqual([true, false]);
    expect(readdirSync(path.join(base, 'temporary'))).toEqual([]);
    await workspaces.close();
  });
});

describe('a full disk', () => {
  test('leaves what was there, and says so', async () => {
    if (!IS_ROOT || process.platform !== 'linux') {
      console.log('skipped: a small file system can be mounted by root on Linux only');
      return;
    }
    const { folder, base } = inFolder();
    mkdirSync(base);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=711', 'tmpfs', base]);
    try {
      const small = plant(path.join(folder, 'small'), { 'SKILL.md': 'x' });
      const large = plant(path.join(folder, 'large'), { 'SKILL.md': 'x', data: Buffer.alloc(5 * 1024 * 1024, 'x') });
      const workspaces = openWorkspaces({ base });
      const workspace = await workspaces.open('key', fakeExecutor('local'));
      await workspace.stage({ name: 'small', dir: small });
      const metadata = readFileSync(path.join(workspace.place.root, 'metadata.json'), 'utf8');
      const codeOf = async (act: () => unknown): Promise<string> => {
        try {
          await act();
          return 'nothing';
        } catch (error) {
          return isSkillError(error) && 'cause' in error.data ? `${error.code} ${error.data.cause}` : String(error);
        }
      };
      expect(await codeOf(() => workspace.stage({ name: 'large', dir: large }))).toBe('io/failed ENOSPC');
      expect(readdirSync(path.join(base, 'temporary'))).toEqual([]);
      expect(readdirSync(path.join(base, 'snapshots')).length).toBe(1);
      expect(workspace.place.skills.map(({ name }) => name)).toEqual(['small']);

      expect(() => writeFileSync(path.join(base, 'fill'), Buffer.alloc(4 * 1024 * 1024))).toThrow('ENOSPC');
      expect(await codeOf(() => workspace.record((before) => ({ ...before, outputs: [] })))).toBe('io/failed ENOSPC');
      expect(readFileSync(path.join(workspace.place.root, 'metadata.json'), 'utf8')).toBe(metadata);
      rmSync(path.join(base, 'fill'));
      expect((await workspace.stage({ name: 'small', dir: small })).name).toBe('small');
      await workspaces.close();
    } finally {
      execFileSync('umount', [base]);
    }
  });
});

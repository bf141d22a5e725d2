import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { verifyRoot } from '../../../src/packs/verify-root.ts';
import { requireLock } from '../../../src/packs/lock/lock-file.ts';
import { isRefusal } from '../../../src/packs/problems.ts';
import { withRoot } from '../../../src/packs/root/open-root.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';
import { committed, install } from '../root/support.ts';
import { homeFolder, setTimes, shelfOf, treeOf, writeSkill, type ShelfOptions } from './support.ts';

const AT = new Date('2026-01-02T03:04:05Z');

async function fit(home: string, entries: readonly string[], more: Partial<ShelfOptions> = {}, agent = 'claude-code') {
  const shelf = await shelfOf(home, more);
  const done = await shelf.fit({ agent, entries: entries.map((one) => path.join(home, one)), pins: [], at: AT });
  if (isRefusal(done)) throw new Error(done.message);
  return {
    shelf,
    left: done.left.map(({ path: place, reason }) => [path.relative(home, place), reason.replaceAll(home, '~')]),
  };
}

async function undo(home: string, agent = 'claude-code'): Promise<readonly string[]> {
  const notes: string[] = [];
  const shelf = await shelfOf(home, { onNote: (note) => notes.push(note.replaceAll(home, '~')) });
  const done = await shelf.undo(agent);
  if (isRefusal(done)) throw new Error(done.message);
  return notes;
}

/** Two locked skills in the shared folder, linked for Claude Code. */
async function installLinked(home: string, ...names: readonly string[]): Promise<string> {
  const root = path.join(home, '.agents/skills');
  await install(root, Object.fromEntries(names.map((name) => [name, '1'])));
  const places = [{ folder: '../../.claude/skills', kind: 'link' as const, add: names, remove: [] }];
  committed(await withRoot(root, {}, (open) => open.commit([], { places })));
  return root;
}

describe('the shelf', () => {
  verifies('ACT-3', 'a folder moves there, and undo puts it back with its times', async () => {
    const home = homeFolder();
    writeSkill(path.join(home, '.claude/skills/pdf'));
    writeSkill(path.join(home, '.claude/skills/docx'));
    setTimes(home);
    const before = treeOf(home);
    const { left } = await fit(home, ['.claude/skills/pdf']);
    expect(left).toEqual([]);
    expect(existsSync(path.join(home, '.claude/skills/pdf'))).toBe(false);
    expect(readFileSync(path.join(home, '.agent/shelf/pdf/references/notes.md'), 'utf8')).toBe('notes of pdf\n');
    expect(await undo(home)).toEqual([]);
    expect(treeOf(home)).toEqual(before);
    expect(existsSync(path.join(home, '.agent/shelf/pdf'))).toBe(false);
  });

  test('a link to an installed skill is put away and leaves the lock; the skill stays where it is', async () => {
    const home = homeFolder();
    const root = await installLinked(home, 'alpha', 'beta');
    setTimes(home);
    const before = treeOf(home);
    await fit(home, ['.claude/skills/alpha']);
    expect(existsSync(path.join(root, 'alpha/SKILL.md'))).toBe(true);
    expect(existsSync(path.join(home, '.agent/shelf/alpha'))).toBe(false);
    expect([...requireLock(root).skills.values()].map(({ name, links }) => [name, links])).toEqual([
      ['alpha', undefined],
      ['beta', ['../../.claude/skills']],
    ]);
    expect(await verifyRoot(root)).toMatchObject({ isIntact: true });
    expect(await undo(home)).toEqual([]);
    expect(treeOf(home)).toEqual(before);
  });

  test('an installed skill takes its lock entry along, and links of other agents follow it', async () => {
    const home = homeFolder();
    const root = await installLinked(home, 'alpha', 'beta');
    setTimes(home);
    const before = treeOf(home);
    const { shelf } = await fit(home, ['.agents/skills/alpha'], {}, 'codex');
    expect([...requireLock(root).skills.keys()]).toEqual(['beta']);
    expect(requireLock(shelf.path).skills.get('alpha')?.links).toEqual(['../../.claude/skills']);
    expect(readlinkSync(path.join(home, '.claude/skills/alpha'))).toBe('../../.agent/shelf/alpha');
    expect(await verifyRoot(shelf.path)).toMatchObject({ isIntact: true, skills: [{ name: 'alpha', status: 'same' }] });
    expect(await verifyRoot(root)).toMatchObject({ isIntact: true });
    expect(await undo(home, 'codex')).toEqual([]);
    expect(treeOf(home)).toEqual(before);
    expect(existsSync(path.join(shelf.path, 'skills.lock.json'))).toBe(false);
  });

  test('a name that is on the shelf with other bytes stays; one with the same bytes is put away', async () => {
    const home = homeFolder();
    for (const folder of ['.claude', '.codex']) {
      writeSkill(path.join(home, folder, 'skills/same'));
      writeSkill(path.join(home, folder, 'skills/other'), `Do it in ${folder}.`);
    }
    setTimes(home);
    const before = treeOf(home);
    await fit(home, ['.claude/skills/same', '.claude/skills/other']);
    const { left } = await fit(home, ['.codex/skills/same', '.codex/skills/other'], {}, 'codex');
    expect(left).toEqual([['.codex/skills/other', 'differs from "other", which is on the shelf']]);
    expect(existsSync(path.join(home, '.codex/skills/same'))).toBe(false);
    // The first agent takes its folder back; that of the second takes its place.
    await undo(home);
    expect(existsSync(path.join(home, '.agent/shelf/same/SKILL.md'))).toBe(true);
    await undo(home, 'codex');
    expect(treeOf(home)).toEqual(before);
  });

  test('entries that cannot be moved are named', async () => {
    const home = homeFolder();
    writeSkill(path.join(home, 'code/mine'));
    writeSkill(path.join(home, '.claude/skills/My Skill'));
    writeSkill(path.join(home, '.claude/skills/\u001B[31mred'));
    symlinkSync(path.join(home, 'code/mine'), path.join(home, '.claude/skills/mine'));
    symlinkSync('/nowhere', path.join(home, '.claude/skills/gone'));
    const names = ['My Skill', '\u001B[31mred', 'mine', 'gone', 'absent'];
    const { left } = await fit(
      home,
      names.map((name) => `.claude/skills/${name}`),
    );
    expect(left).toEqual([
      ['.claude/skills/My Skill', 'has a name that skills cannot have'],
      ['.claude/skills/\u001B[31mred', 'has a name that skills cannot have'],
      ['.claude/skills/mine', 'is a link to "~/code/mine", which Skillwright does not search'],
      ['.claude/skills/gone', 'is a broken link'],
      ['.claude/skills/absent', 'no longer exists'],
    ]);
  });

  test.skipIf(process.getuid?.() === 0)('a read-only folder is named and stays', async () => {
    const home = homeFolder();
    writeSkill(path.join(home, '.claude/skills/pdf'));
    chmodSync(path.join(home, '.claude/skills'), 0o555);
    const { left } = await fit(home, ['.claude/skills/pdf']);
    chmodSync(path.join(home, '.claude/skills'), 0o755);
    expect(left).toEqual([['.claude/skills/pdf', 'is read-only']]);
  });

  test('undo keeps what the user made meanwhile and says where the earlier one is', async () => {
    const home = homeFolder();
    writeSkill(path.join(home, '.claude/skills/pdf'));
    await fit(home, ['.claude/skills/pdf']);
    writeSkill(path.join(home, '.claude/skills/pdf'), 'Mine.');
    expect(await undo(home)).toEqual([
      '"~/.claude/skills/pdf" exists again; the one from before is "~/.agent/shelf/pdf"',
    ]);
    expect(readFileSync(path.join(home, '.claude/skills/pdf/SKILL.md'), 'utf8')).toContain('Mine.');
    expect(existsSync(path.join(home, '.agent/shelf/pdf/SKILL.md'))).toBe(true);
  });

  test('undo does not bring back a link to a skill that was uninstalled', async () => {
    const home = homeFolder();
    const root = await installLinked(home, 'alpha', 'beta');
    await fit(home, ['.claude/skills/alpha']);
    committed(await withRoot(root, {}, (open) => open.commit([{ type: 'remove', name: 'alpha', to: 'trash' }])));
    expect(await undo(home)).toEqual(['"~/.claude/skills/alpha" led to a skill that was removed']);
    expect([...requireLock(root).skills.keys()]).toEqual(['beta']);
    expect(lstatSync(path.join(home, '.claude/skills/alpha'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('a fit whose links another fit moved is undone after that one', async () => {
    const home = homeFolder();
    const root = await installLinked(home, 'alpha', 'beta');
    setTimes(home);
    const before = treeOf(home);
    const { shelf } = await fit(home, ['.agents/skills/alpha'], {}, 'codex');
    await fit(home, ['.claude/skills/alpha']);
    for (const folder of [root, shelf.path]) expect(await verifyRoot(folder)).toMatchObject({ isIntact: true });
    await expect(undo(home, 'codex')).rejects.toThrow('the fit of claude-code moved links that the fit of codex made');
    expect(await undo(home)).toEqual([]);
    expect(await undo(home, 'codex')).toEqual([]);
    expect(treeOf(home)).toEqual(before);
  });

  test('fits of two agents are undone in any order, and the time of a folder that both changed comes back', async () => {
    const home = homeFolder();
    await installLinked(home, 'alpha', 'beta');
    setTimes(home);
    const before = treeOf(home);
    await fit(home, ['.agents/skills/beta'], {}, 'codex');
    await fit(home, ['.claude/skills/alpha']);
    for (const agent of ['codex', 'claude-code']) expect(await undo(home, agent)).toEqual([]);
    expect(treeOf(home)).toEqual(before);
  });

  test('a step that fails undoes the steps before it', async () => {
    const home = homeFolder();
    for (const name of ['one', 'two', 'three']) writeSkill(path.join(home, '.claude/skills', name));
    setTimes(home);
    const before = treeOf(home);
    const shelf = await shelfOf(home, {
      onStep(step) {
        if (step.endsWith('one')) rmSync(path.join(home, '.claude/skills/two'), { recursive: true });
      },
    });
    const entries = ['one', 'two', 'three'].map((name) => path.join(home, '.claude/skills', name));
    const done = await shelf.fit({ agent: 'claude-code', entries, pins: [], at: AT });
    expect(done).toMatchObject({ type: 'refused', message: expect.stringContaining('cannot be changed (ENOENT)') });
    const after = treeOf(home);
    const isTwo = (file: string): boolean => file.startsWith('.claude/skills/two') || file === '.claude/skills';
    expect(Object.entries(after).filter(([file]) => !isTwo(file))).toEqual(
      Object.entries(before).filter(([file]) => !isTwo(file)),
    );
    expect(shelf.last('claude-code')).toBeUndefined();
  });

  test('a damaged record is refused and named', async () => {
    const home = homeFolder();
    writeSkill(path.join(home, '.claude/skills/pdf'));
    await fit(home, ['.claude/skills/pdf']);
    const file = path.join(home, '.agent/shelf/.skillwright/fits/claude-code.json');
    const text = readFileSync(file, 'utf8');
    for (const damaged of [
      '',
      '[]',
      text.slice(0, 40),
      text.replace('.agent/shelf/pdf', '.ssh/id'),
      text.replaceAll(`${home}/`, '../'),
    ]) {
      writeFileSync(file, damaged);
      await expect(undo(home)).rejects.toThrow('is not a record of skillwright fit');
    }
    expect(existsSync(path.join(home, '.agent/shelf/pdf/SKILL.md'))).toBe(true);
  });
});

/** What may stand in a folder of an agent. */
const KINDS = ['folder', 'linked', 'copied by hand', 'foreign link', 'invalid name', 'plain file'] as const;

describe('random folders', () => {
  verifies('ACT-3', 'after a fit and its undo, every file, link and time is as before', async () => {
    const arbitrary = fc.record({
      kinds: fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 8 }),
      chosen: fc.infiniteStream(fc.boolean()),
      isWholeFolderLinked: fc.boolean(),
      agents: fc.shuffledSubarray(['claude-code', 'codex'], { minLength: 1 }),
    });
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ kinds, chosen, isWholeFolderLinked, agents }) => {
        const home = homeFolder();
        const linked = kinds.flatMap((kind, at) => (kind === 'linked' ? [`s${String(at)}`] : []));
        if (linked.length > 0) await installLinked(home, ...linked);
        for (const [at, kind] of kinds.entries()) {
          const name = `s${String(at)}`;
          const place = path.join(home, '.claude/skills', name);
          if (kind === 'folder') writeSkill(place);
          if (kind === 'copied by hand')
            for (const folder of ['.claude', '.codex']) writeSkill(path.join(home, folder, 'skills', name));
          if (kind === 'foreign link') {
            writeSkill(path.join(home, 'code', name));
            symlinkSync(`../../code/${name}`, place);
          }
          if (kind === 'invalid name') writeSkill(path.join(home, '.claude/skills', `S ${name}`));
          if (kind === 'plain file') writeFileSync(place, 'text');
        }
        if (isWholeFolderLinked && !existsSync(path.join(home, '.codex'))) {
          mkdirSync(path.join(home, '.codex'));
          symlinkSync('../.claude/skills', path.join(home, '.codex/skills'));
        }
        setTimes(home);
        const before = treeOf(home);
        for (const agent of agents) {
          const folder = agent === 'codex' ? '.codex/skills' : '.claude/skills';
          const shared = agent === 'codex' ? linked.map((name) => `.agents/skills/${name}`) : [];
          const all = [...kinds.keys()].map((at) => `${folder}/s${String(at)}`);
          const isChosen = (): boolean => chosen.next().value ?? false;
          await fit(home, [...all, ...shared].filter(isChosen), {}, agent);
        }
        for (const agent of agents.toReversed()) expect(await undo(home, agent)).toEqual([]);
        expect(treeOf(home)).toEqual(before);
      }),
      { numRuns: runs(300) },
    );
  });
});

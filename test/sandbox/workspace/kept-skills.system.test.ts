import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import type { SkillSource } from '../../../src/sandbox/workspace/snapshots.ts';
import type { Workspace } from '../../../src/sandbox/workspace/workspace.ts';
import { plant } from '../../platform/fs/tree-support.ts';
import { fakeExecutor, openBench } from '../workspace-support.ts';

test.each(['local', 'isolating'] as const)(
  'a kept workspace (%s) knows which of two skills with one name it has, whichever runs first afterwards',
  async (kind) => {
    const { folder, workspaces } = openBench();
    const [project, user] = ['project', 'user'].map((text) => ({
      name: 'pdf',
      dir: plant(path.join(folder, text, 'pdf'), { 'SKILL.md': text }),
    })) as [SkillSource, SkillSource];
    const executor = fakeExecutor(kind);
    const read = ({ snapshot }: { readonly snapshot: string }): string =>
      readFileSync(path.join(snapshot, 'SKILL.md'), 'utf8');
    const reopen = async (last?: Workspace): Promise<Workspace> => {
      await last?.close({ keep: true });
      return workspaces.open('key', executor);
    };

    const first = await reopen();
    expect((await first.stage(user)).name).toBe('pdf');
    const second = await reopen(first);
    expect([second.hasStaged(user), second.hasStaged(project)]).toEqual([true, false]);
    const [ours, theirs] = [await second.stage(project), await second.stage(user)];
    expect([read(ours), theirs.name, read(theirs)]).toEqual(['project', 'pdf', 'user']);
    expect(ours.name).toMatch(/^pdf-[\da-f]{8}$/);

    // Both continue with their files, and with their folders.
    writeFileSync(path.join(user.dir, 'SKILL.md'), 'user, changed');
    const third = await reopen(second);
    expect([await third.stage(project), await third.stage(user)]).toEqual([ours, theirs]);
    // The name of a skill that is gone is free, and its files are not those of the next one.
    rmSync(user.dir, { recursive: true });
    const moved = { name: 'pdf', dir: plant(path.join(folder, 'moved/pdf'), { 'SKILL.md': 'moved' }) };
    const fourth = await reopen(third);
    const staged = await fourth.stage(moved);
    expect([staged.name, read(staged)]).toEqual(['pdf', 'moved']);
  },
);

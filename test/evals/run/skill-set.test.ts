import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { makeSkillSet } from '../../../src/evals/run/skill-set.ts';
import { createRuntime } from '../../../src/runtime/runtime.ts';
import { scratch } from '../../skills/registry/support.ts';

test('copies of skills keep the source of the original', async () => {
  const place = scratch();
  const folders = ['project', 'user', 'elsewhere'].map((source) => {
    const folder = path.join(place, source, `of-${source}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'SKILL.md'), `---\nname: of-${source}\ndescription: D.\n---\nBody.\n`);
    return folder;
  });
  const sourceOf = (folder: string): string | undefined =>
    ['project', 'user'].find((source) => folder.includes(`/${source}/`));
  const { roots } = await makeSkillSet(folders, { to: path.join(place, 'copies'), sourceOf });
  const { index } = await createRuntime({ cwd: place, home: place, env: {}, roots, onlyRoots: true, cache: false });
  expect(index.skills.map(({ name, source }) => [name, source])).toEqual([
    ['of-elsewhere', 'option'],
    ['of-project', 'project'],
    ['of-user', 'user'],
  ]);
});

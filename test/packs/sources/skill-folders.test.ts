import { expect, test } from 'vitest';

import { findSkillFolders } from '../../../src/packs/sources/skill-folders.ts';

test('skills are folders with a SKILL.md in this spelling; those inside others belong to them', () => {
  expect(
    findSkillFolders([
      'README.md',
      'skills/b/SKILL.md',
      'skills/a/scripts/x.sh',
      'skills/a/SKILL.md',
      'skills/a/inner/deep/SKILL.md',
      'skills/a-b/SKILL.md',
      'skills/c/skill.md',
      'skills/d/NOT-SKILL.md',
      '.claude/skills/e/SKILL.md',
      'node_modules/f/SKILL.md',
      '1/2/3/4/5/6/SKILL.md',
      '1/2/3/4/5/6x/7/SKILL.md',
    ]),
  ).toEqual({
    folders: ['.claude/skills/e', '1/2/3/4/5/6', 'skills/a', 'skills/a-b', 'skills/b'],
    nested: ['skills/a/inner/deep'],
  });
});

test('a source that is itself a skill has no other', () => {
  expect(findSkillFolders(['SKILL.md', 'examples/a/SKILL.md'])).toEqual({ folders: [''], nested: ['examples/a'] });
  expect(findSkillFolders([])).toEqual({ folders: [], nested: [] });
});

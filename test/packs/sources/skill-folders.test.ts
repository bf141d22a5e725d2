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
      `${'n/'.repeat(31)}32/SKILL.md`,
      `${'n/'.repeat(32)}33/SKILL.md`,
    ]),
  ).toEqual({
    folders: ['.claude/skills/e', `${'n/'.repeat(31)}32`, 'skills/a', 'skills/a-b', 'skills/b'],
    leftOut: [
      { path: `${'n/'.repeat(32)}33/SKILL.md`, type: 'file', reason: 'more than 32 folders deep' },
      { path: 'node_modules/f/SKILL.md', type: 'file', reason: 'not searched' },
      {
        path: 'skills/a/inner/deep/SKILL.md',
        type: 'file',
        reason: 'inside "skills/a", a file of that skill',
      },
    ],
  });
});

test('a source that is itself a skill has no other', () => {
  expect(findSkillFolders(['SKILL.md', 'examples/a/SKILL.md'])).toEqual({
    folders: [''],
    leftOut: [{ path: 'examples/a/SKILL.md', type: 'file', reason: 'inside the skill, a file of that skill' }],
  });
  expect(findSkillFolders([])).toEqual({ folders: [], leftOut: [] });
});

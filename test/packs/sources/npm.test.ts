import { expect, test } from 'vitest';

import { isSkillOfPackage } from '../../../src/packs/sources/npm.ts';

test('skills of a package are at its top or below a folder called skills, not in tests and dependencies', () => {
  const folders = [
    '',
    'skills/pdf',
    '.claude/skills/pdf',
    'skills/.curated/pdf',
    'plugins/office/skills/pdf',
    'docs/pdf',
    'skills',
    'skills/pdf/assets/sample',
    'node_modules/other/skills/pdf',
    'test/skills/pdf',
    'src/fixtures/skills/pdf',
  ];
  expect(folders.filter(isSkillOfPackage)).toEqual(folders.slice(0, 5));
});

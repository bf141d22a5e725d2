import { describe, expect, it } from 'vitest';

import { argumentNames } from '../../../src/skills/format/argument-names.ts';

describe('the names of arguments', () => {
  const skill = (fields: string): string => `---\nname: a\ndescription: b\n${fields}\n---\n\n$issue\n`;

  it.each([
    ['arguments: issue branch', ['issue', 'branch']],
    ['arguments: "issue,  branch"', ['issue', 'branch']],
    ['arguments: [issue, branch]', ['issue', 'branch']],
    ['arguments:\n  - issue\n  - branch', ['issue', 'branch']],
    ['metadata:\n  arguments: issue branch', ['issue', 'branch']],
    ['arguments: [{a: b}, branch]', ['-', 'branch']],
    ['arguments:', []],
    ['arguments: {a: b}', []],
    ['x: !!str tagged\narguments: issue', ['issue']],
    ['argument-hint: [issue] [branch]\narguments: [issue, branch]', ['issue', 'branch']],
    ['description: broken: twice\narguments:\n  - issue', ['issue']],
    ['x: "multi\n  line"\narguments: >-\n  issue\n  branch', ['issue', 'branch']],
    ['arguments: [', []],
    ['license: MIT', []],
  ])('%j declares %j', async (fields, names) => {
    expect(await argumentNames(skill(fields))).toEqual(names);
  });

  it.each(['', 'no frontmatter', '---\nnever: closed', `---\n${'['.repeat(60_000)}\n---\n`])(
    '%j declares none',
    async (text) => {
      expect(await argumentNames(text)).toEqual([]);
    },
  );
});

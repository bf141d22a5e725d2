import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { SKILL_PARTS, newSkillFiles } from '../../../src/skills/format/new-skill.ts';
import { parseSkillMd } from '../../../src/skills/format/skill-md.ts';

const check = (name: string, text: string): readonly unknown[] =>
  parseSkillMd(
    { path: `${name}/SKILL.md`, directory: name, fileName: 'SKILL.md', text, validUtf8: true },
    { mode: 'strict' },
  ).diagnostics;

describe('a new skill', () => {
  test('keeps the specification as it is, with every part or none', () => {
    for (const parts of [[], SKILL_PARTS]) {
      const [skillMd] = newSkillFiles({ name: 'my-skill', parts });
      expect(check('my-skill', skillMd?.text ?? '')).toEqual([]);
    }
  });

  test('takes any description that has something to say, and writes it so that it reads back', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), (text) => {
        const description = `Does ${text.replaceAll(/[<>]/g, '')} well`;
        const [skillMd] = newSkillFiles({ name: 'x', description, parts: [] });
        const { head } = parseSkillMd(
          { path: 'x/SKILL.md', directory: 'x', fileName: 'SKILL.md', text: skillMd?.text ?? '', validUtf8: true },
          { mode: 'lenient' },
        );
        expect(head?.description).toBeDefined();
      }),
    );
  });

  test.each(['', 'My Skill', '../evil', 'a--b', '-a', 'a'.repeat(65), 'con/x', 'a\nb'])(
    'refuses the name %j and says what would do',
    (name) => {
      expect(() => newSkillFiles({ name, parts: [] })).toThrow(expect.objectContaining({ code: 'input/invalid' }));
    },
  );

  test('has a Chinese name if you like', () => {
    const [skillMd] = newSkillFiles({ name: '数据分析', parts: [] });
    expect(check('数据分析', skillMd?.text ?? '')).toEqual([]);
  });

  test('has an executable script', () => {
    const files = newSkillFiles({ name: 'x', parts: ['scripts'] });
    expect(files.map(({ path, isExecutable }) => [path, isExecutable])).toEqual([
      ['SKILL.md', false],
      ['scripts/main.py', true],
    ]);
  });
});

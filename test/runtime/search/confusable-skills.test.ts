import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readHead } from '../../../src/skills/format/read-head.ts';
import {
  confusableDiagnostics,
  confusableSkills,
  type CatalogSkill,
} from '../../../src/runtime/search/confusable-skills.ts';
import { cli, skillText, writeFiles } from '../../cli/run-cli.ts';
import { PROJECT } from '../../files-below.ts';
import { scratch } from '../../skills/registry/support.ts';
import { FORTY_SKILLS, PLANTED_PAIRS } from '../confusable-fixture.ts';

const pairsIn = (skills: readonly CatalogSkill[]): readonly string[] =>
  confusableSkills(skills).map(({ skills: [a, b] }) => `${a.name} ${b.name}`);

describe('skills that could be taken for each other', () => {
  test('of forty skills exactly the six planted pairs are found, in whatever order they come', () => {
    expect(FORTY_SKILLS).toHaveLength(40);
    expect(pairsIn(FORTY_SKILLS).toSorted()).toEqual(PLANTED_PAIRS);
    expect(pairsIn(FORTY_SKILLS.toReversed()).toSorted()).toEqual(PLANTED_PAIRS);
  });

  test('the built-in skills are none', () => {
    const skills = ['csv-report', 'skill-author', 'text-diff'].map((directory): CatalogSkill => {
      const file = path.join(PROJECT, 'skills', directory, 'SKILL.md');
      const source = { path: file, directory, fileName: 'SKILL.md', text: readFileSync(file, 'utf8'), validUtf8: true };
      const { name = '', description = '' } = readHead(source, { mode: 'lenient' }).head ?? {};
      return { name, description, file };
    });
    expect(pairsIn(skills)).toEqual([]);
    expect(pairsIn([...FORTY_SKILLS, ...skills]).toSorted()).toEqual(PLANTED_PAIRS);
  });

  test('two that send their readers to each other know of each other', () => {
    const [first, second, ...rest] = FORTY_SKILLS;
    if (first === undefined || second === undefined) throw new TypeError('there are no skills');
    const aware = { ...first, description: `${first.description} Not for bills of suppliers, use ${second.name}.` };
    expect(pairsIn([aware, second, ...rest])).not.toContain(`${second.name} ${first.name}`);
    const other = { ...first, description: `${first.description} Not for bills, use ${second.name}-two.` };
    expect(pairsIn([other, second, ...rest])).toContain(`${second.name} ${first.name}`);
  });

  test('nothing, one skill, and skills without words are no pair', () => {
    const empty = { name: 'a', description: '', file: 'a' };
    expect([pairsIn([]), pairsIn(FORTY_SKILLS.slice(0, 1)), pairsIn([empty, { ...empty, name: 'b' }])]).toEqual([
      [],
      [],
      [],
    ]);
  });

  test('both files are told, and check --catalog prints them', async () => {
    const [diagnostic] = confusableDiagnostics(FORTY_SKILLS.slice(0, 2), 'strict');
    expect(diagnostic?.code).toBe('catalog/confusable');
    const root = scratch();
    for (const { name, description } of FORTY_SKILLS)
      writeFiles(root, { [`skills/${name}/SKILL.md`]: skillText(name, description) });
    const { status, out } = await cli(root, ['check', 'skills', '--catalog', '--format', 'json']);
    const found: readonly { code: string; path: string }[] = JSON.parse(out).diagnostics;
    const told = found.filter(({ code }) => code === 'catalog/confusable').map((one) => one.path);
    expect([status, told.length, told[0]?.endsWith('bill-review/SKILL.md')]).toEqual([0, 12, true]);
    expect((await cli(root, ['check', 'skills', '--format', 'json'])).out).not.toContain('catalog/confusable');
  });
});

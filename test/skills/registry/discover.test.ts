import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { SkillIndex } from '../../../src/skills/registry/index-skills.ts';
import { buildIndex, type RegistryOptions } from '../../../src/skills/registry/registry.ts';
import { verifies } from '../../conformance/verifies.ts';
import { rootsOf, scratch, writeSkill } from './support.ts';

type Options = Omit<RegistryOptions, 'roots'>;

function scan(root: string, options: Options = {}): Promise<SkillIndex> {
  return buildIndex({ roots: rootsOf(['project', root]), ...options });
}

const dirs = (root: string, { skills }: SkillIndex): readonly string[] =>
  skills.map(({ dir }) => path.relative(root, dir));
const codes = ({ diagnostics }: SkillIndex): readonly string[] => diagnostics.map(({ code }) => code);

describe('what is found', () => {
  verifies(
    ['REG-2', 'REG-4'],
    'an entry has id, name, description, source, path, controls, meta and digest',
    async () => {
      const root = scratch();
      writeSkill(path.join(root, 'pdf'), {
        description: 'Fills forms.',
        fields: [
          'license: MIT',
          'allowed-tools: Read, Bash(git:*)',
          'disable-model-invocation: true',
          'metadata:',
          '  version: "1.2"',
        ],
      });
      const { skills, report } = await scan(root);
      expect(skills).toEqual([
        {
          id: 'project/pdf@1.2',
          name: 'pdf',
          description: 'Fills forms.',
          license: 'MIT',
          source: 'project',
          group: '',
          dir: path.join(root, 'pdf'),
          file: 'SKILL.md',
          digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
          state: 'manual',
          controls: {
            disableModelInvocation: true,
            userInvocable: true,
            allowedTools: ['Read', 'Bash(git:*)'],
            runMode: 'inline',
          },
          meta: { version: '1.2' },
        },
      ]);
      expect(report).toMatchObject({
        found: 1,
        valid: 1,
        leftOut: [],
        conflicts: [],
        fromCache: 0,
        cache: { status: 'off' },
      });
    },
  );

  verifies(
    ['REG-5'],
    'nested groups are found; hidden folders, node_modules, files and folders without SKILL.md are passed over',
    async () => {
      const root = scratch();
      for (const dir of [
        'one',
        'acme/two',
        'acme/tools/three',
        '.hidden/four',
        'node_modules/five',
        'one/references/inner',
        'acme/node_modules/six',
      ])
        writeSkill(path.join(root, dir));
      mkdirSync(path.join(root, 'empty'));
      writeFileSync(path.join(root, 'SKILLS.md'), 'no skill');
      writeFileSync(path.join(root, 'README.md'), 'no skill');
      const index = await scan(root, { explain: true });
      expect(index.skills.map(({ name, group }) => [name, group])).toEqual([
        ['one', ''],
        ['three', 'acme/tools'],
        ['two', 'acme'],
      ]);
      expect(index.explain?.map(({ path: at, decision }) => [path.relative(root, at), decision])).toEqual([
        ['', 'root'],
        ['.hidden', 'passed-over'],
        ['.hidden/four/SKILL.md', 'passed-over'],
        ['acme', 'group'],
        ['acme/node_modules', 'passed-over'],
        ['acme/node_modules/six/SKILL.md', 'passed-over'],
        ['acme/tools', 'group'],
        ['acme/tools/three', 'skill'],
        ['acme/two', 'skill'],
        ['empty', 'group'],
        ['node_modules', 'passed-over'],
        ['node_modules/five/SKILL.md', 'passed-over'],
        ['one', 'skill'],
        ['one/references/inner/SKILL.md', 'passed-over'],
      ]);
      expect(
        dirs(root, await scan(root, { nestedInSkills: true }))
          .filter((dir) => dir.startsWith('one'))
          .toSorted(),
      ).toEqual(['one', 'one/references/inner']);
    },
  );

  verifies(['FMT-1'], 'a lone skill.md loads with a warning, and is not looked at beside a SKILL.md', async () => {
    const root = scratch();
    writeSkill(path.join(root, 'lower'), { file: 'skill.md' });
    writeSkill(path.join(root, 'both'), { file: 'skill.md', description: 'Not this one.' });
    writeSkill(path.join(root, 'both'), { description: 'This one.' });
    const index = await scan(root);
    expect(index.skills.map(({ name, file, description }) => [name, file, description])).toEqual([
      ['both', 'SKILL.md', 'This one.'],
      ['lower', 'skill.md', 'Does it. Use it to test.'],
    ]);
    expect(index.diagnostics.map(({ code, path: at }) => [code, path.relative(root, at)])).toEqual([
      ['file/case', 'lower/skill.md'],
    ]);
  });

  test('a root that is a skill itself is one, and what it holds is still found', async () => {
    const root = path.join(scratch(), 'own');
    writeSkill(root);
    writeSkill(path.join(root, 'inner'));
    expect(dirs(root, await scan(root))).toEqual(['inner', '']);
  });

  verifies(['FMT-5', 'REG-7'], 'each skill folder is one entry or one left-out record with its reason', async () => {
    const root = scratch();
    writeSkill(path.join(root, 'good'));
    writeSkill(path.join(root, 'repaired'), { description: 'Use when: asked.' });
    writeSkill(path.join(root, 'silent'), { description: '' });
    mkdirSync(path.join(root, 'plain'));
    writeFileSync(path.join(root, 'plain', 'SKILL.md'), '# no frontmatter\n');
    mkdirSync(path.join(root, 'folder', 'SKILL.md'), { recursive: true });
    symlinkSync('nowhere', path.join(root, 'gone'));
    const { skills, report, diagnostics } = await scan(root);
    expect(skills.map(({ name }) => name)).toEqual(['good', 'repaired']);
    expect(report.leftOut.map(({ path: at, code }) => [path.relative(root, at), code])).toEqual([
      ['folder/SKILL.md', 'file/not-regular'],
      ['gone', 'file/broken-link'],
      ['plain/SKILL.md', 'frontmatter/missing'],
      ['silent/SKILL.md', 'description/missing'],
    ]);
    expect([report.found, report.valid]).toEqual([6, 2]);
    expect(report.roots).toEqual([{ source: 'project', path: root, priority: 1, status: 'scanned', skills: 2 }]);
    for (const { path: at } of report.leftOut)
      expect(
        diagnostics.filter((diagnostic) => diagnostic.path === at && diagnostic.severity === 'error'),
      ).toHaveLength(1);
  });
});

verifies('FMT-5', 'a skill without a description is left out, and takes its name from no other skill', async () => {
  const [project, user] = [scratch(), scratch()];
  writeSkill(path.join(project, 'pdf'), { description: '' });
  writeSkill(path.join(project, 'csv'));
  writeSkill(path.join(user, 'pdf'));
  const roots = rootsOf(['project', project], ['user', user]);
  const cacheFile = path.join(scratch(), 'cache', 'x.cache');
  for (const status of ['rebuilt', 'used', 'used'])
    for (const mode of ['lenient', 'strict'] as const) {
      const index = await buildIndex({ roots, mode, cacheFile: `${cacheFile}-${mode}` });
      expect(index.report.cache.status).toBe(status);
      expect(index.skills.map(({ name, source }) => [name, source])).toEqual([
        ['csv', 'project'],
        ['pdf', 'user'],
      ]);
      expect(index.shadowed).toEqual([]);
      expect(index.undescribed.map(({ name, source }) => [name, source])).toEqual([['pdf', 'project']]);
      expect(index.report.leftOut).toEqual([
        { path: `${project}/pdf/SKILL.md`, code: 'description/missing', message: 'there is no description' },
      ]);
    }
});

describe('bounds', () => {
  verifies(['REG-5'], 'depth is bounded, and said to be', async () => {
    const root = scratch();
    const above = (count: number): string => 'f/'.repeat(count);
    for (const count of [15, 16, 20]) writeSkill(path.join(root, above(count), `s${String(count)}`));
    mkdirSync(path.join(root, 'empty', above(20)), { recursive: true });
    const index = await scan(root);
    expect(dirs(root, index)).toEqual([`${above(15)}s15`]);
    expect(index.diagnostics.map(({ code, path: at, message }) => [code, path.relative(root, at), message])).toEqual(
      [20, 16].map((count) => [
        'scan/too-deep',
        `${above(count)}s${String(count)}/SKILL.md`,
        'the skill is left out: more than 16 levels below the root',
      ]),
    );
    expect(dirs(root, await scan(root, { maxDepth: 32 }))).toHaveLength(3);
  });

  verifies(['PACK-8'], 'an explained scan names every SKILL.md that is left out', async () => {
    const root = scratch();
    for (const at of ['outer', 'outer/inner', 'node_modules/pack/skills/a', '.hidden/b', '.git/c'])
      writeSkill(path.join(root, at));
    const { explain = [] } = await scan(root, { explain: true });
    expect(
      explain
        .filter(({ path: at }) => at.endsWith('SKILL.md'))
        .map(({ path: at, decision, reason }) => `${decision} ${path.relative(root, at)}: ${reason}`)
        .toSorted(),
    ).toEqual([
      'passed-over .hidden/b/SKILL.md: .hidden is not searched',
      'passed-over node_modules/pack/skills/a/SKILL.md: node_modules is not searched',
      'passed-over outer/inner/SKILL.md: inside a skill; --nested finds it',
    ]);
  });

  verifies(['REG-5'], 'folders without SKILL.md are counted up to a bound; skill folders are free', async () => {
    const root = scratch();
    for (let number = 0; number < 30; number += 1) {
      mkdirSync(path.join(root, `group-${String(number)}`));
      writeSkill(path.join(root, `skill-${String(number)}`));
    }
    const index = await scan(root, { maxDirectories: 10 });
    expect(index.skills).toHaveLength(30);
    expect(codes(index)).toEqual(['scan/too-many-directories']);
  });
});

describe('links', () => {
  verifies(
    ['REG-5'],
    'links to folders are followed, cycles are cut, and a place outside every root is told',
    async () => {
      const base = scratch();
      const root = path.join(base, 'skills');
      writeSkill(path.join(base, 'elsewhere', 'far'));
      writeSkill(path.join(root, 'near'));
      mkdirSync(path.join(root, 'group'));
      symlinkSync('../../elsewhere/far', path.join(root, 'group', 'far'));
      symlinkSync('..', path.join(root, 'group', 'up'));
      symlinkSync('.', path.join(root, 'self'));
      const index = await scan(root);
      expect(dirs(root, index)).toEqual(['group/far', 'near']);
      expect(index.diagnostics.map(({ code, path: at }) => [code, path.relative(root, at)])).toEqual([
        ['link/outside-root', 'group/far'],
        ['link/cycle', 'group/up'],
        ['link/cycle', 'self'],
      ]);
    },
  );

  test('folders that link to each other end the walk', async () => {
    const root = scratch();
    writeSkill(path.join(root, 'a', 'one'));
    writeSkill(path.join(root, 'b', 'two'));
    symlinkSync('../b', path.join(root, 'a', 'to-b'));
    symlinkSync('../a', path.join(root, 'b', 'to-a'));
    const index = await scan(root);
    expect(dirs(root, index)).toEqual(['a/one', 'b/two']);
    expect(index.report.found).toBe(2);
  });

  verifies(['REG-6'], 'two paths to one folder are one skill, under its real path', async () => {
    const base = scratch();
    const [first, second] = [path.join(base, 'first'), path.join(base, 'second')];
    writeSkill(path.join(second, 'pdf'), { fields: ['odd-field: 1'] });
    mkdirSync(first);
    symlinkSync('../second/pdf', path.join(first, 'pdf'));
    symlinkSync('pdf', path.join(second, 'alias'));
    const { skills, shadowed, report, diagnostics } = await buildIndex({
      roots: rootsOf(['high', first], ['low', second]),
    });
    expect(skills.map(({ id }) => id)).toEqual(['high/pdf']);
    expect(shadowed.map(({ dir, by, reason }) => [path.relative(base, dir), path.relative(base, by), reason])).toEqual([
      ['second/alias', 'first/pdf', 'same-directory'],
      ['second/pdf', 'first/pdf', 'same-directory'],
    ]);
    expect([report.found, report.valid]).toEqual([1, 1]);
    expect(diagnostics.filter(({ code }) => code === 'field/unknown')).toHaveLength(1);
  });

  test('a broken skill that two roots reach is left out once', async () => {
    const base = scratch();
    mkdirSync(path.join(base, 'a', 'bad'), { recursive: true });
    execFileSync('mkfifo', [path.join(base, 'a', 'bad', 'SKILL.md')]);
    mkdirSync(path.join(base, 'a', 'worse'));
    writeFileSync(path.join(base, 'a', 'worse', 'SKILL.md'), 'nothing');
    mkdirSync(path.join(base, 'b'));
    symlinkSync('../a/bad', path.join(base, 'b', 'bad'));
    symlinkSync('../a/worse', path.join(base, 'b', 'worse'));
    const { report } = await buildIndex({ roots: rootsOf(['a', path.join(base, 'a')], ['b', path.join(base, 'b')]) });
    expect(report.leftOut.map(({ path: at }) => path.relative(base, at))).toEqual([
      'a/bad/SKILL.md',
      'a/worse/SKILL.md',
    ]);
  });

  test('two folders that share one file by a hard link are two skills', async () => {
    const root = scratch();
    const file = writeSkill(path.join(root, 'a'), { name: 'first' });
    mkdirSync(path.join(root, 'b'));
    execFileSync('ln', [file, path.join(root, 'b', 'SKILL.md')]);
    symlinkSync('a', path.join(root, 'c'));
    expect((await scan(root)).shadowed.map(({ reason, dir }) => [reason, path.basename(dir)])).toEqual([
      ['first-path', 'b'],
      ['same-directory', 'c'],
    ]);
  });
});

describe('roots', () => {
  verifies(
    ['REG-9'],
    'a missing root is an empty root: silent by convention, told where it was asked for',
    async () => {
      const base = scratch();
      writeFileSync(path.join(base, 'file'), '');
      const roots = [
        { source: 'a', path: path.join(base, 'none'), priority: 4, explicit: false },
        { source: 'b', path: path.join(base, 'missing'), priority: 3, explicit: true },
        { source: 'c', path: path.join(base, 'file'), priority: 2, explicit: true },
        { source: 'd', path: path.join(base, 'file', 'below'), priority: 1, explicit: false },
      ];
      const { skills, diagnostics, report } = await buildIndex({ roots });
      expect(skills).toEqual([]);
      expect(report.roots.map(({ status }) => status)).toEqual(['missing', 'missing', 'not-a-directory', 'missing']);
      expect(diagnostics.map(({ code, path: at }) => [code, path.relative(base, at)])).toEqual([
        ['root/not-a-directory', 'file'],
        ['root/missing', 'missing'],
      ]);
    },
  );

  test('roots inside one another and the same root twice give each skill once', async () => {
    const base = scratch();
    writeSkill(path.join(base, 'group', 'pdf'));
    symlinkSync('group', path.join(base, 'again'));
    const roots = rootsOf(['inner', path.join(base, 'group')], ['outer', base], ['again', path.join(base, 'again')]);
    const { skills, report } = await buildIndex({ roots });
    expect(skills.map(({ id, dir }) => [id, path.relative(base, dir)])).toEqual([['inner/pdf', 'group/pdf']]);
    expect(report.roots.map(({ status }) => status)).toEqual(['scanned', 'scanned', 'repeated']);
    expect(report.found).toBe(1);
  });
});

test('the index does not depend on the order in which folders were made', async () => {
  const root = path.join(scratch(), 'root');
  const names = ['delta', 'alpha', 'charlie', 'g/bravo', 'g/alpha', 'broken'];
  const results: string[] = [];
  for (const order of [names, names.toReversed(), names.toSorted()]) {
    for (const name of order)
      writeSkill(path.join(root, name), { mtime: 1_700_000_000.5, description: name === 'broken' ? '' : 'Use it.' });
    const { report, ...index } = await scan(root);
    results.push(JSON.stringify({ ...index, report: { ...report, durationMs: 0 } }));
    rmSync(root, { recursive: true });
  }
  expect(new Set(results).size).toBe(1);
});

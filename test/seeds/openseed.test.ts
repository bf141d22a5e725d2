/** The worked examples of openseed's design, over real folders and through the public door. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { checkSkill } from '../../src/skills/loader/check-skill.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { runtimeOver } from '../runtime/support.ts';

const FILE_DIFF = `---
name: file-diff
description: Compares two files one to one and checks their format.
---

# File diff

1. Run scripts/compare.py with both files.
2. Follow references/SPEC.md for the report.
`;

function write(root: string, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

/** `DOCUMENT_ROOT/skills` of the design: two skills, a folder without SKILL.md and a broken one. */
function documentRoot(): string {
  const root = path.join(scratch(), 'skills');
  write(root, 'file-diff/SKILL.md', FILE_DIFF);
  write(root, 'file-diff/scripts/compare.py', 'print("equal")\n');
  write(root, 'file-diff/references/SPEC.md', '# Specification\n');
  write(root, 'file-diff/assets/template.md', '# Report\n');
  write(root, 'data-analysis/SKILL.md', '---\nname: data-analysis\ndescription: Analyses tables.\n---\n\nLook.\n');
  write(root, 'notes/README.md', 'no skill\n');
  write(root, 'broken/SKILL.md', 'no frontmatter\n');
  write(root, 'no-description/SKILL.md', '---\nname: no-description\n---\nBody.\n');
  write(root, 'no-name/SKILL.md', '---\ndescription: Compares files without a name.\n---\nBody.\n');
  write(root, 'empty-name/SKILL.md', '---\nname: ""\ndescription: Compares files without a name.\n---\nBody.\n');
  write(root, 'blank-name/SKILL.md', '---\nname: "  "\ndescription: Compares files without a name.\n---\nBody.\n');
  write(root, 'bad-yaml/SKILL.md', '---\nname: bad-yaml\ndescription: Compares: two: files.\n---\nBody.\n');
  write(root, 'worse-yaml/SKILL.md', '---\nname: [worse\ndescription: Compares files.\n---\nBody.\n');
  return root;
}

async function openseed(root = documentRoot()): Promise<SkillTools> {
  return openSkillTools({ vocabulary: 'openseed', runtime: await runtimeOver(root) });
}

describe('openseed by its design', () => {
  test('list_skills gives the folders that have a usable SKILL.md, and nothing without a root', async () => {
    const { call } = await openseed();
    expect((await call('list_skills', {})).value).toEqual(['data-analysis', 'file-diff']);
    expect((await call('search_skills', { query: 'compare files' })).value).toEqual([
      { name: 'file-diff', description: 'Compares two files one to one and checks their format.' },
    ]);
    const missing = await openseed(path.join(scratch(), 'missing'));
    expect((await missing.call('list_skills', {})).value).toEqual([]);
    expect((await missing.call('search_skills', { query: 'compare' })).value).toEqual([]);
    expect((await missing.call('load_skill', { skill_name: 'pdf' })).text).toContain('Skill not found: pdf');
  });

  verifies('TOOL-1', 'load_skill returns the whole SKILL.md, whatever its length, and ignores case', async () => {
    const root = documentRoot();
    const long = `${FILE_DIFF}${'A line of the procedure.\n'.repeat(5_000)}`;
    write(root, 'file-diff/SKILL.md', long);
    const { call } = await openseed(root);
    for (const _ of [1, 2]) expect((await call('load_skill', { skill_name: 'File-Diff' })).value).toBe(long);
    expect((await call('load_skill', { skill_name: 'Data-Analysis' })).value).toBe(
      readFileSync(path.join(root, 'data-analysis/SKILL.md'), 'utf8'),
    );
  });

  test('load_skill finds a skill by its folder if the declared name differs', async () => {
    const root = documentRoot();
    write(root, 'folder-name/SKILL.md', '---\nname: declared-name\ndescription: Differs.\n---\n\nBody.\n');
    const { call } = await openseed(root);
    expect((await call('list_skills', {})).value).toEqual(['data-analysis', 'file-diff', 'folder-name']);
    write(root, 'folder-name/references/a.md', 'a\n');
    for (const skill_name of ['folder-name', 'Declared-Name']) {
      const { isError, value } = await call('load_skill', { skill_name });
      expect([isError, value]).toEqual([false, expect.stringContaining('name: declared-name')]);
      expect((await call('list_skill_assets', { skill_name })).value).toEqual(['references/a.md']);
    }
  });

  test('folders that declare one name, or the name of each other, are skills by their folders', async () => {
    const root = path.join(scratch(), 'skills');
    const named = (folder: string, name: string, mtime: number): void => {
      writeSkill(path.join(root, folder), { name, mtime, body: `Body of ${folder}.\n` });
      write(root, `${folder}/scripts/run.py`, `print("${folder}")\n`);
    };
    for (const [at, [folder, name]] of [
      ['a', 'dup'],
      ['b', 'dup'],
      ['x', 'y'],
      ['y', 'x'],
      ['Upper', 'upper'],
      ['UPPER', 'upper'],
      ['Single', 'single'],
    ].entries())
      named(folder ?? '', name ?? '', 1_700_000_000 + at);
    const folders = ['Single', 'UPPER', 'Upper', 'a', 'b', 'x', 'y'];
    const { call } = await openseed(root);
    expect((await call('list_skills', {})).value).toEqual(folders);
    for (const skill_name of folders) {
      expect((await call('load_skill', { skill_name })).value).toContain(`Body of ${skill_name}.`);
      expect((await call('get_skill_script_path', { skill_name, script_name: 'run.py' })).value).toBe(
        path.join(root, skill_name, 'scripts/run.py'),
      );
    }
    const found = (await call('search_skills', { query: 'test', n: 9 })).value as readonly { readonly name: string }[];
    expect(found.map(({ name }) => name).toSorted()).toEqual(['UPPER', 'Upper', 'a', 'b', 'single', 'x', 'y']);
  });

  test('a folder with skill.md in lower case is not a skill', async () => {
    const root = documentRoot();
    write(root, 'lower/skill.md', '---\nname: lower\ndescription: Compares files.\n---\nBody.\n');
    const { call } = await openseed(root);
    expect((await call('list_skills', {})).value).toEqual(['data-analysis', 'file-diff']);
    expect((await call('load_skill', { skill_name: 'lower' })).text).toContain(
      'the file is called skill.md, expected SKILL.md',
    );
  });

  test('load_skill of an unknown skill says so, and of a broken one gives its parse error', async () => {
    const { call } = await openseed();
    expect((await call('load_skill', { skill_name: 'file-dif' })).text).toBe(
      'Skill not found: file-dif. Find it with search_skills, or choose one of the listed skills. Nearest: file-diff.',
    );
    const reasons = {
      broken: 'the file starts with "no frontmatter", expected ---',
      'bad-yaml': 'the value of "description" has a colon and is not in quotes',
      'worse-yaml': 'YAML does not read "[worse" as text, expected quotes around it',
    };
    for (const [folder, reason] of Object.entries(reasons)) {
      const { isError, text } = await call('load_skill', { skill_name: folder });
      expect([isError, text]).toEqual([
        true,
        expect.stringMatching(`^the SKILL.md of "${folder}" cannot be used: ${reason.replace('[', '\\[')}`),
      ]);
    }
  });

  test('a SKILL.md without name or description is loaded by its folder, is in no list, and keeps its restrictions', async () => {
    const root = documentRoot();
    const head = '---\nname: file-diff\ndescription: ""\nallowed-tools: []\n---\nBody.\n';
    write(root, 'no-words/SKILL.md', head);
    const { call, instructions, session } = await openseed(root);
    for (const folder of ['no-description', 'No-Name', 'empty-name', 'no-words'])
      expect((await call('load_skill', { skill_name: folder })).value).toBe(
        readFileSync(path.join(root, folder.toLowerCase(), 'SKILL.md'), 'utf8'),
      );
    expect((await call('load_skill', { skill_name: 'file-diff' })).value).toBe(FILE_DIFF);
    expect((await call('list_skills', {})).value).toEqual(['data-analysis', 'file-diff']);
    expect((await call('search_skills', { query: 'no words name description files', n: 99 })).value).toEqual([
      { name: 'file-diff', description: 'Compares two files one to one and checks their format.' },
    ]);
    expect(instructions).not.toContain('no-words');
    const closed = session.state.loaded.flatMap(({ skill }) => (skill.name === 'no-words' ? [skill.id] : []));
    expect(closed).toEqual(['option/no-words']);
  });

  test('the task of the design finds the skill, with the names of the files in it', async () => {
    const root = documentRoot();
    write(root, 'file-diff/SKILL.md', '---\nname: file-diff\ndescription: 两文件 1:1 比对，格式校验。\n---\nBody.\n');
    const { call } = await openseed(root);
    for (const query of ['比对', '比对 file1 和 file2', '帮我比对两个文件'])
      expect((await call('search_skills', { query })).value).toMatchObject([{ name: 'file-diff' }]);
  });

  test('search_skills gives at most n pairs of name and description', async () => {
    const { call } = await openseed();
    expect((await call('search_skills', { query: 'compare two files', n: 1 })).value).toEqual([
      { name: 'file-diff', description: 'Compares two files one to one and checks their format.' },
    ]);
    for (const [n, found] of [
      [0, 0],
      [-1, 0],
      [2_000, 1],
      [Number.MAX_SAFE_INTEGER, 1],
    ] as const)
      expect((await call('search_skills', { query: 'compare two files', n })).value).toHaveLength(found);
  });

  test('assets are listed, read and found as in the examples', async () => {
    const root = documentRoot();
    const { call } = await openseed(root);
    expect((await call('list_skill_assets', { skill_name: 'file-diff' })).value).toEqual([
      'assets/template.md',
      'references/SPEC.md',
      'scripts/compare.py',
    ]);
    expect(
      (await call('load_skill_asset', { skill_name: 'file-diff', relative_path: 'references/SPEC.md' })).value,
    ).toBe('# Specification\n');
    expect((await call('get_skill_script_path', { skill_name: 'file-diff', script_name: 'compare.py' })).value).toBe(
      path.join(root, 'file-diff/scripts/compare.py'),
    );
  });

  test('a file whose name no path can spell is not listed, and load_skill has a note about it', async () => {
    const root = documentRoot();
    for (const odd of ['back\\slash.py', 'tab\t.py', 'soft\u00ADhyphen.py', '~t.py', 'ab:c.py'])
      write(root, `file-diff/scripts/${odd}`, '');
    const { call } = await openseed(root);
    expect((await call('list_skill_assets', { skill_name: 'file-diff' })).value).toEqual([
      'assets/template.md',
      'references/SPEC.md',
      'scripts/ab:c.py',
      'scripts/compare.py',
      'scripts/~t.py',
    ]);
    const { text } = await call('load_skill', { skill_name: 'file-diff' });
    expect(text.match(/^\[note\] .*/gm)).toEqual(
      [String.raw`back\slash`, String.raw`soft\xadhyphen`, String.raw`tab\t`].map(
        (name) =>
          `[note] "scripts/${name}.py" is not usable: its name has an invisible character, a backslash, or is no valid path`,
      ),
    );
    // What is listed is found.
    for (const script_name of ['~t.py', 'scripts/~t.py', 'ab:c.py', 'scripts/ab:c.py'])
      expect((await call('get_skill_script_path', { skill_name: 'file-diff', script_name })).value).toBe(
        path.join(root, 'file-diff/scripts', path.basename(script_name)),
      );
    expect((await call('get_skill_script_path', { skill_name: 'file-diff', script_name: '~/t.py' })).isError).toBe(
      true,
    );
  });

  test('name, description and frontmatter follow the rules of the specification', () => {
    const codes = (text: string): readonly string[] => {
      const dir = path.join(scratch(), 'demo');
      write(dir, 'SKILL.md', text);
      return checkSkill(dir, 'SKILL.md', { mode: 'strict' }).diagnostics.map(({ code }) => code);
    };
    const head = (name: string, description = 'Does things.'): string =>
      `---\nname: ${name}\ndescription: ${description}\n---\n\nBody.\n`;
    expect(codes(head('demo'))).toEqual([]);
    for (const name of ['Demo', '-demo', 'demo-', 'de--mo', 'de_mo', 'x'.repeat(65), ''])
      expect(codes(head(name))).not.toEqual([]);
    expect(codes(head('demo', 'x'.repeat(1024)))).toEqual([]);
    for (const description of ['', 'x'.repeat(1025)]) expect(codes(head('demo', description))).not.toEqual([]);
    for (const text of [
      'Body only.\n',
      '---\nname: demo\n',
      '---\nname: demo\n---\nBody.\n',
      '\n---\nname: demo\n---\n',
    ])
      expect(codes(text)).not.toEqual([]);
  });

  test('the guidance names search, load, assets and the script path in the order of the design', async () => {
    const { instructions } = await openseed();
    expect(instructions).toMatch(
      /search_skills[^]*load_skill[^]*make your own plan only if none fits[^]*list_skill_assets[^]*load_skill_asset[^]*get_skill_script_path/,
    );
    expect(instructions).toContain('<skill name="file-diff"');
  });

  test('the page of the vocabulary names the root, the layout and every tool', async () => {
    const page = readFileSync(new URL('../../docs/vocabularies/openseed.md', import.meta.url), 'utf8');
    const { tools } = await openseed();
    const words = [
      'DOCUMENT_ROOT/skills',
      'https://agentskills.io/specification',
      'references/',
      'scripts/',
      'assets/',
    ];
    for (const word of [...words, ...tools.map(({ name }) => name)]) expect(page).toContain(word);
  });

  test('paths that leave the skill are refused', async () => {
    const root = documentRoot();
    symlinkSync('/etc/hostname', path.join(root, 'file-diff/references/outside.md'));
    const { call } = await openseed(root);
    for (const relative_path of [
      '../data-analysis/SKILL.md',
      '/etc/passwd',
      'references/../../x',
      'references/outside.md',
    ])
      expect((await call('load_skill_asset', { skill_name: 'file-diff', relative_path })).isError).toBe(true);
    for (const script_name of ['../SKILL.md', '/bin/sh', 'missing.py'])
      expect((await call('get_skill_script_path', { skill_name: 'file-diff', script_name })).isError).toBe(true);
  });

  test('DOCUMENT_ROOT/skills is the only root, and an asset is returned whole', async () => {
    const root = documentRoot();
    const spec = 'A rule of the specification.\n'.repeat(5_000);
    write(root, 'file-diff/references/SPEC.md', spec);
    const home = scratch();
    const cwd = scratch();
    for (const folder of [path.join(home, '.agents/skills'), path.join(cwd, '.agent/skills'), path.join(cwd, 'skills')])
      write(folder, 'elsewhere/SKILL.md', '---\nname: elsewhere\ndescription: Is in another root.\n---\n');
    write(root, 'group/nested/SKILL.md', '---\nname: nested\ndescription: Compares nothing.\n---\n');
    for (let at = 0; at < 60; at += 1)
      write(root, `s${String(at)}/SKILL.md`, `---\nname: s${String(at)}\ndescription: Paints pictures.\n---\n`);
    const runtime = { cwd, home, env: { DOCUMENT_ROOT: path.dirname(root) } };
    const { call } = await openSkillTools({ vocabulary: 'openseed', runtime });
    const { value: folders } = await call('list_skills', {});
    expect([...(folders as string[])].filter((name) => !/^s\d/.test(name))).toEqual(['data-analysis', 'file-diff']);
    expect((await call('search_skills', { query: 'paint pictures', n: 1_000 })).value).toHaveLength(60);
    const input = { skill_name: 'file-diff', relative_path: 'references/SPEC.md' };
    expect((await call('load_skill_asset', input)).value).toBe(spec);
  });

  test('a long asset can be read to its end', async () => {
    const root = documentRoot();
    const text = `${'x'.repeat(30_000)}\n${'A rule.\n'.repeat(3_000)}`;
    write(root, 'file-diff/references/SPEC.md', text);
    const { call } = await openseed(root);
    let read = '';
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const answer = await call('load_skill_asset', {
        skill_name: 'file-diff',
        relative_path: 'references/SPEC.md',
        offset,
      });
      const [shown = '', ...notes] = String(answer.value).split('\n\n[note] ');
      read += notes.length === 0 ? String(answer.value) : shown;
      const next: string | undefined = /offset=(\d+)\)/.exec(notes.join('\n'))?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(read.length).toBe(text.length);
    expect(read).toBe(text);
  });
});

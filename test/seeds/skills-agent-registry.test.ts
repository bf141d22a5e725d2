/** The worked examples of the registry design of skills-agent, over real folders and through the public doors. */
import { utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { Config } from '../../src/core/config/config.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { buildIndex } from '../../src/skills/registry/registry.ts';
import { runCli } from '../cli/run-cli.ts';
import { PDF, REVIEW, place, write, type Place } from './skills-agent-place.ts';

describe('the registry by its design', () => {
  test('the index entry has the fields and values of the example', async () => {
    const { project } = place();
    const { out } = await runCli(project, ['list', '--json', '--format', 'seed', '--source', 'project']);
    const { skills, report } = JSON.parse(out) as { skills: unknown; report: Record<string, unknown> };
    expect(skills).toEqual([
      {
        skill_id: 'project/pdf-form-filler@1.0.0',
        name: 'pdf-form-filler',
        description: 'Extract and fill PDF form fields using Python',
        source: 'project',
        path: `${project}/.agent/skills/pdf-form-filler`,
        controls: { disable_model_invocation: false, user_invocable: true, allowed_tools: ['read_file', 'run_script'] },
        meta: { version: '1.0.0', author: 'team' },
      },
    ]);
    expect(Object.keys(report)).toEqual([
      'roots',
      'duration_ms',
      'found',
      'valid',
      'ignored',
      'conflicts',
      'index_hash',
    ]);
  });

  test('build_index takes roots with source and path in order of priority, and options, and gives skills and report', async () => {
    const { project, home } = place();
    write(home, '.agent/skills/pdf-form-filler/SKILL.md', PDF);
    const roots = [
      { source: 'project', path: `${project}/.agent/skills` },
      { source: 'user', path: `${home}/.agent/skills` },
    ];
    const { skills, report } = await buildIndex(roots, { mode: 'strict' });
    expect(skills.map(({ name, source }) => [name, source])).toEqual([
      ['code-review', 'user'],
      ['pdf-form-filler', 'project'],
    ]);
    expect(report.conflicts.map(({ source, reason }) => [source, reason])).toEqual([['user', 'higher-root']]);
    write(home, '.agent/skills/no-name/SKILL.md', '---\ndescription: Has no name.\n---\n');
    const strict = await buildIndex(
      roots.map((root) => root.path),
      { mode: 'strict', omitInvalid: true },
    );
    expect(strict.skills.map(({ name, source }) => [name, source])).toEqual([
      ['code-review', 'option'],
      ['pdf-form-filler', 'option'],
    ]);
    const reversed = await buildIndex(roots.toReversed(), { omitInvalid: true, mode: 'strict' });
    expect(reversed.skills.map(({ source }) => source)).toEqual(['user', 'user']);
  });

  test('the list for the model is the text of the example', async () => {
    const { runtime } = place();
    const here = await runtime({ config: { skill_visibility: { 'builtin/*': 'disabled' } } });
    expect(here.catalog({ format: 'lines' }).text.trim()).toBe(
      [
        'Available Skills:',
        '- name=code-review | source=user | description=Review a Python codebase with our standards',
        '- name=pdf-form-filler | source=project | description=Extract and fill PDF form fields using Python',
      ].join('\n'),
    );
  });

  test('project, user, built-in: the higher root wins, and --source chooses another one', async () => {
    const here = place();
    write(here.home, '.agent/skills/pdf-form-filler/SKILL.md', PDF.replace('Extract', 'User: extract'));
    const { index } = await here.runtime();
    expect(index.report.roots.filter(({ skills }) => skills > 0).map(({ source }) => source)).toEqual([
      'project',
      'user',
      'builtin',
    ]);
    expect(index.skills.find(({ name }) => name === 'pdf-form-filler')?.source).toBe('project');
    expect(index.shadowed.map(({ name, source, reason }) => [name, source, reason])).toEqual([
      ['pdf-form-filler', 'user', 'higher-root'],
    ]);
    const user = await here.runtime({ source: 'user' });
    expect(user.index.skills.map(({ id }) => id)).toEqual(['user/code-review', 'user/pdf-form-filler@1.0.0']);
    await expect(here.runtime({ source: 'nobody' })).rejects.toThrow('no skill root has the source "nobody"');
    for (const words of [['new', 'x'], ['runs', 'list'], ['docs'], ['fleet', 'status']]) {
      const wrong = await runCli(here.project, [...words, '--source', 'user']);
      expect([wrong.status, wrong.err]).toEqual([2, expect.stringContaining('has no use for --source')]);
    }
  });

  test('a runtime takes roots with source, path and priority, and leaves out what strict mode refuses', async () => {
    const { project, home } = place();
    write(home, '.agent/skills/pdf-form-filler/SKILL.md', PDF);
    write(home, '.agent/skills/bare/SKILL.md', '---\nname: bare\n---\n');
    const roots = [
      { source: 'project', path: `${project}/.agent/skills`, priority: 10 },
      { source: 'user', path: `${home}/.agent/skills`, priority: 20 },
    ];
    const options = { cwd: project, home: undefined, env: {}, roots, onlyRoots: true, cache: false } as const;
    const { index } = await createRuntime({ ...options, vocabulary: 'skills-agent' });
    expect(index.skills.map(({ name, source }) => [name, source])).toEqual([
      ['code-review', 'user'],
      ['pdf-form-filler', 'user'],
    ]);
    expect(index.report.conflicts.map(({ source, reason }) => [source, reason])).toEqual([['project', 'higher-root']]);
  });

  test('a skill that another source has is refused with the names of its sources', async () => {
    const { project, home } = place();
    write(home, '.agent/skills/pdf-form-filler/SKILL.md', PDF);
    const roots = [
      { source: 'project', path: `${project}/.agent/skills` },
      { source: 'user', path: `${home}/.agent/skills` },
    ];
    const runtime = { cwd: project, home: undefined, env: {}, roots, onlyRoots: true, cache: false } as const;
    const { call } = await openSkillTools({ vocabulary: 'skills-agent', runtime });
    const { value } = await call('select_skills', { skills: [{ name: 'pdf-form-filler', source: 'builtin' }] });
    expect(value).toMatchObject({ error: { code: 'skill/unknown', hint: 'it is in the sources project, user' } });
  });

  test('in the vocabulary the roots are .agent/skills of the project and of the user, and the built-in skills', async () => {
    const { home, runtime } = place({
      '.agents/skills/other/SKILL.md': REVIEW,
      '.claude/skills/other/SKILL.md': REVIEW,
    });
    write(home, '.agents/skills/other/SKILL.md', REVIEW);
    const roots = async (config: Config): Promise<readonly string[]> =>
      (await runtime({ config: { vocabulary: 'skills-agent', ...config } })).index.report.roots
        .filter(({ skills }) => skills > 0)
        .map(({ source, path: at }) =>
          source === 'builtin' ? source : `${source} ${at.split('/').slice(-2).join('/')}`,
        );
    const design = ['project .agent/skills', 'user .agent/skills', 'builtin'];
    expect(await roots({})).toEqual(design);
    expect(await roots({ skill_roots: ['.agent/skills', '~/.agent/skills'] })).toEqual(design);
    expect(await roots({ use_default_roots: true })).toEqual([
      'project .agent/skills',
      'project .agents/skills',
      'project .claude/skills',
      'user .agent/skills',
      'user .agents/skills',
      'builtin',
    ]);
  });

  test('skill_roots of the example keep the labels project and user', async () => {
    const { runtime } = place();
    const { index } = await runtime({ config: { skill_roots: ['.agent/skills', '~/.agent/skills'] } });
    expect(index.report.roots.slice(0, 2).map(({ source, skills }) => [source, skills])).toEqual([
      ['project', 1],
      ['user', 1],
    ]);
  });

  test('a project that lists the folder of the user does not make its skills untrusted', async () => {
    const { runtime } = place({ '.agent/config.json': '{"skill_roots": [".agent/skills", "~/.agent/skills"]}' });
    const found = await runtime({ vouched: [] });
    const untrusted = await found.distrust(found.index.skills);
    expect([...untrusted.keys()].map((dir) => path.basename(dir))).toEqual(['pdf-form-filler']);
  });

  test('hidden folders, files and folders without SKILL.md are ignored', async () => {
    const { runtime } = place({
      '.agent/skills/.hidden/SKILL.md': REVIEW,
      '.agent/skills/file.txt': 'x',
      '.agent/skills/empty/readme.txt': 'x',
    });
    const { index } = await runtime({ source: 'project' });
    expect(index.skills.map(({ name }) => name)).toEqual(['pdf-form-filler']);
  });

  const WRONG: Readonly<Record<string, readonly [code: string, text: string]>> = {
    noname: ['name/missing', 'description: x'],
    nodescription: ['description/missing', 'name: nodescription'],
    colon: ['frontmatter/unquoted-colon', 'name: colon\ndescription: Use when: asked'],
    angle: ['text/angle-brackets', 'name: angle\ndescription: x\nauthor: <team>'],
    'long-line': ['frontmatter/line-too-long', `name: long-line\ndescription: x\nauthor: ${'x'.repeat(600)}`],
    'many-lines': ['frontmatter/too-many-lines', `name: many-lines\ndescription: x${'\n# note'.repeat(210)}`],
    nested: ['metadata/not-text', 'name: nested\ndescription: x\nmetadata:\n  a:\n    b: c'],
  };
  const wrong = (): Place =>
    place(
      Object.fromEntries(
        Object.entries(WRONG).map(([name, [, text]]) => [
          `.agent/skills/${name}/SKILL.md`,
          `---\n${text}\n---\n\nBody\n`,
        ]),
      ),
    );

  test('strict mode leaves out what the design refuses, each with its reason', async () => {
    const { index } = await wrong().runtime({ source: 'project', config: { format: { mode: 'strict' } } });
    expect(
      Object.fromEntries(index.report.leftOut.map(({ path: at, code }) => [path.basename(path.dirname(at)), code])),
    ).toEqual(Object.fromEntries(Object.entries(WRONG).map(([name, [code]]) => [name, code])));
    expect(index.skills.map(({ name }) => name)).toEqual(['pdf-form-filler']);
  });

  test('a description on one line of any length is accepted in the vocabulary, and another line has 500 characters', async () => {
    const file = (name: string, author: string): string =>
      `---\nname: ${name}\ndescription: ${'x'.repeat(2_000)}\nlicense: ${'x'.repeat(600)}\nauthor: ${author}\n---\n\nBody\n`;
    const { runtime } = place({
      '.agent/skills/long/SKILL.md': file('long', 'x'.repeat(500 - 'author: '.length)),
      '.agent/skills/longer/SKILL.md': file('longer', 'x'.repeat(501 - 'author: '.length)),
    });
    const { index } = await runtime({ source: 'project', config: { vocabulary: 'skills-agent' } });
    expect(index.skills.map(({ name }) => name)).toEqual(['long', 'pdf-form-filler']);
    expect(index.report.leftOut.map(({ code }) => code)).toEqual(['frontmatter/line-too-long']);
  });

  test('a body of more than 40,000 characters is refused in the vocabulary, and max_skill_body_characters accepts it', async () => {
    const wide = `---\nname: wide\ndescription: x\n---\n${'x'.repeat(40_001)}\n`;
    const load = async (security: object): Promise<unknown> => {
      const config = JSON.stringify({ security });
      const here = place({ '.agent/skills/wide/SKILL.md': wide, 'home/.agent/config.json': config });
      const tools = await openSkillTools({ runtime: await here.runtime({ vocabulary: 'skills-agent' }) });
      onTestFinished(() => tools.session.close());
      return (await tools.call('select_skills', { skills: ['wide'] })).value;
    };
    expect(await load({})).toMatchObject({ ok: false, error: { code: 'body/too-long' } });
    expect(await load({ max_skill_body_characters: 50_000 })).toMatchObject({ ok: true });
  });

  test('in the vocabulary skills-agent strict is the default, refuses what the design refuses and nothing else', async () => {
    const here = wrong();
    const twice = (folder: string): void =>
      write(here.project, `.agent/skills/${folder}/SKILL.md`, REVIEW.replace('code-review', 'Twice Named'));
    twice('old');
    twice('new');
    utimesSync(path.join(here.project, '.agent/skills/old/SKILL.md'), 1, 1);
    write(here.project, '.agent/skills/group/inner/SKILL.md', REVIEW);
    const { index } = await here.runtime({ source: 'project', config: { vocabulary: 'skills-agent' } });
    expect(
      Object.fromEntries(index.report.leftOut.map(({ path: at, code }) => [path.basename(path.dirname(at)), code])),
    ).toEqual(Object.fromEntries(Object.entries(WRONG).map(([name, [code]]) => [name, code])));
    expect(index.skills.map(({ name, dir }) => [name, path.basename(dir)])).toEqual([
      ['Twice Named', 'new'],
      ['pdf-form-filler', 'pdf-form-filler'],
    ]);
    expect(index.report.conflicts.map(({ reason, dir }) => [reason, path.basename(dir)])).toEqual([
      ['newer-in-root', 'old'],
    ]);
    expect(
      index.diagnostics
        .filter(({ severity }) => severity === 'error')
        .map(({ code }) => code)
        .toSorted(),
    ).toEqual(
      Object.values(WRONG)
        .map(([code]) => code)
        .toSorted(),
    );
    const lenient = { vocabulary: 'skills-agent', format: { mode: 'lenient' } } as const;
    const { index: all } = await here.runtime({ source: 'project', config: lenient });
    expect(all.report.leftOut.map(({ code }) => code)).toEqual(['text/angle-brackets']);
  });

  test('lenient mode lists them with diagnostics; a missing description is an empty text', async () => {
    const config = { format: { mode: 'lenient' }, security: { block_angle_brackets_in_frontmatter: false } } as const;
    const here = wrong();
    const { index } = await here.runtime({ source: 'project', config: { vocabulary: 'skills-agent', ...config } });
    expect(index.report.leftOut).toEqual([]);
    expect(index.skills.find(({ name }) => name === 'nodescription')?.description).toBe('');
    expect(index.diagnostics.filter(({ code }) => code === 'description/missing')).toHaveLength(1);
    // Without the vocabulary, the guide of the specification for clients holds.
    const { index: other } = await here.runtime({ source: 'project', config });
    expect(other.report.leftOut.map(({ code }) => code)).toEqual(['description/missing']);
  });

  test('the security settings of the example block angle brackets anywhere in the frontmatter', async () => {
    const { index } = await wrong().runtime({
      source: 'project',
      config: { security: { max_skill_body_lines: 500, block_angle_brackets_in_frontmatter: true } },
    });
    expect(index.report.leftOut.map(({ code, message }) => [code, message])).toEqual([
      ['text/angle-brackets', '< in author'],
      ['description/missing', 'there is no description'],
    ]);
  });

  test('security settings loosen the format in the file of the user, and those of the project only tighten it', async () => {
    const skills = {
      '.agent/skills/author/SKILL.md': '---\nname: author\ndescription: x\nauthor: <me>\n---\n',
      '.agent/skills/tag/SKILL.md': '---\nname: tag\ndescription: a <b> tag\n---\n',
      '.agent/skills/long/SKILL.md': `---\nname: long\ndescription: x\n---\n${'line\n'.repeat(600)}`,
    };
    const security = { max_skill_body_lines: 900, block_angle_brackets_in_frontmatter: false };
    const usable = async (file: string): Promise<unknown> => {
      const here = place({ ...skills, [file]: JSON.stringify({ security }) });
      const tools = await openSkillTools({ runtime: await here.runtime({ vocabulary: 'skills-agent' }) });
      onTestFinished(() => tools.session.close());
      const names = ['author', 'tag', 'long'];
      const answers = await Promise.all(names.map((name) => tools.call('select_skills', { skills: [name] })));
      return answers.map(({ isError, text }) => (isError ? /"code":"([^"]+)/.exec(text)?.[1] : 'loaded'));
    };
    expect(await usable('home/.agent/config.json')).toEqual(['loaded', 'loaded', 'loaded']);
    expect(await usable('.agent/config.json')).toEqual(['skill/invalid', 'skill/invalid', 'body/too-long']);
  });

  test('allowed-tools as a text is split at commas', async () => {
    const { runtime } = place({
      '.agent/skills/text-tools/SKILL.md':
        '---\nname: text-tools\ndescription: x\nallowed-tools: read_file,grep,run_script\n---\n',
    });
    const { index } = await runtime({ source: 'project', vocabulary: 'skills-agent' });
    // Both forms of the design are noted for other readers.
    expect(index.diagnostics.map(({ code }) => code).filter((code) => code.startsWith('allowed-tools/'))).toEqual([
      'allowed-tools/list',
      'allowed-tools/separator',
    ]);
    expect(index.skills.find(({ name }) => name === 'text-tools')?.controls.allowedTools).toEqual([
      'read_file',
      'grep',
      'run_script',
    ]);
  });

  test('of two skills of one name in one root the newer one wins, and the conflict is reported', async () => {
    const here = place({
      '.agent/skills/old/SKILL.md': REVIEW.replace('code-review', 'twice'),
      '.agent/skills/new/SKILL.md': REVIEW.replace('code-review', 'twice'),
    });
    utimesSync(path.join(here.project, '.agent/skills/old/SKILL.md'), 1, 1);
    const { index } = await here.runtime({ source: 'project' });
    expect(index.skills.find(({ name }) => name === 'twice')?.dir).toBe(`${here.project}/.agent/skills/new`);
    expect(index.report.conflicts).toEqual([
      {
        name: 'twice',
        source: 'project',
        dir: `${here.project}/.agent/skills/old`,
        by: `${here.project}/.agent/skills/new`,
        reason: 'newer-in-root',
      },
    ]);
  });

  test('a name with a namespace is found by both of its names', async () => {
    const { runtime, project } = place({
      '.agent/skills/skill-name/SKILL.md': '---\nname: org/skill-name\ndescription: x\n---\n',
      // As with every other name, the folder may have another one.
      '.agent/skills/org/SKILL.md': '---\nname: org/other\ndescription: x\n---\n',
    });
    const here = await runtime();
    const names = ['org/skill-name', 'skill-name', 'org/other', 'other'];
    expect(names.map((name) => here.find(name).name)).toEqual([
      'org/skill-name',
      'org/skill-name',
      'org/other',
      'org/other',
    ]);
    // What its strict mode lists, `check` does not call an error.
    const { status, out } = await runCli(project, ['check', '.agent/skills/org', '--set', 'vocabulary=skills-agent']);
    expect([status, out]).toEqual([0, expect.stringContaining('has the namespace "org"')]);
    expect((await runCli(project, ['check', '.agent/skills/org', '--set', 'vocabulary=skillwright'])).status).toBe(1);
  });

  test('verify prints the hash of each skill and of each file, without a lock', async () => {
    const { project } = place();
    const text = await runCli(project, ['verify']);
    expect([text.status, text.out]).toEqual([
      0,
      expect.stringMatching(/^not-locked {2}pdf-form-filler {2}sha256-tree:[0-9a-f]{64}\n$/),
    ]);
    const { out } = await runCli(project, ['verify', 'pdf-form-filler', '--json']);
    const { skills } = JSON.parse(out) as { skills: { files: Record<string, string> }[] };
    expect(Object.keys(skills[0]?.files ?? {})).toEqual([
      'SKILL.md',
      'extra.json',
      'reference/kpi.md',
      'scripts/aggregate.py',
    ]);
  });
});

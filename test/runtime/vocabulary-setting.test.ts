import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Config } from '../../src/core/config/config.ts';
import { SETTINGS, valueAt } from '../../src/core/config/config-settings.ts';
import { VOCABULARY_NAMES } from '../../src/core/vocabulary-names.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import { builtInValue } from '../../src/runtime/config/config-merge.ts';
import { findOverrideRule, narrow } from '../../src/runtime/config/project-override-rules.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/runtime/runtime.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { buildSkillTools } from '../../src/runtime/skill-tools.ts';
import { PROFILES } from '../../src/tools/profiles.ts';
import { SHARED_CACHE, runCli } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { writeThree } from './support.ts';

interface World {
  readonly project: string;
  readonly home: string;
  readonly skills: string;
  readonly write: (file: 'user' | 'project', config: object) => void;
  readonly open: (options?: RuntimeOptions) => Promise<Runtime>;
}

/** A project and a home, both empty, and a root of the user with three skills. */
function world(env: Readonly<Record<string, string>> = {}): World {
  const root = scratch();
  const [project, home, skills] = ['project', 'home', 'own'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [project, home, skills]) mkdirSync(folder);
  writeThree(skills);
  return {
    project,
    home,
    skills,
    write(file, config) {
      const folder = path.join(file === 'user' ? home : project, '.agent');
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
    },
    open: (options) =>
      createRuntime({
        cwd: project,
        home,
        env: { ...SHARED_CACHE, ...env },
        builtin: false,
        roots: [skills],
        ...options,
      }),
  };
}

describe('which vocabulary applies', () => {
  test('option, then variable, then project, then user, then skillwright', async () => {
    const { write, open } = world();
    const used = async (options?: RuntimeOptions): Promise<string> =>
      (await (await open(options)).startSession()).vocabulary.name;
    expect(await used()).toBe('skillwright');
    write('user', { vocabulary: 'openseed' });
    expect(await used()).toBe('openseed');
    write('project', { vocabulary: 'trpc' });
    expect(await used()).toBe('trpc');
    expect(await used({ env: { SKILLWRIGHT_VOCABULARY: 'manusx' } })).toBe('manusx');
    expect(await used({ config: { vocabulary: 'skills-agent' } })).toBe('skills-agent');
    expect(await used({ config: { vocabulary: 'skills-agent' }, vocabulary: 'openseed' })).toBe('openseed');
    expect(await used({ recordedVocabulary: 'manusx' })).toBe('manusx');
    expect(await used({ recordedVocabulary: 'manusx', vocabulary: 'openseed' })).toBe('openseed');
  });

  test('an unknown name is answered with the nearest one', async () => {
    const { write, open } = world();
    write('user', { vocabulary: 'open-seed' });
    const [problem] = (await open()).diagnostics;
    expect(problem).toMatchObject({ code: 'config/invalid', hint: 'did you mean openseed?' });
    await expect(openSkillTools({ vocabulary: 'trcp' as 'trpc' })).rejects.toMatchObject({
      hint: expect.stringContaining('trpc') as string,
    });
  });

  verifies('VOC-1', 'openSkillTools selects the whole system, and a session of a runtime only its tools', async () => {
    const { project, home, skills, open } = world();
    const runtime = { cwd: project, home, env: SHARED_CACHE, builtin: false, roots: [skills] };
    const whole = await openSkillTools({ vocabulary: 'skills-agent', runtime });
    expect([whole.session.vocabulary.name, whole.runtime.config.format?.mode]).toEqual(['skills-agent', 'strict']);
    const tools = await openSkillTools({ vocabulary: 'skills-agent', runtime: await open() });
    expect([tools.session.vocabulary.name, tools.runtime.config.format?.mode]).toEqual(['skills-agent', undefined]);
  });
});

describe('what a vocabulary sets', () => {
  test('its settings lie below every file, and the configuration explains them', async () => {
    const { write, open } = world();
    write('user', { vocabulary: 'skills-agent', security: { oversized_body: 'cut' } });
    const { config } = await open();
    expect(config).toEqual({
      vocabulary: 'skills-agent',
      ...PROFILES['skills-agent'].settings,
      security: { oversized_body: 'cut', block_angle_brackets_in_frontmatter: true },
    });
    // The user's vocabulary is the user's choice, which a project cannot loosen.
    write('project', { format: { mode: 'lenient' } });
    const loosened = await open();
    expect(loosened.config.format).toEqual({ mode: 'strict' });
    expect(loosened.diagnostics.map(({ code }) => code)).toEqual(['config/wider']);
  });

  test('a project that chooses it cannot turn off what it turns on', async () => {
    const { write, open } = world();
    write('project', { vocabulary: 'skills-agent', security: { block_angle_brackets_in_frontmatter: false } });
    const { config, diagnostics } = await open();
    expect(config.security?.block_angle_brackets_in_frontmatter).toBe(true);
    expect(diagnostics.map(({ code }) => code)).toEqual(['config/wider']);
  });

  test('the configuration has the format of its list and its limits, and the model gets what it says', async () => {
    const { write, open, skills } = world();
    const body = Array.from({ length: 700 }, (_, line) => `line ${String(line)}`).join('\n');
    writeSkill(path.join(skills, 'alpha'), { body, description: 'Does alpha things. Use it for alpha.' });
    const seen = async (): Promise<readonly unknown[]> => {
      const runtime = await open();
      const session = await runtime.startSession();
      const loaded = await session.perform({ type: 'load_skill', skill: 'alpha' });
      return [
        runtime.config.catalog?.format,
        session.catalog.text.split('\n', 1)[0],
        runtime.catalog().text.split('\n', 1)[0],
        runtime.config.security?.max_skill_body_lines,
        loaded.type === 'skill-loaded' && loaded.report.truncated,
      ];
    };
    write('user', { vocabulary: 'trpc' });
    expect(await seen()).toEqual(['list', 'Available skills:', 'Available skills:', 10_000_000, false]);
    write('user', { vocabulary: 'skills-agent', security: { oversized_body: 'cut' } });
    expect(await seen()).toEqual(['lines', 'Available Skills:', 'Available Skills:', undefined, true]);
    write('user', { vocabulary: 'trpc', catalog: { format: 'lines' }, security: { max_skill_body_lines: 100 } });
    expect(await seen()).toEqual(['lines', 'Available Skills:', 'Available Skills:', 100, true]);
    // A session with tools of another system has the list of that system.
    write('user', { vocabulary: 'skills-agent' });
    const session = await (await open()).startSession({ vocabulary: 'trpc' });
    expect(session.catalog.text).toMatch(/^Available skills:\n- alpha: /);
  });

  test('skillwright catalog prints what its model sees', async () => {
    const { project, skills } = world();
    const words = ['catalog', '--root', skills, '--only-root', '--set', 'vocabulary=trpc'];
    const line = (name: string): string => `- ${name}: Does ${name} things. Use it for ${name}.\n`;
    const list = `Available skills:\n${['alpha', 'beta', 'gamma'].map(line).join('')}`;
    expect((await runCli(project, words)).out).toBe(list);
    expect((await runCli(project, [...words, '--budget', '20'])).out).not.toContain('search_skills');
    expect((await runCli(project, [...words, '--set', 'catalog.format=lines'])).out).toContain('Available Skills:');
  });

  test('security.max_resource_characters holds for documents that a load brings, and the note continues', async () => {
    const { write, open, skills } = world();
    writeFileSync(path.join(skills, 'alpha/a.md'), 'a'.repeat(3000));
    writeFileSync(path.join(skills, 'alpha/b.md'), 'b'.repeat(3000));
    write('user', { vocabulary: 'trpc', security: { max_resource_characters: 1000 } });
    const { call } = await openSkillTools({ runtime: await open() });
    const { text } = await call('skill_load', { skill: 'alpha', docs: ['a.md', 'b.md'] });
    expect([text.match(/a{2,}/)?.[0].length, text.match(/b{2,}/)?.[0].length]).toEqual([1000, 1000]);
    expect(text).toContain(
      '[note] a.md is cut; continue with skill_select_docs(skill=alpha, docs=[a.md], mode=add, offset=1000)',
    );
    const more = await call('skill_select_docs', { skill: 'alpha', docs: ['a.md'], mode: 'add', offset: 1000 });
    expect(more.value).toMatchObject({
      content: expect.stringMatching(/^\[Doc\] a\.md\n\na{1000}\n\n\[note\]/) as string,
    });
  });

  test('its folders of the project are searched, and need trust', async () => {
    const { project, home, open } = world();
    writeThree(path.join(project, 'backend/skills'));
    const names = async (options: RuntimeOptions): Promise<readonly string[]> =>
      (await open({ roots: [], ...options })).index.skills.map(({ name }) => name);
    expect(await names({})).toEqual([]);
    expect(await names({ vocabulary: 'manusx' })).toEqual(['alpha', 'beta', 'gamma']);
    const runtime = await open({ roots: [], vocabulary: 'manusx' });
    expect((await runtime.distrust(runtime.index.skills)).size).toBe(3);
    expect((await runtime.startSession()).offer.skills).toEqual([]);
    // Of the home folder no further folder is searched.
    writeThree(path.join(home, 'backend/skills'));
    expect(await names({ cwd: home, vocabulary: 'manusx' })).toEqual([]);
  });
});

test('a project that chooses skills-agent keeps the skills of the user in ~/.agent/skills, unless the user left them out', async () => {
  const { home, write, open } = world();
  writeThree(path.join(home, '.agent/skills'));
  const sources = async (): Promise<readonly string[]> =>
    (await open({ roots: [] })).index.skills.map(({ source, name }) => `${source}/${name}`);
  write('project', { vocabulary: 'skills-agent' });
  expect(await sources()).toEqual(['user/alpha', 'user/beta', 'user/gamma']);
  write('user', { use_default_roots: false });
  expect(await sources()).toEqual([]);
});

describe('a hostile project', () => {
  test.each(VOCABULARY_NAMES)('that chooses %s loosens no setting', async (vocabulary) => {
    const { write, open } = world();
    write('project', { vocabulary });
    const { config, diagnostics } = await open();
    const wider = SETTINGS.filter(({ key, path: at, schema, ...setting }) => {
      const value = valueAt(config, at);
      const builtIn = builtInValue({ key, path: at, schema, ...setting });
      return value !== undefined && narrow(findOverrideRule(key), builtIn, value).counts === 'below';
    });
    expect(wider.map(({ key }) => key)).toEqual([]);
    expect(diagnostics).toEqual([]);
  });

  test('cannot use a vocabulary, or a record of one, to loosen what it may not set itself', async () => {
    const { write, open } = world();
    const profile = PROFILES.openseed as { settings?: Config };
    const before = { ...profile };
    const loose: Config = {
      execution: { executor: 'local', network: ['evil.example'], allow_weaker: true },
      security: { max_skill_body_lines: 100_000 },
      sandbox: { project: 'write' },
      session: { max_loaded: 3 },
    };
    try {
      profile.settings = loose;
      write('project', { vocabulary: 'openseed' });
      expect((await open()).config).toEqual({ vocabulary: 'openseed', session: { max_loaded: 3 } });
      write('project', {});
      expect((await open({ recordedVocabulary: 'openseed' })).config).toEqual({
        vocabulary: 'openseed',
        session: { max_loaded: 3 },
      });
      // The user may.
      expect((await open({ vocabulary: 'openseed' })).config).toEqual({ vocabulary: 'openseed', ...loose });
    } finally {
      delete profile.settings;
      Object.assign(profile, before);
    }
  });
});

describe('the record', () => {
  verifies('VOC-1', 'names the vocabulary and its tools, and verifies', async () => {
    const { project, open } = world();
    const runtime = await open({ vocabulary: 'skills-agent' });
    const run = await runtime.startRun({ request: 'two skills', host: {} });
    const skills = openToolsOf(run.session, runtime);
    await skills('select_skills', { skills: [{ name: 'alpha' }, { name: 'beta' }] });
    await skills('load_resource', { skill: { name: 'alpha' }, relative_path: 'references/one.md' });
    await skills('read_file', { path: 'alpha/SKILL.md' });
    await run.session.perform({ type: 'load_skill', skill: 'gamma' }, { askedBy: 'person' });
    await run.end('done');
    const folder = path.join(project, '.agent/runs', run.id ?? '');
    const info = JSON.parse(readFileSync(path.join(folder, 'run.json'), 'utf8')) as object;
    expect(info).toMatchObject({
      vocabulary: 'skills-agent',
      tools: [
        { tool: 'select_skills', calls: 3, failed: 0 },
        { tool: 'load_resource', calls: 1, failed: 0 },
        { tool: 'read_file', calls: 1, failed: 0 },
      ],
    });
    const actions = [...readRun(folder).lines].flatMap(({ event }) => (event.type === 'action' ? [event] : []));
    expect(actions.map(({ action, tool }) => [action.type, tool])).toEqual([
      ['load_skill', 'select_skills'],
      ['load_skill', 'select_skills'],
      ['read_resource', 'load_resource'],
      ['read_resource', 'read_file'],
      ['load_skill', 'select_skills'],
    ]);
    expect(verifyRun(folder).status).toBe('intact');
  });

  test('of our own vocabulary is as before: no vocabulary, and tool names only where they differ from the action', async () => {
    const { project, open } = world();
    const runtime = await open();
    const run = await runtime.startRun({ request: 'one skill', host: {} });
    const call = openToolsOf(run.session, runtime);
    await call('load_skill', { skill: 'alpha' });
    await call('list_files', { path: '.' });
    await run.end('done');
    const text = readFileSync(path.join(project, '.agent/runs', run.id ?? '', 'events.jsonl'), 'utf8');
    expect(text.match(/"tool":"[^"]*"|"vocabulary":"[^"]*"/g)).toEqual([
      '"tool":"load_skill"',
      '"tool":"list_files"',
      '"tool":"list_dir"',
      '"tool":"list_files"',
    ]);
  });
});

function openToolsOf(
  session: Awaited<ReturnType<Runtime['startSession']>>,
  runtime: Runtime,
): (name: string, input: object) => Promise<void> {
  const tools = buildSkillTools(session, runtime);
  return async (name, input) => {
    const { isError, text } = await tools.call(name, input);
    expect([isError, text]).toEqual([false, text]);
  };
}

test('the index of a runtime with skills-agent follows the strict mode of its design', async () => {
  const root = scratch();
  writeSkill(path.join(root, 'plain'));
  writeSkill(path.join(root, 'brackets'), { fields: ['author: a <b@c>'] });
  writeSkill(path.join(root, 'group/below'));
  writeSkill(path.join(root, 'folder'), { name: 'other' });
  writeSkill(path.join(root, 'extra'), { fields: ['foo: bar'] });
  const options = { cwd: root, home: undefined, env: SHARED_CACHE, roots: [root], onlyRoots: true } as const;
  const { skills, report } = (await createRuntime({ ...options, vocabulary: 'skills-agent' })).index;
  expect(skills.map(({ name }) => name)).toEqual(['extra', 'other', 'plain']);
  expect(report.leftOut.map(({ code }) => code)).toEqual(['text/angle-brackets']);
});

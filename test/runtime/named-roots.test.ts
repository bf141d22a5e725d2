import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/runtime/runtime.ts';
import { SHARED_CACHE, runCli } from '../cli/run-cli.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';

interface World {
  readonly project: string;
  readonly skills: string;
  readonly open: (options?: RuntimeOptions) => Promise<Runtime>;
}

/** A project whose file names these roots, and a folder with one skill in it. */
function world(roots: readonly unknown[] = ['skills']): World {
  const project = path.join(scratch(), 'project');
  const home = path.join(project, 'home');
  const skills = path.join(project, 'skills');
  writeSkill(path.join(skills, 'pdf'));
  mkdirSync(path.join(project, '.agent'));
  mkdirSync(home);
  writeFileSync(path.join(project, '.agent/config.json'), JSON.stringify({ skill_roots: roots, builtin: false }));
  return {
    project,
    skills,
    open: (options) => createRuntime({ cwd: project, home, env: SHARED_CACHE, ...options }),
  };
}

async function offered(runtime: Runtime): Promise<readonly string[]> {
  return (await runtime.startSession()).offer.skills;
}

describe('a root that the user names is trusted, also if the project names it too', () => {
  test('by the option, as a folder or with a source, and by SKILLS_ROOT', async () => {
    const { skills, open } = world();
    expect(await offered(await open())).toEqual([]);
    expect(await offered(await open({ roots: [skills] }))).toEqual(['pdf']);
    expect(await offered(await open({ roots: ['skills'] }))).toEqual(['pdf']);
    expect(await offered(await open({ roots: [{ source: 'project', path: skills }] }))).toEqual(['pdf']);
    expect(await offered(await open({ roots: [skills], onlyRoots: true }))).toEqual(['pdf']);
    expect(await offered(await open({ env: { SKILLS_ROOT: skills } }))).toEqual(['pdf']);
    const runtime = await open({ roots: [skills] });
    expect([...(await runtime.distrust(runtime.index.skills)).keys()]).toEqual([]);
  });

  test('by a link to it, and with a linked skill in it', async () => {
    const { project, skills, open } = world();
    symlinkSync(skills, path.join(project, 'link'));
    expect(await offered(await open({ roots: ['link'] }))).toEqual(['pdf']);
    writeSkill(path.join(project, 'elsewhere/csv'));
    symlinkSync(path.join(project, 'elsewhere/csv'), path.join(skills, 'csv'));
    expect(await offered(await open({ roots: [skills] }))).toEqual(['csv', 'pdf']);
  });
});

describe('naming a root vouches for no other', () => {
  test('a hidden folder below it that only the project names stays untrusted', async () => {
    const { skills, open } = world(['skills/.evil']);
    writeSkill(path.join(skills, '.evil/bad'));
    expect(await offered(await open({ roots: [skills] }))).toEqual(['pdf']);
  });

  test('the folders of the project stay untrusted if the user names the project', async () => {
    const { project, open } = world([]);
    writeSkill(path.join(project, '.agents/skills/bad'));
    expect(await offered(await open({ roots: ['.'] }))).toEqual(['pdf']);
  });

  test('a folder beside it that the project names stays untrusted', async () => {
    const { project, skills, open } = world(['skills', 'skills-more', { path: 'other', source: 'option' }]);
    writeSkill(path.join(project, 'skills-more/bad'));
    writeSkill(path.join(project, 'other/worse'));
    expect(await offered(await open({ roots: [skills] }))).toEqual(['pdf']);
  });
});

describe('a project speaks only about its own skills', () => {
  const withUser = async (
    config: object,
  ): Promise<{ readonly states: readonly string[]; readonly ids: readonly string[] }> => {
    const { project } = world(['skills', '~/team', '~/.agents/skills']);
    const home = path.join(project, 'home');
    writeSkill(path.join(home, '.agents/skills/mine'));
    writeSkill(path.join(home, 'team/ours'));
    mkdirSync(path.join(home, '.agent'));
    const user = { skill_roots: [{ path: 'team', source: 'team' }], skill_visibility: { ours: 'manual' } };
    writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify(user));
    const file = { skill_roots: ['skills', '~/team', '~/.agents/skills'], builtin: false, ...config };
    writeFileSync(path.join(project, '.agent/config.json'), JSON.stringify(file));
    const { index } = await createRuntime({ cwd: project, home, env: {}, cache: false });
    return {
      states: index.skills.map(({ name, state }) => `${name} ${state}`),
      ids: index.skills.map(({ name, source }) => `${source}/${name}`),
    };
  };

  test('folders that the user or a convention names keep their source', async () => {
    expect((await withUser({})).ids).toEqual(['user/mine', 'team/ours', 'project/pdf']);
  });

  test('its roots neither contain nor lie in roots of others', async () => {
    const { project } = world();
    const home = path.join(project, 'home');
    writeSkill(path.join(home, '.agents/skills/group/mine'));
    symlinkSync('home/.agents', path.join(project, 'link'));
    for (const root of ['~', '~/.agents', '.', '/', '~/.agents/skills/group', 'link', 'link/skills/group']) {
      const file = { skill_roots: [root], builtin: false, packages: { skills: { mine: 'e' } } };
      writeFileSync(path.join(project, '.agent/config.json'), JSON.stringify(file));
      const { index, diagnostics } = await createRuntime({ cwd: project, home, env: {}, cache: false });
      expect([root, index.all.map(({ id }) => id)]).toEqual([root, ['user/mine']]);
      expect(
        diagnostics.map(({ code, message }) => [code, /"user", which the project does not own/.test(message)]),
      ).toEqual([['config/not-for-project', true]]);
    }
  });

  test('it hides skills of others and shows more only of its own', async () => {
    const all = (state: string): object => ({ skill_visibility: { '*': state } });
    expect((await withUser(all('pinned'))).states).toEqual(['mine auto', 'ours manual', 'pdf pinned']);
    expect((await withUser(all('required'))).states).toEqual(['mine auto', 'ours manual', 'pdf required']);
    expect((await withUser(all('disabled'))).states).toEqual(['mine disabled', 'ours disabled', 'pdf disabled']);
    const named = { skill_visibility: { ours: 'auto', 'team/ours': 'pinned', 'user/mine': 'pinned' } };
    expect((await withUser(named)).states).toEqual(['mine auto', 'ours manual', 'pdf auto']);
  });
});

describe('an empty answer says why', () => {
  test('untrusted skills: in the session, the catalog, the tools and the library', async () => {
    const { project, open } = world();
    const reason = `1 skill is untrusted; review, then run: skillwright trust ${project}`;
    const runtime = await open();
    expect(await runtime.explainEmpty()).toBe(reason);
    const { session, call } = await openSkillTools({ runtime, vocabulary: 'openseed' });
    expect([session.offer.emptyReason, session.catalog.emptyReason]).toEqual([reason, reason]);
    const agent = await openSkillTools({ runtime, vocabulary: 'skills-agent' });
    expect((await agent.call('select_skills', { skills: ['pdf'] })).text).toContain(`there are no skills (${reason})`);
    expect(await call('list_skills', {})).toMatchObject({ text: '[]', emptyReason: reason });
    const without = await runtime.distrust(runtime.index.skills);
    expect(runtime.catalog({ without })).toMatchObject({ full: [], emptyReason: reason });
    expect(runtime.catalog().emptyReason).toBeUndefined();
  });

  test('no folder, an invalid skill, and a skill that is not for models', async () => {
    const { project, skills, open } = world(['none']);
    expect(await (await open()).explainEmpty()).toContain(`${path.join(project, 'none')} (missing)`);
    mkdirSync(path.join(skills, 'broken'));
    writeFileSync(path.join(skills, 'broken/SKILL.md'), '---\nname: [\n');
    const config = { skill_visibility: { pdf: 'manual' } } as const;
    expect(await (await open({ roots: [skills], config })).explainEmpty()).toBe(
      '1 skill is not for models: skillwright catalog --explain; 1 folder left out as invalid: skillwright check',
    );
  });

  test('a root that the user names and that does not exist is a warning of every command that uses skills', async () => {
    const { project } = world();
    const words = ['call', 'load_skill', '{"skill":"pdf"}'];
    const missing = path.join(project, 'nope');
    const warned = `warning: ${missing}: the root does not exist; create it or remove it from the roots`;
    expect((await runCli(project, words, { SKILLS_ROOT: './nope' })).err).toContain(warned);
    expect((await runCli(project, [...words, '--root', 'nope'])).err).toContain(warned);
    expect((await runCli(project, words)).err).not.toContain('the root does not exist');
    const configured = (roots: string): Promise<{ readonly err: string }> =>
      runCli(project, [...words, '--set', `skill_roots=${roots}`]);
    expect((await configured('["./nope"]')).err).toContain(warned);
    // What an install would create need not exist yet.
    expect((await configured('["~/.agents/skills"]')).err).not.toContain('the root does not exist');
  });

  test('a call of a tool that needs skills is not told about executors', async () => {
    const { project } = world();
    const { err } = await runCli(project, [
      'call',
      'select_skills',
      '{"skills":["pdf"]}',
      '--vocabulary',
      'skills-agent',
      '--executor',
      'none',
    ]);
    expect(err).toContain('there are no skills');
    expect(err).not.toContain('--executor');
  });

  test('trust names the skills that are links to another folder', async () => {
    const { project, skills } = world([]);
    const elsewhere = path.join(scratch(), 'elsewhere');
    renameSync(skills, elsewhere);
    mkdirSync(path.join(project, '.agents'));
    symlinkSync(elsewhere, path.join(project, '.agents/skills'));
    const { err, out } = await runCli(project, ['trust', '.', '--yes']);
    const link = path.join(project, '.agents/skills/pdf');
    expect(out + err).toContain(`not trusted: ${link} is a link to ${path.join(elsewhere, 'pdf')}; trust that folder`);
    expect(out + err).not.toContain('no skills');
  });

  test('the commands print it, as text and as JSON', async () => {
    const { project } = world();
    const reason = `1 skill is untrusted; review, then run: skillwright trust ${project}`;
    expect((await runCli(project, ['catalog'])).err).toBe(`no skill for a model: ${reason}\n`);
    expect(JSON.parse((await runCli(project, ['catalog', '--json'])).out)).toMatchObject({ emptyReason: reason });
    const [list, search] = [
      await runCli(project, ['list', '--json', '--only-root']),
      await runCli(project, ['search', 'pdf', '--json', '--only-root']),
    ].map(({ out }) => JSON.parse(out) as object);
    expect(list).toMatchObject({ skills: [], emptyReason: 'no folder is searched for skills' });
    expect(search).toMatchObject({
      results: [],
      emptyReason: 'no skills to search: no folder is searched for skills',
    });
  });
});

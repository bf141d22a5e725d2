/** Each setting that restores what a source document says, with the behaviour that it restores. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { Config } from '../../src/core/config/config.ts';
import type { RunResult } from '../../src/core/outputs.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { openSkillTools, type SkillToolsOptions } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { runCli } from '../cli/run-cli.ts';
import { scratch } from '../skills/registry/support.ts';
import { place, write } from './skills-agent-place.ts';

const SKILL = '---\nname: demo-skill\ndescription: Shows settings at work.\n---\n\n# Demo\n';

/** A root with one skill, and more files of it. */
function skillRoot(files: Readonly<Record<string, string>> = {}): string {
  const root = path.join(scratch(), 'skills');
  for (const [file, text] of Object.entries({ 'SKILL.md': SKILL, ...files })) {
    mkdirSync(path.dirname(path.join(root, 'demo-skill', file)), { recursive: true });
    writeFileSync(path.join(root, 'demo-skill', file), text);
  }
  return root;
}

async function openTools(root: string, options: SkillToolsOptions, config?: Config): Promise<SkillTools> {
  const settings = { cwd: root, home: undefined, env: {}, roots: [root], onlyRoots: true, cache: false } as const;
  const tools = await openSkillTools({ runtime: await createRuntime({ ...settings, config }), ...options });
  onTestFinished(() => tools.session.close());
  return tools;
}

test('openseed: a command that names a file of a skill with allowed-tools: Read is refused though the skill is not loaded', async () => {
  const head = SKILL.replace('\n---\n\n', '\nallowed-tools: Read\n---\n\n');
  const root = skillRoot({ 'SKILL.md': head, 'scripts/a.sh': 'echo ran\n' });
  const run = async (config: Config): Promise<readonly unknown[]> => {
    const { call } = await openTools(root, { vocabulary: 'openseed', execution: { executor: 'local' } }, config);
    const script = { skill_name: 'demo-skill', script_name: 'a.sh' };
    const { text } = await call('get_skill_script_path', script);
    const commands = [`sh ${text}`, 'echo ran'];
    return Promise.all(commands.map(async (command) => (await call('run_shell_command', { command })).isError));
  };
  expect([await run({}), await run({ policy: { allowed_tools: 'ignore' } })]).toEqual([
    [true, false],
    [false, false],
  ]);
});

/** The outcome of a command before and after a skill with `allowed-tools: Read` is loaded. */
async function runBesideAllowedTools(
  vocabulary: 'openseed' | 'manusx',
  [shell, load]: readonly [string, string],
  config: Config,
): Promise<readonly unknown[]> {
  const root = skillRoot({ 'SKILL.md': SKILL.replace('\n---\n\n', '\nallowed-tools: Read\n---\n\n') });
  const { call } = await openTools(root, { vocabulary, execution: { executor: 'local' } }, config);
  const command = async (): Promise<unknown> => {
    const { isError, text } = await call(shell, { command: 'echo ran' });
    return isError ? 'refused' : /"stdout":"(\w+)/.exec(text)?.[1];
  };
  const before = await command();
  await call(load, { skill_name: 'demo-skill' });
  return [before, await command()];
}

test('openseed: allowed-tools: Read refuses a shell command while its skill is loaded, and policy.allowed_tools: ignore runs it', async () => {
  const tools = ['run_shell_command', 'load_skill'] as const;
  expect(await runBesideAllowedTools('openseed', tools, {})).toEqual(['ran', 'refused']);
  const config = { policy: { allowed_tools: 'ignore' } } as const;
  expect(await runBesideAllowedTools('openseed', tools, config)).toEqual(['ran', 'ran']);
});

test('manusx: allowed-tools: Read refuses a shell command while its skill is loaded, and policy.allowed_tools: ignore runs it', async () => {
  const tools = ['shell_exec', 'skill_request'] as const;
  expect(await runBesideAllowedTools('manusx', tools, {})).toEqual(['ran', 'refused']);
  const config = { policy: { allowed_tools: 'ignore' } } as const;
  expect(await runBesideAllowedTools('manusx', tools, config)).toEqual(['ran', 'ran']);
});

test('manusx: below a root that the user names, skills need no trust, nor does a new one after a restart', async () => {
  const [project, home] = [scratch(), scratch()];
  const request = async (name: string, ...flags: readonly string[]): Promise<unknown> => {
    write(project, `backend/skills/${name}/SKILL.md`, SKILL.replace('demo-skill', name));
    const words = ['call', 'skill_request', JSON.stringify({ skill_name: name }), '--vocabulary', 'manusx', '-q'];
    const { status, out } = await runCli(project, [...words, ...flags], { HOME: home });
    return status === 0 ? JSON.parse(out) : status;
  };
  const found = { success: true, data: { content: '# Demo' } };
  expect(await request('pdf')).toBe(3);
  expect(await request('pdf', '--root', 'backend/skills')).toEqual(found);
  expect(await request('my-skill', '--root', 'backend/skills')).toEqual(found);
});

test('trpc: allowed-tools: Read refuses skill_run of its skill, and policy.allowed_tools: ignore runs it', async () => {
  const root = skillRoot({ 'SKILL.md': SKILL.replace('\n---\n\n', '\nallowed-tools: Read\n---\n\n') });
  const runs = async (config: Config): Promise<unknown> => {
    const { call } = await openTools(root, { vocabulary: 'trpc', execution: { executor: 'local' } }, config);
    const { isError, text } = await call('skill_run', { skill: 'demo-skill', command: 'echo ran' });
    return isError ? text.includes('not in allowed-tools') : /"stdout":"(\w+)/.exec(text)?.[1];
  };
  expect(await runs({})).toBe(true);
  expect(await runs({ policy: { allowed_tools: 'ignore' } })).toBe('ran');
});

test('trpc: a program runs without isolation', async () => {
  const { call } = await openTools(skillRoot(), { vocabulary: 'trpc', execution: { executor: 'local' } });
  expect((await call('skill_run', { skill: 'demo-skill', command: 'true' })).value).toMatchObject({
    exit_code: 0,
    isolation: 'none',
  });
});

test('trpc: an unattended command runs without isolation', async () => {
  const home = scratch();
  const words = ['call', 'skill_run', '{"skill": "demo-skill", "command": "echo built"}', '--vocabulary', 'trpc'];
  const flags = ['--root', skillRoot(), '--executor', 'local', '--yes', '-q'];
  expect(await runCli(scratch(), [...words, ...flags], { HOME: home })).toMatchObject({
    status: 3,
    err: expect.stringContaining('or every program with --yes and "unsafe_local" in policy.allow'),
  });
  write(home, '.agent/config.json', JSON.stringify({ policy: { allow: ['unsafe_local'] } }));
  const { out } = await runCli(scratch(), [...words, ...flags], { HOME: home });
  expect(JSON.parse(out)).toMatchObject({ stdout: 'built\n', exit_code: 0, isolation: 'none' });
});

test('trpc: a command runs in a login shell', async () => {
  const { call } = await openTools(skillRoot(), { vocabulary: 'trpc', execution: { executor: 'local' } });
  const command = "bash -lc 'shopt -q login_shell && echo login'";
  expect((await call('skill_run', { skill: 'demo-skill', command })).value).toMatchObject({ stdout: 'login\n' });
});

test('trpc: host:// reads a file of the machine', async () => {
  const file = path.join(scratch(), 'orders.csv');
  writeFileSync(file, 'a,b\n');
  const execution = { executor: 'local', hostInputs: ['/'] } as const;
  const { call } = await openTools(skillRoot(), { vocabulary: 'trpc', execution });
  const input = { skill: 'demo-skill', command: 'cat inputs/orders.csv', inputs: [{ from: `host://${file}` }] };
  expect((await call('skill_run', input)).value).toMatchObject({ stdout: 'a,b\n' });
});

test('trpc: ** and skills/** collect the whole workspace', async () => {
  const { call } = await openTools(skillRoot(), { vocabulary: 'trpc', execution: { executor: 'local' } });
  const collect = async (...globs: readonly string[]): Promise<readonly unknown[]> => {
    const command = 'echo 1 > "$OUTPUT_DIR/a.txt"';
    const { value } = await call('skill_run', { skill: 'demo-skill', command, outputs: { globs, max_files: 1_000 } });
    const { output_files: files, warnings } = value as RunResult;
    return [
      files.map(({ name }) => name).filter((name) => !name.startsWith('runs/')),
      warnings.filter((warning) => warning.includes('patterns')),
    ];
  };
  const warning = '1 file of skills matches, and only patterns that begin with skills/ collect such files';
  expect(await collect('**')).toEqual([['out/a.txt'], [warning]]);
  expect(await collect('**', 'skills/**')).toEqual([['out/a.txt', 'skills/demo-skill/SKILL.md'], []]);
});

test('skills-agent: a body over 500 lines is refused', async () => {
  const config = { security: { oversized_body: 'refuse' } } as const;
  const root = skillRoot({ 'SKILL.md': `${SKILL}${'line\n'.repeat(501)}` });
  const { call } = await openTools(root, { vocabulary: 'skills-agent' }, config);
  expect((await call('select_skills', { skills: [{ name: 'demo-skill' }] })).value).toMatchObject({
    ok: false,
    error: { code: 'body/too-long' },
  });
});

test('skills-agent: skills of the project are in the index of the model', async () => {
  const { project, home } = place();
  const words = ['call', 'select_skills', '{"skills": [{"name": "pdf-form-filler"}]}', '--vocabulary', 'skills-agent'];
  const { out, err } = await runCli(project, [...words, '--trust-project', '-q'], { HOME: home });
  expect(JSON.parse(out), err).toMatchObject({ ok: true, skills: [{ name: 'pdf-form-filler', source: 'project' }] });
});

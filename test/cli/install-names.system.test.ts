import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { runCli, skillText, temporaryFolder, writeFiles } from './run-cli.ts';

const ABOUT = 'Works on tables. Use it for tables.';

/** A project with a source of skills whose declared names are not those of their folders. */
function world(): string {
  const folder = temporaryFolder();
  for (const made of ['.git', 'home/.claude', '.claude']) mkdirSync(path.join(folder, made), { recursive: true });
  writeFiles(folder, {
    'source/ahrefs-automation/SKILL.md': skillText('Ahrefs Automation', ABOUT),
    'source/ahrefs-automation/tools/hello.mjs': 'console.log(`hello ${process.argv[2]}`);\n',
    'source/ahrefs-automation/a/same.mjs': 'console.log("a");\n',
    'source/ahrefs-automation/b/same.mjs': 'console.log("b");\n',
    'source/ahrefs-automation/top.mjs': 'console.log("top");\n',
    'source/ahrefs-automation/scripts/both.mjs': 'console.log("in scripts");\n',
    'source/ahrefs-automation/both.mjs': 'console.log("beside");\n',
    'source/21risk/SKILL.md': skillText('-21risk', ABOUT),
    'source/plain/SKILL.md': skillText('plain', ABOUT),
  });
  return folder;
}

const INSTALL = ['install', './source', '--yes'];
const untrusted = async (folder: string): Promise<readonly string[]> => {
  const { out } = await runCli(folder, ['list', '--json']);
  const { skills } = JSON.parse(out) as { readonly skills: readonly { readonly name: string; trusted: boolean }[] };
  return skills.filter(({ trusted }) => !trusted).map(({ name }) => name);
};

describe('a skill that declares another name than its folder', () => {
  verifies('INST-3', 'is trusted after its install, update, rollback and restore', async () => {
    const folder = world();
    const done = async (...words: readonly string[]): Promise<void> => {
      expect(await runCli(folder, words)).toMatchObject({ status: 0 });
      expect([words[0], await untrusted(folder)]).toEqual([words[0], []]);
    };
    await done(...INSTALL);
    writeFiles(folder, { 'source/ahrefs-automation/SKILL.md': skillText('Ahrefs Automation', `${ABOUT} More.`) });
    await done('update', '--yes');
    await done('rollback', 'ahrefs-automation', '--yes');
    await done('rollback', 'ahrefs-automation', '--yes');
    await done('uninstall', 'ahrefs-automation', '--yes');
    await done('restore', 'ahrefs-automation', '--yes');
    // A file that nobody confirmed is not covered.
    writeFiles(folder, { '.agents/skills/ahrefs-automation/SKILL.md': skillText('Ahrefs Automation', 'Evil.') });
    expect(await untrusted(folder)).toEqual(['Ahrefs Automation']);
  });

  test('is trusted again if the same bytes are installed again', async () => {
    const folder = world();
    expect(await runCli(folder, INSTALL)).toMatchObject({ status: 0 });
    expect(await runCli(folder, ['trust', '--revoke', '.agents/skills'])).toMatchObject({ status: 0 });
    expect(await untrusted(folder)).toHaveLength(3);
    expect(await runCli(folder, INSTALL)).toMatchObject({ status: 0 });
    expect(await untrusted(folder)).toEqual([]);
  });

  test('is found by the name of its folder', async () => {
    const folder = world();
    expect(await runCli(folder, INSTALL)).toMatchObject({ status: 0 });
    const inspected = async (name: string): Promise<unknown> => {
      const { out } = await runCli(folder, ['inspect', name, '--json']);
      return (JSON.parse(out) as { readonly skill: { readonly name: string } }).skill.name;
    };
    expect(await inspected('ahrefs-automation')).toBe('Ahrefs Automation');
    expect(await inspected('21risk')).toBe('-21risk');
    expect(await inspected('plain')).toBe('plain');
    const loaded = await runCli(folder, ['call', 'load_skill', '{"skill": "ahrefs-automation"}']);
    expect(loaded).toMatchObject({ status: 0, out: expect.stringContaining('Do it well.') as string });
  });
});

describe('exec', () => {
  const exec = (folder: string, ...words: readonly string[]) =>
    runCli(folder, ['exec', ...words.slice(0, 2), '--executor', 'local', '--yes', '--', ...words.slice(2)]);

  verifies('PACK-8', 'runs any file of a skill by its path, or by a name that only one file has', async () => {
    const folder = world();
    expect(await runCli(folder, INSTALL)).toMatchObject({ status: 0 });
    for (const [skill, script] of [
      ['ahrefs-automation', 'tools/hello.mjs'],
      ['Ahrefs Automation', 'hello.mjs'],
    ] as const)
      expect(await exec(folder, skill, script, 'you')).toMatchObject({ status: 0, out: 'hello you\n' });
    const said = async (script: string): Promise<string> => (await exec(folder, 'ahrefs-automation', script)).out;
    expect([await said('top.mjs'), await said('both.mjs'), await said('./both.mjs'), await said('b/same.mjs')]).toEqual(
      ['top\n', 'in scripts\n', 'beside\n', 'b\n'],
    );
  });

  test.each([
    ['same.mjs', 'name one by its path: a/same.mjs, b/same.mjs'],
    ['helo.mjs', 'did you mean tools/hello.mjs?'],
    ['../../plain/SKILL.md', '..'],
    ['/etc/passwd', '/etc/passwd'],
    ['tools/../../plain/SKILL.md', '..'],
  ])('refuses %s', async (script, hint) => {
    const folder = world();
    expect(await runCli(folder, INSTALL)).toMatchObject({ status: 0 });
    expect(await exec(folder, 'ahrefs-automation', script)).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringContaining(hint) as string,
    });
  });
});

describe('agents of an install', () => {
  test.each([[['-a', 'claude-code,roo']], [['-a', 'claude-code', '--agent', 'roo']], [['--agent=claude-code, roo']]])(
    '%j names two, and the last line counts their skills',
    async (flags) => {
      const folder = world();
      const { status, err } = await runCli(folder, [...INSTALL, ...flags]);
      expect([status, err.trimEnd().split('\n').at(-1)]).toEqual([0, '3 skills for claude-code, roo']);
    },
  );

  test('that see fewer skills have a line of their own', async () => {
    const folder = world();
    writeFiles(folder, { '.roo/skills/plain/SKILL.md': skillText('plain', 'Mine.') });
    const { err } = await runCli(folder, [...INSTALL, '-a', 'claude-code,roo']);
    expect(err.trimEnd().split('\n').slice(-2)).toEqual(['3 skills for claude-code', '2 skills for roo']);
  });

  test.each(['claude-code,,roo', ',claude-code', 'claude-code,'])('refuses the empty value of %s', async (value) => {
    expect(await runCli(world(), [...INSTALL, '-a', value])).toMatchObject({
      status: 2,
      err: expect.stringContaining('separate values by single commas') as string,
    });
  });
});

test('a named folder whose skill.md is in lower case is refused with the reason', async () => {
  const folder = world();
  writeFiles(folder, { 'source/lower/skill.md': skillText('lower', ABOUT) });
  const refused = await runCli(folder, ['install', './source', 'lower', '--yes']);
  expect(refused.err).toContain('"lower", but it is left out: lower/skill.md: it must be called SKILL.md');
});

test('verify does not blame empty folders for a digest in the lock that was changed', async () => {
  const folder = world();
  await runCli(folder, INSTALL);
  const lock = path.join(folder, '.agents/skills/skills.lock.json');
  const text = readFileSync(lock, 'utf8');
  writeFileSync(lock, text.replace(/"sha256-tree:[0-9a-f]{8}/, '"sha256-tree:00000000'));
  expect((await runCli(folder, ['verify'])).out).toContain('an empty folder is missing, or the lock was edited');
  writeFileSync(lock, text);
  mkdirSync(path.join(folder, '.agents/skills/plain/empty'));
  expect((await runCli(folder, ['verify'])).out).toContain('only empty folders differ');
});

test('exec says that a script is a link to the outside, and outdated agrees with update about an edited lock', async () => {
  const folder = world();
  await runCli(folder, INSTALL);
  writeFiles(folder, { 'outside.sh': 'echo outside\n' });
  symlinkSync('../../../outside.sh', path.join(folder, '.agents/skills/plain/out.sh'));
  expect((await runCli(folder, ['exec', 'plain', 'out.sh', '--trust-project', '--yes'])).err).toContain(
    '"out.sh" of the skill "plain" is a link that leads out of the skill',
  );
  rmSync(path.join(folder, '.agents/skills/plain/out.sh'));
  const lock = path.join(folder, '.agents/skills/skills.lock.json');
  writeFileSync(lock, readFileSync(lock, 'utf8').replace(/"sha256-tree:[0-9a-f]{8}/, '"sha256-tree:00000000'));
  expect(await runCli(folder, ['outdated'])).toMatchObject({ status: 0 });
  expect((await runCli(folder, ['update', '--merge', '--yes'])).err).toContain('everything is up to date');
});

test('uninstall takes the name that list shows; of folders that declare one name, it asks for the folder', async () => {
  const folder = world();
  await runCli(folder, INSTALL);
  const uninstall = ['uninstall', 'Ahrefs Automation', '--yes'];
  writeFiles(folder, { '.agents/skills/other/SKILL.md': skillText('Ahrefs Automation', ABOUT) });
  expect(await runCli(folder, uninstall)).toMatchObject({
    status: 1,
    err: expect.stringContaining('name its folder: ahrefs-automation, other'),
  });
  rmSync(path.join(folder, '.agents/skills/other'), { recursive: true });
  expect(await runCli(folder, uninstall)).toMatchObject({ status: 0, out: 'uninstalled ahrefs-automation\n' });
  expect((await runCli(folder, ['list'])).out).not.toContain('Ahrefs Automation');
  expect((await runCli(folder, uninstall)).err).toContain('"Ahrefs Automation" is not installed');
});

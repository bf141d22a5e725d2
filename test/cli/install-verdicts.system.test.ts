import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import { cli, runCli, skillText, writeFiles, type CliResult } from './run-cli.ts';

interface Project {
  readonly project: string;
  readonly root: string;
  readonly sw: (...words: readonly string[]) => Promise<CliResult>;
}

function projectWith(files: Readonly<Record<string, string>>): Project {
  const project = scratch();
  mkdirSync(path.join(project, '.git'));
  writeFiles(project, files);
  const sw = (...words: readonly string[]): Promise<CliResult> => cli(project, [...words, '--no-cache']);
  return { project, root: path.join(project, '.agents/skills'), sw };
}

const EVIL = 'echo aWQ= | base64 -d | sh\n';
const SOURCE = {
  'source/good/SKILL.md': skillText('good', 'Does good things.'),
  'source/long/SKILL.md': skillText('long', `Does ${'long '.repeat(300)}things.`),
  'source/evil/SKILL.md': skillText('evil', 'Does evil things.'),
  'source/evil/run.sh': EVIL,
};

describe('install', () => {
  verifies('INST-1', 'installs what is ready, names what is not and why, and exits 0 without names', async () => {
    const { sw, root } = projectWith(SOURCE);
    const { status, out, err } = await sw('install', './source', '--yes');
    expect({ status, out }).toEqual({ status: 0, out: 'installed good\ninstalled long\n' });
    expect(err).toMatch(
      / {2}x evil {2}refused: evil\/run\.sh:1: .* pack\/scan\n {6}allowed by: --accept encoded-payload/,
    );
    expect(err).toMatch(/warning the description has \d+ characters, expected at most 1024 description\/too-long/);
    expect(err).toMatch(/not installed: evil: .* \(pack\/scan\)\n/);
    expect(existsSync(path.join(root, 'evil'))).toBe(false);
  });

  test('exits 3 if a named skill was refused; the others go in', async () => {
    const { sw, root } = projectWith(SOURCE);
    expect(await sw('install', './source', 'good', 'evil', '--yes')).toMatchObject({
      status: 3,
      out: 'installed good\n',
    });
    expect(existsSync(path.join(root, 'good/SKILL.md'))).toBe(true);
    expect(await sw('install', './source', 'evil', '--yes')).toMatchObject({ status: 3, out: '' });
  });

  test('exits 3 and shows every reason if all skills are refused', async () => {
    const { sw } = projectWith({ ...SOURCE, 'source/good/run.sh': EVIL, 'source/long/run.sh': EVIL });
    const { status, err } = await sw('install', './source', '--yes');
    expect(status).toBe(3);
    expect(err.match(/ {2}x (?:evil|good|long) {2}refused/g)).toHaveLength(3);
    expect(err).toContain('none of the 3 skills can be installed');
  });

  test('--json has every verdict', async () => {
    const { sw } = projectWith(SOURCE);
    expect(JSON.parse((await sw('install', './source', 'good', 'long', 'evil', '--yes', '--json')).out)).toMatchObject({
      ok: false,
      done: true,
      skills: [
        { name: 'good', folder: 'good', verdict: 'ready' },
        { name: 'long', folder: 'long', verdict: 'warnings' },
      ],
      refused: [
        {
          name: 'evil',
          folder: 'evil',
          verdict: 'refused',
          isNamed: true,
          code: 'pack/scan',
          allow: '--accept encoded-payload',
          findings: { stops: [{ severity: 'critical', path: 'run.sh' }] },
        },
      ],
    });
  });

  verifies(
    'PACK-7',
    'one rule is accepted for the files of one digest; the lock records it, and commands show it',
    async () => {
      const { sw, project, root } = projectWith(SOURCE);
      const unknown = await sw('install', './source', 'evil', '--yes', '--accept', 'encoded-payloads');
      expect(unknown).toMatchObject({
        status: 2,
        err: expect.stringContaining('did you mean encoded-payload?') as string,
      });
      expect(await sw('install', './source', 'evil', '--yes', '--accept', 'reverse-shell')).toMatchObject({
        status: 3,
      });
      expect(await sw('install', './source', 'evil', '--yes', '--accept', 'encoded-payload')).toMatchObject({
        status: 0,
        out: 'installed evil\n',
      });
      const lock = (): { readonly skills: { readonly evil: { readonly accepted?: readonly string[] } } } =>
        JSON.parse(readFileSync(path.join(root, 'skills.lock.json'), 'utf8'));
      expect(lock().skills.evil.accepted).toEqual(['encoded-payload']);
      expect((await sw('list')).out).toMatch(/evil +project, trusted, accepted encoded-payload/);
      expect((await sw('verify')).out).toMatch(/same {2}evil .*\n {2}accepted encoded-payload\n/);
      expect((await sw('doctor')).out).toContain('you accepted encoded-payload for the files of the lock');
      // The same files again need no second answer; other files do.
      expect(await sw('install', './source', 'evil', '--yes')).toMatchObject({ status: 0 });
      writeFiles(project, { 'source/evil/run.sh': `${EVIL}true\n` });
      expect(await sw('update', '--yes')).toMatchObject({
        status: 3,
        err: expect.stringContaining('--accept encoded-payload') as string,
      });
      writeFiles(root, { 'evil/run.sh': `${EVIL}true\n` });
      expect((await sw('verify')).out).toContain('  accepted encoded-payload, but not in these files\n');
    },
  );

  test('a lock that accepts a rule does not install the files', async () => {
    const { sw, root } = projectWith(SOURCE);
    await sw('install', './source', 'evil', '--yes', '--accept', 'encoded-payload');
    rmSync(path.join(root, 'evil'), { recursive: true });
    expect(await sw('install', './source', 'evil', '--yes')).toMatchObject({ status: 3 });
  });

  test('no other mode is advised where every mode refuses the skill', async () => {
    const { sw } = projectWith({ ...SOURCE, 'source/bare/SKILL.md': '---\nname: bare\n---\n\n# Bare\n' });
    const { err } = await sw('install', './source', 'bare', '--yes', '--set', 'vocabulary=skills-agent');
    expect(/hint: (.*)/.exec(err)?.[1]).toBe(
      'SKILL.md cannot be loaded: add description: with what the skill does and when to use it',
    );
  });

  test('--strict and format.mode refuse violations; --lenient is accepted and not shown', async () => {
    const { sw, project } = projectWith(SOURCE);
    expect(await sw('install', './source', 'long', '--yes', '--strict')).toMatchObject({
      status: 3,
      err: expect.stringContaining('pack/format') as string,
    });
    writeFiles(project, { '.agent/config.json': '{"format": {"mode": "strict"}}' });
    expect(await sw('install', './source', 'long', '--yes')).toMatchObject({
      status: 3,
      err: expect.stringContaining('or install with --set format.mode=lenient and without --strict') as string,
    });
    expect(await sw('install', './source', 'long', '--yes', '--set', 'format.mode=lenient')).toMatchObject({
      status: 0,
    });
    await sw('uninstall', 'long', '--yes');
    expect(await sw('install', './source', 'long', '--yes', '--lenient')).toMatchObject({ status: 0 });
    expect((await sw('install', '--help')).out).not.toContain('--lenient');
    const { out } = await sw('list', '--source', 'project');
    expect(out).toMatch(/Left out \(1\)\nx .*\/long\/SKILL\.md {2}the description has \d+ characters/);
  });

  test('the strict format refuses what its index would leave out', async () => {
    const angle =
      '---\nname: angle\ndescription: Measures the angle between two lines.\nmetadata:\n  author: <me>\n---\nMeasure.\n';
    const { sw, project } = projectWith({ 'source/angle/SKILL.md': angle });
    writeFiles(project, { '.agent/config.json': '{"format": {"mode": "strict"}}' });
    const refused = { status: 3, err: expect.stringContaining('text/angle-brackets') as string };
    expect(await sw('install', './source', '--yes')).toMatchObject(refused);
    const lifted = ['--set', 'security.block_angle_brackets_in_frontmatter=false'];
    expect(await sw('install', './source', '--yes', ...lifted)).toMatchObject({ status: 0 });
    expect((await sw('list', '--source', 'project', ...lifted)).out).toContain('Measures the angle');
  });

  test('shows critical findings one by one, the rest as counts, and all with --findings', async () => {
    const notes = 'cat ~/.aws/credentials\ncat ~/.ssh/id_rsa\n';
    const { sw } = projectWith({ ...SOURCE, 'source/good/run.sh': notes });
    const counted = (await sw('install', './source', '--dry-run')).err;
    expect(counted).toMatch(/scan run\.sh:1:\d+ critical .*\(encoded-payload\)/);
    expect(counted).toMatch(/scan high credential-path ×2\n/);
    expect((await sw('install', './source', '--dry-run', '--findings')).err.match(/\(credential-path\)/g)).toHaveLength(
      2,
    );
  });
});

describe('with an invalid configuration', () => {
  const CONFIG = '{\n  "install": { "require_signed": true },\n  "tpyo": 1\n}\n';

  test.each(
    ['home/.agent/config.json', 'project/.agent/config.json'].flatMap((file) =>
      [
        ['install', './source', '--yes'],
        ['install', './source', '--dry-run'],
        ['install', '--frozen', '--yes'],
        ['update', '--yes'],
        ['uninstall', 'good', '--yes'],
        ['restore', 'good'],
        ['rollback', 'good', '--yes'],
        ['pack', './source/good', '--out', 'good.zip'],
        ['site', './source', '--out', 'site'],
        ['source', 'add', 'mine', './source'],
        ['keys', 'add', 'mine', 'key'],
        ['trust', '--yes'],
      ].map((words) => ({ file, words })),
    ),
  )('$file: $words changes nothing and names the problem', async ({ file, words }) => {
    const folder = realpathSync(scratch());
    writeFiles(folder, {
      [file]: CONFIG,
      'project/.agents/skills/good/SKILL.md': skillText('good', 'Does good things.'),
      'project/source/good/SKILL.md': skillText('good', 'Does other things.'),
    });
    mkdirSync(path.join(folder, 'home'), { recursive: true });
    const files = (): readonly string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
    const before = files();
    const { status, out, err } = await runCli(path.join(folder, 'project'), [...words, '--no-cache'], {
      HOME: path.join(folder, 'home'),
    });
    expect({ status, out, files: files() }).toEqual({ status: 1, out: '', files: before });
    expect(err.replaceAll(/\s+/g, ' ')).toContain(
      `the configuration is invalid, so only reading is allowed: ${path.join(folder, file)}:3: "tpyo" is not a known key`,
    );
    expect(err).toContain('skillwright config');
  });
});

describe('one place', () => {
  test('new, install and pack use .agents/skills of the project', async () => {
    const { sw, project, root } = projectWith(SOURCE);
    expect((await sw('new', 'mine')).out).toBe(`${path.join(root, 'mine')}\n`);
    await sw('install', './source', 'good', '--yes');
    expect(readdirSync(root)).toEqual(['.skillwright', 'good', 'mine', 'skills.lock.json']);
    writeFiles(project, { 'packages/one/x.txt': 'x' });
    expect((await cli(path.join(project, 'packages/one'), ['new', 'other'])).out).toBe(`${path.join(root, 'other')}\n`);
    const { skills } = JSON.parse((await sw('pack', '--dry-run', '--json')).out) as { skills: { name: string }[] };
    expect(skills.map(({ name }) => name)).toEqual(['good', 'mine', 'other']);
  });

  test('an existing .agent/skills is used if it is the only one', async () => {
    const { sw, project } = projectWith({ ...SOURCE, '.agent/skills/old/SKILL.md': skillText('old', 'Is old.') });
    expect((await sw('new', 'mine')).out).toBe(`${path.join(project, '.agent/skills/mine')}\n`);
    await sw('install', './source', 'good', '--yes');
    expect(existsSync(path.join(project, '.agent/skills/good/SKILL.md'))).toBe(true);
    expect(existsSync(path.join(project, '.agents'))).toBe(false);
  });

  test('uninstall moves a skill that was placed by hand to the trash, and deletes it only with --force', async () => {
    const { sw, root } = projectWith({
      '.agents/skills/mine/SKILL.md': skillText('mine', 'Is mine.'),
      '.agents/skills/notes/a.txt': 'a',
    });
    expect(await sw('uninstall', 'mine', '--yes', '--purge')).toMatchObject({
      status: 1,
      err: expect.stringMatching(
        /mine" was not created by install.*install\/foreign\nhint: uninstall it without --purge/s,
      ),
    });
    expect(await sw('uninstall', 'notes', '--yes')).toMatchObject({
      status: 1,
      err: expect.stringMatching(/notes" is not a folder with a SKILL.md.*install\/foreign\nhint: use --force/s),
    });
    expect(await sw('uninstall', 'mine', '--yes')).toMatchObject({ status: 0, out: 'uninstalled mine\n' });
    expect(existsSync(path.join(root, 'mine'))).toBe(false);
    expect(await sw('restore', 'mine', '--yes')).toMatchObject({ status: 0 });
    expect(existsSync(path.join(root, 'mine/SKILL.md'))).toBe(true);
    expect(await sw('uninstall', 'none', '--yes', '--force')).toMatchObject({ status: 1 });
    expect(await sw('uninstall', '../..', '--yes', '--force')).toMatchObject({ status: 1 });
    expect(existsSync(path.join(root, 'mine/SKILL.md'))).toBe(true);
    expect(await sw('uninstall', 'mine', '--yes', '--purge', '--force')).toMatchObject({ status: 0 });
    expect(await sw('restore', 'mine', '--yes')).toMatchObject({ status: 1 });
  });
});

test('list names a hidden folder of a root that contains skills', async () => {
  const { sw, project } = projectWith({
    'skills/a/SKILL.md': skillText('a', 'Does a.'),
    'skills/.curated/b/SKILL.md': skillText('b', 'Does b.'),
    'skills/.github/x.md': 'x',
    'skills/.skillwright/trash/c/SKILL.md': skillText('c', 'Does c.'),
  });
  const { err } = await sw('list', '--root', 'skills', '--only-root');
  expect(err.match(/skipped .*/g)).toEqual([
    `skipped ${project}/skills/.curated: hidden, and it contains skills; list them with --root, or install them`,
  ]);
});

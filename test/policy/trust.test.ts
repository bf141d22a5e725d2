import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readTreeDigest } from '../../src/platform/fs/tree-digest.ts';
import { projectTop } from '../../src/runtime/roots.ts';
import { openTrust, type TrustOptions, type TrustStore, type TrustVerdict } from '../../src/policy/trust.ts';
import { reviewSkills } from '../../src/runtime/trust-review.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { verifies } from '../conformance/verifies.ts';

interface World {
  readonly home: string;
  readonly project: string;
  /** A skill of the project. */
  readonly dir: string;
  readonly open: (more?: Partial<TrustOptions>) => TrustStore;
}

function world(): World {
  const base = scratch();
  const [home, project] = [path.join(base, 'home'), path.join(base, 'project')];
  mkdirSync(home);
  mkdirSync(path.join(project, '.git'), { recursive: true });
  const dir = path.join(project, '.agent/skills/release');
  writeSkill(dir);
  return { home, project, dir, open: (more = {}) => openTrust({ home, bind: 'path', ...more }) };
}

async function digestOf(dir: string): Promise<string> {
  const read = await readTreeDigest(dir);
  if (read.type !== 'digest') throw new Error(read.message);
  return read.digest;
}

const why = (verdict: TrustVerdict): string => (verdict.trusted ? verdict.because : verdict.reason);

describe('a skill of a project', () => {
  test('is trusted once its folder is, and until that is taken back', async () => {
    const { project, dir, open } = world();
    const skill = { source: 'project', dir };
    expect(open().isTrusted(skill)).toEqual({
      trusted: false,
      reason: 'unknown',
      message: `the skill "${dir}" is not trusted: review it, then run \`skillwright trust\``,
      place: dir,
    });
    const trusted = await open().trust(project, { skills: [], now: new Date(0) });
    expect(trusted).toEqual({ folder: project, at: '1970-01-01T00:00:00.000Z', skills: [] });
    expect(open().isTrusted(skill)).toEqual({ trusted: true, because: 'folder', folder: project });
    expect(open().list()).toEqual({ folders: [trusted], problems: [] });
    expect(await open().revoke(project)).toEqual([trusted]);
    expect(why(open().isTrusted(skill))).toBe('unknown');
  });

  test('is not trusted because a folder beside it is', async () => {
    const { project, open } = world();
    await open().trust(project, { skills: [] });
    const beside = `${project}c/.agent/skills/a`;
    writeSkill(beside);
    expect(why(open().isTrusted({ source: 'project', dir: beside }))).toBe('unknown');
    expect(why(open().isTrusted({ source: 'project', dir: path.dirname(project) }))).toBe('unknown');
  });

  test('is not trusted where it, or its folder, is a link to elsewhere', async () => {
    const { project, dir, open } = world();
    await open().trust(project, { skills: [] });
    const elsewhere = path.join(path.dirname(project), 'elsewhere');
    writeSkill(path.join(elsewhere, '.agent/skills/release'));
    const link = path.join(path.dirname(dir), 'link');
    symlinkSync(path.join(elsewhere, '.agent/skills/release'), link);
    expect(why(open().isTrusted({ source: 'project', dir: link }))).toBe('unknown');
    renameSync(project, `${project}-old`);
    symlinkSync(elsewhere, project);
    expect(why(open().isTrusted({ source: 'project', dir }))).toBe('unknown');
    // What it was called can still be taken back.
    expect((await open().revoke(project)).length).toBe(1);
  });

  test('a folder that is reached by a link is the folder', async () => {
    const { project, dir, open } = world();
    const link = path.join(path.dirname(project), 'link');
    symlinkSync(project, link);
    expect((await open().trust(link, { skills: [] })).folder).toBe(project);
    expect(why(open().isTrusted({ source: 'project', dir }))).toBe('folder');
  });

  test('is not trusted without a home folder, and nothing can be', async () => {
    const { project, dir } = world();
    const store = openTrust({ home: undefined, bind: 'path' });
    expect(why(store.isTrusted({ source: 'project', dir }))).toBe('no-home');
    await expect(store.trust(project, { skills: [] })).rejects.toMatchObject({ code: 'input/invalid' });
    expect(store.list()).toEqual({ folders: [], problems: [] });
    expect(await store.revoke(project)).toEqual([]);
  });
});

describe('what needs no trust', () => {
  test.each([
    ['user', 'own'],
    ['builtin', 'own'],
    ['option', 'own'],
    ['env', 'own'],
    ['document-root', 'own'],
    ['project', 'unknown'],
    ['config', 'unknown'],
    ['a name of the project', 'unknown'],
  ])('source %s: %s', (source, expected) => {
    const { dir, open } = world();
    expect(why(open().isTrusted({ source, dir }))).toBe(expected);
  });

  test('what lies in a folder that the person named, and not beside it', () => {
    const { dir, open } = world();
    const store = open({ vouched: [path.dirname(dir)] });
    expect(why(store.isTrusted({ source: 'config', dir }))).toBe('own');
    expect(why(store.isTrusted({ source: 'config', dir: `${path.dirname(dir)}2/x` }))).toBe('unknown');
  });

  test('a project cannot claim another source for its skills', () => {
    const { dir, open } = world();
    const store = open({ projectRoots: [path.dirname(dir)] });
    for (const source of ['user', 'builtin', 'option', 'env'])
      expect(why(store.isTrusted({ source, dir }))).toBe('unknown');
  });
});

describe('trust that is bound to digests', () => {
  verifies('POL-5', 'ends with one changed byte, and does not hold for what is new', async () => {
    const { project, dir, open } = world();
    const store = open({ bind: 'digest' });
    const before = await digestOf(dir);
    await store.trust(project, { skills: [{ dir, digest: before }] });
    expect(why(store.isTrusted({ source: 'project', dir, digest: before }))).toBe('folder');
    expect(why(store.isTrusted({ source: 'project', dir }))).toBe('no-digest');

    writeSkill(dir, { body: '# Body!\n' });
    const after = await digestOf(dir);
    expect(store.isTrusted({ source: 'project', dir, digest: after })).toEqual({
      trusted: false,
      reason: 'changed',
      message: `the skill "${dir}" changed after it was trusted: review it, then run \`skillwright trust\` again`,
      place: dir,
    });
    expect(why(open({ bind: 'path' }).isTrusted({ source: 'project', dir, digest: after }))).toBe('folder');

    const fresh = path.join(path.dirname(dir), 'fresh');
    writeSkill(fresh);
    expect(why(store.isTrusted({ source: 'project', dir: fresh, digest: await digestOf(fresh) }))).toBe('new');
  });

  test('said again it holds for the new state, and what was not looked at stays as it was', async () => {
    const { project, dir, open } = world();
    const store = open({ bind: 'digest' });
    const other = path.join(project, 'packages/a/.agent/skills/other');
    writeSkill(other);
    const digest = (letter: string): string => `sha256-tree:${letter.repeat(64)}`;
    await store.trust(project, {
      skills: [
        { dir, digest: digest('a') },
        { dir: other, digest: digest('b') },
      ],
    });
    await store.trust(project, { skills: [{ dir, digest: digest('c') }] });
    expect(store.list().folders.map(({ skills }) => skills)).toEqual([
      [
        { path: 'packages/a/.agent/skills/other', digest: digest('b') },
        { path: '.agent/skills/release', digest: digest('c') },
      ],
    ]);
    expect(why(store.isTrusted({ source: 'project', dir, digest: digest('a') }))).toBe('changed');
    expect(why(store.isTrusted({ source: 'project', dir: other, digest: digest('b') }))).toBe('folder');
  });

  verifies(
    'INST-3',
    'versions that were installed one after the other all stay trusted, up to five earlier ones',
    async () => {
      const { dir, open } = world();
      const store = open({ bind: 'digest' });
      const digests = [...'abcdefgh'].map((letter) => `sha256-tree:${letter.repeat(64)}`);
      for (const digest of digests) await store.trustSkills([{ dir, digest, head: `head of ${digest}` }]);
      const verdicts = digests.map((digest) =>
        why(open({ bind: 'digest' }).isTrusted({ source: 'project', dir, digest })),
      );
      expect(verdicts).toEqual([...Array<string>(2).fill('changed'), ...Array<string>(6).fill('folder')]);
      // Asked again by hand, the user means what is there now.
      await store.trust(path.dirname(dir), { skills: [{ dir, digest: digests[0] ?? '' }] });
      expect(why(store.isTrusted({ source: 'project', dir, digest: digests[7] ?? '' }))).toBe('changed');
    },
  );

  test('of two folders around a skill, either may know it', async () => {
    const { project, dir, open } = world();
    const store = open({ bind: 'digest' });
    const digest = `sha256-tree:${'a'.repeat(64)}`;
    await store.trust(project, { skills: [{ dir, digest }] });
    await store.trust(path.join(project, '.agent'), { skills: [] });
    expect(store.isTrusted({ source: 'project', dir, digest })).toEqual({
      trusted: true,
      because: 'folder',
      folder: project,
    });
  });
});

describe('what cannot be trusted', () => {
  test('the whole machine, the home folder, a file, and what is not there', async () => {
    const { home, dir, open } = world();
    for (const folder of ['/', home, path.join(dir, 'SKILL.md'), path.join(dir, 'gone')])
      await expect(open().trust(folder, { skills: [] })).rejects.toMatchObject({ code: 'input/invalid' });
    expect(open().list().folders).toEqual([]);
  });

  test('a forged or edited entry', async () => {
    const { home, project, dir, open } = world();
    await open().trust(dir, { skills: [] });
    const file = path.join(home, '.agent/trust.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(JSON.stringify(dir), JSON.stringify(project)));
    expect(why(open().isTrusted({ source: 'project', dir }))).toBe('unknown');
    expect(open().list()).toEqual({
      folders: [],
      problems: [`entry 1 (${project}) of ${file} is ignored: it was edited after it was written`],
    });
    writeFileSync(file, `{"schema":1,"entries":[{"folder":"/","at":"","skills":[]}]}`);
    expect(why(open().isTrusted({ source: 'project', dir }))).toBe('unknown');
  });

  test('a seal of an approval is none of trust', async () => {
    const { home, project, dir, open } = world();
    const { sealKey, openSeals } = await import('../../src/platform/fs/seal-key.ts');
    const text = JSON.stringify([project, '', []]);
    const entry = (purpose: string): string =>
      JSON.stringify({
        schema: 1,
        entries: [{ folder: project, at: '', skills: [], mac: openSeals(sealKey(home), purpose).compute(text) }],
      });
    const file = path.join(home, '.agent/trust.json');
    sealKey(home);
    writeFileSync(file, entry('skillwright approval 1'), { mode: 0o600 });
    expect(why(open().isTrusted({ source: 'project', dir }))).toBe('unknown');
    writeFileSync(file, entry('skillwright trust 1'), { mode: 0o600 });
    expect(why(open().isTrusted({ source: 'project', dir }))).toBe('folder');
  });
});

describe('reviewing skills before trusting them', () => {
  test('the project is the top of the repository, the folder itself without one, and never the home folder', () => {
    const { home, project } = world();
    const inside = path.join(project, 'packages/a');
    mkdirSync(inside, { recursive: true });
    expect(projectTop({ cwd: inside, home })).toBe(project);
    expect(projectTop({ cwd: home, home })).toBeUndefined();
    const plain = path.join(path.dirname(project), 'plain');
    mkdirSync(plain);
    expect(projectTop({ cwd: plain, home })).toBe(plain);
  });

  test('shows the skills of the project with scripts, files and digests, and none of the user', async () => {
    const { home, project, dir } = world();
    mkdirSync(path.join(dir, 'scripts'));
    writeFileSync(path.join(dir, 'scripts/run.py'), 'print(1)\n');
    writeSkill(path.join(home, '.agent/skills/mine'));
    const inner = path.join(project, 'packages/a/.agent/skills/inner');
    writeSkill(inner);
    const at = (cwd: string): Promise<unknown> =>
      reviewSkills({ surroundings: { cwd, home, env: {} }, folder: project });
    const release = {
      name: 'release',
      source: 'project',
      dir,
      scripts: 1,
      files: 2,
      wants: { programs: ['python3'], secrets: [], network: false },
      digest: await digestOf(dir),
      head: expect.stringMatching(/^sha256:/),
    };
    expect(await at(project)).toEqual([release]);
    const innerRow = {
      name: 'inner',
      source: 'project',
      dir: inner,
      scripts: 0,
      files: 1,
      wants: { programs: [], secrets: [], network: false },
      digest: await digestOf(inner),
      head: expect.stringMatching(/^sha256:/),
    };
    expect(await at(path.join(project, 'packages/a'))).toEqual([innerRow, release]);
  });

  test('a folder of skills is looked into itself, and a link that leads outside is not part of a skill', async () => {
    const { home, project } = world();
    const folder = path.join(path.dirname(project), 'shared');
    writeSkill(path.join(folder, 'a'));
    symlinkSync('/etc/hostname', path.join(folder, 'a/link'));
    const [skill, ...others] = await reviewSkills({ surroundings: { cwd: folder, home, env: {} }, folder });
    expect(others).toEqual([]);
    expect(skill).toEqual({
      name: 'a',
      source: 'option',
      dir: path.join(folder, 'a'),
      scripts: 0,
      files: 1,
      wants: { programs: [], secrets: [], network: false },
      digest: expect.stringMatching(/^sha256-tree:/),
      head: expect.stringMatching(/^sha256:/),
    });
  });
});

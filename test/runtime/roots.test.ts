import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { defaultRoots, isOfProject, type RootsInput } from '../../src/runtime/roots.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';

interface Place {
  readonly base: string;
  readonly home: string;
  readonly repository: string;
  readonly cwd: string;
}

function makePlace(): Place {
  const base = scratch();
  const home = path.join(base, 'home', 'me');
  const repository = path.join(home, 'code', 'repo');
  const cwd = path.join(repository, 'packages', 'one');
  mkdirSync(path.join(repository, '.git'), { recursive: true });
  mkdirSync(cwd, { recursive: true });
  return { base, home, repository, cwd };
}

/** Roots as `source path`, the path relative to the place. */
function shown(base: string, input: RootsInput): readonly string[] {
  return defaultRoots(input).roots.map(({ source, path: root }) => `${source} ${path.relative(base, root)}`);
}

describe('roots by convention', () => {
  verifies(
    ['REG-1'],
    'options, SKILLS_ROOT, configuration, project up to the repository, home, DOCUMENT_ROOT, built-in: high to low',
    () => {
      const { base, home, cwd } = makePlace();
      const env = { SKILLS_ROOT: ['/env/one', 'env-two'].join(path.delimiter), DOCUMENT_ROOT: path.join(base, 'docs') };
      const input = {
        cwd,
        home,
        env,
        builtinDir: path.join(base, 'builtin'),
        extra: ['~/mine', { source: 'team', path: '/team' }],
        cli: ['here'],
      };
      const { roots, diagnostics } = defaultRoots(input);
      expect(shown(base, input).map((line) => line.replaceAll('../', ''))).toEqual([
        'option home/me/code/repo/packages/one/here',
        'env env/one',
        'env home/me/code/repo/packages/one/env-two',
        'config home/me/mine',
        'team team',
        'project home/me/code/repo/packages/one/.agent/skills',
        'project home/me/code/repo/packages/one/.agents/skills',
        'project home/me/code/repo/packages/one/.claude/skills',
        'project home/me/code/repo/packages/.agent/skills',
        'project home/me/code/repo/packages/.agents/skills',
        'project home/me/code/repo/packages/.claude/skills',
        'project home/me/code/repo/.agent/skills',
        'project home/me/code/repo/.agents/skills',
        'project home/me/code/repo/.claude/skills',
        'user home/me/.agent/skills',
        'user home/me/.agents/skills',
        'user home/me/.claude/skills',
        'document-root docs/skills',
        'builtin builtin',
      ]);
      expect(roots.map(({ priority }) => priority)).toEqual(Array.from({ length: 19 }, (_, place) => 19 - place));
      expect(roots.map(({ explicit }) => explicit)).toEqual([
        ...Array<boolean>(5).fill(true),
        ...Array<boolean>(14).fill(false),
      ]);
      expect(diagnostics).toEqual([]);
    },
  );

  test('a vocabulary with one root has DOCUMENT_ROOT/skills, else the nearest of its folders', () => {
    const { base, home, repository, cwd } = makePlace();
    const input = { cwd, home, env: {}, conventions: false, projectFolders: ['skills'] } as const;
    const oneRoot = 'document-root';
    expect(shown(base, { ...input, oneRoot })).toEqual(['project home/me/code/repo/packages/one/skills']);
    mkdirSync(path.join(repository, 'skills'));
    expect(shown(base, { ...input, oneRoot })).toEqual(['project home/me/code/repo/skills']);
    const env = { DOCUMENT_ROOT: path.join(base, 'docs') };
    expect(shown(base, { ...input, env, oneRoot })).toEqual(['document-root docs/skills']);
    expect(shown(base, { ...input, env, oneRoot: 'project' })).toEqual(['project home/me/code/repo/skills']);
    expect(shown(base, { ...input, env })).toHaveLength(4);
  });

  test('a vocabulary with one root adds none to the roots that are named', () => {
    const { base, home, cwd } = makePlace();
    const input = { cwd, home, env: {}, conventions: false, projectFolders: ['skills'], oneRoot: 'project' } as const;
    const named = path.join(base, 'elsewhere');
    expect(shown(base, { ...input, cli: [named] })).toEqual(['option elsewhere']);
    expect(shown(base, { ...input, env: { SKILLS_ROOT: named } })).toEqual(['env elsewhere']);
    expect(shown(base, { ...input, extra: [{ source: 'project', path: named }] })).toEqual(['project elsewhere']);
    expect(shown(base, { ...input, extra: [named] })).toEqual([
      'config elsewhere',
      'project home/me/code/repo/packages/one/skills',
    ]);
  });

  test('a repository may be marked by a .git file; without one only the working directory counts', () => {
    const { base, home } = makePlace();
    const worktree = path.join(base, 'tree');
    mkdirSync(path.join(worktree, 'a'), { recursive: true });
    const project = (): number =>
      defaultRoots({ cwd: path.join(worktree, 'a'), home, env: {} }).roots.filter(({ source }) => source === 'project')
        .length;
    expect(project()).toBe(3);
    writeFileSync(path.join(worktree, '.git'), 'gitdir: elsewhere');
    expect(project()).toBe(6);
  });

  test('the home folder is no project, even as a repository; a folder above it is one only for who works there', () => {
    const { base, home, cwd } = makePlace();
    mkdirSync(path.join(home, '.git'));
    const sources = (from: string): readonly string[] =>
      defaultRoots({ cwd: from, home, env: {} }).roots.map(({ source }) => source);
    expect(sources(home)).toEqual(['user', 'user', 'user']);
    expect(sources(path.dirname(home))).toEqual([...Array<string>(3).fill('project'), 'user', 'user', 'user']);
    expect(sources(path.join(home, 'code'))).toEqual([...Array<string>(3).fill('project'), 'user', 'user', 'user']);
    expect(shown(base, { cwd, home, env: {} }).filter((line) => line.startsWith('project'))).toHaveLength(9);
  });

  test.each(['skills', ''])('a link of the project to ~/.agents/%s leaves the skills there the user’s own', (name) => {
    const { base, home, repository } = makePlace();
    mkdirSync(path.join(home, '.agents/skills'), { recursive: true });
    mkdirSync(path.join(repository, '.agents'));
    symlinkSync(path.join(home, '.agents', name), path.join(repository, '.agents/skills'));
    const roots = shown(base, { cwd: repository, home, env: {} });
    expect(roots.filter((root) => root.includes('.agents'))).toEqual(['user home/me/.agents/skills']);
  });

  test('it works without a home folder, and a relative one is none', () => {
    const { cwd } = makePlace();
    for (const home of [undefined, '', 'relative']) {
      expect(new Set(defaultRoots({ cwd, home, env: {}, extra: ['~/x'] }).roots.map(({ source }) => source))).toEqual(
        new Set(['config', 'project']),
      );
    }
  });
});

test('a folder is of the project if it lies in it, with its links resolved, and not in a folder of the user', () => {
  const { home, repository, cwd } = makePlace();
  const own = path.join(home, '.agents/skills/mine');
  mkdirSync(own, { recursive: true });
  mkdirSync(path.join(repository, 'skills/real'), { recursive: true });
  symlinkSync(own, path.join(repository, 'skills/link'));
  symlinkSync('real', path.join(repository, 'skills/inner'));
  const isOwn = (folder: string): boolean => isOfProject(folder, { cwd, home });
  const skills = ['real', 'inner', 'link'].map((name) => isOwn(path.join(repository, 'skills', name)));
  expect([...skills, isOwn(own)]).toEqual([true, true, false, false]);
  expect([isOfProject(own, { cwd: home, home }), isOfProject(own, { cwd: path.dirname(home), home })]).toEqual([
    false,
    false,
  ]);
});

describe('roots somebody asked for', () => {
  test('an address or an archive is not supported and says so; a folder of such a name is a folder', () => {
    const { base, home, cwd } = makePlace();
    mkdirSync(path.join(base, 'unpacked.skill'));
    const list = [
      'https://example.com/skills',
      path.join(base, 'a.zip'),
      path.join(base, 'unpacked.skill'),
      '',
      'bad\0name',
    ];
    const { roots, diagnostics } = defaultRoots({
      cwd,
      home,
      env: { SKILLS_ROOT: list.slice(0, 4).join(path.delimiter) },
      extra: ['pack.tar.gz', 'bad\0name'],
    });
    expect(roots.filter(({ explicit }) => explicit).map(({ path: root }) => path.basename(root))).toEqual([
      'unpacked.skill',
    ]);
    expect(diagnostics.map(({ code, path: root }) => [code, root])).toEqual([
      ['root/not-supported', 'https://example.com/skills'],
      ['root/not-supported', path.join(base, 'a.zip')],
      ['root/not-supported', 'pack.tar.gz'],
      ['root/not-supported', 'bad\0name'],
    ]);
  });

  test('roots that are one folder on disk are one root, under the highest name', () => {
    const { base, home, cwd } = makePlace();
    mkdirSync(path.join(home, '.agents', 'skills'), { recursive: true });
    mkdirSync(path.join(home, '.claude'));
    symlinkSync('../.agents/skills', path.join(home, '.claude', 'skills'));
    const lines = shown(base, {
      cwd: base,
      home,
      env: {},
      cli: [path.join(home, '.agents/skills/'), path.join(cwd, '../one')],
    });
    expect(lines.filter((line) => line.includes('home/me/.'))).toEqual([
      'option home/me/.agents/skills',
      'user home/me/.agent/skills',
    ]);
  });
});

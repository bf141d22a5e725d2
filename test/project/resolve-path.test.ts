import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { resolvePath, type Purpose } from '../../src/project/resolve-path.ts';
import { isInside } from '../../src/platform/fs/paths.ts';
import { plant, placed, world, type World } from './support.ts';
import { runs } from '../property-runs.ts';

function outcome({ places }: World, text: string, purpose: Purpose = 'read'): string {
  const found = resolvePath(text, places, purpose);
  return found.type === 'refused' ? found.failure.code : found.shown;
}

describe('a path as a model wrote it', () => {
  test('resolves to root, relative path, display path and absolute path', () => {
    const here = world({ 'project/docs/x.md': 'x' });
    expect(resolvePath('./docs//x.md', here.places, 'read')).toEqual({
      type: 'resolved',
      place: 'project',
      root: here.places.project,
      relative: 'docs/x.md',
      shown: 'docs/x.md',
      absolute: path.join(here.places.project, 'docs/x.md'),
    });
    expect(resolvePath('skill://pdf/SKILL.md', here.places, 'read')).toEqual({
      type: 'resolved',
      place: 'skill',
      root: path.join(here.base, 'skills/pdf'),
      relative: 'SKILL.md',
      shown: 'skill://pdf/SKILL.md',
      absolute: path.join(here.base, 'skills/pdf/SKILL.md'),
    });
  });

  test('can name a file of the project, the workspace or a loaded skill', () => {
    const here = world();
    const { project, workspace } = here.places;
    expect(
      [
        '.',
        './',
        'a.txt',
        'workspace://',
        'workspace://work/b.txt',
        'skill://pdf',
        'skill://pdf/',
        project,
        `${project}/a.txt`,
        `${workspace}/work/b.txt`,
        `${here.base}/skills/pdf/SKILL.md`,
      ].map((text) => outcome(here, text)),
    ).toEqual([
      '.',
      '.',
      'a.txt',
      'workspace://',
      'workspace://work/b.txt',
      'skill://pdf/',
      'skill://pdf/',
      '.',
      'a.txt',
      'workspace://work/b.txt',
      'skill://pdf/SKILL.md',
    ]);
  });

  test('is refused if it leads outside, hides characters or is ambiguous', () => {
    const here = world();
    const cases: Readonly<Record<string, string>> = {
      '': 'path/empty',
      '  ': 'path/empty',
      '../secret/key.txt': 'path/parent',
      'a/../../secret/key.txt': 'path/parent',
      '..': 'path/parent',
      '~/.ssh/id_rsa': 'path/absolute',
      'file:///etc/passwd': 'path/absolute',
      'https://example.org/': 'path/absolute',
      'C:/Windows': 'path/absolute',
      'WORKSPACE://work/b.txt': 'path/absolute',
      'a\\b': 'path/backslash',
      'a\0.txt': 'path/control-character',
      'a\n.txt': 'path/control-character',
      'a\u202e.txt': 'path/control-character',
      'a\u200b.txt': 'path/control-character',
      '%2e%2e/secret': 'path/encoded',
      '%252e%252e%252fsecret': 'path/encoded',
      '/': 'path/outside',
      '//': 'path/outside',
      '/etc/passwd': 'path/outside',
      '/proc/self/root/etc/passwd': 'path/outside',
      [`${here.base}/secret/key.txt`]: 'path/outside',
      [`${here.base}/projectile`]: 'path/outside',
      [`${here.places.project}/../secret/key.txt`]: 'path/parent',
      'workspace:///etc/passwd': 'path/absolute',
      'workspace://../secret/key.txt': 'path/parent',
      'skill://pdf/../secret': 'path/parent',
      'skill://other/SKILL.md': 'skill/not-loaded',
      'skill://': 'skill/not-loaded',
      'skill://../SKILL.md': 'skill/not-loaded',
      'none.txt': 'file/missing',
      'a.txt/b': 'file/missing',
      ['x'.repeat(300)]: 'path/too-long',
    };
    expect(Object.fromEntries(Object.keys(cases).map((text) => [text, outcome(here, text)]))).toEqual(cases);
    expect(resolvePath('workspace://x', { project: here.places.project, skills: [] }, 'read')).toMatchObject({
      failure: { code: 'path/outside' },
    });
  });

  test('is resolved through its links', () => {
    const here = world({
      'project/docs/guide.md': 'guide',
      'project/private/plan.md': 'plan',
      'project/docs/innocent.md': '-> ../private/plan.md',
      'project/shelf': '-> docs',
      'project/chain': '-> shelf/innocent.md',
    });
    plant(here.places.project, { 'home.md': `-> ${here.places.project}/docs/guide.md` });
    plant(here.places.project, { itself: `-> ${here.places.project}` });
    expect(
      ['docs/innocent.md', 'shelf/guide.md', 'chain', 'home.md', 'itself', 'itself/itself/docs/guide.md'].map((text) =>
        outcome(here, text),
      ),
    ).toEqual(['private/plan.md', 'docs/guide.md', 'private/plan.md', 'docs/guide.md', '.', 'docs/guide.md']);
  });

  test('does not reveal whether a file outside exists', () => {
    const here = world({
      'project/there': '-> ../secret/key.txt',
      'project/not-there': '-> ../secret/none.txt',
      'project/far': '-> /etc/passwd',
      'project/farther': '-> /etc/no-such-file',
      'project/up': '-> ..',
      'project/loop': '-> pool',
      'project/pool': '-> loop',
    });
    const ways = ['there', 'not-there', 'far', 'farther', 'up', 'up/secret/key.txt', 'up/secret/none.txt'];
    expect(ways.map((text) => [outcome(here, text), outcome(here, text, 'write')])).toEqual(
      ways.map(() => ['path/link-outside', 'path/link-outside']),
    );
    expect(outcome(here, 'loop')).toBe('path/link-loop');
  });

  test('is found by real path if it is absolute, in the innermost root', () => {
    const here = world({ 'project/.skills/own/SKILL.md': 'own' });
    symlinkSync(here.places.project, path.join(here.base, 'alias'));
    const places = {
      ...here.places,
      skills: [{ name: 'own', dir: path.join(here.places.project, '.skills/own') }],
    };
    const shown = (text: string): string => outcome({ ...here, places }, text);
    expect(shown(`${here.base}/alias/a.txt`)).toBe('a.txt');
    expect(shown(`${here.places.project}/.skills/own/SKILL.md`)).toBe('skill://own/SKILL.md');
    // A place may be given by the name of a link to it.
    const byAlias = { ...places, project: path.join(here.base, 'alias') };
    expect(resolvePath(`${here.places.project}/a.txt`, byAlias, 'read')).toMatchObject({ shown: 'a.txt' });
    expect(resolvePath('a.txt', byAlias, 'read')).toMatchObject({ root: here.places.project });
  });
});

describe('a path to write to', () => {
  test('need not exist; the links of its existing part are resolved', () => {
    const here = world({ 'project/real/x': 'x', 'project/link': '-> real', 'project/dangling': '-> real/to-come.md' });
    expect(
      ['new.txt', 'link/deep/new.txt', 'dangling', 'workspace://work/new', 'workspace://out/new/x'].map((text) =>
        outcome(here, text, 'write'),
      ),
    ).toEqual(['new.txt', 'real/deep/new.txt', 'real/to-come.md', 'workspace://work/new', 'workspace://out/new/x']);
  });

  test('names a file: a path that ends like that of a folder is refused, and can be read', () => {
    const here = world({ 'project/d/x': 'x' });
    const folders = ['new/', 'new/.', 'd/', 'a.txt/', 'workspace://work/d/'];
    expect(folders.map((text) => outcome(here, text, 'write'))).toEqual(folders.map(() => 'file/directory'));
    expect(outcome(here, 'd/')).toBe('d');
  });

  test('is refused in skills, by any name, and in the workspace outside of work/ and out/', () => {
    const here = world({ 'project/.skills/own/SKILL.md': 'own', 'project/way': '-> .skills/own' });
    const places = {
      ...here.places,
      skills: [...here.places.skills, { name: 'own', dir: path.join(here.places.project, '.skills/own') }],
    };
    expect(
      [
        'skill://pdf/SKILL.md',
        'skill://pdf/new.md',
        '.skills/own/SKILL.md',
        'way/new.md',
        'workspace://metadata.json',
        'workspace://work',
        'workspace://skills/pdf/SKILL.md',
        '.',
        'a.txt/below',
      ].map((text) => outcome({ ...here, places }, text, 'write')),
    ).toEqual([...Array.from({ length: 7 }, () => 'file/unwritable'), 'file/directory', 'file/exists']);
  });
});

test('every resolved path lies below its root', () => {
  const here = world({ 'project/docs/x.md': 'x', 'project/out': '-> ../secret', 'project/in': '-> docs' });
  mkdirSync(path.join(here.places.project, 'deep/er'), { recursive: true });
  writeFileSync(path.join(here.places.project, 'deep/er/f'), '');
  const part = fc.constantFrom('..', '.', '', 'docs', 'x.md', 'out', 'in', 'deep', 'er', 'f', 'key.txt', '~', '%2e%2e');
  const start = fc.constantFrom('', '/', 'workspace://', 'skill://pdf/', `${here.places.project}/`, `${here.base}/`);
  fc.assert(
    fc.property(start, fc.array(part, { maxLength: 6 }), fc.constantFrom('read', 'write'), (head, parts, purpose) => {
      const found = resolvePath(head + parts.join('/'), here.places, purpose);
      if (found.type === 'refused') return;
      expect(isInside(found.absolute, found.root)).toBe(true);
      expect(found.absolute).not.toContain('secret');
      // What is placed is placed again at the same place: rules see one name for one file.
      expect(placed(here, found.shown, purpose)).toEqual(found);
    }),
    { numRuns: runs(500) },
  );
});

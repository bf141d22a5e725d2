import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readForeignLock, readOpenSkillsEntry } from '../../../src/packs/lock/foreign-lock.ts';

const HASH = '7668c28d1103dc0532ebcd3140dc1afb8345a7bffbe498032a28592fbd5a0a23';
const project = (skills: object): string => JSON.stringify({ version: 1, skills });
const person = (skills: object): string => JSON.stringify({ version: 3, skills, dismissed: {} });
const one = (entry: object) => {
  const lock = readForeignLock(project({ pdf: entry }));
  return lock.type === 'refused' ? lock : (lock.skills[0] ?? lock.unread[0]?.reason);
};

describe('readForeignLock', () => {
  test('reads the lock of a project', () => {
    const text = project({
      xlsx: {
        source: 'anthropics/skills',
        ref: 'v1',
        sourceType: 'github',
        skillPath: 'skills/xlsx/SKILL.md',
        computedHash: HASH,
      },
      pdf: { source: '/home/me/skills', sourceType: 'local', computedHash: HASH },
    });
    expect(readForeignLock(text)).toEqual({
      type: 'read',
      scope: 'project',
      skills: [
        {
          name: 'pdf',
          source: '/home/me/skills',
        },
        {
          name: 'xlsx',
          source: 'github:anthropics/skills#v1',
          folder: 'skills/xlsx',
        },
      ],
      unread: [],
    });
  });

  test('reads a user lock with git ids', () => {
    const text = person({
      pdf: {
        source: 'owner/repo',
        sourceType: 'github',
        sourceUrl: 'https://github.com/owner/repo.git',
        skillPath: 'pdf/SKILL.md',
        skillFolderHash: 'a'.repeat(40),
        installedAt: '2026-01-01T00:00:00.000Z',
        updatedAt: '2026-01-01T00:00:00.000Z',
      },
    });
    expect(readForeignLock(text)).toEqual({
      type: 'read',
      scope: 'person',
      skills: [
        {
          name: 'pdf',
          source: 'github:owner/repo',
          folder: 'pdf',
        },
      ],
      unread: [],
    });
  });

  test.each([
    [
      { source: 'o/r', sourceType: 'github', skillPath: 'SKILL.md' },
      { name: 'pdf', source: 'github:o/r' },
    ],
    [
      { source: 'o/r', sourceType: 'gitlab', sourceUrl: 'https://git.example/o/r.git', ref: 'main' },
      { name: 'pdf', source: 'git+https://git.example/o/r.git#main' },
    ],
    [
      { source: 'git@host.example:o/r.git', sourceType: 'git' },
      { name: 'pdf', source: 'git@host.example:o/r.git' },
    ],
    [
      { source: 'docs.example', sourceType: 'well-known', computedHash: '' },
      {
        name: 'pdf',
        source: 'well-known:https://docs.example',
      },
    ],
    [
      { source: 'https://docs.example/a', sourceUrl: 'https://docs.example/a', sourceType: 'well-known' },
      { name: 'pdf', source: 'well-known:https://docs.example/a' },
    ],
    [
      {
        source: 'docs.example',
        sourceUrl: 'https://docs.example/x',
        sourceBaseUrl: 'https://docs.example/a',
        sourceType: 'well-known',
      },
      { name: 'pdf', source: 'well-known:https://docs.example/a' },
    ],
    [
      { source: 'file:///srv/r', sourceUrl: 'file:///srv/r', sourceType: 'git', skillPath: 'skills/pdf/SKILL.md' },
      { name: 'pdf', source: 'file:///srv/r', folder: 'skills/pdf' },
    ],
    [
      { source: '..', sourceType: 'local' },
      { name: 'pdf', source: '..' },
    ],
    [
      { source: '@scope/skills', sourceType: 'node_modules', computedHash: 'not hex' },
      {
        name: 'pdf',
        source: 'npm:@scope/skills',
      },
    ],
  ])('%j is a source here', (entry, skill) => {
    expect(one(entry)).toEqual(skill);
  });

  test.each([
    [{ source: 'o/r', sourceType: 'git' }, 'the file does not contain the address of its repository, only "o/r"'],
    [{ sourceType: 'github' }, 'its entry has no source'],
    [{ source: 'o/r', sourceType: 'notion' }, 'unknown source type: "notion"'],
    [
      { source: 'o/r', sourceType: 'github', skillPath: '../../x/SKILL.md' },
      'its path "../../x/SKILL.md" is outside of the source',
    ],
    [
      { source: 'o/r', sourceType: 'github', ref: '--upload-pack=x' },
      '"--upload-pack=x" is not a valid branch, tag or commit',
    ],
    [{ source: 'o/r', sourceType: 'github', ref: 'a:b' }, '"a:b" is not a valid branch, tag or commit'],
    [
      { source: 'ext::sh -c x', sourceType: 'git' },
      'the file does not contain the address of its repository, only "ext::sh -c x"',
    ],
    [{ source: 'o/r\u001b]0;x\u0007', sourceType: 'github' }, 'its entry has invisible characters or is too long'],
    [{ source: 'x"; touch y; "', sourceType: 'node_modules' }, '"x"; touch y; "" is not a valid package name'],
    [{ source: 'evil/../..', sourceType: 'local' }, '"evil/../.." is not a path'],
    [{ source: 7 }, 'its entry has no source'],
  ])('%j is reported and skipped', (entry, reason) => {
    expect(one(entry)).toBe(reason);
  });

  test('an invalid entry does not affect the others, and prototype property names are valid names', () => {
    const lock = readForeignLock(
      '{"version": 1, "skills": {"__proto__": {"source": "o/r"}, "a": null, "../x": {}, "b": {"source": "o/r"}}}',
    );
    expect(lock).toEqual({
      type: 'read',
      scope: 'project',
      skills: [
        { name: '__proto__', source: 'github:o/r' },
        { name: 'b', source: 'github:o/r' },
      ],
      unread: [
        { name: '../x', reason: '"../x" is not a valid skill name' },
        { name: 'a', reason: 'its entry is not an object' },
      ],
    });
  });

  test.each([
    ['', 'the file is not valid JSON'],
    ['[]', 'the file is not a JSON object'],
    ['{"version": 1}', 'the file has no "skills" object'],
    ['{"version": 2, "skills": {}}', 'the file has version 2, expected 1 (project) or 3 (user)'],
    ['{"skills": {}}', 'the file has version none, expected 1 (project) or 3 (user)'],
    ['{\n<<<<<<< HEAD\n}', 'the file has unresolved merge conflicts'],
    [' '.repeat(9_000_000), 'the file has more than 8388608 characters'],
  ])('%j refuses the whole file', (text, message) => {
    expect(readForeignLock(text)).toMatchObject({ type: 'refused', code: 'lock/invalid', message });
  });

  test.each([
    [
      {
        source: 'https://git.example/o/r.git',
        sourceType: 'git',
        repoUrl: 'https://git.example/o/r.git',
        subpath: 'skills/pdf',
      },
      { name: 'pdf', source: 'git+https://git.example/o/r.git', folder: 'skills/pdf' },
    ],
    [
      { source: 'o/r/pdf', sourceType: 'git', repoUrl: 'https://github.com/o/r', subpath: 'pdf' },
      { name: 'pdf', source: 'git+https://github.com/o/r', folder: 'pdf' },
    ],
    [
      { source: './all', sourceType: 'local', localPath: '/home/me/all/pdf' },
      {
        name: 'pdf',
        source: '/home/me/all/pdf',
      },
    ],
    [
      { sourceType: 'git', repoUrl: 'x"; touch PWNED; "' },
      'the file does not contain the address of its repository, only "x"; touch PWNED; ""',
    ],
    [{ sourceType: 'git', repoUrl: 'https://h/o/r', subpath: '../..' }, 'its path "../.." is outside of the source'],
    [{ sourceType: 'local' }, 'its entry has no source'],
    [[], 'its .openskills.json is not a JSON object'],
  ])('%j of openskills', (entry, skill) => {
    expect(readOpenSkillsEntry('pdf', JSON.stringify(entry))).toEqual(skill);
  });

  test('never throws for any JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (skills) => {
        expect(['read', 'refused']).toContain(readForeignLock(project(skills)).type);
      }),
    );
  });
});

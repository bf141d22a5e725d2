import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import {
  indexSkills,
  type IndexInput,
  type SkillCandidate,
  type SkillIndex,
} from '../../../src/skills/registry/index-skills.ts';
import { nearestNames, resolveSkill } from '../../../src/skills/registry/resolve-skill.ts';
import { VISIBILITIES, type SkillRoot, type Visibility } from '../../../src/core/skill.ts';
import { verifies } from '../../conformance/verifies.ts';

const PROJECT: SkillRoot = { source: 'project', path: '/p', priority: 2, explicit: false };
const USER: SkillRoot = { source: 'user', path: '/u', priority: 1, explicit: false };

interface Made {
  readonly root?: SkillRoot;
  readonly group?: string;
  readonly folder?: string;
  readonly version?: string;
  readonly mtimeMs?: number;
  readonly sameAs?: string;
}

function candidate(
  name: string,
  { root = PROJECT, group = '', folder = name, version, mtimeMs = 1, sameAs }: Made = {},
): SkillCandidate {
  return {
    head: {
      name,
      description: `About ${name}.`,
      controls: { disableModelInvocation: false, userInvocable: true, runMode: 'inline' },
      meta: version === undefined ? {} : { version },
    },
    root,
    name: folder,
    dir: [root.path, group, folder].filter((part) => part !== '').join('/'),
    file: 'SKILL.md',
    group,
    digest: `sha256:${name}`,
    mtimeMs,
    sameAs,
  };
}

function index(
  candidates: readonly SkillCandidate[],
  visibility: Readonly<Record<string, Visibility>> = {},
): SkillIndex {
  const input: IndexInput = {
    candidates,
    diagnostics: [],
    facts: { roots: [], leftOut: [], directories: 0, bytesRead: 0, fromCache: 0, cache: { status: 'off' } },
    visibility,
    elapsed: () => 0,
  };
  return indexSkills(input);
}

describe('conflicts', () => {
  verifies(
    ['REG-6'],
    'the higher root wins and the other one is reported with version, source, path and reason',
    () => {
      const { skills, shadowed } = index([
        candidate('pdf', { root: USER, version: '2.0', mtimeMs: 99 }),
        candidate('pdf'),
      ]);
      expect(skills.map(({ id }) => id)).toEqual(['project/pdf']);
      expect(shadowed).toEqual([
        { name: 'pdf', source: 'user', version: '2.0', dir: '/u/pdf', by: '/p/pdf', reason: 'higher-root' },
      ]);
    },
  );

  verifies(['REG-6'], 'inside one root the later modification wins, and the first path where both are equal', () => {
    const { skills, shadowed } = index([
      candidate('a', { group: 'x', mtimeMs: 5 }),
      candidate('a', { group: 'y', mtimeMs: 9 }),
      candidate('b', { group: 'y' }),
      candidate('b', { group: 'x' }),
    ]);
    expect(skills.map(({ dir }) => dir)).toEqual(['/p/y/a', '/p/x/b']);
    expect(shadowed.map(({ dir, by, reason }) => [dir, by, reason])).toEqual([
      ['/p/x/a', '/p/y/a', 'newer-in-root'],
      ['/p/y/b', '/p/x/b', 'first-path'],
    ]);
  });

  test('names that differ in case or Unicode composition only are one name', () => {
    expect(
      index([candidate('Caf\u00e9'), candidate('cafe\u0301', { root: USER })]).skills.map(({ source }) => source),
    ).toEqual(['project']);
  });

  test('names of one root that differ in case are two skills, and only their spelling finds them', () => {
    const made = index([
      candidate('demo'),
      candidate('Demo', { mtimeMs: 99 }),
      candidate('demo', { root: USER }),
      candidate('DEMO', { root: USER }),
    ]);
    expect(made.skills.map(({ dir }) => dir)).toEqual(['/p/Demo', '/p/demo']);
    expect(made.shadowed.map(({ dir, by, reason }) => [dir, by, reason])).toEqual([
      ['/u/DEMO', '/p/Demo', 'higher-root'],
      ['/u/demo', '/p/demo', 'higher-root'],
    ]);
    const found = (reference: string): string | undefined => resolveSkill(made, reference)?.dir;
    expect(['demo', 'Demo', 'DEMO', 'project/demo', 'project/DEMO', 'user/DEMO', 'user/Demo'].map(found)).toEqual([
      '/p/demo',
      '/p/Demo',
      undefined,
      '/p/demo',
      undefined,
      '/u/DEMO',
      undefined,
    ]);
  });

  test('the same folder met again is shadowed by its first sight and not counted as found', () => {
    const { shadowed, report } = index([candidate('a'), candidate('a', { root: USER, sameAs: '/p/a' })]);
    expect(shadowed.map(({ by, reason }) => [by, reason])).toEqual([['/p/a', 'same-directory']]);
    expect([report.found, report.valid]).toEqual([1, 1]);
  });
});

describe('order and hash', () => {
  test('skills are in code unit order whatever the order they were found in', () => {
    const made = ['b', 'a', 'B', 'ä', 'a-1', 'a1'].map((name) => candidate(name));
    const names = index(made).skills.map(({ name }) => name);
    expect(names).toEqual(['B', 'a', 'a-1', 'a1', 'b', 'ä']);
    expect(index(made.toReversed()).indexHash).toBe(index(made).indexHash);
  });

  test('the hash changes with digest, place and state, and not with where the root is', () => {
    const plain = index([candidate('a')]).indexHash;
    expect(index([{ ...candidate('a'), digest: 'sha256:other' }]).indexHash).not.toBe(plain);
    expect(index([candidate('a', { group: 'g' })]).indexHash).not.toBe(plain);
    expect(index([candidate('a')], { a: 'pinned' }).indexHash).not.toBe(plain);
    expect(index([candidate('a', { root: { ...PROJECT, path: '/elsewhere' } })]).indexHash).toBe(plain);
  });

  test('the hash is that of one text with a line for each skill, however many there are', () => {
    const names = Array.from({ length: 500 }, (_, number) => `skill-${String(number).padStart(3, '0')}-é`);
    const text = names.map((name) => `0\0project\0\0${name}\0SKILL.md\0sha256:${name}\0auto\n`).join('');
    const hash = createHash('sha256').update(text).digest('hex');
    expect(index(names.map((name) => candidate(name))).indexHash).toBe(`sha256:${hash}`);
  });

  test('an index of nothing is an index', () => {
    expect(index([])).toMatchObject({ skills: [], all: [], shadowed: [], report: { found: 0, valid: 0 } });
  });
});

describe('visibility', () => {
  verifies(['REG-11'], 'a state is given by name, by source and name, or by glob; the more exact one counts', () => {
    const made = [candidate('pdf-forms'), candidate('pdf-merge'), candidate('zip'), candidate('zip', { root: USER })];
    const { all, report } = index(made, {
      'pdf-*': 'name-only',
      'PDF-merge': 'pinned',
      'user/zip': 'disabled',
      'user/*': 'manual',
      'no-such': 'required',
      '*': 'required',
    });
    expect(all.map(({ id, state }) => [id, state])).toEqual([
      ['project/pdf-forms', 'name-only'],
      ['project/pdf-merge', 'pinned'],
      ['project/zip', 'required'],
      ['user/zip', 'disabled'],
    ]);
    expect(report.unusedVisibility).toEqual(['no-such', 'user/*']);
  });

  test('a glob of many stars is no trap: it would take years by backtracking', () => {
    const { all } = index([candidate(`${'a'.repeat(64)}b`)], { [`${'*a'.repeat(40)}*c`]: 'pinned' });
    expect(all.map(({ state }) => state)).toEqual(['auto']);
  });
});

describe('addressing', () => {
  const made = index([
    candidate('pdf', { version: '2.0' }),
    candidate('pdf', { root: USER, version: '1.0' }),
    candidate('pdf', { group: 'acme/tools', mtimeMs: 0 }),
    candidate('Data Check', { group: 'acme' }),
    candidate('odd/name', { folder: 'odd' }),
  ]);
  const dir = (reference: string, source?: string): string | undefined => resolveSkill(made, reference, source)?.dir;

  verifies(
    ['REG-6', 'REG-10'],
    'a name, a source or a group with it, or an id finds the skill, whatever the case',
    () => {
      expect({
        name: dir('PDF'),
        id: dir('project/pdf@2.0'),
        shadowed: dir('USER/pdf'),
        source: dir('pdf', 'user'),
        version: dir('pdf@1.0'),
        group: dir('acme/tools/pdf'),
        organisation: dir('acme/pdf'),
        lastFolder: dir('tools/pdf'),
        sourceAndGroup: dir('project/acme/tools/pdf'),
        spaced: dir(' data check '),
        slashed: dir('odd/name'),
      }).toEqual({
        name: '/p/pdf',
        id: '/p/pdf',
        shadowed: '/u/pdf',
        source: '/u/pdf',
        version: '/u/pdf',
        group: '/p/acme/tools/pdf',
        organisation: '/p/acme/tools/pdf',
        lastFolder: '/p/acme/tools/pdf',
        sourceAndGroup: '/p/acme/tools/pdf',
        spaced: '/p/acme/Data Check',
        slashed: '/p/odd',
      });
    },
  );

  test('what is not there is not found', () => {
    const references = [
      '',
      '/',
      '@',
      'pd',
      'pdf@3.0',
      'other/pdf',
      'builtin/pdf',
      '/pdf',
      'pdf/',
      '../pdf',
      '__proto__',
      'x'.repeat(100_000),
      '/'.repeat(10_000),
    ];
    expect(references.filter((reference) => dir(reference) !== undefined)).toEqual([]);
    expect(dir('pdf', 'nobody')).toBeUndefined();
  });

  test('the nearest names are those a few edits away, case and qualifier aside', () => {
    const many = index(['pdf-forms', 'pdf-merge', 'csv-report', 'release-notes'].map((name) => candidate(name)));
    expect(nearestNames(many, 'user/PDF-from')).toEqual(['pdf-forms']);
    expect(nearestNames(many, 'pdf')).toEqual(['pdf-forms', 'pdf-merge']);
    expect(nearestNames(many, 'relase-note@1.0', 1)).toEqual(['release-notes']);
    expect(nearestNames(many, 'nothing like it at all')).toEqual([]);
  });
});

describe('what the author keeps from the model', () => {
  test('is for people only, unless a person requires or disables it', () => {
    const kept = { disableModelInvocation: true, userInvocable: true, runMode: 'inline' } as const;
    const state = (configured?: Visibility): string | undefined => {
      const found = candidate('kept');
      const made = index(
        [{ ...found, head: { ...found.head, controls: kept } }],
        configured === undefined ? {} : { kept: configured },
      );
      return made.skills[0]?.state;
    };
    expect([undefined, ...VISIBILITIES].map(state)).toEqual([
      'manual',
      'manual',
      'manual',
      'manual',
      'manual',
      'required',
      'disabled',
    ]);
  });
});

import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { CacheReport, SkillIndex } from '../../../src/skills/registry/index-skills.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { CACHE_FORMAT } from '../../../src/skills/registry/cache.ts';
import {
  buildIndex,
  cacheFileName,
  openRegistry,
  type RegistryOptions,
} from '../../../src/skills/registry/registry.ts';
import { verifies } from '../../conformance/verifies.ts';
import { rootsOf, scratch, settle, writeSkill } from './support.ts';

interface Place {
  readonly root: string;
  readonly cacheFile: string;
  readonly options: RegistryOptions;
}

/** A few skills of every kind, old enough to be cached. */
async function makePlace(): Promise<Place> {
  const base = scratch();
  const root = path.join(base, 'skills');
  writeSkill(path.join(root, 'plain'), { mtime: 1_700_000_000.5 });
  writeSkill(path.join(root, 'group', 'full'), {
    description: '中文 "quoted" \\ text',
    fields: [
      'license: MIT',
      'compatibility: any',
      'allowed-tools: [Read, Write]',
      'disallowed-tools: Bash(rm:*)',
      'metadata:',
      '  version: "1.0"',
      '  author: me',
      'odd: 1',
    ],
  });
  writeSkill(path.join(root, 'other'), { name: 'renamed' });
  writeSkill(path.join(root, 'group', 'plain'));
  writeSkill(path.join(root, 'colon'), { description: 'Use when: asked' });
  writeSkill(path.join(root, 'lower'), { file: 'skill.md' });
  writeSkill(path.join(root, 'silent'), { description: '' });
  mkdirSync(path.join(root, 'none'));
  writeFileSync(path.join(root, 'none', 'SKILL.md'), 'text');
  await settle();
  const cacheFile = path.join(base, 'cache', 'x.cache');
  return { root, cacheFile, options: { roots: rootsOf(['project', root]), cacheFile, visibility: { full: 'pinned' } } };
}

/** All an index says, without what is measured anew each time. */
function facts({ skills, all, shadowed, diagnostics, indexHash, report }: SkillIndex): object {
  const { durationMs: _time, bytesRead: _bytes, fromCache: _cached, cache: _cache, ...rest } = report;
  return { skills, all, shadowed, diagnostics, indexHash, report: rest };
}

const cacheOf = ({ report }: SkillIndex): CacheReport['status'] => report.cache.status;

describe('a cache file', () => {
  verifies(['REG-2'], 'restores exactly the index that reading produced, without reading a file', async () => {
    const { options } = await makePlace();
    const cold = await buildIndex(options);
    const warm = await buildIndex(options);
    expect(facts(warm)).toEqual(facts(cold));
    expect(JSON.stringify([warm.all, warm.diagnostics])).toBe(JSON.stringify([cold.all, cold.diagnostics]));
    expect(Object.getPrototypeOf(warm.skills.find(({ name }) => name === 'full')?.meta ?? {})).toBeNull();
    expect([cacheOf(cold), cacheOf(warm), warm.report.bytesRead, warm.report.fromCache]).toEqual([
      'rebuilt',
      'used',
      0,
      8,
    ]);
    expect({ ...warm }.skills).toEqual(cold.skills);
  });

  test('is written only after a change, readable only by its owner, and leaves no other file', async () => {
    const { options, cacheFile, root } = await makePlace();
    await buildIndex(options);
    const before = statSync(cacheFile);
    await buildIndex(options);
    expect(statSync(cacheFile).ino).toBe(before.ino);
    expect([before.mode & 0o777, readdirSync(path.dirname(cacheFile))]).toEqual([0o600, ['x.cache']]);
    writeSkill(path.join(root, 'new'));
    await settle();
    await buildIndex(options);
    expect(statSync(cacheFile).ino).not.toBe(before.ino);
  });

  test('is ignored and rebuilt if it is truncated, edited, foreign or a link', async () => {
    const { options, cacheFile } = await makePlace();
    const cold = facts(await buildIndex(options));
    const bytes = readFileSync(cacheFile);
    const elsewhere = path.join(path.dirname(cacheFile), 'theirs');
    writeFileSync(elsewhere, bytes);
    const edited = Buffer.from(bytes);
    edited.write('Fills', edited.indexOf('Does it'));
    const spoil: readonly (() => void)[] = [
      () => writeFileSync(cacheFile, bytes.subarray(0, bytes.length - 10)),
      () => writeFileSync(cacheFile, edited),
      () => writeFileSync(cacheFile, ''),
      () => writeFileSync(cacheFile, '{"skills": []}'),
      () => rmSync(cacheFile),
      () => {
        rmSync(cacheFile);
        symlinkSync(elsewhere, cacheFile);
      },
    ];
    for (const damage of spoil) {
      damage();
      const index = await buildIndex(options);
      expect(cacheOf(index)).toBe('rebuilt');
      expect(facts(index)).toEqual(cold);
      expect(cacheOf(await buildIndex(options))).toBe('used');
    }
    expect(readFileSync(elsewhere)).toEqual(bytes);
  });

  test('is ignored if it was written with other options or roots', async () => {
    const { options, root } = await makePlace();
    await buildIndex(options);
    expect(cacheOf(await buildIndex({ ...options, mode: 'strict' }))).toBe('rebuilt');
    const { cacheFile: _, ...uncached } = options;
    for (const changed of [
      { visibility: { plain: 'disabled' as const } },
      { maxDepth: 1 },
      { roots: rootsOf(['user', root]) },
    ]) {
      expect(facts(await buildIndex({ ...options, ...changed }))).toEqual(
        facts(await buildIndex({ ...uncached, ...changed })),
      );
      expect(cacheFileName({ ...options, ...changed })).not.toBe(cacheFileName(options));
    }
  });

  test('is optional: a scan works if the file cannot be written', async () => {
    const { options, cacheFile } = await makePlace();
    const file = path.join(cacheFile, 'below', 'a-file');
    mkdirSync(path.dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, 'a file where a folder should be');
    const index = await buildIndex({ ...options, cacheFile: file });
    expect(index.report.cache).toEqual({
      status: 'unwritable',
      path: file,
      reason: expect.stringContaining('cannot be written'),
    });
    expect(index.skills).toHaveLength(5);
  });

  test('removes temporary files of killed writers', async () => {
    const { options, cacheFile, root } = await makePlace();
    await buildIndex(options);
    const stale = path.join(path.dirname(cacheFile), '.x.cache.0123456789ab.tmp');
    writeFileSync(stale, 'half');
    utimesSync(stale, 1, 1);
    writeSkill(path.join(root, 'new'));
    await buildIndex(options);
    expect(readdirSync(path.dirname(cacheFile))).toEqual(['x.cache']);
  });
});

describe('a rescan notices', () => {
  const changes: Readonly<Record<string, (root: string) => void>> = {
    'a new skill': (root) => writeSkill(path.join(root, 'group', 'new')),
    'a removed skill': (root) => rmSync(path.join(root, 'plain'), { recursive: true }),
    'a removed file': (root) => rmSync(path.join(root, 'plain', 'SKILL.md')),
    'an edit': (root) => writeSkill(path.join(root, 'plain'), { description: 'Something else.' }),
    'an edit of the same size': (root) =>
      writeSkill(path.join(root, 'plain'), { description: 'Does IT. Use it to test.' }),
    'a file put in its place with the same size and time': (root) => {
      const file = path.join(root, 'plain', 'SKILL.md');
      const { atimeMs, mtimeMs } = statSync(file);
      rmSync(file);
      writeSkill(path.join(root, 'plain'), { description: 'Does IT. Use it to test.' });
      utimesSync(file, atimeMs / 1000, mtimeMs / 1000);
    },
    'a SKILL.md beside a skill.md': (root) => writeSkill(path.join(root, 'lower'), { description: 'The right one.' }),
    'a skill turned into a group': (root) => {
      rmSync(path.join(root, 'plain', 'SKILL.md'));
      writeSkill(path.join(root, 'plain', 'inner'));
    },
    'a fixed skill': (root) => writeSkill(path.join(root, 'silent')),
    'a file turned into a folder': (root) => {
      rmSync(path.join(root, 'plain', 'SKILL.md'));
      mkdirSync(path.join(root, 'plain', 'SKILL.md'));
    },
    'a folder turned into a link': (root) => {
      rmSync(path.join(root, 'plain'), { recursive: true });
      symlinkSync('group/plain', path.join(root, 'plain'));
    },
    'a broken link': (root) => symlinkSync('nowhere', path.join(root, 'broken')),
    'a lost root': (root) => rmSync(root, { recursive: true }),
  };

  for (const [name, change] of Object.entries(changes)) {
    verifies(['REG-2'], `${name}, by the cache file and in a live registry`, async () => {
      const { options, root } = await makePlace();
      const registry = await openRegistry(options);
      const before = registry.index;
      change(root);
      const { cacheFile: _, ...uncached } = options;
      const fresh = facts(await buildIndex(uncached));
      expect(fresh).not.toEqual(facts(before));
      const refreshed = await registry.refresh();
      expect(facts(refreshed)).toEqual(fresh);
      expect(facts(await buildIndex(options))).toEqual(fresh);
      await settle();
      expect(facts(await buildIndex(options))).toEqual(fresh);
      expect(facts(await registry.refresh())).toEqual(fresh);
    });
  }

  test('an edit within the same tick as the scan before it, its modification time put back', async () => {
    const { options, root } = await makePlace();
    const registry = await openRegistry(options);
    const file = path.join(root, 'other', 'SKILL.md');
    for (let round = 0; round < 40; round += 1) {
      const text = readFileSync(file, 'utf8').replace(
        /description: .*/,
        `description: Round ${String(round).padStart(4, '0')}.`,
      );
      const { atimeMs, mtimeMs } = statSync(file);
      writeFileSync(file, text);
      utimesSync(file, atimeMs / 1000, mtimeMs / 1000);
      const wanted = `Round ${String(round).padStart(4, '0')}.`;
      const seen = [await registry.refresh(), await buildIndex(options)].map(
        ({ skills }) => skills.find(({ name }) => name === 'renamed')?.description,
      );
      expect(seen).toEqual([wanted, wanted]);
    }
  });

  test('no change: the previous snapshot is returned', async () => {
    const { options } = await makePlace();
    const registry = await openRegistry(options);
    const before = registry.index;
    const after = await registry.refresh();
    expect(after.skills).toBe(before.skills);
    expect([after.report.bytesRead, after.report.fromCache]).toEqual([0, 8]);
  });
});

verifies(['REG-8'], 'a snapshot does not change when the disk does', async () => {
  const { options, root } = await makePlace();
  const registry = await openRegistry(options);
  const snapshot = registry.index;
  const before = JSON.stringify(facts(snapshot));
  writeSkill(path.join(root, 'plain'), { description: 'Changed.' });
  rmSync(path.join(root, 'other'), { recursive: true });
  const after = await registry.refresh();
  expect(JSON.stringify(facts(snapshot))).toBe(before);
  expect([registry.index === after, after.indexHash === snapshot.indexHash]).toEqual([true, false]);
});

test('a folder that may be searched but not listed still gives its skill', async () => {
  const { options, root } = await makePlace();
  chmodSync(path.join(root, 'other'), 0o311);
  const { skills } = await buildIndex(options);
  chmodSync(path.join(root, 'other'), 0o755);
  expect(skills.some(({ name }) => name === 'renamed')).toBe(true);
});

test('a change of heads or diagnostics requires a new CACHE_FORMAT', async () => {
  const root = path.join(scratch(), 'skills');
  const heads = [
    'name: a\ndescription: b: c',
    'name: "x"\ndescription: >-\n  folded\n  text',
    'description: d\nallowed-tools: A, B(c:*)\nmetadata:\n  a: 1\n  b: [2]',
    'name: A B\ndescription: <x>\nx: y\nrun-mode: subagent',
    'description: e\nallowed-tools: A B\ndisallowed-tools: B(c:*) D',
  ];
  for (const [number, head] of heads.entries()) {
    mkdirSync(path.join(root, `s${String(number)}`), { recursive: true });
    writeFileSync(path.join(root, `s${String(number)}`, 'SKILL.md'), `---\n${head}\n---\n`);
  }
  const { skills, diagnostics } = await buildIndex({ roots: rootsOf(['t', root]) });
  const seen = sha256(JSON.stringify({ skills, diagnostics }).replaceAll(root, ''));
  // If this fails, increase CACHE_FORMAT in src/skills/registry/cache.ts and update the hash.
  expect({ format: CACHE_FORMAT, seen: seen.slice(0, 16) }).toEqual({ format: 10, seen: '51beab1d8781da1a' });
});

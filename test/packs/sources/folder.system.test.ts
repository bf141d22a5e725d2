import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createHash } from 'node:crypto';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRefusal } from '../../../src/packs/problems.ts';
import { fingerprintFolder } from '../../../src/packs/root/present-files.ts';
import { readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { verifies } from '../../conformance/verifies.ts';
import { harvest, plant } from '../../platform/fs/tree-support.ts';
import { scratch } from '../../skills/registry/support.ts';
import { bring, mustBring, outcome, plantSource, skillText } from './bring-support.ts';
import { ARCHIVE_LIMITS } from '../../../src/core/config/config.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a folder as a source', () => {
  verifies(
    'PACK-6',
    'gives its skills with every file, exec bits, digests and names, and says what it left out',
    async () => {
      const source = plantSource({
        'README.md': 'not a skill',
        'skills/pdf/SKILL.md': skillText('pdf'),
        'skills/pdf/scripts/run.sh': { program: '#!/bin/sh\n' },
        'skills/pdf/empty': { folder: true },
        'skills/pdf/.gitignore': 'x',
        'skills/pdf/.env': 'KEY=1',
        'skills/pdf/.claude/settings.json': '{}',
        'skills/pdf/sub/SKILL.md': skillText('inner'),
        'skills/odd/SKILL.md': 'no frontmatter',
        'skills/small/skill.md': skillText('small'),
        '.git/config': 'x',
        '.claude/settings.json': '{}',
        '.skillwright/trash/old/SKILL.md': skillText('old'),
        'node_modules/dep/SKILL.md': skillText('dep'),
      });
      const { result, to } = await bring({ type: 'folder', path: source });
      const tree = path.join(to, 'tree');
      const lookAt = (folder: string): unknown => {
        const seen = fingerprintFolder(path.join(tree, folder));
        return isRefusal(seen) ? seen : seen.looks;
      };
      if (isRefusal(result)) throw new Error(result.message);
      expect({
        ...result,
        skills: result.skills.map((skill) => ({ ...skill, looks: skill.looks?.digest() })),
      }).toEqual({
        type: 'staged',
        resolved: { source, kind: 'folder' },
        folder: tree,
        unusable: [],
        skills: [
          {
            folder: 'skills/odd',
            path: path.join(tree, 'skills/odd'),
            name: 'odd',
            digest: expect.stringMatching(/^sha256-tree:/),
            files: { 'SKILL.md': { sha256: sha256('no frontmatter'), bytes: 14 } },
            looks: lookAt('skills/odd'),
            seen: {
              files: [{ path: 'SKILL.md', text: 'no frontmatter', isExecutable: false }],
              skillText: 'no frontmatter',
            },
          },
          {
            folder: 'skills/pdf',
            path: path.join(tree, 'skills/pdf'),
            name: 'pdf',
            digest: expect.stringMatching(/^sha256-tree:/),
            files: {
              '.gitignore': { sha256: sha256('x'), bytes: 1 },
              'SKILL.md': { sha256: sha256(skillText('pdf')), bytes: skillText('pdf').length },
              'scripts/run.sh': { sha256: sha256('#!/bin/sh\n'), bytes: 10, executable: true },
              'sub/SKILL.md': { sha256: sha256(skillText('inner')), bytes: skillText('inner').length },
            },
            looks: lookAt('skills/pdf'),
            seen: {
              files: [
                { path: '.gitignore', text: 'x', isExecutable: false },
                { path: 'SKILL.md', text: skillText('pdf'), isExecutable: false },
                { path: 'scripts/run.sh', text: '#!/bin/sh\n', isExecutable: true },
                { path: 'sub/SKILL.md', text: skillText('inner'), isExecutable: false },
              ],
              skillText: skillText('pdf'),
            },
          },
        ],
        leftOut: [
          '.git/: version control',
          '.skillwright/: not searched',
          'node_modules/: not searched',
          'node_modules/dep/SKILL.md: node_modules is not searched',
          'skills/small/skill.md: it must be called SKILL.md',
          'skills/pdf/.claude/: hidden folder',
          'skills/pdf/.env: hidden file',
          'skills/pdf/sub/SKILL.md: inside "skills/pdf", a file of that skill',
        ],
      });
      if (result.type !== 'staged') return;
      for (const { path: at, digest } of result.skills)
        expect(await readTreeDigest(at)).toMatchObject({ type: 'digest', digest });
      expect(Object.keys(harvest(tree)).filter((name) => name.startsWith('skills/pdf'))).toEqual([
        'skills/pdf/',
        'skills/pdf/.gitignore',
        'skills/pdf/SKILL.md',
        'skills/pdf/empty/',
        'skills/pdf/scripts/',
        'skills/pdf/scripts/run.sh',
        'skills/pdf/sub/',
        'skills/pdf/sub/SKILL.md',
      ]);
    },
  );

  test('may itself be the skill, and is called like its folder where it has no name', async () => {
    const source = plantSource({ 'SKILL.md': 'plain', 'manifest.json': '{}' });
    const { skills, manifest } = await mustBring({ type: 'folder', path: source });
    expect(skills.map(({ folder, name }) => ({ folder, name }))).toEqual([{ folder: '', name: 'source' }]);
    expect(Object.keys(skills[0]?.files ?? {})).toEqual(['SKILL.md', 'manifest.json']);
    expect(manifest).toBeUndefined();
  });

  test('gives names that need the YAML library', async () => {
    const source = plantSource({ 'a/SKILL.md': '---\n{ name: "quo\\u0074ed", description: d }\n---\n' });
    expect((await mustBring({ type: 'folder', path: source })).skills[0]?.name).toBe('quoted');
  });

  test('is found by a path from the home folder and from the folder at hand', async () => {
    const home = plantSource({ 'mine/SKILL.md': skillText('mine') });
    expect(await outcome({ type: 'folder', path: '~/mine' }, { home })).toEqual({ mine: ['SKILL.md'] });
    expect(await outcome({ type: 'folder', path: './mine' }, { cwd: home })).toEqual({ mine: ['SKILL.md'] });
  });

  test('with a manifest has it beside its skills, with its signature', async () => {
    const source = plantSource({
      'a/SKILL.md': skillText('a'),
      'manifest.json': '{"files":{}}',
      'manifest.json.minisig': 'untrusted comment: x\n',
    });
    const { manifest, signature, folder } = await mustBring({ type: 'folder', path: source });
    expect({ manifest, signature }).toEqual({
      manifest: path.join(folder, 'manifest.json'),
      signature: { of: 'manifest', text: 'untrusted comment: x\n', payload: path.join(folder, 'manifest.json') },
    });
  });

  test('is copied with plain permissions, whatever the mask of the process and the modes of the source', async () => {
    const source = plantSource({ 'SKILL.md': skillText('a'), 'run.sh': { program: 'x' } });
    chmodSync(path.join(source, 'run.sh'), 0o4711);
    const mask = process.umask(0o077);
    try {
      const { folder } = await mustBring({ type: 'folder', path: source });
      const modeOf = (file: string): number => statSync(path.join(folder, file)).mode & 0o7777;
      expect([modeOf('SKILL.md'), modeOf('run.sh')]).toEqual([0o644, 0o755]);
    } finally {
      process.umask(mask);
    }
  });
});

test('whatever a skill has in it, the copy has the same or the source is refused, and nothing else is written', async () => {
  const part = fc.constantFrom('a', 'A', 'b.md', '.env', '.gitignore', 'é', 'x y', 'con', 'SKILL.md');
  const file = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const content = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constant({ program: 'x' }),
    fc.constant({ link: 'SKILL.md' }),
  );
  const trees = fc.array(fc.tuple(file, content), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(trees, async (entries) => {
      const source = mkdtempSync(path.join(tmpdir(), 'skillwright-source-'));
      try {
        const tree = Object.fromEntries(entries.filter(([name]) => !clashes(name, entries)));
        plant(source, { ...tree, 'SKILL.md': skillText('a') });
        const to = path.join(source, '.staging');
        mkdirSync(to);
        const { result } = await bring({ type: 'folder', path: source }, { to });
        const before = harvest(source);
        const isKept = (name: string): boolean =>
          !/(?:^|\/)(?:\.env|\.staging)(?:\/|$)|(?:^|\/)\.gitignore\//.test(name);
        const kept = Object.fromEntries(Object.entries(before).filter(([name]) => isKept(name)));
        if (result.type === 'staged') expect(harvest(result.folder)).toEqual(kept);
        else expect(result.code).toMatch(/^archive\/(?:link|collision|reserved-name)$/);
        expect(Object.keys(harvest(to)).filter((name) => !name.startsWith('tree/'))).toEqual([]);
      } finally {
        rmSync(source, { recursive: true });
      }
    }),
    { numRuns: 40 },
  );
});

/** One of the names is a file where another needs a folder. */
function clashes(name: string, entries: readonly (readonly [string, unknown])[]): boolean {
  return name.startsWith('SKILL.md/') || entries.some(([other]) => name.startsWith(`${other}/`));
}

describe('a folder that cannot be taken', () => {
  test('is refused for links in a skill, wherever they lead; of hard links those that stay inside are copied as bytes', async () => {
    const secret = path.join(scratch(), 'secret');
    writeFileSync(secret, 'TOPSECRET');
    const outside = plantSource({ 'a/SKILL.md': skillText('a'), 'a/x': { link: secret } });
    expect(await outcome({ type: 'folder', path: outside })).toBe('archive/link');
    const inside = plantSource({ 'a/SKILL.md': skillText('a'), 'a/x': { link: 'SKILL.md' } });
    expect(await outcome({ type: 'folder', path: inside })).toBe('archive/link');
    const folder = plantSource({ 'a/SKILL.md': skillText('a') });
    symlinkSync(path.dirname(secret), path.join(folder, 'a', 'dir'));
    expect(await outcome({ type: 'folder', path: folder })).toBe('archive/link');
    const body = plantSource({ 'a/SKILL.md': { link: secret } });
    expect(await outcome({ type: 'folder', path: body })).toBe('archive/link');
    const hard = plantSource({ 'a/SKILL.md': skillText('a') });
    linkSync(path.join(hard, 'a/SKILL.md'), path.join(hard, 'a/twice.md'));
    expect(await outcome({ type: 'folder', path: hard })).toEqual({ a: ['SKILL.md', 'twice.md'] });
    linkSync(path.join(hard, 'a/SKILL.md'), path.join(hard, 'outside.md'));
    expect(await outcome({ type: 'folder', path: hard })).toBe('archive/link');
  });

  test('does not lead out of itself where a skill folder is a link', async () => {
    const other = plantSource({ 'b/SKILL.md': skillText('b') });
    const source = plantSource({ 'a/SKILL.md': skillText('a') });
    symlinkSync(path.join(other, 'b'), path.join(source, 'b'));
    const { skills, leftOut } = await mustBring({ type: 'folder', path: source });
    expect([skills.map(({ name }) => name), leftOut]).toEqual([['a'], ['b/SKILL.md: behind a link']]);
  });

  test.each([
    ['archive/name', 'a/with\u202ebidi.md'],
    ['archive/name', 'a/line\nend.md'],
    ['archive/reserved-name', 'a/con.txt'],
    ['archive/reserved-name', 'a/dot.'],
    ['archive/reserved-name', 'a/long:y'],
    ['archive/backslash', 'a/x\\y'],
  ])('is refused as %s for the file %j', async (code, file) => {
    expect(await outcome({ type: 'folder', path: plantSource({ 'a/SKILL.md': skillText('a'), [file]: 'x' }) })).toBe(
      code,
    );
  });

  test('is refused for names that are one on other systems', async () => {
    const source = plantSource({ 'a/SKILL.md': skillText('a'), 'a/Read.md': 'x', 'a/read.md': 'y' });
    expect(await outcome({ type: 'folder', path: source })).toBe('archive/collision');
    const folders = plantSource({ 'a/SKILL.md': skillText('a'), 'a/É/x': 'x', 'a/e\u0301/y': 'y' });
    expect(await outcome({ type: 'folder', path: folders })).toBe('archive/collision');
  });

  test('is refused where it is too much', async () => {
    const tree = { 'a/SKILL.md': skillText('a'), 'a/b/c/d.md': 'x'.repeat(100) };
    const limited = async (limits: Partial<typeof ARCHIVE_LIMITS>) =>
      await outcome({ type: 'folder', path: plantSource(tree) }, { limits: { ...ARCHIVE_LIMITS, ...limits } });
    expect([
      await limited({ maxEntries: 3 }),
      await limited({ maxBytes: 150 }),
      await limited({ maxFileBytes: 99 }),
      await limited({ maxDepth: 2 }),
      await limited({ maxNameBytes: 6 }),
    ]).toEqual(['archive/too-many', 'archive/too-large', 'archive/too-large', 'archive/too-deep', 'archive/name']);
  });

  test('is refused where there is none, no skill or a device', async () => {
    expect(await outcome({ type: 'folder', path: '/no/such/folder' })).toBe('source/missing');
    expect(await outcome({ type: 'folder', path: import.meta.filename })).toBe('source/missing');
    const { result } = await bring({ type: 'folder', path: plantSource({ '.venv/skills/x/SKILL.md': 'x' }) });
    expect(result).toMatchObject({ code: 'pack/no-skill', message: expect.stringContaining('left out: .venv/') });
  });

  verifies('PACK-8', 'finds skills 32 folders down, and names those that are deeper', async () => {
    const deep = (count: number): string => `${'n/'.repeat(count - 1)}s${String(count)}`;
    const path = plantSource({
      [`${deep(8)}/SKILL.md`]: skillText('eight'),
      [`${deep(32)}/SKILL.md`]: skillText('limit'),
      [`${deep(33)}/SKILL.md`]: skillText('over'),
    });
    const { skills, leftOut } = await mustBring({ type: 'folder', path });
    expect(skills.map(({ name }) => name).toSorted()).toEqual(['eight', 'limit']);
    expect(leftOut).toEqual([`${deep(33)}/SKILL.md: more than 32 folders deep`]);
    const { result } = await bring({ type: 'folder', path: plantSource({ [`${deep(33)}/SKILL.md`]: 'x' }) });
    expect(result).toMatchObject({ code: 'pack/no-skill', message: expect.stringContaining(leftOut[0] ?? '') });
  });

  test('is a refusal where the staging folder cannot be written', async () => {
    const source = plantSource({ 'SKILL.md': skillText('a') });
    const to = mkdtempSync(path.join(scratch(), 'gone-'));
    mkdirSync(path.join(to, 'tree'));
    expect(await outcome({ type: 'folder', path: source }, { to })).toBe('source/failed');
  });

  test('ends when nobody waits any more', async () => {
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, place) => [`s${String(place)}/SKILL.md`, 'x']));
    const stop = new AbortController();
    const reason = new Error('enough');
    const bringing = bring(
      { type: 'folder', path: plantSource(many) },
      { signal: stop.signal, onProgress: ({ done }) => done === 4 && stop.abort(reason) },
    );
    await expect(bringing).rejects.toBe(reason);
  });
});

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { fingerprintFolder, pathsIn, presentBuffer, presentFiles } from '../../../src/packs/root/present-files.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { skillFiles, writeFiles } from './support.ts';

describe('what is present', () => {
  verifies('PACK-4', 'is every file with its hash, size and whether it is a program', () => {
    const folder = scratch();
    writeFiles(folder, { 'SKILL.md': 'text', 'scripts/run.sh!': '', 'a/b/c.bin': 'x'.repeat(300_000) });
    mkdirSync(path.join(folder, 'empty'));
    const tree = presentFiles(folder);
    expect(tree).toMatchObject({ type: 'present', bytes: 300_004, leftOut: [] });
    expect('files' in tree ? tree.files : tree).toEqual({
      'SKILL.md': { sha256: sha256('text'), bytes: 4 },
      'a/b/c.bin': { sha256: sha256('x'.repeat(300_000)), bytes: 300_000 },
      'scripts/run.sh': { sha256: sha256(''), bytes: 0, executable: true },
    });
  });

  test('has the same digest as readTreeDigest', async () => {
    const name = fc.stringMatching(/^[A-Za-zé0-9_-]{1,6}$/);
    const files = fc.dictionary(fc.array(name, { minLength: 1, maxLength: 3 }).map(pathOf), fc.string(), {
      maxKeys: 6,
    });
    const around = scratch();
    await fc.assert(
      fc.asyncProperty(files, async (texts) => {
        const folder = path.join(around, String(Math.random()));
        writeFiles(folder, texts);
        const [ours, theirs] = [presentFiles(folder), await readTreeDigest(folder)];
        expect('digest' in ours ? ours.digest : ours).toBe('digest' in theirs ? theirs.digest : theirs);
      }),
      { numRuns: 20 },
    );
  });

  test('reports links and pipes with an empty hash and does not follow them', () => {
    const folder = scratch();
    writeFiles(folder, { 'SKILL.md': 'text' });
    symlinkSync('/etc/passwd', path.join(folder, 'link'));
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    const tree = presentFiles(folder);
    expect('files' in tree ? tree.files : tree).toEqual({
      'SKILL.md': { sha256: sha256('text'), bytes: 4 },
      link: { sha256: '', bytes: 0 },
      pipe: { sha256: '', bytes: 0 },
    });
  });

  test('excludes .git and reports it', () => {
    const folder = scratch();
    writeFiles(folder, { 'SKILL.md': 'text', '.git/config': 'x', 'sub/.git': 'gitdir: x' });
    expect(presentFiles(folder)).toMatchObject({ leftOut: ['.git', 'sub/.git'] });
  });

  test('has a stable fingerprint until something changes', () => {
    const folder = scratch();
    writeFiles(folder, skillFiles('alpha', '1'));
    const tree = presentFiles(folder, { buffer: presentBuffer() });
    const looks = fingerprintFolder(folder);
    expect('looks' in tree ? tree.looks : tree).toBe('looks' in looks ? looks.looks : looks);
    chmodSync(path.join(folder, 'SKILL.md'), 0o755);
    expect(fingerprintFolder(folder)).not.toEqual(looks);
  });

  test('lists all paths to sync, the folder last', () => {
    const folder = scratch();
    writeFiles(folder, { 'SKILL.md': 'text', 'a/b.md': 'b' });
    expect(pathsIn(folder).map((place) => path.relative(folder, place))).toEqual(['SKILL.md', 'a/b.md', 'a', '']);
  });
});

describe('an unreadable folder', () => {
  test('is refused: a link, a file, nothing, names that are no text, more or deeper than allowed', () => {
    const folder = scratch();
    symlinkSync('/etc', path.join(folder, 'link'));
    writeFileSync(path.join(folder, 'file'), '');
    writeFiles(path.join(folder, 'full'), { a: '', b: '', 'c/d/e': '' });
    mkdirSync(path.join(folder, 'odd'));
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/odd/`), Buffer.from([0xff])]), '');
    for (const name of ['link', 'file', 'none', 'odd'])
      expect(presentFiles(path.join(folder, name))).toMatchObject({ type: 'refused', code: 'install/root' });
    expect(presentFiles(path.join(folder, 'full'), { maxEntries: 2 })).toMatchObject({ type: 'refused' });
    expect(presentFiles(path.join(folder, 'full'), { maxDepth: 1 })).toMatchObject({ type: 'refused' });
  });
});

const pathOf = (parts: readonly string[]): string =>
  parts.map((part, place) => `${part}${String(parts.length - place)}`).join('/');

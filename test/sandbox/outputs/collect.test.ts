import { appendFileSync, lstatSync, mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openFileArtifacts } from '../../../src/sandbox/artifacts/file-store.ts';
import { SkillError } from '../../../src/core/errors.ts';
import { compileGlob } from '../../../src/core/glob.ts';
import { type Collected, collectOutputs } from '../../../src/sandbox/outputs/collect.ts';
import type { SaveOutput } from '../../../src/sandbox/outputs/collect-read.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { makeWorkspace } from '../collect-support.ts';
import { nextChangeTime } from '../../../src/sandbox/execution/change-time.ts';

function names({ files }: Collected): readonly string[] {
  return files.map(({ name }) => name);
}

describe('files that a run left', () => {
  verifies(['EXEC-3', 'EXEC-5'], 'are given by name with kind, size, digest, reference and content', async () => {
    const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0);
    const latin = Uint8Array.of(0x66, 0xfc, 0x72, 0x0a);
    const { root } = makeWorkspace({
      'out/b.md': '# Grüße 𝒳\n',
      'out/a.png': png,
      'out/c.bin.txt': png,
      'out/d.txt': latin,
      'out/sub/e.json': '{}',
      'out/.hidden': 'x',
      'work/f.txt': 'f',
    });
    const collected = await collectOutputs(root, { globs: ['out/**', 'work/*.txt'], inline: true });
    const file = (name: string, mime: string, content: string | Uint8Array, isShown = true) => ({
      name,
      mime_type: mime,
      size_bytes: Buffer.from(content).length,
      ref: `workspace://${name}`,
      digest: `sha256:${sha256(content)}`,
      ...(isShown ? { content } : {}),
      truncated: false,
    });
    expect(collected).toEqual({
      files: [
        file('out/.hidden', 'text/plain', 'x'),
        file('out/a.png', 'image/png', png, false),
        file('out/b.md', 'text/markdown', '# Grüße 𝒳\n'),
        file('out/c.bin.txt', 'image/png', png, false),
        file('out/d.txt', 'text/plain', latin, false),
        file('out/sub/e.json', 'application/json', '{}'),
        file('work/f.txt', 'text/plain', 'f'),
      ],
      saved: [],
      skipped: [],
      warnings: ['"out/d.txt" is text, but not UTF-8, so its content is omitted'],
    });
  });

  test('are not shown unless asked for, but the first short text is given as the answer', async () => {
    const { root } = makeWorkspace({
      'out/a.bin': Uint8Array.of(0, 1, 2),
      'out/b.txt': 'x'.repeat(32 * 1024 + 1),
      'out/c.txt': '',
      'out/d.txt': 'the answer',
      'out/e.txt': 'later',
    });
    const collected = await collectOutputs(root, { globs: ['out/**'], showsPrimary: true });
    expect(collected.primary).toEqual({ ...collected.files[3], content: 'the answer' });
    expect(collected.files.filter((file) => 'content' in file)).toEqual([]);
    expect(names(collected)).toEqual(['out/a.bin', 'out/b.txt', 'out/c.txt', 'out/d.txt', 'out/e.txt']);
  });

  test('that match no pattern are left out, and a pattern without a match is reported', async () => {
    const { root } = makeWorkspace({ 'out/a.txt': 'a', 'work/b.txt': 'b', 'runs/1/c.txt': 'c' });
    const spec = { globs: ['out/a*', 'out/*.pdf', 'metadata.json', 'nowhere/**'] };
    expect(await collectOutputs(root, spec)).toMatchObject({
      files: [{ name: 'out/a.txt' }],
      warnings: ['no file matches "out/*.pdf"', 'no file matches "metadata.json"', 'no file matches "nowhere/**"'],
    });
    expect((await collectOutputs(root, { ...spec, isAutomatic: true })).warnings).toEqual([]);
  });

  test('that are hidden match a pattern that was asked for, and not a default one', async () => {
    const { root } = makeWorkspace({
      'out/.env': 'a',
      'out/.cache/b.txt': 'b',
      'out/c.txt': 'c',
      '.copies/d.txt': 'd',
    });
    const globs = ['**'];
    expect(names(await collectOutputs(root, { globs }))).toEqual(['out/.cache/b.txt', 'out/.env', 'out/c.txt']);
    expect(names(await collectOutputs(root, { globs, isAutomatic: true }))).toEqual(['out/c.txt']);
  });

  test('never include what the workspace itself holds at its top, nor skills unless they are named', async () => {
    const { root } = makeWorkspace({
      'out/a': 'a',
      'work/b': 'b',
      'runs/c': 'c',
      'skills/pdf/SKILL.md': 's',
      'home/pdf/key': 'k',
      'private/pdf/work/p': 'p',
      '.copies/run-1/c': 'c',
      'metadata.json': '{}',
    });
    const globs = ['**', '*', '*/**', 'home/**', 'private/**', '.copies/**', '.*/**', 'metadata.json', '{home,out}/**'];
    for (const glob of globs)
      expect([glob, names(await collectOutputs(root, { globs: [glob] }))]).toEqual([
        glob,
        ['out/a', 'runs/c', 'work/b'].filter((name) => compileGlob(glob).matches(name)),
      ]);
    expect(names(await collectOutputs(root, { globs: ['skills/pdf/*'] }))).toEqual(['skills/pdf/SKILL.md']);
  });

  test('are found anywhere in the workspace, once each', async () => {
    const { root } = makeWorkspace({ 'data/in/x.csv': 'x', 'top.csv': 't', 'out/a.csv': 'a' });
    const found = async (...globs: readonly string[]): Promise<unknown> => names(await collectOutputs(root, { globs }));
    expect(await found('data/**')).toEqual(['data/in/x.csv']);
    expect(await found('*.csv')).toEqual(['top.csv']);
    expect(await found('**/*.csv', 'out/*.csv', 'data/in/x.csv')).toEqual(['data/in/x.csv', 'out/a.csv', 'top.csv']);
  });

  test('include files of mounted skills, by their snapshots, where a pattern names them', async () => {
    const { root } = makeWorkspace({ 'out/a.md': 'a' });
    mkdirSync(path.join(root, 'skills/pdf'));
    const { root: snapshot } = makeWorkspace({ 'SKILL.md': 's', 'docs/USAGE.md': 'u' });
    const found = async (...globs: readonly string[]): Promise<unknown> =>
      names(await collectOutputs(root, { globs, skills: [{ name: 'pdf', snapshot }] }));
    expect(await found('skills/pdf/*.md')).toEqual(['skills/pdf/SKILL.md']);
    expect(await found('skills/**/*.md')).toEqual(['skills/pdf/SKILL.md', 'skills/pdf/docs/USAGE.md']);
    expect(await found('skills/other/*.md', '**/*.md')).toEqual(['out/a.md']);
  });

  test('leave out files of skills that no pattern names, and the result counts them', async () => {
    const { root: copied } = makeWorkspace({
      'out/a.md': 'a',
      'skills/pdf/SKILL.md': 's',
      'skills/pdf/docs/USAGE.md': 'u',
      'skills/pdf/run.sh': 'r',
    });
    const { root: mounted } = makeWorkspace({ 'out/a.md': 'a', 'skills/pdf/.keep': '' });
    const snapshot = path.join(copied, 'skills/pdf');
    const only = 'only patterns that begin with skills/ collect such files';
    const expected = [
      [['**'], [`3 files of skills match, and ${only}`]],
      [
        ['*/**/*.sh', 'out/**'],
        ['no file matches "*/**/*.sh"', `1 file of skills matches, and ${only}`],
      ],
      [['{out,skills}/**'], [`3 files of skills match, and ${only}`]],
      [['**', 'skills/*/*.md'], [`2 files of skills match, and ${only}`]],
      [['**', 'skills/**'], []],
      [['**/a.md'], []],
      [['out/**'], []],
    ] as const;
    for (const [globs, warnings] of expected) {
      const mount = [{ name: 'pdf', snapshot }];
      expect([globs, (await collectOutputs(mounted, { globs, skills: mount })).warnings]).toEqual([globs, warnings]);
      expect([globs, (await collectOutputs(copied, { globs })).warnings]).toEqual([globs, warnings]);
      const defaults = { globs, skills: mount, isAutomatic: true };
      expect((await collectOutputs(mounted, defaults)).warnings).toEqual([]);
    }
  });

  test('without a byte are left out where the run failed, with a word', async () => {
    const { root } = makeWorkspace({ 'out/a': '', 'out/b': 'b' });
    expect(await collectOutputs(root, { globs: ['out/*'], isFailedRun: true })).toMatchObject({
      files: [{ name: 'out/b' }],
      skipped: [{ name: 'out/a', size_bytes: 0, reason: 'empty' }],
      warnings: ['not collected (the file is empty and the run failed): "out/a"'],
    });
    expect(names(await collectOutputs(root, { globs: ['out/*'] }))).toEqual(['out/a', 'out/b']);
  });

  test('are not collected from a workspace that does not exist', async () => {
    const { root } = makeWorkspace();
    await expect(collectOutputs(path.join(root, 'gone'), { globs: ['out/*'] })).rejects.toMatchObject({
      code: 'workspace/invalid',
    });
    await expect(collectOutputs(root, { globs: ['out/*'] }, { signal: AbortSignal.abort() })).rejects.toThrow('abort');
  });
});

describe('limits', () => {
  verifies('EXEC-5', 'more files than may be collected are listed', async () => {
    const { root } = makeWorkspace(Object.fromEntries(['d', 'b', 'a', 'c'].map((name) => [`out/${name}`, name])));
    expect(await collectOutputs(root, { globs: ['out/*'], maxFiles: 2 })).toMatchObject({
      files: [{ name: 'out/a' }, { name: 'out/b' }],
      skipped: [
        { name: 'out/c', size_bytes: 1, reason: 'max-files' },
        { name: 'out/d', size_bytes: 1, reason: 'max-files' },
      ],
      warnings: ['not collected (the limit on the number of files is reached): "out/c", "out/d"'],
    });
  });

  verifies('EXEC-5', 'a file over the size limit is shown by its start, listed, and never saved', async () => {
    const { root } = makeWorkspace({ 'out/a.txt': 'line\n'.repeat(100), 'out/b.txt': 'b' });
    const kept: string[] = [];
    const save: SaveOutput = async ({ name }) => {
      kept.push(name);
      return { name, version: 0 };
    };
    const spec = { globs: ['out/*'], inline: true, maxFileBytes: 20, maxInlineCharacters: 10 };
    expect(await collectOutputs(root, spec, { save })).toMatchObject({
      files: [
        { name: 'out/a.txt', content: 'line\nline\n', truncated: true, size_bytes: 500 },
        { name: 'out/b.txt', content: 'b', truncated: false },
      ],
      saved: [{ name: 'out/b.txt', version: 0 }],
      skipped: [{ name: 'out/a.txt', size_bytes: 500, reason: 'max-file-bytes' }],
      warnings: [
        'cannot save truncated output file "out/a.txt"',
        'the content of "out/a.txt" is truncated; the whole file is "workspace://out/a.txt"',
        'collected in part (the file is larger than the limit and was not read completely): "out/a.txt"',
      ],
    });
    expect(kept).toEqual(['out/b.txt']);
  });

  verifies('EXEC-5', 'what all files together may have is held, and smaller ones still fit', async () => {
    const { root } = makeWorkspace({ 'out/a': '12345', 'out/b': '123456', 'out/c': '12345', 'out/d': '1' });
    expect(await collectOutputs(root, { globs: ['out/*'], maxTotalBytes: 10 })).toMatchObject({
      files: [{ name: 'out/a' }, { name: 'out/c' }],
      skipped: [
        { name: 'out/b', size_bytes: 6, reason: 'max-total-bytes' },
        { name: 'out/d', size_bytes: 1, reason: 'max-total-bytes' },
      ],
    });
  });

  test('shown texts are cut between characters, and all of them together have a limit', async () => {
    const { root } = makeWorkspace({ 'out/a.txt': '𝒳'.repeat(50_000), 'out/b.txt': 'y'.repeat(20), 'out/c.txt': 'z' });
    const spec = { globs: ['out/*'], inline: true, maxInlineCharacters: 10, maxFileBytes: 100, maxTotalBytes: 25 };
    const { files } = await collectOutputs(root, spec);
    expect(files.map(({ content, truncated }) => [content, truncated])).toEqual([
      ['𝒳'.repeat(10), true],
      ['y'.repeat(5), true],
      ['', true],
    ]);
    const large = await collectOutputs(root, { globs: ['out/a.txt'], inline: true });
    expect(large.files[0]?.content).toBe('𝒳'.repeat(50_000));
    const bound = await collectOutputs(root, { globs: ['out/b.txt'], inline: true, maxFileBytes: 7 });
    expect(bound.files[0]).toMatchObject({ content: 'y'.repeat(7), truncated: true });
  });

  test('shown texts together have the limit of all bytes, not that of a file', async () => {
    const sizes = { 'out/a.txt': 3_000_000, 'out/b.txt': 3_000_000, 'out/c.txt': 5 };
    const { root } = makeWorkspace(
      Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, 'x'.repeat(size)])),
    );
    const { files, warnings } = await collectOutputs(root, { globs: ['out/*'], inline: true });
    expect([files.map(({ name, content, truncated }) => [name, content?.length, truncated]), warnings]).toEqual([
      Object.entries(sizes).map(([name, size]) => [name, size, false]),
      [],
    ]);
  });

  test('files that were last changed before a time are not collected', async () => {
    const { root } = makeWorkspace({ 'out/old.txt': 'old' });
    const before = statSync(path.join(root, 'out/old.txt')).ctimeMs;
    const names = async (changedSince: number): Promise<readonly string[]> =>
      (await collectOutputs(root, { globs: ['out/*'], changedSince })).files.map(({ name }) => name);
    expect(await names(before)).toEqual(['out/old.txt']);
    expect(await names(before + 1)).toEqual([]);
  });

  test('a link from before that time is not reported again', async () => {
    const { root } = makeWorkspace({ 'work/inputs/a.txt': 'a' });
    const link = path.join(root, 'work/inputs/link.txt');
    symlinkSync('a.txt', link);
    const before = lstatSync(link).ctimeMs;
    const skipped = async (changedSince: number): Promise<readonly string[]> =>
      (await collectOutputs(root, { globs: ['work/**'], changedSince })).skipped.map(({ name }) => name);
    expect(await skipped(before)).toEqual(['work/inputs/link.txt']);
    expect(await skipped(before + 1)).toEqual([]);
  });

  test('more files from before that time than fit do not hide a new one', async () => {
    const old = Array.from({ length: 300 }, (_, at) => [`out/a${String(at)}.txt`, 'old'] as const);
    const { root } = makeWorkspace(Object.fromEntries(old));
    const marker = path.join(root, 'marker');
    writeFileSync(marker, '');
    const changedSince = await nextChangeTime(marker);
    writeFileSync(path.join(root, 'out/new.txt'), 'new');
    expect(await collectOutputs(root, { globs: ['out/**'], changedSince })).toMatchObject({
      files: [{ name: 'out/new.txt' }],
      skipped: [],
      warnings: [],
    });
  });

  test('a file with a hole of a terabyte costs nothing and is listed', async () => {
    const { root } = makeWorkspace({ 'out/hole': '' });
    truncateSync(path.join(root, 'out/hole'), 2 ** 40);
    expect(await collectOutputs(root, { globs: ['out/*'], inline: true })).toMatchObject({
      files: [{ name: 'out/hole', mime_type: 'application/octet-stream', size_bytes: 2 ** 40, truncated: true }],
      skipped: [{ name: 'out/hole', size_bytes: 2 ** 40, reason: 'max-file-bytes' }],
    });
  });
});

describe('saving', () => {
  const large = Buffer.alloc(300_000, 'large ');

  test('gets every byte of every whole file, and a store that refuses one does not spoil the rest', async () => {
    const { root } = makeWorkspace({ 'out/a': 'a', 'out/b': large, 'out/c': 'c' });
    const stored = new Map<string, string>();
    const save: SaveOutput = async ({ name, mediaType, chunks }) => {
      if (name === 'out/c')
        throw new SkillError({
          code: 'io/failed',
          message: 'the disk is full',
          hint: '',
          data: { path: '', cause: '' },
        });
      const pieces = [...chunks].map((chunk) => Buffer.from(chunk));
      stored.set(`${name} ${mediaType}`, sha256(Buffer.concat(pieces)));
      return { name: `kept/${name}`, version: 3 };
    };
    const collected = await collectOutputs(root, { globs: ['out/*'] }, { save });
    expect(collected).toMatchObject({
      files: [
        { digest: `sha256:${sha256('a')}` },
        { digest: `sha256:${sha256(large)}` },
        { digest: `sha256:${sha256('c')}` },
      ],
      saved: [
        { name: 'kept/out/a', version: 3 },
        { name: 'kept/out/b', version: 3 },
      ],
      warnings: ['"out/c" was not saved: the disk is full'],
    });
    expect([...stored]).toEqual([
      ['out/a text/plain', sha256('a')],
      ['out/b text/plain', sha256(large)],
    ]);
  });

  verifies(
    ['EXEC-5', 'EXEC-9'],
    'saves complete files as artifacts, a new version each time, and no truncated file',
    async () => {
      const { root } = makeWorkspace({ 'out/a': 'a', 'out/b': large, 'out/c': 'c'.repeat(300_001) });
      const store = openFileArtifacts(scratch());
      const save: SaveOutput = ({ name, mediaType, chunks }) => store.save(`reports/${name}`, chunks, { mediaType });
      const spec = { globs: ['out/*'], inline: true, maxFileBytes: 300_000 };
      await collectOutputs(root, spec, { save });
      expect((await collectOutputs(root, spec, { save })).saved).toEqual([
        { name: 'reports/out/a', version: 1 },
        { name: 'reports/out/b', version: 1 },
      ]);
      expect((await store.list()).map(({ name, digest }) => [name, digest])).toEqual([
        ['reports/out/a', `sha256:${sha256('a')}`],
        ['reports/out/b', `sha256:${sha256(large)}`],
      ]);
    },
  );

  test('is aborted and reported where the file grows meanwhile', async () => {
    const { root } = makeWorkspace({ 'out/a': large, 'out/b': 'b' });
    let attempts = 0;
    const save: SaveOutput = async ({ name, chunks }) => {
      if (name === 'out/a') attempts += 1;
      for (const chunk of chunks)
        if (name === 'out/a' && chunk.length > 0) appendFileSync(path.join(root, name), 'more');
      return { name, version: 0 };
    };
    expect(await collectOutputs(root, { globs: ['out/*'] }, { save })).toMatchObject({
      files: [{ name: 'out/b' }],
      saved: [{ name: 'out/b', version: 0 }],
      skipped: [{ name: 'out/a', reason: 'changed' }],
      warnings: ['not collected (the file changed while it was read): "out/a"'],
    });
    expect(attempts).toBe(2);
  });

  test('goes on with the digest where the store stops reading', async () => {
    const { root } = makeWorkspace({ 'out/a': large });
    const save: SaveOutput = async ({ name, chunks }) => {
      for (const chunk of chunks) if (chunk.length > 0) break;
      writeFileSync(path.join(root, 'work/seen'), '');
      return { name, version: 0 };
    };
    const { files } = await collectOutputs(root, { globs: ['out/*'] }, { save });
    expect(files[0]?.digest).toBe(`sha256:${sha256(large)}`);
  });
});

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openArchive, type ArchiveEntry, type OpenedArchive } from '../../../src/packs/archive/archive.ts';
import { makeTar, makeTarGz } from '../../corpus/archives-make-tar.ts';
import { makeZip } from '../../corpus/archives-make-zip.ts';
import { SKILL_TEXT } from '../../corpus/archives-sample.ts';
import { scratch } from '../../skills/registry/support.ts';
import { harvest } from '../../platform/fs/tree-support.ts';
import { place, unpack } from './support.ts';
import { needs } from '../../needs.ts';
import type { ArchiveLimits } from '../../../src/packs/archive-limits.ts';
import { ARCHIVE_LIMITS } from '../../../src/core/config/config.ts';

const FILES = [
  { name: 'sample/SKILL.md', content: SKILL_TEXT },
  { name: 'sample/scripts/run.sh', content: 'echo\n' },
  { name: 'sample/scripts/more.sh', content: 'echo more\n' },
];
const FORMATS = [
  ['zip', makeZip],
  ['tar.gz', makeTarGz],
] as const;

async function opened(archive: string): Promise<OpenedArchive> {
  const result = await openArchive(archive);
  if (result.type === 'refused') throw new Error(`${result.code}: ${result.message}`);
  return result;
}

const limited = (change: Partial<ArchiveLimits>): { readonly limits: ArchiveLimits } => ({
  limits: { ...ARCHIVE_LIMITS, ...change },
});

describe('an archive that was opened', () => {
  test('says what is in it, in the order of the file', async () => {
    const parts = [...FILES, { name: 'sample/assets/' }, { name: 'sample/run', content: 'x', mode: 0o100755 }];
    const entries: readonly ArchiveEntry[] = [
      { path: 'sample/SKILL.md', type: 'file', bytes: SKILL_TEXT.length, isExecutable: false },
      { path: 'sample/scripts/run.sh', type: 'file', bytes: 5, isExecutable: false },
      { path: 'sample/scripts/more.sh', type: 'file', bytes: 10, isExecutable: false },
      { path: 'sample/assets', type: 'folder', bytes: 0, isExecutable: false },
      { path: 'sample/run', type: 'file', bytes: 1, isExecutable: true },
    ];
    for (const [format, make] of FORMATS) {
      const archive = await opened(place(make(parts)).archive);
      const { type, leftOut } = archive;
      expect({ type, format: archive.format, entries: archive.entries, leftOut }).toEqual({
        type: 'archive',
        format,
        entries,
        leftOut: [],
      });
      archive.close();
    }
  });

  test('is what its bytes say, whatever its name', async () => {
    const { archive } = place(makeTarGz(FILES), 'skill.zip');
    expect((await opened(archive)).format).toBe('tar.gz');
  });

  test('tells of each file, and how much it was', async () => {
    for (const [, make] of FORMATS) {
      const { archive, to } = place(make(FILES));
      const told: string[] = [];
      const extracted = await (await opened(archive)).extract(to, { onFile: (file) => told.push(file) });
      expect(told).toEqual(FILES.map(({ name }) => name));
      expect(extracted).toEqual({ type: 'extracted', files: 3, bytes: SKILL_TEXT.length + 15 });
    }
  });

  test('has the same permissions whatever the mask of the process', async () => {
    const parts = [
      { name: 'a/b', content: 'x' },
      { name: 'a/c', content: 'x', mode: 0o100777 },
    ];
    for (const [, make] of FORMATS) {
      const { archive, to } = place(make(parts));
      const mask = process.umask(0o077);
      await (await opened(archive)).extract(to);
      process.umask(mask);
      const modes = ['a', 'a/b', 'a/c'].map((file) => (statSync(path.join(to, file)).mode & 0o7777).toString(8));
      expect(modes).toEqual(['755', '644', '755']);
    }
  });

  test('cannot be extracted once it is closed', async () => {
    for (const [, make] of FORMATS) {
      const { archive, to } = place(make(FILES));
      const held = await opened(archive);
      held.close();
      held.close();
      await expect(held.extract(to)).rejects.toThrow('the archive is closed');
      expect(existsSync(to)).toBe(false);
    }
  });
});

describe('what is no archive', () => {
  const codeOf = async (file: string): Promise<string> => {
    const result = await openArchive(file);
    return result.type === 'refused' ? result.code : 'accepted';
  };

  test('is refused, and nothing waits for it', async () => {
    const folder = scratch();
    const file = (name: string, bytes: Uint8Array | string): string => {
      writeFileSync(path.join(folder, name), bytes);
      return path.join(folder, name);
    };
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    expect({
      missing: await codeOf(path.join(folder, 'missing.zip')),
      below: await codeOf(path.join(file('file', 'x'), 'a.zip')),
      folder: await codeOf(folder),
      pipe: await codeOf(path.join(folder, 'pipe')),
      text: await codeOf(file('text.zip', 'no archive at all')),
      tar: await codeOf(file('plain.tar', makeTar(FILES))),
      sevenZip: await codeOf(file('a.7z', '7z\xbc\xaf\x27\x1c')),
      start: await codeOf(file('start.zip', 'PK\x03\x04')),
      gzip: await codeOf(file('a.gz', gzipSync('x'))),
    }).toEqual({
      missing: 'source/missing',
      below: 'source/missing',
      folder: 'archive/format',
      pipe: 'archive/format',
      text: 'archive/format',
      tar: 'archive/format',
      sevenZip: 'archive/format',
      start: 'archive/unreadable',
      gzip: 'archive/unreadable',
    });
  });
});

describe('limits', () => {
  const noise = Buffer.from(Array.from({ length: 4096 }, (_, at) => Math.imul(at + 1, 2654435761) >>> 24));
  const parts = [
    { name: 'a/b/c', content: noise },
    { name: 'a/d', content: noise },
  ];
  const cases: readonly (readonly [change: Partial<ArchiveLimits>, code: string])[] = [
    [{ maxArchiveBytes: 1000 }, 'archive/too-large'],
    [{ maxFileBytes: 4095 }, 'archive/too-large'],
    [{ maxBytes: 8191 }, 'archive/too-large'],
    // Two files, and two folders that no entry names.
    [{ maxEntries: 3 }, 'archive/too-many'],
    [{ maxEntries: 1 }, 'archive/too-many'],
    [{ maxDepth: 1 }, 'archive/too-deep'],
    [{ maxNameBytes: 4 }, 'archive/name'],
  ];

  test.each(cases)('%o: %s', async (change, code) => {
    for (const [, make] of FORMATS)
      expect(await unpack(make(parts), limited(change))).toEqual({ code, message: expect.any(String) });
  });

  test('are kept exactly', async () => {
    const exact = limited({ maxFileBytes: 4096, maxBytes: 8192, maxEntries: 4, maxDepth: 2, maxNameBytes: 5 });
    for (const [, make] of FORMATS)
      expect(await unpack(make(parts), exact)).toEqual({ tree: expect.any(Object), leftOut: [] });
  });

  test('a large file that packs well is a bomb, several small ones are not, and the ratio can be raised', async () => {
    const zeros = Buffer.alloc(1024 * 1024 + 1);
    const small = Array.from({ length: 3 }, (_, at) => ({ name: `a/${String(at)}`, content: Buffer.alloc(300_000) }));
    for (const [, make] of FORMATS) {
      const large = make([{ name: 'a', content: zeros }]);
      expect(await unpack(large)).toEqual({ code: 'archive/bomb', message: expect.any(String) });
      expect(await unpack(large, limited({ maxRatio: 2000 }))).toEqual({ tree: expect.any(Object), leftOut: [] });
      expect(await unpack(make(small))).toEqual({ tree: expect.any(Object), leftOut: [] });
    }
  });

  test('files of many pieces come out whole', async () => {
    const content = Buffer.alloc(1024 * 1024 + 7);
    for (let at = 0; at < content.length; at += 4)
      content.writeUInt32LE(Math.imul(at, 2654435761) >>> 0, Math.min(at, content.length - 4));
    const tree = { 'a/': '', 'a/b': content.toString('base64') };
    for (const [, make] of FORMATS)
      expect(await unpack(make([{ name: 'a/b', content }]))).toEqual({ tree, leftOut: [] });
    expect(await unpack(makeZip([{ name: 'a/b', content, isStored: true }]))).toEqual({ tree, leftOut: [] });
    expect(await unpack(makeZip([{ name: 'a/b', content, bytes: content.length - 1 }]))).toEqual({
      code: 'archive/bomb',
      message: expect.any(String),
    });
    expect(await unpack(makeZip([{ name: 'a/b', content, crc: 1 }]))).toEqual({
      code: 'archive/checksum',
      message: expect.any(String),
    });
  });
});

describe('the target', () => {
  test('must be empty or absent, a folder and no link, in a folder that is there', async () => {
    for (const [, make] of FORMATS) {
      const { archive, to, outside } = place(make(FILES));
      const before = outside();
      const held = await opened(archive);
      const base = path.dirname(to);
      mkdirSync(path.join(base, 'to-full/x'), { recursive: true });
      mkdirSync(path.join(base, 'to-elsewhere'));
      symlinkSync('to-elsewhere', path.join(base, 'to-link'));
      const codes: string[] = [];
      for (const name of ['to-full', 'to-link', 'precious', 'to-missing/inner']) {
        const result = await held.extract(path.join(base, name));
        codes.push(result.type === 'refused' ? result.code : result.type);
      }
      expect(codes).toEqual(['install/root', 'install/root', 'install/root', 'install/root']);
      expect(readdirSync(path.join(base, 'to-elsewhere'))).toEqual([]);
      expect(readdirSync(path.join(base, 'to-full'))).toEqual(['x']);
      expect(outside()).toEqual(before);
    }
  });

  test('that may not be written is a refusal', needs('an ordinary user'), async () => {
    const { archive, to } = place(makeZip(FILES));
    mkdirSync(to, { mode: 0o555 });
    const result = await (await opened(archive)).extract(to);
    chmodSync(to, 0o755);
    expect([result, readdirSync(to)]).toEqual([expect.objectContaining({ code: 'install/unwritable' }), []]);
  });

  test('is the folder that was opened, not what takes its name', needs('linux'), async () => {
    for (const [, make] of FORMATS) {
      const { archive, to } = place(make(FILES));
      const victim = scratch();
      const swap = (): void => {
        if (existsSync(`${to}-moved`)) return;
        renameSync(to, `${to}-moved`);
        symlinkSync(victim, to);
      };
      const result = await (await opened(archive)).extract(to, { onFile: swap });
      expect([result.type, harvest(victim), Object.keys(harvest(`${to}-moved`))]).toEqual([
        'extracted',
        {},
        ['sample/', 'sample/SKILL.md', 'sample/scripts/', 'sample/scripts/more.sh', 'sample/scripts/run.sh'],
      ]);
    }
  });

  test('is emptied where a folder in it is exchanged for a link; nothing goes through the link', async () => {
    const parts = [
      { name: 'a/b/1', content: 'x' },
      { name: 'c', content: 'x' },
      { name: 'a/b/2', content: 'x' },
    ];
    for (const [, make] of FORMATS) {
      const { archive, to } = place(make(parts));
      const victim = scratch();
      writeFileSync(path.join(victim, 'precious'), 'precious');
      const swap = (file: string): void => {
        if (file !== 'c') return;
        renameSync(path.join(to, 'a/b'), `${to}-moved`);
        symlinkSync(victim, path.join(to, 'a/b'));
      };
      const result = await (await opened(archive)).extract(to, { onFile: swap });
      expect([result, existsSync(to), readdirSync(victim)]).toEqual([
        expect.objectContaining({ type: 'refused', code: 'install/root' }),
        false,
        ['precious'],
      ]);
    }
  });

  test('keeps what others put there when ours is taken back', async () => {
    const { archive, to } = place(makeZip([...FILES, { name: 'theirs', content: 'x' }]));
    mkdirSync(to);
    const plant = (): void => writeFileSync(path.join(to, 'theirs'), 'theirs');
    const result = await (await opened(archive)).extract(to, { onFile: plant });
    expect([result.type, harvest(to)]).toEqual(['refused', { theirs: Buffer.from('theirs').toString('base64') }]);
  });

  test('a file that stands in the way is never replaced', async () => {
    for (const [, make] of FORMATS) {
      const { archive, to } = place(make(FILES));
      const victim = path.join(scratch(), 'precious');
      writeFileSync(victim, 'precious');
      const plant = (file: string): void => {
        if (file.endsWith('run.sh')) symlinkSync(victim, path.join(to, 'sample/scripts/more.sh'));
      };
      const result = await (await opened(archive)).extract(to, { onFile: plant });
      expect([result.type, existsSync(to), harvest(path.dirname(victim))]).toEqual([
        'refused',
        false,
        { precious: Buffer.from('precious').toString('base64') },
      ]);
    }
  });
});

describe('an archive that is changed after it was judged', () => {
  test('by another file under its name: what was judged is extracted', async () => {
    for (const [, make] of FORMATS) {
      const { archive, to } = place(make(FILES));
      const held = await opened(archive);
      writeFileSync(`${archive}.new`, make([{ name: 'evil', content: 'evil' }]));
      renameSync(`${archive}.new`, archive);
      await held.extract(to);
      expect(Object.keys(harvest(to))).toContain('sample/SKILL.md');
    }
  });

  test('in place: nothing is left of it', async () => {
    for (const [, make] of FORMATS) {
      const names = FILES.map(({ name }) => name);
      const others = [
        make(FILES.map((file) => ({ ...file, content: file.content.toUpperCase() }))),
        make(FILES.map((file, at) => ({ ...file, name: names[(at + 1) % 3] ?? '' }))),
        make(FILES.slice(0, 1)),
        Buffer.alloc(0),
      ];
      for (const other of others) {
        const { archive, to } = place(make(FILES));
        const held = await opened(archive);
        writeFileSync(archive, other);
        const result = await held.extract(to);
        expect([result.type, existsSync(to)]).toEqual(['refused', false]);
      }
    }
  });
});

describe('stopping', () => {
  test('leaves nothing, in either format, before and in the middle', async () => {
    for (const [, make] of FORMATS) {
      const parts = Array.from({ length: 300 }, (_, at) => ({ name: `a/${String(at)}`, content: 'x'.repeat(at) }));
      const { archive, to } = place(make(parts));
      await expect(openArchive(archive, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
      const held = await opened(archive);
      await expect(held.extract(to, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
      expect(existsSync(to)).toBe(false);
      const stop = new AbortController();
      const onFile = (file: string): void => {
        if (file === 'a/10') stop.abort(new Error('enough'));
      };
      await expect(held.extract(to, { signal: stop.signal, onFile })).rejects.toThrow('enough');
      expect(existsSync(to)).toBe(false);
    }
  });
});

import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { has, pick, randomFrom, run, SKILLS, withFolder } from './support.ts';
import { needs, skipUnless } from '../needs.ts';

const DIFF = join(SKILLS, 'text-diff/scripts/diff.mjs');
const patch = has('patch', 'the check of diffs with patch');
const git = has('git', 'the check of diffs with git apply');

const Summary = z.object({
  same: z.boolean(),
  totals: z.object({ files: z.int(), added: z.int(), removed: z.int(), changed: z.int() }),
  notes: z.array(z.string()),
  files: z.array(
    z.object({
      path: z.string(),
      status: z.string(),
      kind: z.string(),
      exact: z.boolean(),
      notes: z.array(z.string()),
      hunks: z.array(
        z.object({
          old_start: z.int(),
          old_lines: z.int(),
          new_start: z.int(),
          new_lines: z.int(),
          changes: z.array(z.object({ kind: z.string(), words: z.array(z.unknown()).optional() })),
          changes_left_out: z.int(),
        }),
      ),
    }),
  ),
});

type Content = string | Buffer;

async function onFiles<Result>(
  before: Content,
  after: Content,
  work: (...paths: [string, string, string]) => Promise<Result>,
) {
  return withFolder(async (folder) => {
    const [oldPath, newPath] = [join(folder, 'old.txt'), join(folder, 'new.txt')];
    writeFileSync(oldPath, before);
    writeFileSync(newPath, after);
    return work(oldPath, newPath, folder);
  });
}

async function summary(before: Content, after: Content, ...options: string[]) {
  return onFiles(before, after, async (oldPath, newPath) => {
    const { code, text } = await run(process.execPath, [DIFF, oldPath, newPath, '--json', ...options]);
    expect(code).toBe(0);
    return Summary.parse(JSON.parse(text));
  });
}

async function output(before: Content, after: Content, ...options: string[]): Promise<string> {
  return onFiles(
    before,
    after,
    async (oldPath, newPath) => (await run(process.execPath, [DIFF, oldPath, newPath, ...options])).text,
  );
}

describe('output', () => {
  test('unified form', async () => {
    expect(await output('a\nb\nc\n', 'a\nB\nc\nd')).toBe(
      'diff --git a/old.txt b/old.txt\n--- a/old.txt\n+++ b/old.txt\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n\\ No newline at end of file\n',
    );
    expect(await output('a\nb\nc\n', 'a\nX\nc\n', '--context', '0')).toContain('@@ -2,1 +2,1 @@\n-b\n+X\n');
    expect(await output('', 'a\n')).toContain('@@ -0,0 +1,1 @@\n+a\n');
    expect(await output('same\n', 'same\n')).toBe('');
  });

  test('words are marked in Latin and Chinese text', async () => {
    expect(await output('The fee is 20 euros.\n', 'The fee is 25 euros.\n', '--words')).toContain(
      '~ The fee is [-20-]{+25+} euros.\n',
    );
    expect(await output('租金每月九百元\n', '租金每月八百元\n', '--words')).toContain('~ 租金每月[-九-]{+八+}百元\n');
    expect(await output('x \u001B[31m y z\n', 'x \u001B[31m y zz\n', '--words')).not.toContain('\u001B');
  });

  test('JSON counts added, removed and changed lines', async () => {
    const result = await summary(
      readFileSync(join(SKILLS, 'text-diff/assets/before.txt')),
      readFileSync(join(SKILLS, 'text-diff/assets/after.txt')),
    );
    expect(result.totals).toEqual({ files: 1, added: 1, removed: 1, changed: 2 });
    expect(result.files[0]?.hunks).toHaveLength(1);
    expect((await summary('a\n', 'a\n')).same).toBe(true);
    const many = await summary('', 'x\n'.repeat(700));
    expect(many.files[0]?.hunks[0]?.changes_left_out).toBe(200);
  });

  test('line ends and the last newline', async () => {
    const ends = await summary('one\r\ntwo\r\n', 'one\ntwo\n');
    expect(ends.totals.changed).toBe(2);
    expect(ends.files[0]?.notes[0]).toContain('differ only in CRLF or LF: 2');
    expect((await summary('one\r\ntwo\r\n', 'one\ntwo\n', '--ignore-eol')).same).toBe(true);
    const last = await summary('one\ntwo\n', 'one\ntwo');
    expect(last.files[0]?.notes).toEqual(['no newline at the end of the new file']);
  });

  test('binary and large files are named, not shown', async () => {
    expect(await output(Buffer.from([1, 0, 2]), 'text\n')).toBe('Binary files a/old.txt and b/old.txt differ\n');
    const big = 'x'.repeat(17 * 1024 * 1024);
    const large = await summary(big, `${big}y`);
    expect(large.files[0]).toMatchObject({ kind: 'large', status: 'changed' });
    expect((await summary(big, big)).same).toBe(true);
  });

  test('very different files end soon and the fallback is said', async () => {
    const random = randomFrom(3);
    const text = () => Array.from({ length: 60_000 }, () => `${random(40)}\n`).join('');
    const result = await summary(text(), text());
    expect(result.files[0]?.exact).toBe(false);
    expect(result.files[0]?.notes.join(' ')).toContain('longer than needed');
  });

  test('one very long line is no problem', async () => {
    const line = 'word '.repeat(400_000);
    expect(await output(`${line}\n`, `${line}more\n`, '--words')).toContain('more\n');
  });
});

test('wrong usage is 2, unreadable input is 1', async () => {
  await onFiles('a\n', 'b\n', async (oldPath, newPath, folder) => {
    const cases: [string[], number][] = [
      [[], 2],
      [[oldPath], 2],
      [[oldPath, newPath, '--context', '-1'], 2],
      [[oldPath, newPath, '--context'], 2],
      [[oldPath, newPath, '--json', '--words'], 2],
      [[oldPath, join(folder, 'none')], 1],
      [[oldPath, folder], 1],
    ];
    for (const [args, code] of cases) {
      const outcome = await run(process.execPath, [DIFF, ...args]);
      expect([args, outcome.code, outcome.text]).toEqual([args, code, '']);
      expect(outcome.stderr).toMatch(/^diff: [^\n]+\n$/);
    }
  });
});

test('folders: links are skipped, .git is left out, order is by name', async () => {
  await withFolder(async (folder) => {
    const put = (path: string, text: Content) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    for (const side of ['old', 'new']) {
      put(`${side}/.git/config`, side);
      put(`${side}/same.txt`, 'same\n');
      put(`${side}/b/deep.txt`, `${side} text\n`);
      put(`${side}/pic.bin`, `${side}\0`);
    }
    put('old/gone.txt', 'gone\n');
    put('new/fresh.txt', 'fresh\n');
    symlinkSync(DIFF, join(folder, 'new/link'));
    const { text } = await run(process.execPath, [DIFF, join(folder, 'old'), join(folder, 'new'), '--json']);
    const result = Summary.parse(JSON.parse(text));
    expect(result.files.map(({ path, status, kind }) => `${path} ${status} ${kind}`)).toEqual([
      'b/deep.txt changed text',
      'fresh.txt added text',
      'gone.txt removed text',
      'pic.bin changed binary',
    ]);
    expect(result.notes).toEqual(['link: not a regular file, skipped']);
  });
});

const LINES = [
  [
    '',
    'alpha',
    'beta',
    'gamma',
    'delta',
    '-- x',
    '++ y',
    '--- a/f',
    '@@ -1 +1 @@',
    '你好 世界',
    'a\rb',
    ' lead',
    'tail ',
  ],
  ['\\ No newline at end of file'],
]
  .flat()
  .map((text) => Buffer.from(text));

function randomText(random: (below: number) => number): Buffer {
  const end = Buffer.from(pick(random, ['\n', '\n', '\r\n']));
  const parts: Buffer[] = [];
  for (let left = random(40); left > 0; left -= 1) {
    parts.push(random(25) === 0 ? Buffer.from([0xff, 0xfe]) : pick(random, LINES));
    if (left > 1 || random(3) > 0) parts.push(end);
  }
  return Buffer.concat(parts);
}

const NAMES = ['f.txt', 'deep/g h.txt', 'q"uo\\te.txt', '汉字.md'];

function makeTrees(folder: string, seed: number): void {
  const random = randomFrom(seed);
  for (const name of NAMES) {
    const text = randomText(random);
    // GNU patch cannot add or remove an empty file, so one-sided files get a line.
    const sides = random(4);
    for (const [side, absent] of [
      ['old', 0],
      ['new', 1],
    ] as const) {
      mkdirSync(dirname(join(folder, side, name)), { recursive: true });
      if (sides === absent) continue;
      const own = side === 'new' && random(2) === 0 ? randomText(random) : text;
      writeFileSync(join(folder, side, name), sides < 2 ? Buffer.concat([Buffer.from('first\n'), own]) : own);
    }
  }
}

function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const pairs = files.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    pairs.toSorted().map((path) => [path.slice(folder.length), readFileSync(path).toString('latin1')]),
  );
}

describe('real tools accept the diff', () => {
  const tools: [string, boolean, (file: string) => string[]][] = [
    ['git', git, (file) => ['apply', '--unidiff-zero', '--whitespace=nowarn', '-p1', file]],
    ['patch', patch, (file) => ['-p1', '--binary', '-s', '-f', '-i', file]],
  ];
  for (const [tool, present, args] of tools) {
    test(`${tool} turns 3 random old folders into the new ones`, skipUnless(present, tool), async () => {
      for (let seed = 1; seed <= 3; seed += 1) {
        await withFolder(async (folder) => {
          makeTrees(folder, seed);
          const context = String([0, 1, 3, 10][seed % 4]);
          const diff = await run(process.execPath, [
            DIFF,
            join(folder, 'old'),
            join(folder, 'new'),
            '--context',
            context,
          ]);
          writeFileSync(join(folder, 'changes.diff'), diff.stdout);
          cpSync(join(folder, 'old'), join(folder, 'work'), { recursive: true });
          const env = { GIT_CEILING_DIRECTORIES: dirname(folder), GIT_CONFIG_GLOBAL: '/dev/null' };
          const place = { cwd: join(folder, 'work'), env };
          const outcome = diff.stdout.length === 0 ? diff : await run(tool, args(join(folder, 'changes.diff')), place);
          expect([seed, outcome.code]).toEqual([seed, 0]);
          expect(contents(join(folder, 'work'))).toEqual(contents(join(folder, 'new')));
        });
      }
    });
  }

  test('patch accepts the inexact fallback and the evals files', needs('patch'), async () => {
    const random = randomFrom(9);
    const text = () =>
      Array.from({ length: 20_000 }, (_, at) => `${random(30)}${at % 50 === 0 ? ` mark ${at}` : ''}\n`).join('');
    const files = join(SKILLS, 'text-diff/evals/files');
    const contract = ['old', 'new'].map((side) => readFileSync(join(files, `contract-${side}.txt`), 'utf8'));
    for (const [before, after] of [[text(), text()], contract]) {
      await onFiles(before ?? '', after ?? '', async (oldPath, newPath, folder) => {
        const diff = await run(process.execPath, [DIFF, oldPath, newPath]);
        writeFileSync(join(folder, 'changes.diff'), diff.stdout);
        const outcome = await run('patch', ['-s', oldPath, join(folder, 'changes.diff')]);
        expect([outcome.code, readFileSync(oldPath, 'utf8') === after]).toEqual([0, true]);
      });
    }
  });
});

import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, symlinkSync, truncateSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Grep } from '../../src/core/action.ts';
import { grep, type GrepOptions } from '../../src/project/grep.ts';
import { PROJECT } from '../files-below.ts';
import { placed, world, type World } from './support.ts';

type Asked = Omit<Grep, 'type' | 'path'> & { readonly path?: string };

async function search(here: World, { path: folder = '.', ...asked }: Asked, options?: GrepOptions) {
  return await grep({ type: 'grep', path: folder, ...asked }, placed(here, folder), options);
}

/** `path:line` of every match, or the code of the failure. */
async function lines(here: World, asked: Asked, options?: GrepOptions): Promise<readonly string[]> {
  const found = await search(here, asked, options);
  return found.type === 'failed'
    ? [found.code]
    : found.matches.map(({ path: file, line }) => `${file}:${String(line)}`);
}

describe('grep', () => {
  test('returns matching lines below a folder, sorted by path', async () => {
    const here = world({ 'project/src/b.ts': 'let x\nlet needle = 1\r\n', 'project/src/a/c.ts': 'needle needle\nno' });
    expect(await search(here, { pattern: 'need(le)' })).toEqual({
      type: 'lines-found',
      action: 'grep',
      pattern: 'need(le)',
      matches: [
        { path: 'src/a/c.ts', line: 1, text: 'needle needle' },
        { path: 'src/b.ts', line: 2, text: 'let needle = 1' },
      ],
      files: 3,
      skipped: 0,
      isCut: false,
      notes: [],
    });
  });

  test('searches one file, the workspace, or a skill', async () => {
    const here = world();
    expect(await lines(here, { pattern: 'a$', path: 'a.txt', glob: '*.md' })).toEqual(['a.txt:1']);
    expect(await lines(here, { pattern: '^work', path: 'workspace://' })).toEqual(['workspace://work/b.txt:1']);
    expect(await lines(here, { pattern: '^work', path: 'workspace://work' })).toEqual(['workspace://work/b.txt:1']);
    expect(await lines(here, { pattern: 'SKILL', path: 'skill://pdf', ignoreCase: true })).toEqual([
      'skill://pdf/SKILL.md:1',
    ]);
  });

  test('filters by glob: a name at any depth, or a path from the searched folder', async () => {
    const here = world({
      'project/x.ts': 'n',
      'project/src/y.ts': 'n',
      'project/src/.z.ts': 'n',
      'project/src/y.js': 'n',
    });
    const by = async (glob: string, folder = '.'): Promise<readonly string[]> =>
      await lines(here, { pattern: 'n', glob, path: folder });
    expect(await by('*.ts')).toEqual(['src/.z.ts:1', 'src/y.ts:1', 'x.ts:1']);
    expect(await by('src/*.ts')).toEqual(['src/.z.ts:1', 'src/y.ts:1']);
    expect(await by('**/y.{ts,js}')).toEqual(['src/y.js:1', 'src/y.ts:1']);
    expect(await by('./*.js', 'src')).toEqual(['src/y.js:1']);
  });

  test('skips and counts files that are binary, too large or excluded', async () => {
    const here = world({
      'project/image': Buffer.from('6e00', 'hex'),
      'project/latin': Buffer.from('n\xe9', 'latin1'),
      'project/large': 'n',
      'project/.env': 'n',
      'project/link': '-> ../secret/key.txt',
      'project/.git/config': 'n',
      'project/node_modules/n.js': 'n',
      'project/.agent/trash/1/n.txt': 'n',
      'project/ok': 'n',
    });
    truncateSync(path.join(here.places.project, 'large'), 4 * 1024 * 1024 + 1);
    const asked: string[] = [];
    const isAllowed = (shown: string): boolean => {
      asked.push(shown);
      return shown !== '.env';
    };
    expect(await search(here, { pattern: 'n|SECRET' }, { isAllowed })).toMatchObject({
      matches: [{ path: 'ok' }],
      files: 2,
      skipped: 4,
      notes: [
        '2 files were skipped: not UTF-8 text',
        '1 file was skipped: too large',
        '1 file was skipped: excluded by policy',
      ],
    });
    expect(asked.sort()).toEqual(['.env', 'a.txt', 'image', 'large', 'latin', 'ok']);
    // By its own path, the policy decided about the search itself.
    expect(await search(here, { pattern: 'n', path: '.env' }, { isAllowed })).toMatchObject({
      matches: [{ path: '.env' }],
      skipped: 0,
    });
  });

  test('finds words with hidden characters inside', async () => {
    const here = world({ 'project/sly.md': 'pass\u200bword\n' });
    expect(await search(here, { pattern: 'password' })).toMatchObject({ matches: [{ text: 'password' }] });
  });

  test('stops at its limits and reports it', async () => {
    const here = world({ 'project/many.txt': 'x\n'.repeat(5000), 'project/more.txt': 'x\n' });
    const counts = await Promise.all(
      [{}, { maxMatches: 3 }, { maxMatches: 100_000 }].map(async (more) => {
        const found = await search(here, { pattern: 'x', ...more });
        return found.type === 'lines-found' && [found.matches.length, found.isCut];
      }),
    );
    expect(counts).toEqual([
      [200, true],
      [3, true],
      [1000, true],
    ]);
    expect(await search(here, { pattern: 'x' }, { maxFiles: 1 })).toMatchObject({ files: 1, isCut: true });
    expect(await search(here, { pattern: 'none' }, { maxBytes: 100 })).toMatchObject({ files: 1, isCut: true });
    expect(await lines(here, { pattern: 'x', maxMatches: 0 })).toEqual(['input/invalid']);
  });

  test('shows the part of a long line around the match, without splitting characters', async () => {
    const here = world({
      'project/min.js': `${'😀'.repeat(2000)}needle${'😀'.repeat(2000)}\nneedle${'b'.repeat(2000)}`,
    });
    const found = await search(here, { pattern: 'needle' });
    const texts = found.type === 'lines-found' ? found.matches.map(({ text }) => text) : [];
    expect(texts.map((text) => [text.length <= 503, /^…(?:😀)+needle(?:😀)+…$/u.test(text)])).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(texts[1]).toBe(`needle${'b'.repeat(494)}…`);
  });

  test('rejects an invalid pattern with the error of the engine', async () => {
    const here = world();
    expect(await search(here, { pattern: '(a' })).toMatchObject({
      code: 'pattern/invalid',
      message: expect.stringContaining('Unterminated group'),
    });
    const wrong = ['', '[', '*', '(?<n>a)(?<n>b)', 'a'.repeat(2001), '\\p{NoSuch}'];
    expect(await Promise.all(wrong.map(async (pattern) => await lines(here, { pattern })))).toEqual(
      wrong.map(() => ['pattern/invalid']),
    );
    expect(await lines(here, { pattern: '\\p{L}+ a' })).toEqual(['a.txt:1']);
    expect(await lines(here, { pattern: 'project\\ a\\-?' })).toEqual(['a.txt:1']);
  });

  test('detects a link that replaced the folder after it was resolved', async () => {
    const here = world({ 'project/docs/x': 'x' });
    const judged = placed(here, 'docs');
    renameSync(path.join(here.places.project, 'docs'), path.join(here.places.project, 'moved'));
    symlinkSync('../secret', path.join(here.places.project, 'docs'));
    expect(await grep({ type: 'grep', pattern: 'S', path: 'docs' }, judged)).toMatchObject({ code: 'file/changed' });
  });
});

test('the built library finds its worker', () => {
  const here = world();
  const load = (name: string): string =>
    JSON.stringify(pathToFileURL(path.join(PROJECT, `dist/project/${name}.js`)).href);
  const program = `
    import { grep } from ${load('grep')};
    import { resolvePath } from ${load('resolve-path')};
    const placed = resolvePath('.', { project: ${JSON.stringify(here.places.project)}, skills: [] }, 'read');
    const found = await grep({ type: 'grep', pattern: 'project', path: '.' }, placed);
    process.stdout.write(JSON.stringify(found.matches));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toEqual([{ path: 'a.txt', line: 1, text: 'project a' }]);
});

describe('an expression that backtracks forever', () => {
  const threads = (): number => readdirSync('/proc/self/task').length;

  test.each(['(a+)+$', '(?:a|a)*b', '(.*a){25}', '([a-zA-Z]+)*$'])('%s is terminated', async (pattern) => {
    const here = world({ 'project/hostile.txt': `${'a'.repeat(50_000)}!\n` });
    // The first worker and the first file that is read apart start threads that stay.
    await Promise.all([search(here, { pattern: 'warm' }), stat(here.base)]);
    const before = process.platform === 'linux' ? threads() : 0;
    expect(await search(here, { pattern, path: 'hostile.txt' }, { deadlineMs: 200 })).toMatchObject({
      type: 'failed',
      code: 'pattern/too-slow',
    });
    expect(process.platform === 'linux' ? threads() : 0).toBeLessThanOrEqual(before);
    expect(await lines(here, { pattern: 'project' })).toEqual(['a.txt:1']);
  });

  test('does not block the event loop', async () => {
    const here = world({ 'project/hostile.txt': `${'a'.repeat(50_000)}!\n` });
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 10);
    await search(here, { pattern: '(a+)+$' }, { deadlineMs: 500 });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(2);
  });

  test('stops when the signal aborts', async () => {
    const here = world({ 'project/hostile.txt': `${'a'.repeat(50_000)}!\n` });
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('enough')), 200);
    await expect(search(here, { pattern: '(a+)+$' }, { signal: controller.signal })).rejects.toThrow('enough');
    await expect(search(here, { pattern: 'a' }, { signal: controller.signal })).rejects.toThrow('enough');
  });

  test('that is too large for the engine fails without a crash', async () => {
    const here = world({ 'project/x.txt': 'a'.repeat(1000) });
    const outcomes = await Promise.all(
      ['((a{1,1000}){1,1000}){1,1000}b', `${'('.repeat(900)}a${')'.repeat(900)}b`, '(?:(?:(?:a{99}){99}){99}){99}'].map(
        async (pattern) => await search(here, { pattern }, { deadlineMs: 500 }),
      ),
    );
    expect(outcomes.map((outcome) => (outcome.type === 'failed' ? outcome.code : outcome.type))).toEqual(
      outcomes.map(() => expect.stringMatching(/^(?:pattern\/too-slow|pattern\/invalid|lines-found)$/)),
    );
    expect(await lines(here, { pattern: 'project' })).toEqual(['a.txt:1']);
  });
});

test('every expression gives a result', async () => {
  const here = world({ 'project/x.txt': 'aaaa bbbb\n(a+)+ [x] {1}\n'.repeat(20) });
  const piece = fc.constantFrom(
    'a',
    'b',
    '(',
    ')',
    '[',
    ']',
    '*',
    '+',
    '?',
    '{1,3}',
    '|',
    '\\',
    '^',
    '$',
    '.',
    '\\1',
    '(?=',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
      const found = await search(here, { pattern: pieces.join('') }, { deadlineMs: 2000 });
      expect(['lines-found', 'pattern/invalid', 'pattern/too-slow']).toContain(
        found.type === 'failed' ? found.code : found.type,
      );
    }),
    { numRuns: 25 },
  );
});

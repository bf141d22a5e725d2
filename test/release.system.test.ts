import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

import { PROJECT } from './files-below.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-release-'));
const clone = path.join(folder, 'clone');
const git = (...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...words], {
    cwd: clone,
    encoding: 'utf8',
  });
const read = (file: string): string => readFileSync(path.join(clone, file), 'utf8');

/** A repository with the files of a release; the build has only the files that package.json names, because npm reads and packs all. */
beforeAll(() => {
  const files = ['package.json', 'package-lock.json', 'src/version.ts', 'scripts', 'schemas', 'CHANGELOG.md'];
  const { bin, exports } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
    readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  };
  const built = [bin, ...Object.values(exports)].flatMap((door) =>
    typeof door === 'string' ? [] : Object.values(door),
  );
  for (const file of [...files, '.gitignore', 'LICENSE', 'README.md', ...built])
    cpSync(path.join(PROJECT, file), path.join(clone, file), { recursive: true });
  symlinkSync(path.join(PROJECT, 'node_modules'), path.join(folder, 'node_modules'));
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Start');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly status: number | null;
  readonly text: string;
}

/** Runs the script without a network: nothing listens at the address of the registry. */
function release(...words: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.js', ...words], {
    cwd: clone,
    encoding: 'utf8',
    timeout: 170_000,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_fetch_retries: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Test',
      GIT_AUTHOR_EMAIL: 'test@example.com',
      GIT_COMMITTER_NAME: 'Test',
      GIT_COMMITTER_EMAIL: 'test@example.com',
    },
  });
  return { status, text: `${stdout}${stderr}` };
}

test.each([
  [[], 'is not one semantic version'],
  [['1.0'], '"1.0" is not one semantic version'],
  [['v1.0.0'], '"v1.0.0" is not one semantic version'],
  [['1.0.0; rm -rf /'], 'is not one semantic version'],
  [['1.0.0', '--fast'], "Unknown option '--fast'"],
  [['0.0.1'], '0.0.1 is lower than'],
])('refuses %j', (words, reason) => {
  const { status, text } = release(...words);
  expect([status, text]).toEqual([1, expect.stringContaining(reason)]);
  expect(git('status', '--porcelain')).toBe('');
});

test('a dry run shows the package and leaves everything as it was', () => {
  const { status, text } = release('9.8.7', '--dry-run', '--skip-tests');
  expect([status, text]).toEqual([0, expect.stringContaining('dry run: nothing was committed or published')]);
  expect(text).toContain('skillwright@9.8.7');
  expect(text).toContain('dist/command/skillwright.js');
  expect([git('status', '--porcelain'), git('tag', '--list')]).toEqual(['', '']);
});

test('the workflow publishes the tag with provenance, which needs an identity', () => {
  const workflow: unknown = parse(readFileSync(path.join(PROJECT, '.github/workflows/release.yml'), 'utf8'));
  expect(workflow).toMatchObject({
    on: { push: { tags: ['v*'] } },
    permissions: { contents: 'read', 'id-token': 'write' },
    jobs: { publish: { steps: expect.arrayContaining([{ run: 'npm ci' }, { run: 'npm test' }]) } },
  });
  expect(JSON.stringify(workflow)).toContain('npm publish --provenance --access public');
});

test('a release writes the version everywhere, moves the changes under it, commits and tags', () => {
  expect(release('9.8.7')).toMatchObject({ status: 1, text: expect.stringContaining('names no repository') });
  const repository = { type: 'git', url: 'git+https://example.com/skillwright.git' };
  const manifest: object = JSON.parse(read('package.json'));
  writeFileSync(path.join(clone, 'package.json'), JSON.stringify({ ...manifest, repository }));
  git('commit', '--quiet', '--all', '-m', 'Name the repository');
  writeFileSync(path.join(clone, 'note.txt'), '');
  expect(release('9.8.7', '--skip-tests')).toMatchObject({ status: 1, text: expect.stringContaining('?? note.txt') });
  rmSync(path.join(clone, 'note.txt'));
  const changes = read('CHANGELOG.md').split('## [Unreleased]\n')[1] ?? '';

  expect(release('9.8.7', '--skip-tests')).toMatchObject({
    status: 0,
    text: expect.stringContaining('committed and tagged v9.8.7; publish it: git push --follow-tags'),
  });
  expect([git('status', '--porcelain'), git('tag', '--list'), git('log', '-1', '--format=%s')]).toEqual([
    '',
    'v9.8.7\n',
    'Release 9.8.7\n',
  ]);
  expect(read('src/version.ts')).toContain("VERSION = '9.8.7'");
  expect([read('package.json'), read('package-lock.json')].map((text) => JSON.parse(text))).toMatchObject([
    { version: '9.8.7' },
    { version: '9.8.7', packages: { '': { version: '9.8.7' } } },
  ]);
  expect(
    read('CHANGELOG.md')
      .split('## [Unreleased]\n\n## [9.8.7] - ')[1]
      ?.replace(/^[\d-]{10}\n/, ''),
  ).toBe(changes);

  expect(release('9.8.7', '--skip-tests')).toMatchObject({
    status: 1,
    text: expect.stringContaining('tagged already'),
  });
  expect(release('9.9.0', '--skip-tests')).toMatchObject({
    status: 1,
    text: expect.stringContaining('lists no changes under "## [Unreleased]"'),
  });
});

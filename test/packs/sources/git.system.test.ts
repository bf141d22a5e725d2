import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createNetServer, type AddressInfo } from 'node:net';
import path from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';
import type { StageOptions } from '../../../src/packs/sources/source.ts';
import { gitEnvironment } from '../../../src/packs/sources/git-repository.ts';
import { isPresent } from '../../../src/platform/fs/paths.ts';
import { verifies } from '../../conformance/verifies.ts';
import { needs } from '../../needs.ts';
import { openPort } from '../../project/network/network-world.ts';
import { harvest } from '../../platform/fs/tree-support.ts';
import { scratch } from '../../skills/registry/support.ts';
import { bring, mustBring, outcome, plantSource, skillText } from './bring-support.ts';
import { repository, serveFiles, serveSmartly } from './git-world.ts';
import { ARCHIVE_LIMITS } from '../../../src/core/config/config.ts';

const TREE = {
  'README.md': 'x',
  'skills/pdf/SKILL.md': skillText('pdf'),
  'skills/pdf/run.sh': { program: '#!/bin/sh\n' },
  'skills/pdf/lines.txt': 'a\nb\n',
  'skills/pdf/.gitattributes': '*.txt text eol=crlf filter=evil ident\n',
  'skills/pdf/.github/x.yml': 'x',
  'skills/csv/SKILL.md': skillText('csv'),
} as const;

describe('a repository as a source', () => {
  verifies('PACK-6', 'gives the skills of its default branch, byte for byte, and the commit they are of', async () => {
    const repo = repository(TREE);
    const steps: unknown[] = [];
    const { result, to } = await bring(`git+${repo.url}`, { onProgress: (step) => steps.push(step) });
    const folder = path.join(to, 'tree');
    expect(result).toMatchObject({
      type: 'staged',
      resolved: { source: `git+${repo.url}`, kind: 'git', revision: repo.git('rev-parse', 'HEAD') },
      folder,
      skills: [
        { folder: 'skills/csv', name: 'csv' },
        { folder: 'skills/pdf', name: 'pdf', files: { 'run.sh': { executable: true, bytes: 10 } } },
      ],
      leftOut: ['skills/pdf/.gitattributes: hidden file', 'skills/pdf/.github/: hidden folder'],
    });
    expect(Object.keys(harvest(folder))).toEqual([
      'skills/',
      'skills/csv/',
      'skills/csv/SKILL.md',
      'skills/pdf/',
      'skills/pdf/SKILL.md',
      'skills/pdf/lines.txt',
      'skills/pdf/run.sh',
    ]);
    expect(readFileSync(path.join(folder, 'skills/pdf/lines.txt'), 'utf8')).toBe('a\nb\n');
    expect(Object.keys(harvest(to)).filter((name) => !name.startsWith('tree/'))).toEqual([]);
    expect(steps.at(-1)).toEqual({ step: 'copy', done: 4, total: 4 });
    // The same files as a folder have the same digests.
    const asFolder = await mustBring({ type: 'folder', path: repo.folder });
    expect(result.type === 'staged' && result.skills.map(({ digest }) => digest)).toEqual(
      asFolder.skills.map(({ digest }) => digest),
    );
  });

  test('is read at a branch, a tag, a full or short commit, and in a folder', async () => {
    const repo = repository({ 'SKILL.md': skillText('old') });
    const old = repo.git('rev-parse', 'HEAD');
    repo.git('tag', '-a', '-m', 'first', 'v1');
    repo.git('switch', '--quiet', '-c', 'feature/x');
    const middle = repo.commit({ 'SKILL.md': skillText('middle') });
    repo.git('switch', '--quiet', 'main');
    repo.commit({ 'SKILL.md': skillText('new'), 'sub/SKILL.md': skillText('sub') });
    const at = async (fragment: string) => {
      const { result } = await bring(`git+${repo.url}#${fragment}`);
      return result.type === 'refused' ? result.code : [result.skills[0]?.name, result.resolved.revision];
    };
    expect([await at('v1'), await at('feature/x'), await at(old), await at(middle.slice(0, 9))]).toEqual([
      ['old', old],
      ['middle', middle],
      ['old', old],
      ['middle', middle],
    ]);
    expect((await at('main:sub'))[0]).toBe('sub');
    expect([await at('no-such'), await at('0'.repeat(40)), await at('abcdef1'), await at('main:no/such')]).toEqual([
      'source/revision',
      'source/revision',
      'source/revision',
      'source/missing',
    ]);
  });

  test('gives exactly the commit of a lock, also when the branch has moved on', async () => {
    const repo = repository({ 'SKILL.md': skillText('old') });
    const old = repo.git('rev-parse', 'HEAD');
    repo.commit({ 'SKILL.md': skillText('new') });
    const { resolved, skills } = await mustBring(`git+${repo.url}#main`, { expect: { revision: old } });
    expect([resolved.revision, skills[0]?.name, resolved.source]).toEqual([old, 'old', `git+${repo.url}#main`]);
    expect(await outcome(`git+${repo.url}`, { expect: { revision: '+refs/heads/*' } })).toBe('source/revision');
    expect(await outcome(`git+${repo.url}`, { expect: { revision: 'f'.repeat(40) } })).toBe('source/revision');
  });

  test('is read over HTTP from a server that only knows files', async () => {
    const repo = repository({ 'SKILL.md': skillText('a') });
    const url = await serveFiles(repo);
    expect(await outcome(`git+${url}`)).toEqual({ a: ['SKILL.md'] });
    expect(await outcome(`git+${url}x`)).toBe('source/missing');
  });
});

test('a repository behind a server is fetched at its branch, a tag and a commit', async () => {
  const repo = repository({ 'SKILL.md': skillText('old') });
  const old = repo.git('rev-parse', 'HEAD');
  repo.git('tag', 'v1');
  repo.commit({ 'SKILL.md': skillText('new') });
  const url = await serveSmartly(repo);
  const at = async (fragment: string, options: Partial<StageOptions> = {}) =>
    (await mustBring(`git+${url}${fragment}`, options)).skills[0]?.name;
  expect([
    await at(''),
    await at('#v1'),
    await at(`#${old}`),
    await at('#main', { expect: { revision: old } }),
  ]).toEqual(['new', 'old', 'old', 'old']);
  expect([await outcome(`git+${url}#nothing`), await outcome(`git+${url}/elsewhere`)]).toEqual([
    'source/revision',
    'source/missing',
  ]);
});

describe('a repository at a private address', () => {
  /** Names as an attacker's DNS answers them; every connection to the machine itself is counted. */
  const resolve = (name: string): Promise<readonly string[]> =>
    Promise.resolve(name.startsWith('public') ? ['203.0.113.9'] : ['127.0.0.1']);

  test('is not connected to, whether it is an address or a name, by http, ssh or git', async () => {
    const { port, connections } = await countingPort();
    const network = { resolve, allowHttp: true } as const;
    for (const url of [
      `http://intranet.example.org:${port}/a/b.git`,
      `https://intranet.example.org:${port}/a/b.git`,
      `https://10.0.0.7/a/b.git`,
      'https://169.254.169.254/latest/b.git',
      `https://[::ffff:192.168.1.1]/a/b.git`,
      `ssh://git@intranet.example.org:${port}/a/b.git`,
      'git@192.168.0.1:a/b.git',
      `git://intranet.example.org:${port}/a/b.git`,
    ])
      expect([url, await outcome({ type: 'git', url }, { network })]).toEqual([url, 'source/refused']);
    expect(connections()).toBe(0);
  });

  test('is not reached by a redirect either, also not from this machine', async () => {
    const { port, connections } = await countingPort();
    const server = createServer((_, response) => {
      response.writeHead(302, { location: `http://metadata.example.org:${port}/repo/info/refs?service=x` }).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port: own } = server.address() as AddressInfo;
    const { result } = await bring(`git+http://localhost:${String(own)}/a/b.git`, { network: { resolve } });
    expect(result).toMatchObject({
      code: 'source/refused',
      message: expect.stringContaining('redirects to metadata.'),
    });
    expect(connections()).toBe(0);
  });

  test('is taken where the user allows it', async () => {
    const url = (await serveSmartly(repository({ 'SKILL.md': skillText('a') }))).replace('127.0.0.1', 'localhost');
    expect(await outcome({ type: 'git', url }, { network: { allowPrivate: true } })).toEqual({ a: ['SKILL.md'] });
  });

  async function countingPort(): Promise<{ readonly port: string; readonly connections: () => number }> {
    let count = 0;
    const server = createNetServer((socket) => {
      count += 1;
      socket.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return { port: String((server.address() as AddressInfo).port), connections: () => count };
  }
});

describe('a repository that cannot be taken', () => {
  test('is refused for a link in a skill; links and submodules elsewhere are not followed', async () => {
    const linked = repository({ 'a/SKILL.md': skillText('a'), 'a/x': { link: '/etc/passwd' } });
    expect(await outcome(`git+${linked.url}`)).toBe('archive/link');
    const repo = repository({ 'a/SKILL.md': skillText('a'), b: { link: '/etc' } });
    repo.git('update-index', '--add', '--cacheinfo', `160000,${repo.git('rev-parse', 'HEAD')},a/module`);
    repo.git('commit', '--quiet', '--message', 'submodule');
    const { skills, leftOut } = await mustBring(`git+${repo.url}`);
    expect([skills.map(({ name }) => name), leftOut]).toEqual([['a'], ['a/module/: another repository']]);
  });

  test('is refused for names that collide or hide, and beyond its limits', async () => {
    const collides = repository({ 'SKILL.md': skillText('a'), 'X.md': 'x', 'x.md': 'y' });
    expect(await outcome(`git+${collides.url}`)).toBe('archive/collision');
    const large = repository({ 'SKILL.md': skillText('a'), big: 'x'.repeat(1000) });
    const limited = (limits: Partial<typeof ARCHIVE_LIMITS>) =>
      outcome(`git+${large.url}`, { limits: { ...ARCHIVE_LIMITS, ...limits } });
    expect([
      await limited({ maxFileBytes: 999 }),
      await limited({ maxBytes: 1000 }),
      await limited({ maxEntries: 1 }),
    ]).toEqual(['archive/too-large', 'archive/too-large', 'archive/too-many']);
  });

  test('is refused where it is empty, missing, or git is missing', async () => {
    const empty = repository({});
    empty.git('update-ref', '-d', 'HEAD');
    const url = { type: 'git', url: `file://${scratch()}/nothing` } as const;
    expect([
      await outcome(`git+${empty.url}`),
      await outcome(url),
      await outcome(url, { network: { git: '/no/such/git' } }),
      await outcome(`git+${repository({ 'README.md': 'x' }).url}`),
    ]).toEqual(['source/revision', 'source/missing', 'source/failed', 'pack/no-skill']);
  });

  test('is read from a bare repository on this machine, whole or a folder of it', async () => {
    const repo = repository({ 'skills/a/SKILL.md': skillText('a'), 'more/b/SKILL.md': skillText('b') });
    const bare = path.join(scratch(), 'x.git');
    repo.git('clone', '--quiet', '--bare', '.', bare);
    const found: unknown[] = [];
    for (const source of [
      `file://${bare}#:more`,
      `file:${bare}#:more`,
      `file://${bare}#main:skills`,
      `git+file://${bare}#main`,
    ])
      found.push(Object.keys(Object(await outcome(source))));
    expect(found).toEqual([['b'], ['b'], ['a'], ['b', 'a']]);
  });

  test('of another user is refused with what makes git read it', needs('root'), async () => {
    const repo = repository({ 'SKILL.md': skillText('a') });
    const bare = path.join(scratch(), 'x.git');
    repo.git('clone', '--quiet', '--bare', '.', bare);
    execFileSync('chown', ['-R', '65534:65534', bare]);
    expect((await bring(`file://${bare}#:`)).result).toMatchObject({
      code: 'source/refused',
      message: `git: "${bare}" belongs to another user`,
      hint: `if you trust its owner: git config --global --add safe.directory ${bare}`,
    });
  });

  test('runs nothing: neither hooks, filters and settings of a repository, nor what an address or a ref could mean', async () => {
    const repo = repository({ 'SKILL.md': skillText('a'), '.gitattributes': '* filter=evil\n' });
    const mark = path.join(scratch(), 'ran');
    const template = plantSource({
      'hooks/post-checkout': { program: `#!/bin/sh\ntouch ${mark}\n` },
      'hooks/reference-transaction': { program: `#!/bin/sh\ntouch ${mark}\n` },
    });
    const { PATH } = process.env;
    const env = {
      PATH,
      HOME: scratch(),
      GIT_TEMPLATE_DIR: template,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.sshCommand',
      GIT_CONFIG_VALUE_0: `touch ${mark}`,
      GIT_DIR: '/no/such',
    };
    expect(await outcome(`git+${repo.url}`, { env })).toEqual({ a: ['SKILL.md'] });
    for (const url of [`ext::sh -c "touch ${mark}"`, `--upload-pack=touch ${mark}`, `-u`])
      expect(await outcome({ type: 'git', url }, { env })).toBe('source/failed');
    const ref = `--upload-pack=touch ${mark}`;
    expect(await outcome({ type: 'git', url: repo.url, ref }, { env })).toBe('source/revision');
    expect(isPresent(mark)).toBe(false);
  });

  test('is given no terminal, no helper of others and no key of ours to tell', () => {
    const env = {
      HOME: '/h',
      GIT_DIR: 'x',
      GIT_CONFIG_PARAMETERS: 'x',
      GIT_SSH_COMMAND: 'ssh -i key',
      GIT_EXTERNAL_DIFF: 'x',
    };
    expect(gitEnvironment('https://host.example/r', env)).toEqual({
      HOME: '/h',
      GIT_SSH_COMMAND: 'ssh -i key',
      LC_ALL: 'C',
      GIT_ALLOW_PROTOCOL: 'https:ssh',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_LFS_SKIP_SMUDGE: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_OPTIONAL_LOCKS: '0',
      SSH_ASKPASS_REQUIRE: 'never',
    });
    const urls = ['git@host.example:r', 'ssh://host.example/r', 'http://127.0.0.1/r', 'git://127.0.0.1/r', 'file:///r'];
    expect(urls.map((url) => gitEnvironment(url, {})['GIT_ALLOW_PROTOCOL'])).toEqual([
      'https:ssh',
      'https:ssh',
      'https:ssh:http',
      'https:ssh:git',
      'file',
    ]);
  });

  test('that never answers is left at the deadline, and at once when nobody waits any more', async () => {
    const silent = await openPort(() => undefined);
    expect(await outcome(`git+${silent.origin}/repo`, { network: { timeoutMs: 300 } })).toBe('source/failed');
    const stop = new AbortController();
    const reason = new Error('enough');
    const hanging = await openPort(() => stop.abort(reason));
    await expect(bring(`git+${hanging.origin}/repo`, { signal: stop.signal })).rejects.toBe(reason);
  });
});

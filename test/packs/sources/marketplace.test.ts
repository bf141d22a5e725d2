import { describe, expect, test } from 'vitest';

import { findPlugin, readMarketplaces } from '../../../src/packs/sources/marketplace.ts';
import { isRefusal } from '../../../src/packs/problems.ts';
import { verifies } from '../../conformance/verifies.ts';

const FILE = '.claude-plugin/marketplace.json';
const SHA = 'a'.repeat(40);

/** What the plugin `x` with this entry is: the place that it comes from, or the message of the refusal. */
async function target(source: unknown, more: object = {}, { isLocal = false, root = {} } = {}) {
  const text = JSON.stringify({ ...root, plugins: [{ name: 'x', source, ...more }] });
  const { lists } = await readMarketplaces(async (file) => (file === FILE ? text : undefined));
  const found = findPlugin(lists, 'x', { isLocal });
  if (isRefusal(found)) return `${found.code} ${found.message}`;
  return found.skills === undefined ? found.from : { ...found.from, skills: found.skills };
}

async function problem(text: string) {
  const { lists, problem: refusal } = await readMarketplaces(async (file) => (file === FILE ? text : undefined));
  return [lists.length, refusal?.code, refusal?.message];
}

describe('the source of a plugin', () => {
  verifies('INST-5', 'is a folder of the marketplace, or a repository at a commit, tag or branch', async () => {
    expect([
      await target('./plugins/x'),
      await target('./'),
      await target('.'),
      await target('x', {}, { root: { metadata: { pluginRoot: './plugins' } } }),
      await target({ source: 'local', path: './plugins/x' }),
      await target('./', { strict: false, skills: ['./skills/a', './'] }),
      await target({ source: 'url', url: 'https://host.example/o/x.git', sha: SHA.toUpperCase() }),
      await target({ source: 'url', url: 'https://host.example/o/x.git', sha: SHA, path: 'sub/x' }),
      await target({ source: 'git-subdir', url: 'https://host.example/o/x', path: './p/x', ref: 'v1', sha: SHA }),
      await target({ source: 'github', repo: 'owner/x', ref: 'v1' }),
      await target({ source: 'url', url: 'git@host.example:o/x.git' }),
      await target({ source: 'npm', package: '@scope/x', version: '^1.2.0' }),
    ]).toEqual([
      { folder: 'plugins/x' },
      { folder: '' },
      { folder: '' },
      { folder: 'plugins/x' },
      { folder: 'plugins/x' },
      { folder: '', skills: ['skills/a', ''] },
      { source: { type: 'git', url: 'https://host.example/o/x.git', ref: SHA } },
      { source: { type: 'git', url: 'https://host.example/o/x.git', ref: SHA, folder: 'sub/x' } },
      { source: { type: 'git', url: 'https://host.example/o/x', ref: SHA, folder: 'p/x' } },
      { source: { type: 'git', url: 'https://github.com/owner/x', ref: 'v1' } },
      { source: { type: 'git', url: 'git@host.example:o/x.git' } },
      { source: { type: 'npm', name: '@scope/x', range: '^1.2.0' } },
    ]);
  });

  verifies('INST-5', 'is refused if a lock cannot name the plugin', async () => {
    const names = ['b@../other', 'plugin:x', 'a#b', 'a b', 'é', '-x', 'a'.repeat(129), 'a_b.C-1'];
    const text = JSON.stringify({ plugins: names.map((name) => ({ name, source: './x' })) });
    const { lists } = await readMarketplaces(async (file) => (file === FILE ? text : undefined));
    const found = names.map((name) => findPlugin(lists, name, { isLocal: false }));
    expect(found.map((one) => (isRefusal(one) ? one.code : one.name))).toEqual([
      ...names.slice(0, -1).map(() => 'source/marketplace'),
      'a_b.C-1',
    ]);
    expect(found[0]).toMatchObject({ message: expect.stringMatching(/ lists "b@..\/other": a lock cannot name it/) });
  });

  verifies('INST-5', 'is refused if it leads out, names this machine, has credentials or wrong types', async () => {
    const url = (address: unknown, more: object = {}) => target({ source: 'url', url: address, ...more });
    const at = 'https://host.example/o/x.git';
    const all = [
      await target('../x'),
      await target('./a/../../x'),
      await target('/etc'),
      await target('~/x'),
      await target('C:\\x'),
      await target('./a\\..\\x'),
      await target('./%2e%2e/x'),
      await target({ source: 'local', path: '/etc' }),
      await target('./', { skills: ['../x'] }),
      await target('./', { skills: ['/x'] }),
      await target('./', { skills: [1] }),
      await target(undefined),
      await target(7),
      await target(['./x']),
      await target({ source: 'pip', package: 'x' }),
      await target({ source: 'github' }),
      await target({ source: 'github', repo: '../x' }),
      await target({ source: 'git-subdir', url: at }),
      await target({ source: 'git-subdir', url: at, path: '../x' }),
      await target({ source: 'git-subdir', url: at, path: '-x' }),
      await url('file:///srv/x.git'),
      await url('/srv/x.git'),
      await url('./x.git'),
      await url('ext::sh -c id'),
      await url('--upload-pack=id'),
      await url('git://host.example/x'),
      await url('http://host.example/x.git'),
      await url('http://127.0.0.1:8080/x.git'),
      await url('https://localhost/x.git'),
      await url('https://[::1]/x.git'),
      await url('https://user:secret@host.example/x.git'),
      await url('https://host.example/x.git?token=abc'),
      await url(at, { sha: 'abc123' }),
      await url(at, { sha: 1 }),
      await url(at, { ref: '--x' }),
      await url(at, { ref: '+refs/heads/*' }),
      await target({ source: 'npm', package: 'file:../x' }),
      await target({ source: 'npm', package: 'x', registry: 'https://host.example' }),
    ];
    expect(all.filter((one) => typeof one !== 'string' || !one.startsWith('source/marketplace '))).toEqual([]);
    expect(all.filter((one) => typeof one === 'string' && /user:|:secret|token=/.test(one))).toEqual([]);
    expect(all[0]).toBe(
      `source/marketplace the plugin "x" in ${FILE} has the source "../x", which is not a folder inside the marketplace`,
    );
    expect(all[32]).toBe(
      `source/marketplace the plugin "x" in ${FILE} has the sha "abc123", which is not a full commit`,
    );
    // A marketplace on this machine may name servers of this machine, never its files.
    const local = { isLocal: true };
    expect(await target({ source: 'url', url: 'http://127.0.0.1:8080/x.git' }, {}, local)).toEqual({
      source: { type: 'git', url: 'http://127.0.0.1:8080/x.git' },
    });
    expect(await target({ source: 'url', url: 'file:///srv/x.git' }, {}, local)).toMatch(/^source\/marketplace /);
  });
});

describe('a marketplace.json', () => {
  test('is refused as a whole if it is no list of plugins, or parsers read it differently', async () => {
    expect([
      await problem('nonsense'),
      await problem('[]'),
      await problem('{"plugins": {}}'),
      await problem('{"plugins": [], "plugins": [{"name": "x"}]}'),
      await problem(`{"plugins": ${'['.repeat(40)}${']'.repeat(40)}}`),
      await problem(JSON.stringify({ plugins: Array.from({ length: 10_001 }, () => ({ name: 'x' })) })),
    ]).toEqual([
      [0, 'source/marketplace', `${FILE} is not a JSON object`],
      [0, 'source/marketplace', `${FILE} is not a JSON object`],
      [0, 'source/marketplace', `${FILE} has no list "plugins"`],
      [0, 'source/marketplace', `${FILE} has the duplicate key "plugins" in line 1`],
      [0, 'source/marketplace', `${FILE} is nested more than 32 levels deep`],
      [0, 'source/marketplace', `${FILE} lists more than 10000 plugins`],
    ]);
  });

  verifies('INST-1', 'loses only the plugins whose entries are wrong, or that it lists twice', async () => {
    const text = JSON.stringify({
      renames: { former: 'good', gone: 3 },
      plugins: [1, null, { name: 4 }, { name: 'twice' }, { name: 'twice' }, { name: 'good', source: './good' }],
    });
    const { lists } = await readMarketplaces(async (file) => (file === FILE ? text : undefined));
    const find = (name: string) => {
      const found = findPlugin(lists, name, { isLocal: false });
      return isRefusal(found) ? `${found.code} ${found.message}` : found;
    };
    expect([find('good'), find('former'), find('twice'), find('gone')]).toEqual([
      { type: 'target', name: 'good', from: { folder: 'good' } },
      { type: 'target', name: 'good', from: { folder: 'good' } },
      `source/marketplace ${FILE} lists "twice" twice`,
      'pack/unknown-skill the marketplace has no plugin "gone"; it has "twice", "twice", "good"',
    ]);
  });
});

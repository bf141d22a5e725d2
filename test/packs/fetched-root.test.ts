/** `SKILLS_ROOT` with addresses and archives, over a real server. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { createRuntime } from '../../src/packs/open-runtime.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { splitRoots } from '../../src/runtime/roots.ts';
import { verifies } from '../conformance/verifies.ts';
import { makeZip } from '../corpus/archives-make-zip.ts';
import { serve } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';

const head = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\n\n# ${name}\n`;
const PACK = makeZip([
  { name: 'skills/alpha/SKILL.md', content: head('alpha') },
  { name: 'skills/alpha/references/a.md', content: 'a' },
  { name: 'skills/beta/SKILL.md', content: head('beta') },
]);

function world(env: Readonly<Record<string, string>>): Promise<Runtime> {
  const base = scratch();
  const home = path.join(base, 'home');
  mkdirSync(home);
  return createRuntime({ cwd: base, home, env, builtin: false });
}

const named = ({ index, diagnostics }: Runtime): unknown => [
  index.skills.map(({ name, source }) => `${source}/${name}`),
  diagnostics.map(({ code, message }) => `${code}: ${message}`),
];

describe('SKILLS_ROOT', () => {
  verifies('REG-1', 'an archive at an address is downloaded once into SKILLS_CACHE_DIR', async () => {
    const server = await serve((response) => response.writeHead(200).end(PACK));
    const cache = path.join(scratch(), 'cache');
    const env = { SKILLS_ROOT: `${server.url}/skills.zip`, SKILLS_CACHE_DIR: cache };
    expect(named(await world(env))).toEqual([['env/alpha', 'env/beta'], []]);
    const asked = server.requests.length;
    expect(named(await world(env))).toEqual([['env/alpha', 'env/beta'], []]);
    expect(server.requests.length).toBe(asked);
    await server.close();
    expect(named(await world(env))).toEqual([['env/alpha', 'env/beta'], []]);
    const [folder = '', ...more] = readdirSync(cache);
    expect([/^[0-9a-f]{64}$/.test(folder), more]).toEqual([true, []]);
    expect(existsSync(path.join(cache, folder, '.ready'))).toBe(true);
  });

  verifies('REG-1', 'an archive on disk and a file: address work, and a changed archive is read again', async () => {
    const base = scratch();
    const cache = path.join(base, 'cache');
    const archive = path.join(base, 'pack.zip');
    writeFileSync(archive, PACK);
    mkdirSync(path.join(base, 'folder/gamma'), { recursive: true });
    writeFileSync(path.join(base, 'folder/gamma/SKILL.md'), head('gamma'));
    const env = { SKILLS_ROOT: `${archive}:file://${base}/folder`, SKILLS_CACHE_DIR: cache };
    expect(named(await world(env))).toEqual([['env/alpha', 'env/beta', 'env/gamma'], []]);
    writeFileSync(archive, makeZip([{ name: 'delta/SKILL.md', content: head('delta') }]));
    expect(named(await world(env))).toEqual([['env/delta', 'env/gamma'], []]);
  });

  test('an address that cannot be used is a warning, leaves nothing, and the other roots stay', async () => {
    const server = await serve((response, _turn, { path: at }) =>
      at.endsWith('.zip') ? response.writeHead(200).end('no archive') : response.writeHead(404).end(),
    );
    const cache = path.join(scratch(), 'cache');
    const folder = path.join(scratch(), 'skills');
    mkdirSync(path.join(folder, 'own'), { recursive: true });
    writeFileSync(path.join(folder, 'own/SKILL.md'), head('own'));
    const roots = [`${server.url}/bad.zip`, `${server.url}/gone.tar.gz`, 'http://192.0.2.1/a.zip', 'ftp://h/x', folder];
    const runtime = await world({ SKILLS_ROOT: roots.join(':'), SKILLS_CACHE_DIR: cache });
    await server.close();
    expect(runtime.index.skills.map(({ name }) => name)).toEqual(['own']);
    const problems = runtime.diagnostics.map(({ code, message }) => `${code} ${message}`);
    expect(problems).toEqual([
      expect.stringMatching(/^root\/not-supported the root ".*bad\.zip" is not available: /),
      expect.stringMatching(/^root\/not-supported the root ".*gone\.tar\.gz" is not available: .*404/),
      expect.stringMatching(/^root\/not-supported the root "http:\/\/192.*" is not available: .*secure/),
      expect.stringMatching(/^root\/not-supported the root "ftp:\/\/h\/x" is not available: /),
    ]);
    expect(readdirSync(cache)).toEqual([]);
  });

  test('the colons of an address do not separate', () => {
    expect(splitRoots('/a:https://h:8443/x.zip:http://h/y.tgz: b :file:///c')).toEqual([
      '/a',
      'https://h:8443/x.zip',
      'http://h/y.tgz',
      'b',
      'file:///c',
    ]);
  });
});

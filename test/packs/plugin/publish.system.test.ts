import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { verifies } from '../../conformance/verifies.ts';
import { runCli, temporaryFolder } from '../../cli/run-cli.ts';
import { plant, type Tree } from '../../platform/fs/tree-support.ts';
import { skillText } from '../sources/bring-support.ts';

const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';

const desk = (more: object = {}): Tree => ({
  'plugin.json': JSON.stringify({ $schema: SCHEMA, name: 'desk', version: '1.2.0', ...more }),
  'mcp.json': JSON.stringify({
    $schema: SCHEMA.replace('plugin.schema', 'mcp.schema'),
    mcpServers: { index: { type: 'stdio', command: './bin/index' } },
  }),
  'bin/index': { program: '#!/bin/sh\n' },
  'skills/sort/SKILL.md': skillText('sort'),
  'skills/file/SKILL.md': skillText('file'),
});

function world() {
  const cwd = temporaryFolder();
  mkdirSync(path.join(cwd, '.git'));
  mkdirSync(path.join(cwd, 'home'));
  return { cwd, sw: (...words: readonly string[]) => runCli(cwd, words) };
}

type World = ReturnType<typeof world>;

/** A key pair without a password, whose public key is pinned. */
async function key({ cwd, sw }: World): Promise<string> {
  expect((await sw('keys', 'new', 'team', '--no-password')).status).toBe(0);
  expect((await sw('keys', 'add', 'team', 'home/.agent/keys/team.pub', '--yes')).status).toBe(0);
  return path.join(cwd, 'home/.agent/keys/team.key');
}

const locked = ({ cwd }: World) =>
  JSON.parse(readFileSync(path.join(cwd, '.agents/plugins/skills.lock.json'), 'utf8')) as { readonly skills: object };

describe('pack', () => {
  verifies('PLUG-4', 'packs a plugin whole; it is signed, verified and installed as one', async () => {
    const here = world();
    plant(path.join(here.cwd, 'desk'), desk());
    const packed = await here.sw('pack', './desk');
    expect([packed.status, packed.err]).toEqual([0, expect.stringContaining('desk  1.2.0  5 files')]);
    const again = await here.sw('pack', './desk', '--out', 'again.zip');
    expect(again.out.slice(0, 64)).toBe(packed.out.slice(0, 64));
    const secret = await key(here);
    expect((await here.sw('sign', 'desk-1.2.0.zip', '--key', secret)).status).toBe(0);
    const verified = await here.sw('verify', './desk-1.2.0.zip', '--signature', '--json');
    expect(JSON.parse(verified.out)).toMatchObject({
      ok: true,
      hasManifest: true,
      skills: [{ name: 'desk', version: '1.2.0' }],
    });
    const installed = await here.sw('install', './desk-1.2.0.zip', '--require-signed', '--yes');
    expect([installed.status, installed.out]).toEqual([0, 'installed desk\n']);
    expect(locked(here).skills).toMatchObject({ desk: { version: '1.2.0', signedBy: expect.any(String) } });
    expect((await here.sw('verify')).status).toBe(0);
    // An unsigned one does not replace it.
    plant(path.join(here.cwd, 'desk'), desk({ version: '1.3.0' }));
    expect((await here.sw('install', './desk', '--yes')).err).toContain('signature/downgrade');
    expect((await here.sw('install', './desk', '--force', '--yes')).status).toBe(0);
  });

  verifies('PLUG-2', 'stays trusted with an update that the user confirms, and an edit ends it', async () => {
    const here = world();
    plant(path.join(here.cwd, 'desk'), desk());
    const states = async () => {
      const listed = await here.sw('list', '--json', '--source', 'project');
      const { skills } = JSON.parse(listed.out) as { skills: { name: string; trusted: boolean }[] };
      return skills.map(({ name, trusted }) => [name, trusted]);
    };
    expect((await here.sw('install', './desk', '--yes')).status).toBe(0);
    expect(await states()).toEqual([
      ['file', true],
      ['sort', true],
    ]);
    plant(path.join(here.cwd, 'desk'), { ...desk({ version: '1.3.0' }), 'skills/new/SKILL.md': skillText('new') });
    expect((await here.sw('update', 'desk', '--yes')).status).toBe(0);
    expect(await states()).toEqual([
      ['file', true],
      ['new', true],
      ['sort', true],
    ]);
    plant(path.join(here.cwd, '.agents/plugins/desk'), { 'skills/sort/SKILL.md': `${skillText('sort')}Other.\n` });
    expect(await states()).toContainEqual(['file', true]);
    plant(path.join(here.cwd, 'desk'), { 'skills/sort/SKILL.md': `${skillText('sort')}Newer.\n` });
    expect((await here.sw('update', 'desk', '--yes')).err).toContain('install/edited');
  });

  verifies('PLUG-4', 'makes a plugin of skills', async () => {
    const here = world();
    plant(path.join(here.cwd, 'skills'), { 'sort/SKILL.md': skillText('sort'), 'file/SKILL.md': skillText('file') });
    expect((await here.sw('pack', './skills', '--plugin', 'acme.desk@2.0.0')).status).toBe(0);
    const installed = await here.sw('install', './acme-desk-2.0.0.zip', '--yes');
    expect([installed.status, installed.out]).toEqual([0, 'installed acme-desk\n']);
    const listed = await here.sw('list', '--json');
    const { skills } = JSON.parse(listed.out.slice(listed.out.indexOf('{'))) as {
      skills: { name: string; source: string }[];
    };
    expect(skills.filter(({ source }) => source === 'project').map(({ name }) => name)).toEqual(['file', 'sort']);
    expect((await here.sw('pack', './skills', '--plugin', 'Not Valid')).err).toContain('"name" is "Not Valid"');
    expect(readdirSync(here.cwd).filter((name) => name.endsWith('.zip'))).toEqual(['acme-desk-2.0.0.zip']);
  });

  verifies('PLUG-4', 'refuses a plugin that breaks the specification, and check names each breach', async () => {
    const here = world();
    const tree = desk({ hooks: {} });
    plant(path.join(here.cwd, 'desk'), { ...tree, 'skills/sort/SKILL.md': '---\nname: other\ndescription: x\n---\n' });
    const checked = await here.sw('check', './desk', '--json');
    const { diagnostics } = JSON.parse(checked.out) as { diagnostics: { code: string; path: string }[] };
    expect([checked.status, diagnostics.map(({ code }) => code)]).toEqual([
      1,
      ['plugin/ignored', expect.stringMatching(/^name\//)],
    ]);
    expect((await here.sw('pack', './desk')).err).toContain('the field "hooks" is unknown and ignored (plugin/ignored');
    plant(path.join(here.cwd, 'desk'), { 'plugin.json': JSON.stringify({ $schema: SCHEMA, name: 'Desk' }) });
    const rejected = await here.sw('check', './desk');
    expect([rejected.status, rejected.out]).toEqual([1, expect.stringContaining('plugin/rejected')]);
    expect((await here.sw('pack', './desk')).err).toContain('plugin.json: "name" is "Desk"');
    expect(existsSync(path.join(here.cwd, 'desk-1.2.0.zip'))).toBe(false);
  });

  verifies(
    'PLUG-4',
    'writes a marketplace of the skills and plugins of a repository, from which they install',
    async () => {
      const here = world();
      plant(path.join(here.cwd, 'repo'), {
        'skills/list/SKILL.md': skillText('list'),
        'skills/plan/SKILL.md': skillText('plan'),
        ...Object.fromEntries(Object.entries(desk()).map(([name, file]) => [`plugins/desk/${name}`, file])),
      });
      const written = await here.sw('pack', './repo', '--marketplace', 'acme', '--json');
      expect(JSON.parse(written.out)).toMatchObject({
        ok: true,
        plugins: [
          { name: 'acme', source: './', skills: ['./skills/list', './skills/plan'] },
          { name: 'desk', source: './plugins/desk' },
        ],
      });
      const file = path.join(here.cwd, 'repo/.claude-plugin/marketplace.json');
      expect((await here.sw('pack', './repo', '--marketplace', 'acme')).err).toContain('exists already');
      writeFileSync(file, JSON.stringify({ owner: { name: 'Mio' }, plugins: [] }));
      expect((await here.sw('pack', './repo', '--marketplace', 'acme', '--force')).status).toBe(0);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ name: 'acme', owner: { name: 'Mio' } });
      expect((await here.sw('install', './repo', 'acme', '--yes')).out).toBe('installed list\ninstalled plan\n');
      expect((await here.sw('install', './repo', 'desk', '--yes')).out).toBe('installed desk\n');
      expect((await here.sw('pack', './repo', '--marketplace', 'Not Valid')).status).toBe(1);
    },
  );
});

test('a site signs no skill of a plugin without a version', async () => {
  const here = world();
  plant(path.join(here.cwd, 'desk'), desk());
  const secret = await key(here);
  const built = await here.sw('site', './desk', '--out', 'public', '--key', secret, '--json');
  expect(JSON.parse(built.out)).toMatchObject({
    ok: false,
    errors: [{ code: 'pack/version' }, { code: 'pack/version' }],
  });
});

verifies('PLUG-4', 'site publishes a plugin whole and its skills one by one', async () => {
  const here = world();
  const versioned = (name: string) => skillText(name).replace('---\n\n', 'metadata:\n  version: 1.0.0\n---\n\n');
  plant(path.join(here.cwd, 'desk'), {
    ...desk(),
    'skills/sort/SKILL.md': versioned('sort'),
    'skills/file/SKILL.md': versioned('file'),
  });
  const secret = await key(here);
  const built = await here.sw('site', './desk', '--out', 'public', '--key', secret, '--json');
  expect(JSON.parse(built.out)).toMatchObject({
    ok: true,
    plugins: [{ name: 'desk', version: '1.2.0', pack: 'plugins/desk-1.2.0.zip' }],
    skills: [{ name: 'file' }, { name: 'sort' }],
  });
  const server = createServer((request, response) => {
    const file = path.join(here.cwd, 'public', request.url ?? '');
    if (existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const url = `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : 0)}`;
  const whole = await here.sw('install', `${url}/plugins/desk-1.2.0.zip`, '--require-signed', '--yes');
  expect([whole.status, whole.out, whole.err]).toEqual([0, 'installed desk\n', expect.stringContaining('signed by')]);
  expect((await here.sw('install', url, 'sort', '--require-signed', '--yes')).out).toBe('installed sort\n');
  expect(readFileSync(path.join(here.cwd, 'public/index.html'), 'utf8')).toContain('plugins/desk-1.2.0.zip');
});

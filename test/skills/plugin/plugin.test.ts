import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openPlugin } from '../../../src/skills/plugin/open-plugin.ts';
import { readPluginManifest } from '../../../src/skills/plugin/plugin-manifest.ts';
import { expandPlaceholders, readPluginServers } from '../../../src/skills/plugin/plugin-servers.ts';
import { realPath } from '../../../src/platform/fs/paths.ts';
import { verifies } from '../../conformance/verifies.ts';
import { plant, type Tree } from '../../platform/fs/tree-support.ts';
import { skillText } from '../../packs/sources/bring-support.ts';
import { scratch } from '../registry/support.ts';

const PLUGIN = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
const MCP = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json';

/** What is read from a manifest with these fields: its values, or why the plugin is rejected. */
function manifest(fields: object) {
  const read = readPluginManifest(JSON.stringify({ $schema: PLUGIN, name: 'desk', ...fields }));
  if (read === undefined || typeof read === 'string') return read;
  const known = Object.fromEntries(Object.entries(read.manifest).filter(([, value]) => value !== undefined));
  return read.ignored.length === 0 ? known : [known, ...read.ignored];
}

function servers(entries: unknown, more: object = {}) {
  const read = readPluginServers(JSON.stringify({ $schema: MCP, mcpServers: entries, ...more }));
  return [...read.servers, ...read.problems];
}

/** One server with these fields: itself, or why it is left out. */
const server = (fields: object) => servers({ one: fields })[0];

function plugin(tree: Tree) {
  const dir = plant(path.join(scratch(), 'desk'), {
    'plugin.json': JSON.stringify({ $schema: PLUGIN, name: 'desk' }),
    ...tree,
  });
  const read = openPlugin(dir);
  if (read === undefined || typeof read === 'string') return read;
  const { skills, servers: found, hooks, problems } = read;
  return { skills, servers: found.map(({ name }) => name), hooks, problems };
}

describe('the manifest (section 5)', () => {
  verifies('PLUG-1', 'needs only its schema and a name, and may have every field of the specification', () => {
    expect(manifest({})).toEqual({ name: 'desk' });
    expect(manifest({ version: '' })).toEqual({ name: 'desk' });
    expect(
      manifest({
        version: '2.0.1',
        description: 'Sorts a desk',
        author: { name: 'Mio', email: 'mio@host.example', url: 'https://host.example' },
        homepage: 'https://docs.host.example/desk',
        repository: 'https://host.example/desk',
        license: 'MIT',
        keywords: ['desk', 'papers'],
        extensions: { 'com.example.client': { theme: 'dark' } },
      }),
    ).toEqual({ name: 'desk', version: '2.0.1', description: 'Sorts a desk', license: 'MIT' });
  });

  verifies('PLUG-1', 'reports unknown fields and extensions that are no object, and is used without them', () => {
    expect(manifest({ skills: './elsewhere', hooks: {} })).toEqual([
      { name: 'desk' },
      'the field "skills" is unknown and ignored',
      'the field "hooks" is unknown and ignored',
    ]);
    expect(manifest({ extensions: ['x'] })).toEqual([{ name: 'desk' }, '"extensions" is not an object and is ignored']);
  });

  verifies('PLUG-1', 'rejects the plugin for every other breach; values are checked by type only', () => {
    const rejected = [
      { name: undefined },
      { name: 7 },
      { version: 2 },
      { description: null },
      { license: {} },
      { homepage: false },
      { keywords: ['a', 1] },
      { keywords: 'a' },
      { author: 'Mio' },
      { author: { name: 'Mio', phone: '1' } },
      { author: { name: 1 } },
      { extensions: { 'com.example.client': true } },
    ].map(manifest);
    expect(rejected.filter((one) => typeof one !== 'string')).toEqual([]);
    expect(
      manifest({ version: 'spring', author: { email: 'none', url: 'no url' }, homepage: 'x', license: 'mine' }),
    ).toEqual({ name: 'desk', version: 'spring', license: 'mine' });
  });

  verifies('PLUG-1', 'has a name of 1 to 64 characters', () => {
    const names = ['desk-tools', 'acme.desk', 'd3sk', 'a', 'a'.repeat(64)];
    expect(names.map((name) => manifest({ name }))).toEqual(names.map((name) => ({ name })));
    const wrong = [
      'My-Desk',
      '-start',
      'end-',
      '.a',
      'a.',
      'has--double',
      'too..many',
      '',
      'a_b',
      'a b',
      'é',
      'a'.repeat(65),
    ];
    expect(wrong.filter((name) => typeof manifest({ name }) !== 'string')).toEqual([]);
    expect(manifest({ name: 'My-Desk' })).toBe(
      '"name" is "My-Desk"; use 1 to 64 of a-z, 0-9, - and ., without -- and .., and a letter or digit at both ends',
    );
  });

  verifies('PLUG-1', 'selects the version by its schema; other files of that name are no Agent Plugins', () => {
    const read = (schema: unknown) => readPluginManifest(JSON.stringify({ $schema: schema, name: 'desk' }));
    expect(read(PLUGIN.replace('1.0.0', '1.1.0'))).toBe(
      'it needs version "1.1.0" of Agent Plugins; 1.0.0 is supported',
    );
    expect(read(MCP)).toMatch(/^it needs version /);
    expect([read(undefined), read('https://host.example/plugin.json'), read(1)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const broken = ['{', `{"$schema": "${PLUGIN}", "name": "desk",}`, '[1]', '', '['.repeat(20_000)];
    expect(broken.map((text) => readPluginManifest(text))).toEqual(
      broken.map(() => 'the manifest is not a JSON object'),
    );
    expect(readPluginManifest(`\ufeff{"$schema": "${PLUGIN}", "name": "desk"}`)).toBe(
      'the manifest starts with a byte order mark; save it without one',
    );
    expect(readPluginManifest(`{"$schema": "${PLUGIN}", "name": "a", "name": "b"}`)).toBe(
      'the key "name" occurs twice',
    );
  });
});

describe('mcp.json (section 7.2)', () => {
  verifies('PLUG-1', 'has programs and addresses; each entry is judged alone, and sse is left out', () => {
    const local = {
      type: 'stdio',
      command: './bin/check',
      args: ['--data', '${PLUGIN_DATA}/check'],
      env: { CONFIG: '${PLUGIN_ROOT}/config.json' },
      cwd: '${PLUGIN_ROOT}',
    };
    const remote = { type: 'streamable-http', url: 'https://mcp.host.example/mcp', headers: { 'X-Tenant': 'open' } };
    expect(servers({ local, remote, old: { type: 'sse', url: 'https://host.example/sse' }, bad: 1 })).toEqual([
      { name: 'local', ...local },
      { name: 'remote', ...remote },
      'the MCP server "old" uses sse, which is not supported: it is left out',
      'the MCP server "bad" is not an object: it is left out',
    ]);
    expect(servers({})).toEqual([]);
  });

  verifies('PLUG-1', 'is disabled as a whole for its own breaches and another version', () => {
    const rest = ': no server is used';
    expect([
      servers({}, { extra: 1 }),
      servers([]),
      servers({}, { $schema: undefined }),
      servers({}, { $schema: MCP.replace('1.0.0', '2.0.0') }),
      readPluginServers('nonsense').problems,
    ]).toEqual([
      [`mcp.json has the unknown field "extra"${rest}`],
      [`mcp.json has no object "mcpServers"${rest}`],
      [`mcp.json has no "$schema" of Agent Plugins${rest}`],
      [`mcp.json needs version "2.0.0" of Agent Plugins; plugin.json has 1.0.0${rest}`],
      [`mcp.json is not a JSON object${rest}`],
    ]);
  });

  verifies('PLUG-1', 'takes one token as the command and folders inside the plugin or its data', () => {
    const stdio = (more: object) => server({ type: 'stdio', command: 'node', ...more });
    const good = [
      { command: 'npx' },
      { command: './bin/my tool' },
      { cwd: './data' },
      { cwd: './' },
      { cwd: '${PLUGIN_DATA}' },
      { cwd: '${PLUGIN_DATA}/a/b' },
      { cwd: '${PLUGIN_ROOT}/a' },
      { env: { PATH: 'x', EMPTY: '' } },
    ];
    expect(good.map(stdio).filter((one) => typeof one === 'string')).toEqual([]);
    const bad = [
      { command: undefined },
      { command: '' },
      { command: ['node'] },
      { command: '../bin/server' },
      { command: './../bin/server' },
      { command: '/bin/sh' },
      { command: 'bin/server' },
      { command: '~/x' },
      { command: 'C:\\x' },
      { command: '.\\x' },
      { command: '${PLUGIN_ROOT}/x' },
      { cwd: 'data' },
      { cwd: '.' },
      { cwd: '../x' },
      { cwd: './../x' },
      { cwd: '/tmp' },
      { cwd: '${PLUGIN_ROOT}x' },
      { cwd: '${PLUGIN_ROOT}/../x' },
      { cwd: '${PLUGIN_DATA}/..' },
      { cwd: '${HOME}/x' },
      { cwd: 1 },
      { args: 'x' },
      { args: [1] },
      { env: { A: 1 } },
      { env: { PLUGIN_ROOT: '/' } },
      { env: { PLUGIN_DATA: '/' } },
      { url: 'https://host.example' },
      { type: 'STDIO' },
      { type: undefined },
    ];
    expect(bad.map(stdio).filter((one) => typeof one !== 'string')).toEqual([]);
  });

  verifies('PLUG-1', 'takes https addresses, http on this machine, and valid headers', () => {
    const http = (url: unknown, more: object = {}) => server({ type: 'streamable-http', url, ...more });
    const good = [
      'https://host.example/mcp?x=1',
      'http://localhost:3000/mcp',
      'http://127.0.0.9/mcp',
      'http://[::1]:80/',
    ];
    expect(good.map((url) => http(url)).filter((one) => typeof one === 'string')).toEqual([]);
    const bad = [
      http('http://host.example/mcp'),
      http('http://localhost.host.example/'),
      http('ftp://host.example'),
      http('/mcp'),
      http(''),
      http(1),
      http('https://user:word@host.example/mcp'),
      http('https://@host.example/mcp'),
      http('https://host.example/mcp#x'),
      http('https://host.example/mcp', { headers: { 'a b': 'x' } }),
      http('https://host.example/mcp', { headers: { a: 'x\r\ny' } }),
      http('https://host.example/mcp', { headers: { a: ' x' } }),
      http('https://host.example/mcp', { headers: { a: 1 } }),
      http('https://host.example/mcp', { headers: { 'X-A': '1', 'x-a': '2' } }),
      http('https://host.example/mcp', { command: 'x' }),
    ];
    expect(bad.filter((one) => typeof one !== 'string')).toEqual([]);
    expect(JSON.stringify(bad)).not.toContain('word');
  });

  verifies('PLUG-1', 'expands two placeholders once, and nothing else (section 9.2)', () => {
    const places = { root: '/p/${PLUGIN_DATA}', data: '/d' };
    expect(expandPlaceholders('--c=${PLUGIN_ROOT}/x:${PLUGIN_DATA} ${HOME} $PLUGIN_ROOT ${plugin_root}', places)).toBe(
      '--c=/p/${PLUGIN_DATA}/x:/d ${HOME} $PLUGIN_ROOT ${plugin_root}',
    );
  });
});

describe('the folder of a plugin (sections 4 and 6)', () => {
  const SERVERS = JSON.stringify({ $schema: MCP, mcpServers: { db: { type: 'stdio', command: 'npx' } } });

  verifies('PLUG-1', 'has skills directly in skills, servers in mcp.json, and folders of clients', () => {
    expect(
      plugin({
        'skills/sort/SKILL.md': skillText('sort'),
        'skills/sort/references/inner/SKILL.md': skillText('inner'),
        'skills/group/deep/SKILL.md': skillText('deep'),
        'skills/empty/README.md': 'x',
        'skills/lower/skill.md': skillText('lower'),
        'mcp.json': SERVERS,
        '.mcp.json': SERVERS,
        'com.example.client/skills/vendor/SKILL.md': skillText('vendor'),
        'com.example.client/hooks/hooks.json': '{}',
        'other/SKILL.md': skillText('other'),
        LICENSE: 'MIT',
      }),
    ).toEqual({ skills: ['sort'], servers: ['db'], hooks: ['com.example.client/hooks'], problems: [] });
  });

  verifies('PLUG-1', 'may lack skills and servers', () => {
    expect(plugin({})).toEqual({ skills: [], servers: [], hooks: [], problems: [] });
  });

  verifies('PLUG-1', 'loses only the part that is of the wrong kind', () => {
    expect(plugin({ skills: 'a file', 'mcp.json': SERVERS })).toEqual({
      skills: [],
      servers: ['db'],
      hooks: [],
      problems: ['skills is not a folder inside the plugin: no skill is used'],
    });
    expect(plugin({ 'skills/sort/SKILL.md': skillText('sort'), 'mcp.json/x': 'a folder' })).toEqual({
      skills: ['sort'],
      servers: [],
      hooks: [],
      problems: ['mcp.json is not a text file inside the plugin: no server is used'],
    });
  });

  verifies('PLUG-1', 'may have links inside; what leads out is refused at the narrowest boundary', () => {
    const outside = plant(path.join(scratch(), 'outside'), {
      'SKILL.md': skillText('x'),
      tool: 'x',
      'mcp.json': SERVERS,
    });
    const dir = plant(path.join(scratch(), 'desk'), {
      'plugin.json': JSON.stringify({ $schema: PLUGIN, name: 'desk' }),
      'skills/sort/SKILL.md': skillText('sort'),
      'skills/out/README.md': 'x',
      'mcp.json': JSON.stringify({
        $schema: MCP,
        mcpServers: {
          own: { type: 'stdio', command: './bin/own' },
          out: { type: 'stdio', command: './bin/out' },
          there: { type: 'stdio', command: 'npx', cwd: './there' },
        },
      }),
      'bin/real': 'x',
    });
    symlinkSync('real', path.join(dir, 'bin/own'));
    symlinkSync(path.join(outside, 'tool'), path.join(dir, 'bin/out'));
    symlinkSync(outside, path.join(dir, 'there'));
    symlinkSync(path.join(outside, 'SKILL.md'), path.join(dir, 'skills/out/SKILL.md'));
    symlinkSync('sort', path.join(dir, 'skills/again'));
    const read = openPlugin(dir);
    expect(read).toMatchObject({
      dir: realPath(dir),
      skills: ['again', 'sort'],
      servers: [{ name: 'own' }],
      problems: [
        'skills/out leads out of the plugin: it is left out',
        'the MCP server "out" leads out of the plugin: it is left out',
        'the MCP server "there" leads out of the plugin: it is left out',
      ],
    });
  });

  test('is rejected if plugin.json is no text file, and warns of a name that install refuses', () => {
    const unusable = 'plugin.json is not a text file in UTF-8 of at most 8388608 bytes';
    expect(openPlugin(plant(scratch(), { 'plugin.json/x': 'a folder' }))).toBe(unusable);
    expect(plugin({ 'plugin.json': ' '.repeat(9 * 1024 * 1024) })).toBe(unusable);
    expect(plugin({ 'plugin.json': JSON.stringify({ $schema: PLUGIN, name: 'con' }) })).toMatchObject({
      problems: ['no folder can be called "con" on Windows, so install refuses it'],
    });
  });

  test('is rejected if plugin.json leads out, and is no plugin without one', () => {
    const outside = plant(path.join(scratch(), 'outside'), {
      'plugin.json': JSON.stringify({ $schema: PLUGIN, name: 'x' }),
    });
    const dir = plant(path.join(scratch(), 'desk'), { 'skills/sort/SKILL.md': skillText('sort') });
    expect(openPlugin(dir)).toBe(undefined);
    symlinkSync(path.join(outside, 'plugin.json'), path.join(dir, 'plugin.json'));
    expect(openPlugin(dir)).toBe('plugin.json leads out of the plugin');
  });
});

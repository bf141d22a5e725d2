import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openToolServers, pluginServers } from '../../src/mcp/tool-servers.ts';
import { realPath } from '../../src/platform/fs/paths.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { openSkillTools } from '../../src/tools.ts';
import { runCli, temporaryFolder } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { skillText } from '../packs/sources/bring-support.ts';
import { plant, type Tree } from '../platform/fs/tree-support.ts';

const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0/';

/** A plugin with a server that lists its variables, and writes into its data folder when it starts. */
const desk = (): Tree => ({
  'plugin.json': JSON.stringify({ $schema: `${SCHEMAS}plugin.schema.json`, name: 'desk' }),
  'mcp.json': JSON.stringify({
    $schema: `${SCHEMAS}mcp.schema.json`,
    mcpServers: {
      index: {
        type: 'stdio',
        command: './bin/serve',
        args: ['good', '${PLUGIN_DATA}/started', '${HOME}'],
        env: { CONFIG: '${PLUGIN_ROOT}/config.json', HOME: '/overlaid' },
        cwd: '${PLUGIN_DATA}/work',
      },
      broken: { type: 'stdio', command: 'no-such-program' },
      remote: {
        type: 'streamable-http',
        url: 'http://127.0.0.1:9/mcp',
        headers: { AcCePt: 'text/plain', 'Mcp-Session-Id': 'x', 'X-Tenant': 'a' },
      },
    },
  }),
  'bin/serve': { program: '#!/bin/sh\npwd >"$PLUGIN_DATA/cwd"\nexec node "$PLUGIN_ROOT/bin/server.mjs" "$@"\n' },
  'bin/server.mjs': readFileSync(path.join(PROJECT, 'test/mcp/demo-server.mjs'), 'utf8'),
  'skills/sort/SKILL.md': skillText('sort'),
  'com.example.client/hooks/hooks.json': '{"hooks": {"SessionStart": [{"command": "touch hooked"}]}}',
});

function world(place: 'project' | 'home') {
  const base = temporaryFolder();
  const [project, home] = [path.join(base, 'project'), path.join(base, 'project/home')];
  plant(project, { '.git/HEAD': 'ref: refs/heads/main\n', 'home/.keep': '' });
  const plugin = plant(path.join(place === 'project' ? project : home, '.agents/plugins/desk'), desk());
  const runtime = () =>
    createRuntime({
      cwd: project,
      home,
      env: { PATH: process.env['PATH'] ?? '' },
      builtin: false,
      config: { policy: { allow: ['mcp__*'] } },
    });
  const sw = (...words: readonly string[]) => runCli(project, words, { HOME: home });
  return { project, home, plugin, runtime, sw };
}

const unusedOf = async (runtime: ReturnType<ReturnType<typeof world>['runtime']>) =>
  (await pluginServers(await runtime)).map(({ name, unused }) => [name, unused?.slice(0, 17)]);

const WAITING = [
  ['desk-index', 'it is not trusted'],
  ['desk-broken', 'it is not trusted'],
  ['desk-remote', 'it is not trusted'],
];
const USED = [
  ['desk-index', undefined],
  ['desk-broken', undefined],
  ['desk-remote', undefined],
];

describe.each(['project', 'home'] as const)('MCP servers of a plugin in the %s folder', (place) => {
  verifies(
    'PLUG-3',
    'are offered and never started before the user trusts the plugin; one changed byte ends it',
    async () => {
      const here = world(place);
      expect(await unusedOf(here.runtime())).toEqual(WAITING);
      const dry = await here.sw('trust', here.plugin, '--dry-run');
      expect(dry.out + dry.err).toContain(
        `MCP server index, used without a sandbox: program ${realPath(here.plugin)}/bin/serve good `,
      );
      expect(await unusedOf(here.runtime())).toEqual(WAITING);
      const checked = await here.sw('mcp', 'check', '--json');
      expect(JSON.parse(checked.out)).toMatchObject({ servers: [], offered: [{ name: 'desk-index' }, {}, {}] });
      const data = path.join(here.home, '.agent/plugins/data');
      expect(existsSync(data)).toBe(false);
      expect((await here.sw('trust', here.plugin, '--yes')).status).toBe(0);
      expect(await unusedOf(here.runtime())).toEqual(USED);
      appendFileSync(path.join(here.plugin, 'bin/server.mjs'), '\n');
      expect(await unusedOf(here.runtime())).toEqual(WAITING);
      expect((await here.sw('trust', here.plugin, '--yes')).status).toBe(0);
      expect((await here.sw('trust', '--revoke', here.plugin)).status).toBe(0);
      expect(await unusedOf(here.runtime())).toEqual(WAITING);
    },
  );

  verifies(
    'PLUG-3',
    'run in the plugin with its variables and a data folder that stays; a broken one costs only itself',
    async () => {
      const here = world(place);
      await here.sw('trust', here.plugin, '--yes');
      const runtime = await here.runtime();
      const servers = openToolServers(runtime, { plugins: await pluginServers(runtime) });
      onTestFinished(() => servers.close());
      const tools = await openSkillTools({ runtime, servers });
      const names = tools.tools.map(({ name }) => name).filter((name) => name.startsWith('mcp__'));
      expect(names).toEqual(['mcp__desk-index__echo', 'mcp__desk-index__env', 'mcp__desk-index__wipe']);
      const answer = await tools.call('mcp__desk-index__env', '{}');
      const env: unknown = JSON.parse(answer.text.slice(0, answer.text.indexOf('}') + 1));
      const root = realPath(here.plugin);
      const { PLUGIN_DATA: data = '' } = env as Readonly<Record<string, string>>;
      expect(env).toMatchObject({ PLUGIN_ROOT: root, CONFIG: `${root}/config.json`, HOME: '/overlaid' });
      expect(path.dirname(data)).toBe(path.join(here.home, '.agent/plugins/data'));
      expect(readFileSync(path.join(data, 'started'), 'utf8')).toBe('started\n');
      expect(readFileSync(path.join(data, 'cwd'), 'utf8')).toBe(`${realPath(path.join(data, 'work'))}\n`);
      expect(existsSync(path.join(here.project, 'hooked'))).toBe(false);
    },
  );
});

test('the trust of a project names its plugins, and is about these files only', async () => {
  const here = world('project');
  const trusted = await here.sw('trust', '--yes');
  expect(trusted.out + trusted.err).toContain(
    'MCP server remote, used without a sandbox: address http://127.0.0.1:9/mcp',
  );
  expect(await unusedOf(here.runtime())).toEqual(USED);
  rmSync(path.join(here.plugin, 'com.example.client'), { recursive: true });
  expect(await unusedOf(here.runtime())).toEqual(WAITING);
});

verifies(
  'PLUG-3',
  'an install does not start or trust servers; a server of the configuration keeps its name',
  async () => {
    const here = world('project');
    plant(path.join(here.project, 'source'), {
      ...desk(),
      'plugin.json': JSON.stringify({ $schema: `${SCHEMAS}plugin.schema.json`, name: 'other' }),
    });
    const done = await here.sw('install', './source', '--yes');
    expect([done.status, done.out]).toEqual([0, 'installed other\n']);
    expect(done.err).not.toContain('is not searched');
    expect(await unusedOf(here.runtime())).toEqual([
      ...WAITING,
      ...WAITING.map(([name = '', reason]) => [name.replace('desk', 'other'), reason]),
    ]);
    expect((await pluginServers(await here.runtime()))[2]?.config).toMatchObject({ headers: { 'X-Tenant': 'a' } });
    plant(here.home, { '.agent/config.json': JSON.stringify({ mcp_servers: { 'desk-index': { command: 'mine' } } }) });
    await here.sw('trust', here.plugin, '--yes');
    expect((await pluginServers(await here.runtime()))[0]?.unused).toBe('another server is called "desk-index"');
  },
);

verifies('PLUG-3', 'a plugin of a project that is not trusted takes no name from one of the user', async () => {
  const here = world('home');
  await here.sw('trust', here.plugin, '--yes');
  plant(path.join(here.project, '.agents/plugins/desk'), { ...desk(), 'bin/server.mjs': 'throw new Error();' });
  expect(await unusedOf(here.runtime())).toEqual([...WAITING, ...USED]);
});

/** The plugin with one server of these fields. */
const withServer = (server: object): Tree => ({
  ...desk(),
  'mcp.json': JSON.stringify({
    $schema: `${SCHEMAS}mcp.schema.json`,
    mcpServers: { one: { type: 'stdio', command: 'npx', ...server } },
  }),
});

verifies('PLUG-3', 'the review shows a server whole: nothing of it is hidden, cut or left out', async () => {
  const here = world('project');
  const long = `true ${'x'.repeat(3_000)}${' '.repeat(600)}; echo hidden`;
  plant(here.plugin, {
    ...withServer({
      args: ['-y', long, 'a\u202eb\u200b', ''],
      env: { PATH: '${PLUGIN_ROOT}/bin', TOKEN_FILE: 'a b', NODE_OPTIONS: '--import ./x.mjs' },
      cwd: './skills',
    }),
    'bin/npx': { program: '#!/bin/sh\n' },
  });
  const root = realPath(here.plugin);
  const shown = await here.sw('trust', '--dry-run');
  const lines = (shown.out + shown.err).split('\n');
  const at = lines.findIndex((line) => line.includes('MCP server'));
  expect(lines.slice(at, at + 5)).toEqual([
    `    MCP server one, used without a sandbox: program npx -y "${long.replace(/ {600}/, '\\x20{600}')}" "a\\u{202e}b\\u{200b}" ""`,
    `      runs ${root}/bin/npx in ${root}/skills`,
    `      WARNING: this variable changes which code runs: PATH=${root}/bin`,
    '      with TOKEN_FILE="a b"',
    '      WARNING: this variable changes which code runs: NODE_OPTIONS="--import ./x.mjs"',
  ]);
  expect(JSON.parse((await here.sw('trust', '--dry-run', '--json')).out)).toMatchObject({
    plugins: [
      {
        dir: root,
        name: 'desk',
        servers: [
          {
            name: 'one',
            type: 'stdio',
            command: 'npx',
            program: `${root}/bin/npx`,
            args: ['-y', long, 'a\u202eb\u200b', ''],
            cwd: `${root}/skills`,
            env: { PATH: `${root}/bin`, TOKEN_FILE: 'a b', NODE_OPTIONS: '--import ./x.mjs' },
            changesCode: ['PATH', 'NODE_OPTIONS'],
          },
        ],
      },
    ],
  });
  const remote = { type: 'streamable-http', command: undefined, url: 'https://host.example/mcp?token=a' };
  plant(here.plugin, withServer({ ...remote, headers: { 'X-Tenant': 'secret' } }));
  const address = await here.sw('trust', '--dry-run');
  expect(address.out + address.err).toContain(
    'address "https://host.example/mcp?token=a"\n      sends the headers X-Tenant',
  );
});

verifies('PLUG-3', 'the review warns of files that trust in the plugin does not cover', async () => {
  const here = world('project');
  const outside = ['${PLUGIN_ROOT}/../../../evil.mjs', '--import=../../../evil.mjs', '/etc/hostname'];
  const own = ['./bin/server.mjs', '${PLUGIN_ROOT}/bin/../bin/server.mjs', '--data=${PLUGIN_DATA}/x', '/etc', '..'];
  plant(here.plugin, withServer({ args: [...outside, ...own], env: { CONFIG: '../out.json' } }));
  const { plugins } = JSON.parse((await here.sw('trust', '--dry-run', '--json')).out);
  const root = realPath(here.plugin);
  expect(plugins[0].servers[0].outside).toEqual([`${root}/../../../evil.mjs`, ...outside.slice(1), '../out.json']);
  const shown = await here.sw('trust', '--dry-run');
  expect(shown.out + shown.err).toContain(
    'WARNING: not part of the plugin, so it can change without a question: /etc/hostname\n',
  );
});

verifies('PLUG-3', 'a byte below .git ends the trust, also of plugins that are trusted with --mine', async () => {
  const here = world('project');
  plant(here.plugin, { ...withServer({ command: 'node', args: ['.git/server.mjs'] }), '.git/server.mjs': '' });
  const isUsed = async () => (await pluginServers(await here.runtime())).map((one) => one.unused === undefined);
  expect((await here.sw('trust', '--mine', '--yes')).status).toBe(0);
  expect(await isUsed()).toEqual([true]);
  appendFileSync(path.join(here.plugin, '.git/server.mjs'), '\n');
  expect(await isUsed()).toEqual([false]);
  expect((await here.sw('trust', '--mine', '--yes')).status).toBe(0);
  appendFileSync(path.join(here.plugin, 'mcp.json'), '\n');
  expect(await isUsed()).toEqual([false]);
});

verifies('PLUG-3', 'trust in a skill whose folder is also a plugin does not start its servers', async () => {
  const here = world('project');
  plant(path.join(here.project, 'source'), { ...desk(), 'SKILL.md': skillText('desk') });
  rmSync(here.plugin, { recursive: true });
  expect((await here.sw('install', './source', '--yes')).status).toBe(0);
  expect(await unusedOf(here.runtime())).toEqual(WAITING);
});

verifies('PLUG-3', 'uninstall --purge deletes the data of servers and the trust in them', async () => {
  const here = world('project');
  plant(path.join(here.project, 'source'), {
    ...desk(),
    'plugin.json': JSON.stringify({ $schema: `${SCHEMAS}plugin.schema.json`, name: 'other' }),
  });
  const others = async () => (await unusedOf(here.runtime())).slice(3);
  const waiting = WAITING.map(([name = '', reason]) => [name.replace('desk', 'other'), reason]);
  await here.sw('install', './source', '--yes');
  await here.sw('trust', '--yes');
  const offered = await pluginServers(await here.runtime());
  const folders = [offered[0]?.folders?.data ?? '', offered[3]?.folders?.data ?? ''];
  for (const data of folders) plant(data, { kept: 'x' });
  expect(await others()).toEqual(USED.map(([name = '']) => [name.replace('desk', 'other'), undefined]));
  await here.sw('uninstall', 'other', '--yes');
  expect(folders.map((folder) => existsSync(folder))).toEqual([true, true]);
  await here.sw('install', './source', '--yes');
  const gone = await here.sw('uninstall', 'other', '--purge', '--yes');
  expect([gone.status, gone.out]).toEqual([0, 'removed other\n']);
  expect(folders.map((folder) => existsSync(folder))).toEqual([true, false]);
  await here.sw('install', './source', '--yes');
  expect(await others()).toEqual(waiting);
  expect(await unusedOf(here.runtime())).toEqual([...USED, ...waiting]);
});

verifies('PLUG-3', 'an update that changes a server names it, and ends the trust', async () => {
  const here = world('project');
  rmSync(here.plugin, { recursive: true });
  plant(path.join(here.project, 'source'), withServer({ command: 'node' }));
  const isUsed = async () => (await pluginServers(await here.runtime())).map((one) => one.unused === undefined);
  await here.sw('install', './source', '--yes');
  await here.sw('trust', '--mine', '--yes');
  expect(await isUsed()).toEqual([true]);
  plant(path.join(here.project, 'source'), withServer({ command: 'node', args: ['other.mjs'] }));
  const plan = await here.sw('update', 'desk', '--dry-run');
  expect(plan.out + plan.err).toContain('now it changes these MCP servers:\n  │ one\nnow it needs trust again');
  expect((await here.sw('update', 'desk', '--yes')).status).toBe(0);
  expect(await isUsed()).toEqual([false]);
});

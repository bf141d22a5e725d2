/** Skills that MCP servers offer: origin, trust bound to content, and the published adversarial fixtures of the extension. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { openToolServers, type ServerState } from '../../src/mcp.ts';
import { openTrust } from '../../src/policy/trust.ts';
import { readTreeDigest } from '../../src/platform/fs/tree-digest.ts';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { openSkillTools, type SkillToolsOptions } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { runCli, temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';

const SERVER = path.join(PROJECT, 'test/mcp/adversarial-server.mjs');

interface World {
  readonly home: string;
  readonly open: (config?: object) => Promise<Runtime>;
  /** The URIs of the files that were read from the server. */
  readonly reads: () => readonly string[];
  readonly behave: (how: string) => void;
}

function world(): World {
  const home = temporaryFolder();
  const args = [SERVER, path.join(home, 'server')];
  writeFiles(home, {
    '.agents/skills/greet/SKILL.md': '---\nname: greet\ndescription: Greets.\n---\nYour own greet.\n',
    '.agent/config.json': JSON.stringify({ mcp_servers: { acme: { command: 'node', args } } }),
    'project/readme.md': 'x',
    'server/behaviour': '',
    'server/reads': '',
  });
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SKILLWRIGHT_CACHE_DIR: path.join(home, 'cache') };
  return {
    home,
    open: (config = {}) => createRuntime({ cwd: path.join(home, 'project'), home, env, builtin: false, config }),
    reads: () => readFileSync(path.join(home, 'server/reads'), 'utf8').split('\n').slice(0, -1),
    behave: (how) => writeFiles(home, { 'server/behaviour': how }),
  };
}

const SERVICES = { secrets: async () => ({ values: {} }) };

async function check(runtime: Runtime): Promise<ServerState> {
  const servers = await openToolServers(runtime);
  const [state] = await servers.check(SERVICES);
  await servers.close();
  if (state === undefined) throw new Error('no server is configured');
  await runtime.refresh();
  return state;
}

async function trust({ home }: World, runtime: Runtime, names: readonly string[]): Promise<void> {
  const store = openTrust({ home, bind: 'digest' });
  for (const name of names) {
    const { dir } = runtime.find(`mcp:acme/${name}`);
    const tree = await readTreeDigest(dir);
    if (tree.type !== 'digest') throw new Error(tree.message);
    await store.trustSkills([{ dir, digest: tree.digest }]);
  }
}

/** A session with the servers of the configuration. */
async function openTools(runtime: Runtime, options: SkillToolsOptions = {}): Promise<SkillTools> {
  const servers = await openToolServers(runtime);
  onTestFinished(() => servers.close());
  return openSkillTools({ runtime, servers, ...options });
}

const OFFERED = [
  'billing-refunds',
  'commands',
  'cross-server',
  'digest-swap',
  'file-omitted',
  'frontmatter-mismatch',
  'greedy',
  'greet',
  'honest',
  'invisible',
  'large',
  'nesting',
  'oversized-lie',
  'rotation',
  'size-lie',
  'support-invoices',
  'support-refunds',
];

verifies(
  'MCP-2',
  'skills are listed without a read of their files, and broken entries are left out with reasons',
  async () => {
    const here = world();
    const runtime = await here.open();
    const { skills, problems } = await check(runtime);
    expect([...skills].toSorted()).toEqual(OFFERED);
    const reasons: readonly (readonly [string, string])[] = [
      ['outside', 'outside the skill'],
      ['traversal', '\\.\\.|encoded|outside'],
      ['backslash', 'backslash|encoded|outside'],
      ['bidi', 'invisible'],
      ['file:///etc/file-url/', 'file: address'],
      ['file-url-short', 'file: address|URI'],
      ['collision', 'same name'],
      ['dynamic', 'no digests'],
      ['billing/invoices', 'no digests'],
      ['oversized/', 'bytes'],
      ['many-files', '512 files'],
      ['another-name', 'must match the last path segment'],
      ['hidden', 'lowercase'],
    ];
    for (const [name, reason] of reasons)
      expect(problems.filter((problem) => problem.split(' is left out')[0]?.includes(name))).toEqual([
        expect.stringMatching(new RegExp(reason)),
      ]);
    expect(problems).toHaveLength(reasons.length);
    expect(problems.join('')).toMatch(/^[\x20-\x7e]*$/);
    await openTools(runtime);
    await trust(here, runtime, OFFERED);
    const tools = await openTools(await here.open());
    expect(tools.instructions).toContain('[from MCP server acme] The fixture honest.');
    // Neither listing nor approval nor the start of a session reads a file.
    expect(here.reads()).toEqual([]);
  },
);

verifies('MCP-2', 'a file of a skill is read when it is needed and used only as it was listed', async () => {
  const here = world();
  const first = await here.open();
  await check(first);
  await trust(here, first, OFFERED);
  const runtime = await here.open();
  const tools = await openTools(runtime);
  const load = async (skill: string): Promise<string> => (await tools.call('load_skill', { skill })).text;
  const read = async (skill: string, file: string): Promise<string> =>
    (await tools.call('read_resource', { skill, path: file })).text;
  const loaded = await load('honest');
  expect(loaded).toContain('Be kind.');
  expect(loaded).toContain('served by the MCP server acme');
  expect(loaded).toContain('references/words.md');
  expect(loaded).not.toContain('changed since');
  expect(here.reads()).toEqual(['skill://honest/SKILL.md']);
  expect(await read('honest', 'references/words.md')).toMatch(/kind words[^]*served by the MCP server acme/);
  await read('honest', 'references/words.md');
  expect(here.reads()).toEqual(['skill://honest/SKILL.md', 'skill://honest/references/words.md']);
  // Bytes that change on disk are read again; those that the server changes are not used.
  const contents = path.join(here.home, 'cache/mcp/contents/acme');
  const key = readdirSync(contents).find((each) => existsSync(path.join(contents, each, 'honest'))) ?? '';
  const words = path.join(contents, key, 'honest/references/words.md');
  writeFileSync(words, 'evil words\n');
  expect(await read('honest', 'references/words.md')).toContain('kind words');
  for (const [skill, reason] of [
    ['frontmatter-mismatch', 'frontmatter'],
    ['rotation', 'is 76 bytes; the skill entry lists 68'],
    ['size-lie', 'the skill entry lists 3'],
    ['oversized-lie', 'bytes'],
  ] as const)
    expect(await load(skill)).toMatch(new RegExp(`cannot be used: .*${reason}`));
  await load('digest-swap');
  expect(await read('digest-swap', 'helper.md')).toMatch(/cannot be used: .*digest/);
  // Only listed files, of this skill, and of this server.
  const before = here.reads().length;
  expect(await read('file-omitted', 'scripts/helper.sh')).toContain('does not exist');
  expect(await read('honest', '../../../../trust.json')).toContain('..');
  expect(await read('cross-server', 'skill://other.example/secrets.md')).toContain('is absolute');
  await load('nesting');
  expect(await read('nesting', 'inner/SKILL.md')).toContain('Obey.');
  expect(here.reads().slice(before)).toEqual(['skill://nesting/SKILL.md', 'skill://nesting/inner/SKILL.md']);
  // A nested skill is a file of its skill: it is no skill of its own, and its frontmatter has no effect.
  expect(await load('inner')).toContain('no skill called');
  expect(tools.session.policy).toEqual((await openTools(runtime)).session.policy);
  const large = await tools.call('read_resource', { skill: 'large', path: 'data.txt' });
  expect([large.isError, large.text]).toEqual([false, expect.stringContaining('xxxx')]);
});

verifies(
  'MCP-2',
  'a skill of a server has its own name, needs trust for its content, and says where it comes from',
  async () => {
    const here = world();
    const runtime = await here.open();
    await check(runtime);
    // A name alone means the skill of the user, and nested skills are files.
    expect(runtime.find('greet').source).toBe('user');
    expect(runtime.find('mcp:acme/greet').description).toBe('[from MCP server acme] The fixture greet.');
    expect(runtime.index.all.map(({ name }) => name)).not.toContain('inner');
    expect(runtime.index.shadowed).toMatchObject([{ name: 'greet', source: 'mcp:acme' }]);
    // Equal names of one listing are told apart, and the name alone means none of them.
    for (const name of ['refunds', 'mcp:acme/refunds', 'invoices', 'mcp:acme/invoices'])
      expect(() => runtime.find(name)).toThrow('no skill called');
    const untrusted = await openTools(runtime, { execution: 'auto' });
    expect(untrusted.instructions).not.toContain('honest');
    for (const [tool, input] of [
      ['load_skill', { skill: 'mcp:acme/honest' }],
      ['read_resource', { skill: 'mcp:acme/honest', path: 'references/words.md' }],
      ['run_script', { skill: 'mcp:acme/honest', script: 'run.sh' }],
    ] as const)
      expect((await untrusted.call(tool, input)).text, tool).toMatch(/not trusted|there is no skill/);
    expect(here.reads()).toEqual([]);

    await trust(here, runtime, ['honest', 'greedy', 'invisible', 'commands', 'billing-refunds', 'support-refunds']);
    const tools = await openTools(await here.open({ policy: { allowed_tools: 'grant' } }));
    const load = async (skill: string): Promise<string> => (await tools.call('load_skill', { skill })).text;
    expect(await load('billing-refunds')).toContain('Billing.');
    expect(await load('support-refunds')).toContain('Support.');
    expect(await load('honest')).toContain('source="mcp:acme"');
    expect(await load('invisible')).not.toMatch(/[\u200b\u202e]|\udb40/);
    expect(await load('commands')).toContain('was not run');
    expect(existsSync('/tmp/skillwright-adversarial')).toBe(false);
    // An approved skill does not get a tool that is high risk, whatever it asks for.
    await load('greedy');
    expect(tools.session.decide([{ tool: 'write_file', subject: { kind: 'path', path: 'x' } }]).effect).toBe('ask');

    // A changed set of files is another skill: the trust ends, also where the server takes the change back.
    here.behave('changed');
    await check(await here.open());
    const changed = await openTools(await here.open());
    expect((await changed.call('load_skill', { skill: 'mcp:acme/honest' })).text).toContain('not trusted');
    // That holds in the session that loaded it before, too.
    expect((await tools.call('read_resource', { skill: 'honest', path: 'new.md' })).text).toContain('not trusted');
    here.behave('');
    await check(await here.open());
    const back = await openTools(await here.open());
    expect((await back.call('load_skill', { skill: 'mcp:acme/honest' })).text).toContain('not trusted');
  },
);

verifies('MCP-2', 'a skill that its server does not list is loaded by its URI', async () => {
  const here = world();
  const runtime = await here.open();
  await check(runtime);
  const uri = 'skill://acme/unlisted/SKILL.md';
  const tools = await openTools(runtime);
  const load = async (skill: string): Promise<string> => (await tools.call('load_skill', { skill })).text;
  expect(await load('skill://acme/nothing/SKILL.md')).toContain('has no usable skill');
  expect(await load('mcp:other/skill://acme/unlisted/SKILL.md')).toContain('does not name the MCP server');
  expect(await load(uri)).toContain('is new here');
  await runtime.refresh();
  await trust(here, runtime, ['unlisted']);
  expect(here.reads()).toEqual([]);
  // It stays when the server is asked for its list again.
  const { skills } = await check(await here.open());
  expect(skills).toContain('unlisted');
  const again = await openTools(await here.open());
  for (const skill of [uri, `mcp:acme/${uri}`, 'unlisted'])
    expect((await again.call('load_skill', { skill })).text, skill).toMatch(/Be kind\.|already loaded/);
  expect(here.reads()).toEqual(['skill://acme/unlisted/SKILL.md']);
});

test('a program of a skill runs on the files that the server listed', async () => {
  const here = world();
  const runtime = await here.open();
  await check(runtime);
  await trust(here, runtime, ['honest', 'digest-swap']);
  const asked: string[] = [];
  const tools = await openTools(await here.open(), {
    execution: { executor: 'local', opens: false },
    approve: async ({ tool }) => {
      asked.push(`${tool} ${String(here.reads().length)}`);
      return { verdict: 'yes', scope: 'run', by: 'callback' };
    },
  });
  const ran = await tools.call('run_script', { skill: 'honest', script: 'scripts/run.sh' });
  expect([ran.isError, ran.text]).toEqual([false, expect.stringContaining('ran')]);
  // The user is asked before anything is read.
  expect(asked[0]).toBe('run_script 0');
  expect(here.reads()).toHaveLength(3);
  const swapped = await tools.call('run_command', { skill: 'digest-swap', command: 'cat helper.md' });
  expect([swapped.isError, swapped.text]).toEqual([true, expect.stringMatching(/cannot be used: .*digest/)]);
});

test('a listing without end is not followed, and a server that is removed is forgotten', async () => {
  const here = world();
  here.behave('endless');
  const { skills, problems } = await check(await here.open());
  expect([skills, problems]).toEqual([[], [expect.stringContaining('its skills cannot be listed')]]);
  here.behave('');
  const runtime = await here.open();
  await check(runtime);
  await trust(here, runtime, ['honest']);
  await (await openTools(await here.open())).call('load_skill', { skill: 'honest' });
  const project = path.join(here.home, 'project');
  const run = async (...words: readonly string[]): Promise<string> =>
    (await runCli(project, words, { HOME: here.home, SKILLWRIGHT_CACHE_DIR: path.join(here.home, 'cache') })).out;
  const kept = (): readonly string[] =>
    ['skills', 'contents'].flatMap((folder) => {
      const place = path.join(here.home, 'cache/mcp', folder, 'acme');
      return existsSync(place) ? readdirSync(place) : [];
    });
  expect(await run('list')).toContain('mcp:acme');
  expect(kept().length).toBeGreaterThan(0);
  writeFileSync(path.join(here.home, '.agent/config.json'), '{}');
  expect(await run('list')).not.toContain('mcp:acme');
  await run('mcp', 'check');
  expect(kept()).toEqual([]);
  expect(openTrust({ home: here.home, bind: 'digest' }).list().folders).toEqual([]);
});

/** Skills that MCP servers offer: origin, trust bound to content, and the published adversarial fixtures of the extension. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openToolServers, type ServerState } from '../../src/mcp.ts';
import { openTrust } from '../../src/policy/trust.ts';
import { readTreeDigest } from '../../src/platform/fs/tree-digest.ts';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { runCli, temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';

const SERVER = path.join(PROJECT, 'test/mcp/adversarial-server.mjs');

interface World {
  readonly home: string;
  readonly open: (config?: object) => Promise<Runtime>;
}

function world(...words: readonly string[]): World {
  const home = temporaryFolder();
  writeFiles(home, {
    '.agents/skills/greet/SKILL.md': '---\nname: greet\ndescription: Greets.\n---\nYour own greet.\n',
    '.agent/config.json': JSON.stringify({ mcp_servers: { acme: { command: 'node', args: [SERVER, ...words] } } }),
    'project/readme.md': 'x',
  });
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SKILLWRIGHT_CACHE_DIR: path.join(home, 'cache') };
  return {
    home,
    open: (config = {}) => createRuntime({ cwd: path.join(home, 'project'), home, env, builtin: false, config }),
  };
}

async function check(runtime: Runtime): Promise<ServerState> {
  const servers = await openToolServers(runtime);
  const [state] = await servers.check({ secrets: async () => ({ values: {} }) });
  await servers.close();
  if (state === undefined) throw new Error('no server is configured');
  await runtime.refresh();
  return state;
}

const PUBLISHED = [
  'commands',
  'cross-server',
  'file-omitted',
  'greedy',
  'greet',
  'honest',
  'invisible',
  'nesting',
  'refunds',
  'refunds',
];

verifies('MCP-2', 'skills that break a promise of their listing are left out, each with its reason', async () => {
  const here = world();
  const runtime = await here.open();
  const { skills, problems } = await check(runtime);
  expect([...skills].toSorted()).toEqual(PUBLISHED);
  const reasons: readonly (readonly [string, string])[] = [
    ['frontmatter-mismatch', 'frontmatter'],
    ['digest-swap', 'digest'],
    ['rotation', 'is 76 bytes; the skill entry lists 68'],
    ['size-lie', 'the skill entry lists 3'],
    ['outside', 'outside the skill'],
    ['traversal', '\\.\\.|encoded|outside'],
    ['backslash', 'backslash|encoded|outside'],
    ['bidi', 'invisible'],
    ['file:///etc/file-url/', 'file: address'],
    ['file-url-short', 'file: address|URI'],
    ['collision', 'same name'],
    ['dynamic', 'no digests'],
    ['oversized/', 'bytes'],
    ['oversized-lie', 'bytes'],
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
  // Only listed files were fetched, and only below the folder of the server.
  const { source, dir } = runtime.find('mcp:acme/file-omitted');
  expect([source, readdirSync(dir)]).toEqual(['mcp:acme', ['SKILL.md']]);
  expect(existsSync('/tmp/skillwright-adversarial')).toBe(false);
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
    expect(runtime.index.shadowed).toMatchObject([{ name: 'greet', source: 'mcp:acme' }, { name: 'refunds' }]);
    const untrusted = await openSkillTools({ runtime, execution: 'auto' });
    expect(untrusted.instructions).not.toContain('honest');
    for (const [tool, input] of [
      ['load_skill', { skill: 'mcp:acme/honest' }],
      ['read_resource', { skill: 'mcp:acme/honest', path: 'references/words.md' }],
      ['run_script', { skill: 'mcp:acme/honest', script: 'run.sh' }],
    ] as const)
      expect((await untrusted.call(tool, input)).text, tool).toMatch(/not trusted|there is no skill/);

    const trust = openTrust({ home: here.home, bind: 'digest' });
    for (const name of ['honest', 'greedy', 'invisible', 'commands']) {
      const { dir } = runtime.find(`mcp:acme/${name}`);
      const tree = await readTreeDigest(dir);
      if (tree.type !== 'digest') throw new Error(tree.message);
      await trust.trustSkills([{ dir, digest: tree.digest }]);
    }
    const again = await here.open({ policy: { allowed_tools: 'grant' } });
    const tools = await openSkillTools({ runtime: again });
    expect(tools.instructions).toContain('[from MCP server acme] The fixture honest.');
    const { text } = await tools.call('load_skill', { skill: 'honest' });
    expect(text).toContain('served by the MCP server acme');
    expect(text).toContain('source="mcp:acme"');
    const read = (skill: string, file: string): Promise<string> =>
      tools.call('read_resource', { skill, path: file }).then((answer) => answer.text);
    expect(await read('honest', 'references/words.md')).toMatch(/kind words[^]*served by the MCP server acme/);
    expect(await read('honest', 'scripts/unlisted.sh')).toContain('does not exist');
    expect(await read('honest', '../../../../trust.json')).toContain('..');
    expect((await tools.call('load_skill', { skill: 'invisible' })).text).not.toMatch(/[\u200b\u202e]|\udb40/);
    expect((await tools.call('load_skill', { skill: 'commands' })).text).toContain('were not run');
    // An approved skill does not get a tool that is high risk, whatever it asks for.
    await tools.call('load_skill', { skill: 'greedy' });
    expect(tools.session.decide([{ tool: 'write_file', subject: { kind: 'path', path: 'x' } }]).effect).toBe('ask');

    // Bytes that change on disk, and content that the server changes, are not what was trusted.
    writeFileSync(path.join(again.find('mcp:acme/honest').dir, 'references/words.md'), 'other words\n');
    const changed = await openSkillTools({ runtime: await here.open() });
    expect((await changed.call('load_skill', { skill: 'mcp:acme/honest' })).text).toContain(
      'changed after it was trusted',
    );
  },
);

test('a listing without end is not followed, and skills of a server that is removed are gone', async () => {
  const here = world('endless');
  const { skills, problems } = await check(await here.open());
  expect([skills, problems]).toEqual([[], [expect.stringContaining('its skills cannot be listed')]]);
  const known = world();
  await check(await known.open());
  const project = path.join(known.home, 'project');
  const listed = async (): Promise<string> =>
    (await runCli(project, ['list'], { HOME: known.home, SKILLWRIGHT_CACHE_DIR: path.join(known.home, 'cache') })).out;
  expect(await listed()).toContain('mcp:acme');
  writeFileSync(path.join(known.home, '.agent/config.json'), '{}');
  expect(await listed()).not.toContain('mcp:acme');
});

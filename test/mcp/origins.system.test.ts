/** What a skill of a server may reach: its own server, the entry that was loaded, and no skill nested in it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { openToolServers } from '../../src/mcp.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { readTreeDigest } from '../../src/platform/fs/tree-digest.ts';
import { openTrust } from '../../src/policy/trust.ts';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';

const SERVER = path.join(PROJECT, 'test/mcp/adversarial-server.mjs');

type Name = 'acme' | 'beta';

interface World {
  readonly behave: (server: Name, how: string) => void;
  readonly reads: (server: Name) => readonly string[];
  /** Asks both servers for their lists. */
  readonly check: () => Promise<void>;
  readonly trust: (...references: readonly string[]) => Promise<void>;
  readonly open: () => Promise<SkillTools>;
}

function world(): World {
  const home = temporaryFolder();
  const names: readonly Name[] = ['acme', 'beta'];
  const servers = names.map((name) => [name, { command: 'node', args: [SERVER, path.join(home, name)] }] as const);
  writeFiles(home, {
    'project/readme.md': 'x',
    '.agent/config.json': JSON.stringify({
      mcp_servers: Object.fromEntries(servers),
      policy: { allowed_tools: 'grant' },
    }),
    ...Object.fromEntries(
      names.flatMap((name) => [
        [`${name}/behaviour`, ''],
        [`${name}/reads`, ''],
      ]),
    ),
  });
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SKILLWRIGHT_CACHE_DIR: path.join(home, 'cache') };
  const runtime = (): Promise<Runtime> => createRuntime({ cwd: path.join(home, 'project'), home, env, builtin: false });
  return {
    behave: (server, how) => writeFiles(home, { [`${server}/behaviour`]: how }),
    reads: (server) =>
      readFileSync(path.join(home, server, 'reads'), 'utf8')
        .split('\n')
        .slice(0, -1),
    async check() {
      const opened = await openToolServers(await runtime());
      await opened.check({ secrets: async () => ({ values: {} }) });
      await opened.close();
    },
    async trust(...references) {
      const store = openTrust({ home, bind: 'digest' });
      const here = await runtime();
      for (const reference of references) {
        const { dir } = here.find(reference);
        const tree = await readTreeDigest(dir);
        if (tree.type !== 'digest') throw new Error(tree.message);
        await store.trustSkills([{ dir, digest: tree.digest }]);
      }
    },
    async open() {
      const here = await runtime();
      const opened = await openToolServers(here);
      onTestFinished(() => opened.close());
      const tools = await openSkillTools({ runtime: here, servers: opened });
      onTestFinished(() => tools.session.close());
      return tools;
    },
  };
}

verifies(
  'MCP-2',
  'skills with one URI at two servers are two skills, and a skill reaches its own server only',
  async () => {
    const here = world();
    await here.check();
    await here.trust('mcp:acme/honest', 'mcp:acme/cross-server');
    const tools = await here.open();
    const load = async (skill: string): Promise<string> => (await tools.call('load_skill', { skill })).text;
    expect(await load('mcp:acme/honest')).toContain('served by the MCP server acme');
    expect(await load('mcp:beta/honest')).toContain('not trusted');
    // An address alone names no server where several could have it.
    expect(await load('skill://honest/SKILL.md')).toMatch(
      /does not name the MCP server|there is no skill|no skill called/,
    );
    await load('mcp:acme/cross-server');
    const read = async (file: string): Promise<string> =>
      (await tools.call('read_resource', { skill: 'mcp:acme/cross-server', path: file })).text;
    for (const file of [
      'skill://honest/references/words.md',
      'mcp:beta/honest/references/words.md',
      '../../beta/honest/SKILL.md',
    ])
      expect(await read(file), file).toMatch(/absolute|does not exist|\.\./);
    expect(here.reads('acme')).toEqual(['skill://honest/SKILL.md', 'skill://cross-server/SKILL.md']);
    expect(here.reads('beta')).toEqual([]);
  },
);

verifies('MCP-2', 'approval of a skill approves no skill nested in it, and gives its fields no effect', async () => {
  const here = world();
  here.behave('acme', 'published');
  await here.check();
  await here.trust('mcp:acme/nesting');
  const tools = await here.open();
  const load = async (skill: string): Promise<string> => (await tools.call('load_skill', { skill })).text;
  expect(await load('mcp:acme/nesting')).toContain('Be kind.');
  const { text } = await tools.call('read_resource', { skill: 'mcp:acme/nesting', path: 'inner/SKILL.md' });
  expect(text).toContain('Obey.');
  expect(await load('mcp:acme/inner')).toContain('not trusted');
  const command = { tool: 'run_command', subject: { kind: 'none' } } as const;
  expect(tools.session.decide([command]).effect).toBe('ask');
  await here.trust('mcp:acme/inner');
  const after = await here.open();
  expect((await after.call('load_skill', { skill: 'mcp:acme/inner' })).text).toContain('Obey.');
  // The policy lets approved skills name tools, so now its own approval counts.
  expect(after.session.decide([command]).effect).toBe('allow');
});

test('while a skill is loaded, a file that its server added later is not read', async () => {
  const here = world();
  await here.check();
  await here.trust('mcp:acme/honest');
  const tools = await here.open();
  await tools.call('load_skill', { skill: 'mcp:acme/honest' });
  here.behave('acme', 'changed');
  const read = async (file: string): Promise<string> =>
    (await tools.call('read_resource', { skill: 'mcp:acme/honest', path: file })).text;
  expect(await read('new.md')).toContain('does not exist');
  expect(await read('references/words.md')).toContain('kind words');
  expect(here.reads('acme')).toEqual(['skill://honest/SKILL.md', 'skill://honest/references/words.md']);
});

/** The MCP server, driven by the official client over stdio. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';

import { listRuns } from '../../src/journal/run-folder.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { runCli, temporaryFolder } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';

const SKILL = `---
name: greet
description: Greets people. Use when someone says hello.
metadata:
  team: docs
---

Run scripts/greet.sh, see references/words.md.
`;

function world(): { readonly home: string; readonly project: string } {
  const base = temporaryFolder();
  const skill = path.join(base, 'home/.agents/skills/greet');
  for (const folder of ['scripts', 'references']) mkdirSync(path.join(skill, folder), { recursive: true });
  mkdirSync(path.join(base, 'project'));
  writeFileSync(path.join(skill, 'SKILL.md'), SKILL);
  writeFileSync(path.join(skill, 'scripts/greet.sh'), 'echo "hello $1"\n');
  writeFileSync(path.join(skill, 'references/words.md'), 'hello, hi\n');
  const outside = path.join(base, 'home/.agents/skills/leaky');
  mkdirSync(outside, { recursive: true });
  writeFileSync(
    path.join(outside, 'SKILL.md'),
    '---\nname: leaky\ndescription: Has a link that leads outside.\n---\nx\n',
  );
  writeFileSync(path.join(base, 'key'), 'canary-key');
  symlinkSync('../../../../key', path.join(outside, 'key.md'));
  return { home: path.join(base, 'home'), project: path.join(base, 'project') };
}

interface Connected {
  readonly client: Client;
  readonly asked: string[];
  readonly stderr: () => string;
}

async function connect(
  { home, project }: ReturnType<typeof world>,
  words: readonly string[] = [],
  { canAsk = true, says = true } = {},
): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [path.join(PROJECT, 'dist/command/skillwright.js'), 'mcp', ...words],
    cwd: project,
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (text: Buffer) => (stderr += text.toString()));
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: canAsk ? { elicitation: { form: {} } } : {} },
  );
  const asked: string[] = [];
  if (canAsk)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { approve: says } };
    });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, asked, stderr: () => stderr };
}

function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  return result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

describe('skillwright mcp', () => {
  verifies('TOOL-5', 'offers the tools of a vocabulary and the Skills extension with digests', async () => {
    const here = world();
    const { client, stderr } = await connect(here, [
      '--executor',
      'none',
      '--only-root',
      '--root',
      path.join(here.home, '.agents/skills'),
    ]);
    expect(client.getInstructions()).toContain('greet');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'search_skills',
      'load_skill',
      'list_resources',
      'read_resource',
      'get_script_path',
    ]);
    const loaded = await client.callTool({ name: 'load_skill', arguments: { skill: 'greet' } });
    expect(textOf(loaded)).toContain('Run scripts/greet.sh');
    const wrong = await client.callTool({ name: 'load_skill', arguments: { skill: 'gret' } });
    expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringContaining('Nearest: greet')]);
    const skills = new SkillsClient(client);
    const { skills: listed } = await skills.list();
    expect(listed).toMatchObject([
      {
        uri: 'skill://greet/SKILL.md',
        frontmatter: { name: 'greet', metadata: { team: 'docs' } },
        resources: [
          { uri: 'skill://greet/SKILL.md', size: SKILL.length },
          { uri: 'skill://greet/references/words.md' },
          { uri: 'skill://greet/scripts/greet.sh' },
        ],
      },
    ]);
    const [greet] = listed;
    if (greet === undefined) throw new Error('greet is not listed');
    expect(await skills.read(greet, 'references/words.md')).toMatchObject({ text: 'hello, hi\n' });
    const folder = await skills.readDirectory('skill://greet');
    expect(folder.resources.map(({ uri }) => uri)).toEqual([
      'skill://greet/SKILL.md',
      'skill://greet/references',
      'skill://greet/scripts',
    ]);
    // The link that leads outside is neither listed nor read.
    expect(stderr()).toContain('leaky is not offered as a resource');
    await expect(client.readResource({ uri: 'skill://leaky/key.md' })).rejects.toThrow(/not found/i);
    await expect(client.readResource({ uri: 'skill://greet/../leaky/key.md' })).rejects.toThrow(/not found/i);
    writeFileSync(path.join(here.home, '.agents/skills/greet/references/words.md'), 'changed\n');
    await expect(skills.read(greet, 'references/words.md')).rejects.toThrow(/changed after/);
    await client.close();
    const [run] = listRuns(path.join(here.project, '.agent/runs'));
    const events = [...readRun(run?.path ?? '').lines].map(({ event }) => event);
    const actions = events.flatMap((event) => (event.type === 'action' ? [event.action.type] : []));
    expect(actions).toEqual(['load_skill', 'load_skill', 'read_resource', 'read_resource']);
  });

  test.each([
    [true, 'hello you\n'],
    [false, 'a person refused run_script'],
  ])('asks the user of the client about a program, and obeys %s', async (says, expected) => {
    const here = world();
    const { client, asked } = await connect(here, [], { says });
    const run = { name: 'run_script', arguments: { skill: 'greet', script: 'greet.sh', args: ['you'] } };
    expect(textOf(await client.callTool(run))).toContain(JSON.stringify(expected).slice(1, -1));
    expect(asked).toEqual([expect.stringContaining('greet.sh')]);
  });

  test('a client that cannot ask gets the way to the queue, and the answer there counts', async () => {
    const here = world();
    const { client } = await connect(here, [], { canAsk: false });
    const run = { name: 'run_script', arguments: { skill: 'greet', script: 'greet.sh', args: ['you'] } };
    const waiting = textOf(await client.callTool(run));
    const [, id = ''] = /approvals answer ([0-9a-f]+) yes/.exec(waiting) ?? [];
    await runCli(here.project, ['approvals', 'answer', id, 'yes'], { HOME: here.home });
    expect(textOf(await client.callTool(run)), waiting).toContain('hello you');
  });

  test('hostile messages end neither the server nor the protocol', async () => {
    const here = world();
    const { client } = await connect(here, ['--executor', 'none']);
    const strange = [
      { name: 'load_skill\u202e', arguments: { skill: 'greet' } },
      { name: 'load_skill', arguments: { skill: ['greet'], __proto__: { x: 1 } } },
      { name: 'load_skill', arguments: { skill: 'x'.repeat(2_000_000) } },
    ];
    for (const call of strange) expect(await client.callTool(call)).toMatchObject({ isError: true });
    expect(textOf(await client.callTool({ name: 'load_skill', arguments: { skill: 'greet' } }))).toContain('greet');
  });
});

test('--print-config prints what each client reads', async () => {
  const folder = temporaryFolder();
  const claude = await runCli(folder, ['mcp', '--print-config', 'claude-code']);
  expect(JSON.parse(claude.out)).toEqual({
    mcpServers: { skillwright: { command: 'npx', args: ['-y', 'skillwright', 'mcp'] } },
  });
  const codex = await runCli(folder, ['mcp', '--print-config', 'codex']);
  expect(codex.out).toBe('[mcp_servers.skillwright]\ncommand = "npx"\nargs = ["-y","skillwright","mcp"]\n');
  expect((await runCli(folder, ['mcp', '--print-config', 'emacs'])).status).toBe(2);
  expect(readFileSync(path.join(PROJECT, 'docs/mcp.md'), 'utf8')).toContain('--print-config');
});

/** The MCP server, driven by the official client over stdio. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { listRuns } from '../../src/journal/run-folder.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { runCli, SHARED_CACHE, temporaryFolder } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { SKILL, connect, textOf, world, type ConnectOptions } from './mcp-world.ts';

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
    const [again] = (await skills.list()).skills;
    if (again === undefined) throw new Error('greet is not listed again');
    expect(await skills.read(again, 'references/words.md')).toMatchObject({ text: 'changed\n' });
    await client.close();
    const [run] = listRuns(path.join(here.project, '.agent/runs'));
    const events = [...readRun(run?.path ?? '').lines].map(({ event }) => event);
    const actions = events.flatMap((event) => (event.type === 'action' ? [event.action.type] : []));
    expect(actions).toEqual(['load_skill', 'load_skill', 'read_resource', 'read_resource', 'read_resource']);
  });

  test('lists the children of a folder, none for an empty one, and answers an error for what is no folder', async () => {
    const here = world();
    mkdirSync(path.join(here.home, '.agents/skills/greet/templates/deep'), { recursive: true });
    const { client } = await connect(here);
    const skills = new SkillsClient(client);
    const children = async (uri: string): Promise<readonly string[]> =>
      (await skills.readDirectory(uri)).resources.map((resource) => `${resource.uri} ${resource.mimeType ?? ''}`);
    expect(await children('skill://greet')).toEqual([
      'skill://greet/SKILL.md text/markdown',
      'skill://greet/references inode/directory',
      'skill://greet/scripts inode/directory',
      'skill://greet/templates inode/directory',
    ]);
    expect(await children('skill://greet/templates')).toEqual(['skill://greet/templates/deep inode/directory']);
    expect(await children('skill://greet/templates/deep')).toEqual([]);
    for (const uri of ['skill://greet/SKILL.md', 'skill://greet/gone', 'skill://gone', 'file:///etc'])
      await expect(skills.readDirectory(uri), uri).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });

  test('answers an error for a cursor that it did not send', async () => {
    const { client } = await connect(world());
    const unknown = { code: -32602, message: expect.stringContaining('unknown cursor') };
    for (const cursor of ['zzz', '-1', '1.5', ''])
      for (const [method, params] of [
        ['skills/list', { cursor }],
        ['resources/directory/read', { uri: 'skill://greet', cursor }],
      ] as const)
        await expect(client.request({ method, params }, z.looseObject({})), method + cursor).rejects.toMatchObject(
          unknown,
        );
    await client.close();
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

  test('runs nothing unless the client answers with a well-formed yes', async () => {
    const answers: readonly (readonly [answer: unknown, isYes: boolean])[] = [
      [{ action: 'accept', content: { approve: true } }, true],
      ...['yes', 'true', 1, 'YES', ['true']].map(
        (approve) => [{ action: 'accept', content: { approve } }, false] as const,
      ),
      [{ action: 'accept', content: {} }, false],
      [{ action: 'accept' }, false],
      [{ action: 'accept', content: { approved: true, confirm: true } }, false],
      [{ action: 'decline', content: { approve: true } }, false],
      [{ action: 'cancel', content: { approve: true } }, false],
      [{ action: 'approve', content: { approve: true } }, false],
      [{}, false],
    ];
    let answer: unknown;
    const { client } = await connect(world(), [], { says: () => answer });
    const run = { name: 'run_script', arguments: { skill: 'greet', script: 'greet.sh', args: ['you'] } };
    const seen: unknown[] = [];
    for (const [given] of answers) {
      answer = given;
      const said = await client.callTool(run).then(textOf, String);
      seen.push([given, said.includes('hello you')]);
    }
    expect(seen).toEqual(answers);
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

  test('a client that fails to ask gets the way to the queue, with the code', async () => {
    const fail = (): never => {
      throw new Error('no window');
    };
    const clients: readonly ConnectOptions[] = [
      { modes: { url: {} } },
      { says: fail },
      { says: () => ({ action: 'perhaps' }) },
    ];
    for (const options of clients) {
      const here = world();
      const { client } = await connect(here, [], options);
      const run = { name: 'run_script', arguments: { skill: 'greet', script: 'greet.sh', args: ['you'] } };
      const waiting = await client.callTool(run);
      expect(waiting).toMatchObject({ isError: true, _meta: { 'skillwright/code': 'approval/pending' } });
      const [, id = ''] = /approvals answer ([0-9a-f]+) yes/.exec(textOf(waiting)) ?? [];
      expect((await runCli(here.project, ['approvals'], { HOME: here.home })).out).toContain(id);
    }
  });

  test('a client that declares elicitation without a mode is asked with a form', async () => {
    const { client, asked } = await connect(world(), [], { modes: {} });
    const run = { name: 'run_script', arguments: { skill: 'greet', script: 'greet.sh', args: ['you'] } };
    expect(textOf(await client.callTool(run))).toContain('hello you');
    expect(asked).toHaveLength(1);
  });

  test('tells clients when a skill appears, and offers it', async () => {
    const here = world();
    const { client } = await connect(here, ['--executor', 'none']);
    const changed = Promise.all(
      (['notifications/tools/list_changed', 'notifications/resources/list_changed'] as const).map(
        (method) => new Promise<void>((resolve) => client.setNotificationHandler(method, () => resolve())),
      ),
    );
    const skill = path.join(here.home, '.agents/skills/wave');
    mkdirSync(skill);
    writeFileSync(path.join(skill, 'SKILL.md'), '---\nname: wave\ndescription: Waves.\n---\nWave.\n');
    await changed;
    expect(textOf(await client.callTool({ name: 'load_skill', arguments: { skill: 'wave' } }))).toContain('Wave.');
  });

  verifies('MCP-1', 'lists skills and their files to clients without the extension, which read them', async () => {
    const here = world();
    const { client } = await connect(here, [
      '--executor',
      'none',
      '--only-root',
      '--root',
      path.join(here.home, '.agents/skills'),
    ]);
    const { resources } = await client.listResources();
    expect(resources).toEqual([
      {
        uri: 'skill://greet/SKILL.md',
        name: 'greet',
        title: 'greet',
        description: 'Greets people. Use when someone says hello.',
        mimeType: 'text/markdown',
        size: SKILL.length,
      },
      {
        uri: 'skill://greet/references/words.md',
        name: 'greet/references/words.md',
        mimeType: 'text/markdown',
        size: 10,
      },
      { uri: 'skill://greet/scripts/greet.sh', name: 'greet/scripts/greet.sh', mimeType: expect.any(String), size: 16 },
    ]);
    for (const { uri } of resources) expect((await client.readResource({ uri })).contents).toMatchObject([{ uri }]);
  });

  verifies('MCP-1', 'survives that its records are removed, and starts a new session', async () => {
    const here = world();
    const { client, stderr } = await connect(here, ['--executor', 'none']);
    const load = async (): Promise<string> =>
      textOf(await client.callTool({ name: 'load_skill', arguments: { skill: 'greet' } }));
    expect(await load()).toContain('Run scripts/greet.sh');
    rmSync(path.join(here.project, '.agent/runs'), { recursive: true });
    const lost = await client.callTool({ name: 'load_skill', arguments: { skill: 'greet' } });
    expect(lost).toMatchObject({ isError: true, _meta: { 'skillwright/code': 'record/failed' } });
    expect(textOf(lost)).toContain('starts a new session');
    expect(await load()).toContain('Run scripts/greet.sh');
    rmSync(path.join(here.project, '.agent/runs'), { recursive: true });
    await expect(client.readResource({ uri: 'skill://greet/references/words.md' })).rejects.toThrow(/cannot record/);
    expect(await client.readResource({ uri: 'skill://greet/references/words.md' })).toMatchObject({
      contents: [{ text: 'hello, hi\n' }],
    });
    rmSync(path.join(here.project, '.agent/runs'), { recursive: true });
    await client.close();
    expect(stderr()).not.toContain('Node.js v');
  });

  test('calls fail with the same code as long as the record cannot be written', async () => {
    const here = world();
    const { client } = await connect(here, ['--executor', 'none']);
    const runs = path.join(here.project, '.agent/runs');
    const load = (): Promise<object> => client.callTool({ name: 'load_skill', arguments: { skill: 'greet' } });
    await load();
    rmSync(runs, { recursive: true });
    writeFileSync(runs, 'in the way');
    const lost = { isError: true, _meta: { 'skillwright/code': 'record/failed' } };
    expect([await load(), await load(), await load()]).toMatchObject([lost, lost, lost]);
    const text = textOf(await client.callTool({ name: 'load_skill', arguments: { skill: 'greet' } }));
    expect(text).toMatch(/cannot be written: .*\.agent\/runs.*once the reason is resolved/);
    expect(text).not.toMatch(/removed|full/);
    rmSync(runs);
    expect(await load()).not.toMatchObject({ isError: true });
  });

  test('the same failure, however often it occurs, keeps its explanation and ends nothing', async () => {
    const { client } = await connect(world(), ['--executor', 'none']);
    const load = async (skill: string): Promise<string> =>
      textOf(await client.callTool({ name: 'load_skill', arguments: { skill } }));
    const texts = [await load('gret'), await load('gret'), await load('gret'), await load('gret')];
    expect(texts.map((text) => [text.includes('Nearest: greet'), /ended|no more tools/.test(text)])).toEqual(
      texts.map(() => [true, false]),
    );
    expect(await load('greet')).toContain('Run scripts/greet.sh');
  });

  test('a program that a rule denies is reported as denied, with the rule', async () => {
    const here = world();
    mkdirSync(path.join(here.home, '.agent'));
    writeFileSync(path.join(here.home, '.agent/config.json'), '{"policy": {"deny": ["run_script"]}}');
    const { client, asked } = await connect(here);
    const result = await client.callTool({ name: 'run_script', arguments: { skill: 'greet', script: 'greet.sh' } });
    expect(result).toMatchObject({ isError: true, _meta: { 'skillwright/code': 'policy/denied' } });
    expect([textOf(result), asked]).toEqual([expect.stringContaining('the rule "run_script" of user'), []]);
  });

  test('hostile messages end neither the server nor the protocol', async () => {
    const here = world();
    const { client } = await connect(here, ['--executor', 'none']);
    const strange = [
      { name: 'load_skill\u202e', arguments: { skill: 'greet' } },
      { name: 'load_skill', arguments: { skill: ['greet'], __proto__: { x: 1 } } },
      { name: 'load_skill', arguments: { skill: 'x'.repeat(2_000_000) } },
    ];
    const failed = { isError: true, _meta: { 'skillwright/code': expect.stringMatching(/^\w+\/[\w-]+$/) as string } };
    for (const call of strange) expect(await client.callTool(call)).toMatchObject(failed);
    expect(textOf(await client.callTool({ name: 'load_skill', arguments: { skill: 'greet' } }))).toContain('greet');
  });
});

test('a message of more than 10 MiB ends the connection with an error, although stdin stays open', async () => {
  const here = world();
  const child = spawn(
    process.execPath,
    [path.join(PROJECT, 'dist/command/skillwright.js'), 'mcp', '--executor', 'none'],
    {
      cwd: here.project,
      env: { PATH: process.env['PATH'], HOME: here.home, ...SHARED_CACHE },
    },
  );
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  child.stdin.on('error', () => undefined).write('a'.repeat(11_000_000));
  const [status] = (await once(child, 'close')) as [number];
  expect([status, stderr]).toEqual([
    1,
    'warning: the client sent a message of more than 10485760 bytes: the connection is closed\n',
  ]);
});

test('--print-config prints what each client reads', async () => {
  const folder = temporaryFolder();
  const print = async (client: string, ...more: readonly string[]): Promise<string> =>
    (await runCli(folder, ['mcp', '--print-config', client, ...more])).out;
  expect(JSON.parse(await print('claude-code'))).toEqual({
    mcpServers: { skillwright: { command: 'npx', args: ['-y', 'skillwright', 'mcp'] } },
  });
  expect(await print('codex')).toBe('[mcp_servers.skillwright]\ncommand = "npx"\nargs = ["-y","skillwright","mcp"]\n');
  const url = ['--http', '--port', '4100'];
  expect(JSON.parse(await print('claude-code', ...url))).toEqual({
    mcpServers: {
      skillwright: {
        type: 'http',
        url: 'http://127.0.0.1:4100/mcp',
        // oxlint-disable-next-line no-template-curly-in-string
        headers: { Authorization: 'Bearer ${SKILLWRIGHT_MCP_TOKEN}' },
      },
    },
  });
  expect(await print('codex', ...url)).toBe(
    '[mcp_servers.skillwright]\nurl = "http://127.0.0.1:4100/mcp"\nbearer_token_env_var = "SKILLWRIGHT_MCP_TOKEN"\n',
  );
  for (const wrong of [['emacs'], ['codex', '--http'], ['codex', '--port', '4100'], ['codex', '--http', '--port', 'x']])
    expect((await runCli(folder, ['mcp', '--print-config', ...wrong])).status, wrong.join(' ')).toBe(2);
  expect(readFileSync(path.join(PROJECT, 'docs/mcp.md'), 'utf8')).toContain('--print-config');
});

/** Tools of MCP servers meet what a skill says that it needs. */
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { openToolServers } from '../../src/mcp.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { PROJECT } from '../files-below.ts';

test('a tool that no server has is named when the skill is loaded', async () => {
  const home = temporaryFolder();
  writeFiles(home, {
    'project/readme.md': 'x',
    '.agents/skills/needy/SKILL.md':
      '---\nname: needy\ndescription: Needs.\ndependencies:\n  mcp: [demo]\n  all: [echo, mcp__demo__echo, absent]\n---\nDo it.\n',
  });
  const demo = {
    command: 'node',
    args: [path.join(PROJECT, 'test/mcp/demo-server.mjs'), 'good'],
    connect_timeout_seconds: 60,
  };
  const runtime = await createRuntime({
    cwd: path.join(home, 'project'),
    home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
    builtin: false,
    config: { mcp_servers: { demo } },
  });
  const servers = await openToolServers(runtime);
  onTestFinished(() => servers.close());
  const tools = await openSkillTools({ runtime, servers });
  onTestFinished(() => tools.session.close());
  const { text } = await tools.call('load_skill', { skill: 'needy' });
  expect(text.match(/the skill needs [^\]\n]*/g)).toEqual([
    'the skill needs the tool "absent", which is not available here',
  ]);
});

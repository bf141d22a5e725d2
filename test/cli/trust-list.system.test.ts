import path from 'node:path';
import { expect, test } from 'vitest';

import { plant } from '../platform/fs/tree-support.ts';
import { skillText } from '../packs/sources/bring-support.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';

test('trust --list counts plugins apart from skills', async () => {
  const cwd = temporaryFolder();
  const sw = (...words: string[]) => runCli(cwd, words);
  plant(cwd, { '.git/HEAD': '' });
  plant(path.join(cwd, '.agents/plugins/desk'), {
    'plugin.json': JSON.stringify({ $schema: SCHEMA, name: 'desk' }),
    'mcp.json': JSON.stringify({
      $schema: SCHEMA.replace('plugin.schema', 'mcp.schema'),
      mcpServers: { index: { type: 'stdio', command: 'true' } },
    }),
  });
  expect((await sw('trust', '--yes')).status).toBe(0);
  expect((await sw('trust', '--list')).out).toContain('  1 plugin, ');
  plant(path.join(cwd, '.agents/skills/desk'), { 'SKILL.md': skillText('desk') });
  expect((await sw('trust', '--yes')).status).toBe(0);
  expect((await sw('trust', '--list')).out).toContain('  1 skill and 1 plugin, ');
});

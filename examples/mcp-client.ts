/**
 * Tools of MCP servers for your agent, under policy and record. The server here is mcp-server.js beside this file; any command or URL works.
 * Needs `npm install @modelcontextprotocol/client@2`.
 */
import { fileURLToPath } from 'node:url';

import { createRuntime } from 'skillwright';
import { openToolServers } from 'skillwright/mcp';
import { openSkillTools } from 'skillwright/tools';

const program = fileURLToPath(new URL('mcp-server.js', import.meta.url));
const runtime = await createRuntime({
  config: {
    mcp_servers: { team: { command: process.execPath, args: [program], tools: ['search_skills', 'load_skill'] } },
    policy: { allow: ['mcp__team__search_skills'], deny: ['mcp__team__load_skill'] },
  },
});

const servers = await openToolServers(runtime, { onConnect: (name) => console.error(`connecting to ${name}`) });
try {
  const skills = await openSkillTools({ runtime, servers });
  for (const { name, description } of skills.tools)
    if (name.startsWith('mcp__')) console.log(`${name}: ${description.slice(0, 60)}`);

  // A model would ask for these; the policy decides about each.
  const found = await skills.call('mcp__team__search_skills', { query: 'what changed between two files' });
  console.log(`allowed: ${String(found.text.includes('text-diff'))}`);
  const loaded = await skills.call('mcp__team__load_skill', { skill: 'text-diff' });
  console.log(`refused: ${String(loaded.isError)}`);
  await skills.session.close();
} finally {
  await servers.close();
}

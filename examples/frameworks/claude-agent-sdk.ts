/** Skills as tools of a server in the process of the Claude Agent SDK. */
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { openSkills } from 'skillwright';
import { z } from 'zod';

const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const tools = chat.tools.flatMap(({ name, description, inputSchema }) => {
  const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(inputSchema)));
  if (!(schema instanceof z.ZodObject)) return [];
  return tool(name, description, schema.shape, async (input) => {
    const { text, isError } = await chat.call(name, input);
    return { content: [{ type: 'text', text }], isError };
  });
});
const options = {
  systemPrompt: chat.system,
  mcpServers: { skills: createSdkMcpServer({ name: 'skills', tools }) },
  allowedTools: ['mcp__skills__*'],
};
for await (const message of query({ prompt: 'Which lines differ between two text files?', options }))
  if (message.type === 'result' && message.subtype === 'success') console.log(message.result);
await library.close();

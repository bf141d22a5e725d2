/** Skills in the tool runner of the Anthropic client, which calls the tools itself. */
import Anthropic from '@anthropic-ai/sdk';
import { openSkills } from 'skillwright';

const client = new Anthropic();
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const { system, tools } = chat.forAnthropic();
const message = await client.beta.messages.toolRunner({
  model: 'claude-sonnet-5-5',
  max_tokens: 1_024,
  messages: [{ role: 'user', content: 'Which lines differ between two text files?' }],
  system,
  tools,
});
for (const block of message.content) if (block.type === 'text') console.log(block.text);
await library.close();

/** Skills in a loop of your own over the messages API of Anthropic. */
import Anthropic from '@anthropic-ai/sdk';
import { openSkills } from 'skillwright';

const client = new Anthropic();
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const { system, tools, answer } = chat.forAnthropic();
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Which lines differ between two text files?' }];

for (let turn = 0; turn < 8; turn += 1) {
  const request = { model: 'claude-sonnet-5-5', max_tokens: 1_024, system, tools, messages };
  const { content } = await client.messages.create(request);
  const results = await answer(content);
  for (const block of content) if (block.type === 'text') console.log(block.text);
  if (results.length === 0) break;
  messages.push({ role: 'assistant', content }, { role: 'user', content: results });
}
await library.close();

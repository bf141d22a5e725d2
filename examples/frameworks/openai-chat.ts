/** Skills in a loop of your own over the chat completions API. */
import OpenAI from 'openai';
import { openSkills } from 'skillwright';

const client = new OpenAI();
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const { system, tools, answer } = chat.forOpenAI();
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: system },
  { role: 'user', content: 'Which lines differ between two text files?' },
];

for (let turn = 0; turn < 8; turn += 1) {
  const { choices } = await client.chat.completions.create({ model: 'gpt-5-mini', messages, tools });
  const [{ message } = { message: undefined }] = choices;
  const results = await answer(message?.tool_calls);
  if (message === undefined || results.length === 0) {
    console.log(message?.content);
    break;
  }
  messages.push(message, ...results);
}
await library.close();

/** Skills in `runTools` of the OpenAI client, which calls the tools itself. */
import OpenAI from 'openai';
import { openSkills } from 'skillwright';

const client = new OpenAI();
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const { system, tools } = chat.forOpenAI();
const runner = client.chat.completions.runTools({
  model: 'gpt-5-mini',
  messages: [
    { role: 'system', content: system },
    { role: 'user', content: 'Which lines differ between two text files?' },
  ],
  tools,
});
console.log(await runner.finalContent());
await library.close();

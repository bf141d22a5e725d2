/** Skills in an agent of LangChain. */
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { openSkills } from 'skillwright';

const model = new ChatOpenAI({ model: 'gpt-5-mini', configuration: { baseURL: process.env['OPENAI_BASE_URL'] } });
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const agent = createAgent({ model, ...chat.forLangChain(tool) });
const { messages } = await agent.invoke({
  messages: [{ role: 'user', content: 'Which lines differ between two text files?' }],
});
console.log(messages.at(-1)?.content);
await library.close();

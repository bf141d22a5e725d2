/** Skills in an agent of Google's Agent Development Kit. */
import { FunctionTool, Gemini, InMemoryRunner, LlmAgent } from '@google/adk';
import { openSkills } from 'skillwright';

const model = new Gemini({ model: 'gemini-3-flash', apiKey: process.env['GEMINI_API_KEY'] ?? '' });
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const agent = new LlmAgent({ name: 'helper', model, ...chat.forAdk(FunctionTool) });
const runner = new InMemoryRunner({ agent });
const newMessage = { role: 'user', parts: [{ text: 'Which lines differ between two text files?' }] };
for await (const { content } of runner.runEphemeral({ userId: 'ada', newMessage }))
  for (const { text } of content?.parts ?? []) if (text !== undefined) console.log(text);
await library.close();

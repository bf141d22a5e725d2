/** Skills in an agent of Mastra. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent } from '@mastra/core/agent';
import { openSkills } from 'skillwright';

const baseURL = process.env['OPENAI_BASE_URL'] ?? 'http://localhost:11434/v1';
const model = createOpenAICompatible({ name: 'any', baseURL }).chatModel('qwen3');

const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const agent = new Agent({ name: 'helper', model, ...chat.forMastra() });
const { text } = await agent.generate('Which lines differ between two text files?', { maxSteps: 8 });
console.log(text);
await library.close();

/** Skills in the AI SDK, versions 5 to 7. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs } from 'ai';
import { openSkills } from 'skillwright';

const baseURL = process.env['OPENAI_BASE_URL'] ?? 'http://localhost:11434/v1';
const provider = createOpenAICompatible({ name: 'any', baseURL });

const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const { text } = await generateText({
  model: provider.chatModel('qwen3'),
  ...chat.forAiSdk(),
  stopWhen: stepCountIs(8),
  prompt: 'Which lines differ between two text files?',
});
console.log(text);
await library.close();

/** Skills in `@google/genai`, which calls the tools itself. */
import { GoogleGenAI } from '@google/genai';
import { openSkills } from 'skillwright';

const client = new GoogleGenAI({ apiKey: process.env['GEMINI_API_KEY'] ?? '' });
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const { text } = await client.models.generateContent({
  model: 'gemini-3-flash',
  contents: 'Which lines differ between two text files?',
  config: chat.forGenAI(),
});
console.log(text);
await library.close();

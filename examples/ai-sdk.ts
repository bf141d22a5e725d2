/** Skills in the AI SDK: the tools are a record, the instructions go into the system prompt. Add --stream to see the answer grow. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText } from 'ai';
import { openSkillTools } from 'skillwright/tools';

const skills = await openSkillTools();
const provider = createOpenAICompatible({
  name: 'any',
  baseURL: process.env['OPENAI_BASE_URL'] ?? 'http://localhost:11434/v1',
  apiKey: process.env['OPENAI_API_KEY'] ?? '',
});
const request = {
  model: provider.chatModel(process.env['MODEL'] ?? 'qwen3'),
  system: skills.instructions,
  tools: skills.aiSdk,
  stopWhen: stepCountIs(8),
  prompt: process.argv[2] ?? 'Which lines differ between two text files?',
};

if (process.argv.includes('--stream')) {
  for await (const piece of streamText(request).textStream) process.stdout.write(piece);
  process.stdout.write('\n');
} else console.log((await generateText(request)).text);

const { tokens, rows } = skills.session.ledger;
console.log(
  `${tokens} tokens of skills shown: ${rows.map(({ skill, path }) => `${skill || 'catalog'} ${path}`.trim()).join(', ')}`,
);

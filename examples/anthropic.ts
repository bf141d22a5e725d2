/** Skills in a loop of one's own over the plain `@anthropic-ai/sdk` client. Add --stream to see the answer grow. */
import Anthropic from '@anthropic-ai/sdk';
import { openSkillTools } from 'skillwright/tools';

const skills = await openSkillTools({ vocabulary: 'trpc', runtime: { builtin: true } });
const client = new Anthropic();
const messages: Anthropic.MessageParam[] = [
  { role: 'user', content: process.argv[2] ?? 'Which lines differ between two text files?' },
];

for (let turn = 0; turn < 8; turn += 1) {
  const { content } = await ask();
  messages.push({ role: 'assistant', content });
  const results: Anthropic.ToolResultBlockParam[] = [];
  for (const block of content) {
    if (block.type !== 'tool_use') continue;
    const { text, isError } = await skills.call(block.name, block.input);
    results.push({ type: 'tool_result', tool_use_id: block.id, content: text, is_error: isError });
  }
  if (results.length === 0) break;
  messages.push({ role: 'user', content: results });
}

async function ask(): Promise<Anthropic.Message> {
  const request = {
    model: process.env['MODEL'] ?? 'claude-sonnet-5-5',
    max_tokens: 1024,
    system: skills.instructions,
    tools: [...skills.anthropic],
    messages,
  };
  if (!process.argv.includes('--stream')) {
    const message = await client.messages.create(request);
    for (const block of message.content) if (block.type === 'text') console.log(block.text);
    return message;
  }
  const stream = client.messages.stream(request).on('text', (piece) => process.stdout.write(piece));
  return stream.finalMessage();
}

/** Skills in a loop of one's own over the plain `openai` client. Add --stream to see the answer grow. */
import OpenAI from 'openai';
import { openSkillTools } from 'skillwright/tools';

// The design of openseed knows no built-in skills; this example has no others.
const skills = await openSkillTools({ vocabulary: 'openseed', runtime: { builtin: true } });
const client = new OpenAI();
const model = process.env['MODEL'] ?? 'gpt-5-mini';
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: skills.instructions },
  { role: 'user', content: process.argv[2] ?? 'Which lines differ between two text files?' },
];

for (let turn = 0; turn < 8; turn += 1) {
  const message = await ask();
  messages.push(message);
  if (message.tool_calls === undefined || message.tool_calls.length === 0) break;
  for (const call of message.tool_calls) {
    if (call.type !== 'function') continue;
    const { text } = await skills.call(call.function.name, call.function.arguments);
    messages.push({ role: 'tool', tool_call_id: call.id, content: text });
  }
}

async function ask(): Promise<OpenAI.ChatCompletionMessage> {
  const request = { model, messages, tools: [...skills.openai] };
  if (!process.argv.includes('--stream')) {
    const { choices } = await client.chat.completions.create(request);
    const message = choices[0]?.message;
    if (message === undefined) throw new Error('the model gave no answer');
    if (message.content !== null) console.log(message.content);
    return message;
  }
  const stream = client.chat.completions.stream(request).on('content', (piece) => process.stdout.write(piece));
  return stream.finalMessage();
}

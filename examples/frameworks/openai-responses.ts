/** Skills in a loop of your own over the responses API. */
import OpenAI from 'openai';
import { openSkills } from 'skillwright';

const client = new OpenAI();
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const { instructions, tools, answer } = chat.forOpenAIResponses();

let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Which lines differ between two text files?' }];
let previous: string | undefined;
for (let turn = 0; turn < 8; turn += 1) {
  const request = { model: 'gpt-5-mini', instructions, tools, input, previous_response_id: previous };
  const { id, output, output_text: text } = await client.responses.create(request);
  input = await answer(output);
  if (input.length === 0) {
    console.log(text);
    break;
  }
  previous = id;
}
await library.close();

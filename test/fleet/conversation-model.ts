/** A model behind HTTP that decides by the conversation alone, so it does not matter which worker asks, or which attempt. */
import { chunk, serve, startStream, type LocalServer } from '../model/local-server.ts';

export type ConversationAnswer = string | readonly [tool: string, input: object];

/** `step`: how many results of tools the conversation has; `text`: the conversation as JSON. */
export function serveConversation(answer: (step: number, text: string) => ConversationAnswer): Promise<LocalServer> {
  return serve((response, _turn, { body }) => {
    const text = JSON.stringify(body);
    const step = [...text.matchAll(/"role":"tool"/g)].length;
    const said = answer(step, text);
    const stream = startStream(response);
    if (typeof said === 'string') stream.write(chunk({ role: 'assistant', content: said }));
    else {
      const [name, input] = said;
      const made = { name, arguments: JSON.stringify(input) };
      const calls = [{ index: 0, id: `call-${String(step)}`, type: 'function', function: made }];
      stream.write(chunk({ role: 'assistant', tool_calls: calls }));
    }
    stream.end(`${chunk({}, typeof said === 'string' ? 'stop' : 'tool_calls')}data: [DONE]\n\n`);
  });
}

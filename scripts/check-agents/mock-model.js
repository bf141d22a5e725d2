/**
 * A local model that speaks the wire formats of the agent CLIs: Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini. It loads the skill whose
 * rule matches the request, writes a file if the request asks for one, and answers. It proves that an adapter works, and nothing about a
 * description.
 */
import { createServer } from 'node:http';

const ANSWER = 'The mock model has answered.';
/** What each answer reports. */
export const USAGE = { input: 120, output: 12 };

/** Starts the server on the loopback. `rules` maps skill names to expressions; `requests` collects the whole text of each request. */
export async function startMockModel({ rules }) {
  const requests = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      requests.push({ url: request.url, text });
      try {
        answer(request.url ?? '', text === '' ? {} : JSON.parse(text), response, rules);
      } catch (error) {
        response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: String(error) }));
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(url, body, response, rules) {
  if (url.includes('count_tokens')) return json(response, { input_tokens: 10 });
  if (/GenerateContent/i.test(url)) return gemini(url, body, response, rules);
  if (url.includes('/messages')) return anthropic(body, response, rules);
  if (url.includes('/responses')) return responses(body, response, rules);
  if (url.includes('/chat/completions')) return completions(body, response, rules);
  return json(response, { data: [], models: [] }, 404);
}

function json(response, value, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function stream(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events)
    response.write(`${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

/** What to do next: a tool call, or nothing for the answer. */
function nextCall({ prompt, calls, tools, whole }, rules) {
  const skill = Object.keys(rules).find((name) => rules[name].test(prompt));
  if (calls === 0 && skill !== undefined) return skillCall(skill, tools, whole);
  const file = /write the file ([\w.-]+)/.exec(prompt)?.[1];
  if (file !== undefined && calls <= (skill === undefined ? 0 : 1)) return writeCall(file, tools);
  return undefined;
}

function skillCall(skill, tools, whole) {
  // A model can only name a skill that the request offers.
  if (!whole.includes(skill)) return undefined;
  if (tools.has('Skill')) return { name: 'Skill', input: { skill } };
  if (tools.has('activate_skill')) return { name: 'activate_skill', input: { name: skill } };
  if (tools.has('skill')) {
    const parameter = whole.includes('"skill":{"type":"string"') ? 'skill' : 'name';
    return { name: 'skill', input: { [parameter]: skill } };
  }
  const place = fileOf(skill, whole);
  if (tools.has('read')) return { name: 'read', input: { path: place } };
  return shellCall(`cat ${place}`, tools);
}

/** The place of the SKILL.md that the request names, with the aliases of Codex resolved. */
function fileOf(skill, whole) {
  const written = new RegExp(`[^\\s"'<>()\\\\]*${skill}/SKILL\\.md`).exec(whole)?.[0] ?? '';
  const [alias = ''] = written.split('/');
  const root = /^r\d+$/.test(alias)
    ? new RegExp('`?' + alias + '`?\\s*[=:]\\s*`?([^\\s`\\\\]+)').exec(whole)?.[1]
    : undefined;
  return root === undefined ? written : `${root}${written.slice(alias.length)}`;
}

function shellCall(command, tools) {
  if (tools.has('exec_command')) return { name: 'exec_command', input: { cmd: command } };
  if (tools.has('shell_command')) return { name: 'shell_command', input: { command } };
  return { name: 'shell', input: { command: ['bash', '-lc', command] } };
}

function writeCall(file, tools) {
  const content = 'written by the agent\n';
  if (tools.has('Write')) return { name: 'Write', input: { file_path: file, content } };
  if (tools.has('write_file')) return { name: 'write_file', input: { file_path: file, content } };
  if (tools.has('write')) return { name: 'write', input: { path: file, filePath: file, content } };
  return shellCall(`printf 'written by the agent\\n' > ${file}`, tools);
}

/** What agents add to the request of the user: reminders, and a description of the folder. */
const REMINDER = /<(system-reminder|session_context|environment_context)>[\s\S]*?<\/\1>/g;

function promptOf(texts) {
  return texts.map((text) => text.replaceAll(REMINDER, '').trim()).join('\n');
}

let ids = 0;

function anthropic(body, response, rules) {
  const blocks = (body.messages ?? []).flatMap(({ role, content }) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) => ({ ...block, role })),
  );
  const call = nextCall(
    {
      prompt: promptOf(blocks.filter(({ role, type }) => role === 'user' && type === 'text').map(({ text }) => text)),
      calls: blocks.filter(({ type }) => type === 'tool_use').length,
      tools: new Set((body.tools ?? []).map(({ name }) => name)),
      whole: JSON.stringify(body),
    },
    rules,
  );
  const id = `toolu_${String(++ids)}`;
  const block = call === undefined ? { type: 'text', text: '' } : { type: 'tool_use', id, name: call.name, input: {} };
  const delta =
    call === undefined
      ? { type: 'text_delta', text: ANSWER }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
  const stop = call === undefined ? 'end_turn' : 'tool_use';
  const message = { id: `msg_${String(ids)}`, type: 'message', role: 'assistant', model: body.model, content: [] };
  const usage = { input_tokens: USAGE.input, output_tokens: USAGE.output };
  if (body.stream !== true) {
    const content = [call === undefined ? { type: 'text', text: ANSWER } : { ...block, input: call.input }];
    return json(response, { ...message, content, stop_reason: stop, stop_sequence: null, usage });
  }
  stream(response, [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]);
}

function responses(body, response, rules) {
  const items = body.input ?? [];
  const texts = items
    .filter(({ type, role }) => type === 'message' && role === 'user')
    .flatMap(({ content }) => content.map(({ text = '' }) => text));
  const call = nextCall(
    {
      prompt: promptOf(texts),
      calls: items.filter(({ type }) => type === 'function_call').length,
      tools: new Set((body.tools ?? []).map(({ name }) => name)),
      whole: items
        .flatMap(({ content }) => (Array.isArray(content) ? content : []))
        .map(({ text = '' }) => text)
        .join('\n'),
    },
    rules,
  );
  const id = `resp_${String(++ids)}`;
  const item =
    call === undefined
      ? { type: 'message', role: 'assistant', id: `msg_${id}`, content: [{ type: 'output_text', text: ANSWER }] }
      : {
          type: 'function_call',
          id: `fc_${id}`,
          call_id: `call_${id}`,
          name: call.name,
          arguments: JSON.stringify(call.input),
        };
  const usage = {
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USAGE.input + USAGE.output,
  };
  stream(response, [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, usage, output: [item] } },
  ]);
}

function completions(body, response, rules) {
  const messages = body.messages ?? [];
  const call = nextCall(
    {
      prompt: promptOf(
        messages
          .filter(({ role }) => role === 'user')
          .map(({ content }) =>
            typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('\n'),
          ),
      ),
      calls: messages.flatMap(({ tool_calls: own = [] }) => own).length,
      tools: new Set((body.tools ?? []).map((tool) => tool.function.name)),
      whole: JSON.stringify(body),
    },
    rules,
  );
  const id = `chatcmpl_${String(++ids)}`;
  const message =
    call === undefined
      ? { role: 'assistant', content: ANSWER }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              index: 0,
              id: `call_${String(ids)}`,
              type: 'function',
              function: { name: call.name, arguments: JSON.stringify(call.input) },
            },
          ],
        };
  const reason = call === undefined ? 'stop' : 'tool_calls';
  const usage = {
    prompt_tokens: USAGE.input,
    completion_tokens: USAGE.output,
    total_tokens: USAGE.input + USAGE.output,
  };
  const head = { id, created: 1, model: body.model };
  if (body.stream !== true)
    return json(response, {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: reason }],
      usage,
    });
  const chunk = { ...head, object: 'chat.completion.chunk' };
  stream(response, [
    { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }], usage },
  ]);
}

function gemini(url, body, response, rules) {
  const contents = body.contents ?? [];
  const parts = contents.flatMap(({ role, parts: own = [] }) => own.map((part) => ({ ...part, role })));
  const call = nextCall(
    {
      prompt: promptOf(parts.filter(({ role, text }) => role === 'user' && text !== undefined).map(({ text }) => text)),
      calls: parts.filter(({ functionCall }) => functionCall !== undefined).length,
      tools: new Set(
        (body.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
      ),
      whole: JSON.stringify(body),
    },
    rules,
  );
  const part = call === undefined ? { text: ANSWER } : { functionCall: { name: call.name, args: call.input } };
  const value = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: USAGE.input,
      candidatesTokenCount: USAGE.output,
      totalTokenCount: USAGE.input + USAGE.output,
    },
  };
  if (url.includes('stream')) stream(response, [value]);
  else json(response, value);
}

import path from 'node:path';

import type { SubjectAgent, SubjectRequest } from '../subject.ts';
import { amountIn, objectIn, textIn, type JsonObject, type Transcript } from '../transcript.ts';

const FLAGS = [
  'exec --json --ephemeral --skip-git-repo-check -s workspace-write',
  '--disable plugins --disable apps --disable remote_plugin',
].flatMap((words) => words.split(' '));
const OPENAI = 'https://api.openai.com/v1';

export const CODEX: SubjectAgent = {
  id: 'codex',
  program: 'codex',
  install: 'npm install -g @openai/codex',
  keys: () => ['OPENAI_API_KEY'],
  variables: ['OPENAI_BASE_URL'],
  concurrency: 4,
  start: (request) => ({
    args: [...FLAGS, ...(request.model === undefined ? [] : ['-m', request.model]), request.prompt],
    env: {},
    files: { [path.join(request.home, '.codex/config.toml')]: buildConfig(request) },
  }),
  events: {
    'item.started': (event, transcript) => readItem(objectIn(event, 'item'), false, transcript),
    'item.completed': (event, transcript) => readItem(objectIn(event, 'item'), true, transcript),
    'turn.completed'(event, transcript) {
      transcript.isComplete = true;
      transcript.turn();
      const usage = objectIn(event, 'usage');
      const [input, output] = [amountIn(usage, 'input_tokens'), amountIn(usage, 'output_tokens')];
      transcript.addUsage({ input, output, cached: amountIn(usage, 'cached_input_tokens') });
    },
    'turn.failed'(event, transcript) {
      transcript.isComplete = true;
      transcript.error = textIn(objectIn(event, 'error'), 'message') || 'turn.failed';
    },
  },
};

function buildConfig({ env }: SubjectRequest): string {
  return [
    'model_provider = "subject"',
    '[model_providers.subject]',
    'name = "subject"',
    `base_url = ${JSON.stringify(env['OPENAI_BASE_URL'] ?? OPENAI)}`,
    'env_key = "OPENAI_API_KEY"',
    'wire_api = "responses"',
    '[analytics]',
    'enabled = false',
    '[skills.bundled]',
    'enabled = false',
    '',
  ].join('\n');
}

/** Names of the fields of an item that are not part of the input of its call. */
const OUTPUTS = new Set(['id', 'type', 'status', 'aggregated_output', 'exit_code', 'result', 'error']);
const NOT_CALLS = new Set(['agent_message', 'reasoning', 'error', 'todo_list']);

function readItem(item: JsonObject, isCompleted: boolean, transcript: Transcript): void {
  const [id, type] = [textIn(item, 'id'), textIn(item, 'type')];
  if (type === 'agent_message' && isCompleted) transcript.answer = textIn(item, 'text');
  if (type === '' || NOT_CALLS.has(type)) return;
  const isTool = type === 'mcp_tool_call';
  const input = Object.fromEntries(Object.entries(item).filter(([name]) => !OUTPUTS.has(name)));
  // The transcript has no event for a request to the model; each call needs one.
  transcript.turn(id);
  transcript.start(id, { name: isTool ? textIn(item, 'tool') : type, input });
  if (!isCompleted) return;
  const exit = item['exit_code'];
  const ok = typeof exit === 'number' ? exit === 0 : textIn(item, 'status') !== 'failed';
  transcript.end(id, { ok, output: textIn(item, 'aggregated_output') });
}

import type { SubjectAgent } from '../subject.ts';
import {
  amountIn,
  contentText,
  listIn,
  objectIn,
  sumAmounts,
  textIn,
  type JsonObject,
  type Transcript,
} from '../transcript.ts';

/** Settings, servers and permissions of the user do not apply. */
const FLAGS = [
  '--output-format stream-json --verbose --no-session-persistence --setting-sources project --strict-mcp-config',
  '--permission-mode acceptEdits --allowedTools Skill,Bash,Read,Write,Edit,Glob,Grep',
].flatMap((words) => words.split(' '));

const DISABLED = [
  'NONESSENTIAL_TRAFFIC',
  'BUNDLED_SKILLS',
  'POLICY_SKILLS',
  'CLAUDE_MDS',
  'AUTO_MEMORY',
  'OFFICIAL_MARKETPLACE_AUTOINSTALL',
];

export const CLAUDE_CODE: SubjectAgent = {
  id: 'claude-code',
  program: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  keys: () => ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  variables: ['ANTHROPIC_BASE_URL'],
  concurrency: 4,
  start: ({ prompt, model }) => ({
    args: ['-p', prompt, ...FLAGS, ...(model === undefined ? [] : ['--model', model])],
    env: {
      // CLAUDE.md of folders above the project, skills and plugins that did not come with the case, telemetry and updates.
      ...Object.fromEntries(DISABLED.map((name) => [`CLAUDE_CODE_DISABLE_${name}`, '1'])),
      // Without it, an invalid key is tried again for minutes.
      CLAUDE_CODE_MAX_RETRIES: '2',
      DISABLE_AUTOUPDATER: '1',
    },
  }),
  events: {
    system(event, transcript) {
      if (event['subtype'] !== 'init') return;
      transcript.model = textIn(event, 'model');
      transcript.offered = listIn(event, 'skills').filter((name) => typeof name === 'string');
    },
    assistant: readAssistant,
    user(event, transcript) {
      for (const block of listIn(objectIn(event, 'message'), 'content')) readResult(block, event, transcript);
    },
    result: readEnd,
  },
};

function readAssistant(event: JsonObject, transcript: Transcript): void {
  const message = objectIn(event, 'message');
  transcript.turn(textIn(message, 'id'));
  for (const block of listIn(message, 'content')) {
    if (textIn(block, 'type') !== 'tool_use') continue;
    const [name, input] = [textIn(block, 'name'), objectIn(block, 'input')];
    const skill = name === 'Skill' ? textIn(input, 'skill') : undefined;
    transcript.start(textIn(block, 'id'), { name, input, skill });
  }
}

function readResult(block: unknown, event: JsonObject, transcript: Transcript): void {
  if (textIn(block, 'type') !== 'tool_result') return;
  const { is_error: isError, content } = objectIn({ block }, 'block');
  const ok = isError !== true && objectIn(event, 'tool_use_result')['success'] !== false;
  transcript.end(textIn(block, 'tool_use_id'), { ok, output: contentText(content) });
}

function readEnd(event: JsonObject, transcript: Transcript): void {
  transcript.isComplete = true;
  transcript.answer = textIn(event, 'result');
  transcript.addUsd(amountIn(event, 'total_cost_usd'));
  const usage = objectIn(event, 'usage');
  const [cached = 0, written = 0] = ['cache_read_input_tokens', 'cache_creation_input_tokens'].map((name) =>
    amountIn(usage, name),
  );
  const input = sumAmounts([amountIn(usage, 'input_tokens'), cached, written]);
  transcript.addUsage({ input, output: amountIn(usage, 'output_tokens'), cached, written });
  // An unreachable server ends with the subtype `success`.
  if (event['is_error'] === true) transcript.error = textIn(event, 'result') || textIn(event, 'subtype');
}

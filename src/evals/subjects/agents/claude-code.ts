import { findProjectFolder } from '#packs';
import type { SubjectAgent } from '../subject.ts';
import { contentText, listIn, numberIn, objectIn, textIn, type JsonObject, type Transcript } from '../transcript.ts';

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
  skillsFolder: findProjectFolder('claude-code'),
  program: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  needs: [],
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
  read(event, transcript) {
    switch (event['type']) {
      case 'system':
        if (event['subtype'] !== 'init') return;
        transcript.model = textIn(event, 'model');
        transcript.offered = listIn(event, 'skills').filter((name) => typeof name === 'string');
        return;
      case 'assistant':
        readAssistant(objectIn(event, 'message'), transcript);
        return;
      case 'user':
        for (const block of listIn(objectIn(event, 'message'), 'content')) readResult(block, event, transcript);
        return;
      case 'result':
        readEnd(event, transcript);
        return;
      default:
    }
  },
};

function readAssistant(message: JsonObject, transcript: Transcript): void {
  transcript.turn(textIn(message, 'id'));
  for (const block of listIn(message, 'content')) {
    if (textIn(block, 'type') !== 'tool_use') continue;
    const [name, input] = [textIn(block, 'name'), objectIn(block, 'input')];
    transcript.start(textIn(block, 'id'), {
      name,
      input,
      ...(name === 'Skill' ? { skill: textIn(input, 'skill') } : {}),
    });
  }
}

function readResult(block: unknown, event: JsonObject, transcript: Transcript): void {
  if (textIn(block, 'type') !== 'tool_result') return;
  const isFailed =
    objectIn({ block }, 'block')['is_error'] === true || objectIn(event, 'tool_use_result')['success'] === false;
  const output = contentText(objectIn({ block }, 'block')['content']);
  transcript.end(textIn(block, 'tool_use_id'), { ok: !isFailed, output });
}

function readEnd(event: JsonObject, transcript: Transcript): void {
  transcript.isComplete = true;
  transcript.answer = textIn(event, 'result');
  transcript.usd = numberIn(event, 'total_cost_usd');
  const usage = objectIn(event, 'usage');
  const cached = numberIn(usage, 'cache_read_input_tokens');
  const input = numberIn(usage, 'input_tokens') + numberIn(usage, 'cache_creation_input_tokens') + cached;
  transcript.addUsage(input, numberIn(usage, 'output_tokens'), cached);
  // An unreachable server ends with the subtype `success`.
  if (event['is_error'] === true) transcript.error = textIn(event, 'result') || textIn(event, 'subtype');
}

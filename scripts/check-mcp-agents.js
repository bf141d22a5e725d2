// Real agent CLIs against a mock model on the loopback: each loads a skill through `skillwright mcp`.
//   npm install --prefix DIR @anthropic-ai/claude-code @openai/codex @google/gemini-cli
//   node scripts/check-mcp-agents.js DIR [NAME...]
// Prints the transcript of each agent. Exit code 1 if one does not get the text of the skill. Nothing leaves the machine.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [, , directory = '.cache/agents', ...chosen] = process.argv;
const COMMAND = fileURLToPath(new URL('../dist/command/skillwright.js', import.meta.url));
const CANARY = 'the-canary-of-the-skill-4711';
const DEADLINE_MS = 120_000;
const PROMPT = 'Greet the user as the skill greet says.';

const seen = [];

/** Calls the tool that loads a skill once, then answers. */
function decide(tools, request) {
  const text = JSON.stringify(request);
  const tool = tools.find(({ name }) => name.endsWith('load_skill'));
  const isLoaded = text.includes(CANARY);
  seen.push({ tools: tools.map(({ name }) => name).filter((name) => /skill/i.test(name)), isLoaded });
  if (isLoaded) return { text: `Done, I read ${CANARY}.` };
  // Claude Code connects in the background and offers a tool to wait for it.
  const waiting = tools.find(({ name }) => name === 'WaitForMcpServers');
  if (tool === undefined && waiting !== undefined && seen.length < 5) return { tool: waiting, input: {} };
  if (tool === undefined) return { text: 'There is no tool that loads skills.' };
  return seen.length > 8 ? { text: 'The skill was not loaded.' } : { tool, input: { skill: 'greet' } };
}

const sse = (response, events) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events)
    response.write(`${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`);
  response.end();
};

function anthropic(request, response) {
  const { tool, input, text } = decide(request.tools ?? [], request);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const block =
    tool === undefined
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: `toolu_${String(seen.length)}`, name: tool.name, input: {} };
  const delta =
    tool === undefined
      ? { type: 'text_delta', text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(input) };
  sse(response, [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: request.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: tool === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage,
    },
    { type: 'message_stop' },
  ]);
}

/** Codex groups the tools of a server in a namespace. */
const flatTools = (tools) =>
  tools.flatMap((tool) =>
    tool.type === 'namespace' ? tool.tools.map((inner) => ({ ...inner, namespace: tool.name })) : [tool],
  );

function responses(request, response) {
  const { tool, input, text } = decide(
    flatTools(request.tools ?? []).filter(({ name }) => name !== undefined),
    request,
  );
  const item =
    tool === undefined
      ? {
          type: 'message',
          id: 'item_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        }
      : {
          type: 'function_call',
          id: 'item_1',
          call_id: `call_${String(seen.length)}`,
          name: tool.name,
          ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
          arguments: JSON.stringify(input),
          status: 'completed',
        };
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    total_tokens: 2,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const base = { id: 'resp_1', object: 'response', model: request.model, output: [] };
  sse(response, [
    { type: 'response.created', response: { ...base, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...base, status: 'completed', output: [item], usage } },
  ]);
}

function gemini(request, response) {
  const tools = (request.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const { tool, input, text } = decide(tools, request);
  const part = tool === undefined ? { text } : { functionCall: { name: tool.name, args: input } };
  sse(response, [
    {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  ]);
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const parsed = body === '' ? {} : JSON.parse(body);
  if (/count_tokens|countTokens/.test(request.url))
    return response.end(JSON.stringify({ input_tokens: 1, totalTokens: 1 }));
  if (/\/messages/.test(request.url)) return anthropic(parsed, response);
  if (/\/responses/.test(request.url)) return responses(parsed, response);
  if (/streamGenerateContent/.test(request.url)) return gemini(parsed, response);
  response.writeHead(404, { 'content-type': 'application/json' });
  return response.end('{"error":{"message":"not part of the mock"}}');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

const MCP = { command: process.execPath, args: [COMMAND, 'mcp', '--executor', 'none'] };

const AGENTS = {
  claude: ({ home, project }) => {
    writeFileSync(path.join(project, 'servers.json'), JSON.stringify({ mcpServers: { skillwright: MCP } }));
    return {
      words: [
        '-p',
        PROMPT,
        '--output-format',
        'stream-json',
        '--verbose',
        '--mcp-config',
        'servers.json',
        '--strict-mcp-config',
        '--allowedTools',
        'mcp__skillwright__load_skill',
        '--model',
        'mock',
        '--no-session-persistence',
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'mock',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
        CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
      },
    };
  },
  codex: ({ home }) => {
    const folder = path.join(home, '.codex');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      path.join(folder, 'config.toml'),
      [
        'model = "mock"',
        'model_provider = "mock"',
        '[analytics]',
        'enabled = false',
        '[model_providers.mock]',
        'name = "mock"',
        `base_url = "${url}/v1"`,
        'env_key = "MOCK_KEY"',
        'wire_api = "responses"',
        '[mcp_servers.skillwright]',
        `command = ${JSON.stringify(MCP.command)}`,
        `args = ${JSON.stringify(MCP.args)}`,
        `env = { HOME = ${JSON.stringify(home)} }`,
        'required = true',
        'startup_timeout_sec = 60',
        'default_tools_approval_mode = "approve"',
      ].join('\n'),
    );
    return {
      words: [
        'exec',
        '--json',
        '--ephemeral',
        '--skip-git-repo-check',
        '-s',
        'workspace-write',
        '--disable',
        'plugins',
        '--disable',
        'apps',
        '--disable',
        'remote_plugin',
        PROMPT,
      ],
      env: { MOCK_KEY: 'mock' },
    };
  },
  gemini: ({ home, project }) => {
    for (const folder of [path.join(home, '.gemini'), path.join(project, '.gemini')])
      mkdirSync(folder, { recursive: true });
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      usageStatisticsEnabled: false,
      mcpServers: { skillwright: { ...MCP, env: { HOME: home }, trust: true } },
    };
    writeFileSync(path.join(home, '.gemini/settings.json'), JSON.stringify(settings));
    return {
      words: ['-p', PROMPT, '-o', 'stream-json', '--approval-mode', 'yolo', '--skip-trust', '-m', 'gemini-2.5-pro'],
      env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'mock' },
    };
  },
};

function prepare() {
  const base = mkdtempSync(path.join(os.tmpdir(), 'skillwright-agents-'));
  const [home, project] = [path.join(base, 'home'), path.join(base, 'project')];
  mkdirSync(path.join(project, '.git'), { recursive: true });
  const skill = path.join(home, '.agent/skills/greet');
  mkdirSync(skill, { recursive: true });
  mkdirSync(path.join(base, 'tmp'));
  writeFileSync(
    path.join(skill, 'SKILL.md'),
    `---\nname: greet\ndescription: Greets people. Use when someone says hello.\n---\n\nSay ${CANARY}.\n`,
  );
  return { base, home, project };
}

async function runAgent(name) {
  const program = path.resolve(directory, 'node_modules/.bin', name);
  if (!existsSync(program)) {
    console.log(`${name}: skipped, ${program} is missing`);
    return undefined;
  }
  const place = prepare();
  seen.length = 0;
  const { words, env } = AGENTS[name](place);
  const child = spawn(program, words, {
    cwd: place.project,
    env: { PATH: process.env.PATH, HOME: place.home, TMPDIR: path.join(place.base, 'tmp'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const timer = setTimeout(() => process.kill(-Number(child.pid), 'SIGKILL'), DEADLINE_MS);
  const [status] = await once(child, 'close');
  clearTimeout(timer);
  const isLoaded = seen.some((request) => request.isLoaded);
  console.log(`\n== ${name} (exit ${status}): ${isLoaded ? 'loaded the skill' : 'DID NOT LOAD THE SKILL'}`);
  for (const [at, request] of seen.entries())
    console.log(
      `   request ${at + 1}: skill tools ${JSON.stringify(request.tools)}, text of the skill ${request.isLoaded ? 'present' : 'absent'}`,
    );
  const lines = output.split('\n').filter((line) => line.includes('load_skill') || line.includes(CANARY) || !isLoaded);
  for (const line of lines.slice(0, 20)) console.log(`   ${line.slice(0, 400)}`);
  rmSync(place.base, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  return isLoaded;
}

const names = chosen.length > 0 ? chosen : Object.keys(AGENTS);
const results = [];
for (const name of names) results.push(await runAgent(name));
server.closeAllConnections();
server.close();
const ran = results.filter((result) => result !== undefined);
console.log(
  `\n${String(ran.filter(Boolean).length)} of ${String(ran.length)} agents loaded the skill through skillwright mcp`,
);
process.exitCode = ran.length > 0 && ran.every(Boolean) ? 0 : 1;

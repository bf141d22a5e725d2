/** How each agent CLI is started against a mock model on the loopback: arguments, environment, and files in a fresh home folder. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const KEY = 'mock-key-7f31';
const ANTHROPIC = 'claude-sonnet-4-5';

/** By the id of the agent table; `program` is its name in `node_modules/.bin`. */
export const STARTS = {
  'claude-code': ({ prompt, url }) => ({
    program: 'claude',
    args: ['-p', prompt, '--model', ANTHROPIC, '--output-format', 'stream-json', '--verbose'],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }),
  codex: ({ prompt, url }) => ({
    program: 'codex',
    args: ['exec', '--json', '--skip-git-repo-check', '--disable', 'plugins', '-m', 'gpt-5', prompt],
    env: { OPENAI_API_KEY: KEY },
    files: {
      '.codex/config.toml': [
        'model_provider = "mock"',
        '[model_providers.mock]',
        'name = "mock"',
        `base_url = "${url}/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        '[analytics]',
        'enabled = false',
        '',
      ].join('\n'),
    },
  }),
  'gemini-cli': ({ prompt, url }) => ({
    program: 'gemini',
    args: ['-p', prompt, '-o', 'stream-json', '--approval-mode', 'yolo', '--skip-trust', '-m', 'gemini-2.5-pro'],
    env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY },
    files: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        telemetry: { enabled: false },
      }),
    },
  }),
  'qwen-code': ({ prompt, url }) => ({
    program: 'qwen',
    args: ['-p', prompt, '-o', 'stream-json', '--approval-mode', 'yolo', '--auth-type', 'openai', '-m', 'qwen3-coder'],
    env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY, OPENAI_MODEL: 'qwen3-coder' },
    files: {
      '.qwen/settings.json': JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'openai' } },
      }),
    },
  }),
  'github-copilot': ({ prompt, url }) => ({
    program: 'copilot',
    args: ['-p', prompt, '--allow-all-tools', '--trust-folder', '--no-auto-update', '--disable-client-telemetry'],
    env: {
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_TYPE: 'anthropic',
      COPILOT_PROVIDER_API_KEY: KEY,
      COPILOT_MODEL: ANTHROPIC,
      COPILOT_OFFLINE: 'true',
    },
  }),
  opencode: ({ prompt, url }) => ({
    program: 'opencode',
    args: ['run', '--format', 'json', '--pure', '-m', `anthropic/${ANTHROPIC}`, prompt],
    env: {
      ANTHROPIC_API_KEY: KEY,
      ...Object.fromEntries(
        ['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS'].map((name) => [
          `OPENCODE_DISABLE_${name}`,
          '1',
        ]),
      ),
    },
    files: {
      // Beside a plugin it installs a package of its own, and tries for a minute and more where there is no network.
      '.npmrc': 'fetch-retries=0\n',
      '.config/opencode/opencode.json': JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        provider: { anthropic: { models: { [ANTHROPIC]: {} }, options: { baseURL: `${url}/v1` } } },
      }),
    },
  }),
  pi: ({ prompt, url }) => ({
    program: 'pi',
    args: ['-p', '--approve', '--mode', 'json', '--no-session', '--model', `anthropic/${ANTHROPIC}`, prompt],
    env: { ANTHROPIC_API_KEY: KEY, PI_OFFLINE: '1', PI_TELEMETRY: '0' },
    files: { '.pi/agent/models.json': JSON.stringify({ providers: { anthropic: { baseUrl: url } } }) },
  }),
};

/** Writes the settings that let an agent talk to a mock model. */
export function writeStartFiles(id, { home, url }) {
  for (const [name, text] of Object.entries(STARTS[id]({ prompt: '', url }).files ?? {})) {
    const file = path.join(home, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

export function readVersion(id, { bin, home }) {
  const { stdout } = spawnSync(STARTS[id]({ prompt: '', url: '' }).program, ['--version'], {
    encoding: 'utf8',
    env: { PATH: [...bin, process.env.PATH].join(path.delimiter), HOME: home },
  });
  return /\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0] ?? 'unknown';
}

/** With hooks: plugins are loaded, and Codex runs a hook that no user has trusted. */
function argumentsOf(id, args, withHooks) {
  if (!withHooks) return args;
  const own = args.filter((word) => word !== '--pure');
  return id === 'codex' ? ['--dangerously-bypass-hook-trust', ...own] : own;
}

/** Runs one prompt to its end, with `keepsSession` also its transcript; resolves with the exit code and the output. */
export async function startAgent(
  id,
  {
    home,
    project,
    url,
    bin,
    prompt,
    env = {},
    keepsSession = false,
    timeoutMs = 120_000,
    hasFiles = false,
    withHooks = false,
  },
) {
  const start = STARTS[id]({ prompt, url });
  if (!hasFiles) writeStartFiles(id, { home, url });
  const words = argumentsOf(id, start.args, withHooks);
  const args = words.filter((word) => !keepsSession || word !== '--no-session');
  const child = spawn(start.program, args, {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: [...bin, process.env.PATH].join(path.delimiter),
      HOME: home,
      TMPDIR: path.join(home, 'tmp'),
      LANG: 'C.UTF-8',
      ...start.env,
      ...env,
    },
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const status = await new Promise((resolve) => {
    child.on('error', () => resolve(-1));
    child.on('close', resolve);
  });
  clearTimeout(timer);
  return { status, output: Buffer.concat(output).toString('utf8') };
}

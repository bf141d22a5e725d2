/** The configuration that a client needs to start the MCP server. */

const COMMAND = 'npx';
const ARGUMENTS = ['-y', 'skillwright', 'mcp'] as const;

const SERVER = { command: COMMAND, args: ARGUMENTS };

interface ClientConfig {
  /** The file that the text goes into. */
  readonly file: string;
  readonly text: string;
}

const CONFIGS = {
  'claude-code': { file: '.mcp.json', text: json({ mcpServers: { skillwright: SERVER } }) },
  codex: {
    file: '~/.codex/config.toml',
    text: `[mcp_servers.skillwright]\ncommand = "${COMMAND}"\nargs = ${JSON.stringify(ARGUMENTS)}`,
  },
  cursor: { file: '.cursor/mcp.json', text: json({ mcpServers: { skillwright: SERVER } }) },
  vscode: { file: '.vscode/mcp.json', text: json({ servers: { skillwright: { type: 'stdio', ...SERVER } } }) },
  gemini: { file: '.gemini/settings.json', text: json({ mcpServers: { skillwright: SERVER } }) },
  opencode: {
    file: 'opencode.json',
    text: json({ mcp: { skillwright: { type: 'local', command: [COMMAND, ...ARGUMENTS], enabled: true } } }),
  },
} as const satisfies Readonly<Record<string, ClientConfig>>;

export type ClientName = keyof typeof CONFIGS;

export const CLIENT_NAMES: readonly ClientName[] = ['claude-code', 'codex', 'cursor', 'vscode', 'gemini', 'opencode'];

export function clientConfig(name: ClientName): ClientConfig {
  return CONFIGS[name];
}

function json(value: object): string {
  return JSON.stringify(value, undefined, 2);
}

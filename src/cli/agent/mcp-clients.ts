/** The configuration that a client needs to start the MCP server, or to reach one that runs on the loopback. */

const COMMAND = 'npx';
const ARGUMENTS = ['-y', 'skillwright', 'mcp'] as const;

/** The variable with the token of a server on the loopback; configuration files name it instead of the token. */
export const TOKEN_VARIABLE = 'SKILLWRIGHT_MCP_TOKEN';

interface ClientConfig {
  readonly file: string;
  readonly text: string;
}

interface Client {
  readonly file: string;
  readonly stdio: string;
  readonly http: (url: string) => string;
}

const STDIO = { command: COMMAND, args: ARGUMENTS };
const bearer = (variable: string): object => ({ headers: { Authorization: `Bearer ${variable}` } });

const CLIENTS = {
  'claude-code': {
    file: '.mcp.json',
    stdio: json({ mcpServers: { skillwright: STDIO } }),
    http: (url) => json({ mcpServers: { skillwright: { type: 'http', url, ...bearer(`\${${TOKEN_VARIABLE}}`) } } }),
  },
  codex: {
    file: '~/.codex/config.toml',
    stdio: `[mcp_servers.skillwright]\ncommand = "${COMMAND}"\nargs = ${JSON.stringify(ARGUMENTS)}`,
    http: (url) => `[mcp_servers.skillwright]\nurl = "${url}"\nbearer_token_env_var = "${TOKEN_VARIABLE}"`,
  },
  cursor: {
    file: '.cursor/mcp.json',
    stdio: json({ mcpServers: { skillwright: STDIO } }),
    http: (url) => json({ mcpServers: { skillwright: { url, ...bearer(`\${env:${TOKEN_VARIABLE}}`) } } }),
  },
  vscode: {
    file: '.vscode/mcp.json',
    stdio: json({ servers: { skillwright: { type: 'stdio', ...STDIO } } }),
    http: (url) => json({ servers: { skillwright: { type: 'http', url, ...bearer(`\${env:${TOKEN_VARIABLE}}`) } } }),
  },
  gemini: {
    file: '.gemini/settings.json',
    stdio: json({ mcpServers: { skillwright: STDIO } }),
    http: (url) => json({ mcpServers: { skillwright: { httpUrl: url, ...bearer(`$${TOKEN_VARIABLE}`) } } }),
  },
  opencode: {
    file: 'opencode.json',
    stdio: json({ mcp: { skillwright: { type: 'local', command: [COMMAND, ...ARGUMENTS], enabled: true } } }),
    http: (url) =>
      json({ mcp: { skillwright: { type: 'remote', url, ...bearer(`{env:${TOKEN_VARIABLE}}`), enabled: true } } }),
  },
} as const satisfies Readonly<Record<string, Client>>;

export type ClientName = keyof typeof CLIENTS;

export const CLIENT_NAMES: readonly ClientName[] = ['claude-code', 'codex', 'cursor', 'vscode', 'gemini', 'opencode'];

/** With a URL, the configuration for a server that runs already. */
export function clientConfig(name: ClientName, url?: string): ClientConfig {
  const { file, stdio, http } = CLIENTS[name];
  return { file, text: url === undefined ? stdio : http(url) };
}

function json(value: object): string {
  return JSON.stringify(value, undefined, 2);
}

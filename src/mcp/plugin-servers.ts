/** The MCP servers that installed Agent Plugins offer. None is used before the user trusts its plugin with exactly these files. */
import { isServerName, quoted, typedWord } from '#core';
import { sha256, withForwardSlashes } from '#platform';
import { openTrust } from '#policy';
import type { Runtime } from '#runtime';
import type { McpServerConfig, ServerFolders } from './server-connection.ts';

export interface OfferedServer {
  /** The name for the host: `PLUGIN-SERVER`. */
  readonly name: string;
  /** The folder of the plugin. */
  readonly plugin: string;
  readonly config: McpServerConfig;
  readonly folders?: ServerFolders;
  /** Why it is not used; safe to print. */
  readonly unused?: string;
}

type Plugin = ReturnType<Runtime['plugins']>[number];

/** Names of the configuration win; of two plugins, the first. Reads every file of a plugin with servers. */
export async function pluginServers(runtime: Runtime): Promise<readonly OfferedServer[]> {
  const { home } = runtime.executionPlaces.user;
  const store = openTrust({ home, bind: 'digest' });
  const taken = new Set(Object.keys(runtime.config.mcp_servers ?? {}));
  const offered: OfferedServer[] = [];
  for (const plugin of runtime.plugins()) {
    if (plugin.servers.length === 0) continue;
    const read = await plugin.readServerTrust();
    // Also in the home folder: other tools put plugins there, and a server runs without a sandbox.
    const trusted = read.type === 'digest' && store.isTrusted({ ...read, source: 'project' }).trusted;
    for (const server of plugin.servers) {
      const name = serverName(plugin.name, server.name);
      const offer = { name, plugin: plugin.dir, ...definition(plugin, server, home) };
      const unused = trusted
        ? taken.has(name) && `another server is called ${quoted(name)}`
        : `it is not trusted; review it, then run skillwright trust ${typedWord(withForwardSlashes(plugin.dir))}`;
      offered.push(unused === false ? offer : { ...offer, unused });
      // What is not used takes no name away: a project could switch off a server of the user.
      if (unused === false) taken.add(name);
    }
  }
  return offered;
}

const MAX_NAME = 32;

function serverName(plugin: string, server: string): string {
  const clean = `${plugin}-${server}`.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
  if (isServerName(clean)) return clean;
  // Too long: the name of the server, and which one it is.
  const own = server
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, MAX_NAME - 9);
  return `${own.replace(/-$/, '') || 'server'}-${sha256(Buffer.from(`${plugin} ${server}`)).slice(0, 8)}`;
}

/** The client sets these itself, so a plugin cannot. */
const OWN_HEADERS = /^(?:accept|connection|content-(?:type|length)|host|last-event-id|mcp-.*|transfer-encoding)$/i;

function definition(
  plugin: Plugin,
  server: Plugin['servers'][number],
  home: string | undefined,
): Pick<OfferedServer, 'config' | 'folders'> {
  if (server.type === 'streamable-http') {
    const headers = Object.entries(server.headers).filter(([header]) => !OWN_HEADERS.test(header));
    return { config: { url: server.url, headers: Object.fromEntries(headers), skills: false } };
  }
  const { cwd, ...config } = plugin.launch(server, home);
  return { config: { ...config, skills: false }, folders: { cwd, data: plugin.dataFolder(home) } };
}

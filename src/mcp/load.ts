/** The functions of `skillwright/mcp`. They load the packages of the protocol when they are called. */
import { loadOptional, type openLoopbackServer } from '#platform';
import type { Runtime } from '#runtime';
import type { ServeHttpOptions } from './serve-http.ts';
import type { McpOptions, SkillServer } from './server.ts';
import type { ConnectedServers, ToolServersOptions } from './tool-servers.ts';

/** Starts the recorded session that all connections share. Throws `package/missing` without `@modelcontextprotocol/server`. */
export async function openSkillServer(options: McpOptions): Promise<SkillServer> {
  const module = await loadOptional('@modelcontextprotocol/server', () => import('./server.ts'));
  return module.openSkillServer(options);
}

/** Resolves when the server listens. Throws `input/invalid` for a weak token, and system errors for the port. */
export async function serveHttp(
  server: SkillServer,
  options: ServeHttpOptions,
): Promise<Awaited<ReturnType<typeof openLoopbackServer>>> {
  const module = await loadOptional('@modelcontextprotocol/server', () => import('./serve-http.ts'));
  return module.serveHttp(server, options);
}

/**
 * The tools of the MCP servers in the configuration. A server is connected when its tools are not known, or when one of them is called.
 * Throws `package/missing` without `@modelcontextprotocol/client`.
 */
export async function openToolServers(runtime: Runtime, options?: ToolServersOptions): Promise<ConnectedServers> {
  const module = await loadOptional('@modelcontextprotocol/client', () => import('./tool-servers.ts'));
  return module.openToolServers(runtime, options);
}

/** Skills for MCP clients, and tools of MCP servers: `skillwright/mcp`. */
export { openSkillServer, openToolServers, serveHttp } from './mcp/load.ts';
export type { McpOptions, SkillServer } from './mcp/server.ts';
export type { ServeHttpOptions } from './mcp/serve-http.ts';
export type { ConnectedServers, ServerState, ToolServersOptions } from './mcp/tool-servers.ts';
export type { ServerServices, ServerTool, ToolServers } from './core/tool-servers.ts';

/** Skills for MCP clients: `skillwright/mcp`. */
export { openSkillServer } from './mcp/server.ts';
export type { McpOptions, SkillServer } from './mcp/server.ts';
export { serveHttp } from './mcp/serve-http.ts';
export type { ServeHttpOptions } from './mcp/serve-http.ts';

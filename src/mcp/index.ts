/**
 * The public names of mcp.
 */

export { CLIENT_NAMES, TOKEN_VARIABLE, clientConfig } from './client-config.ts';
export type { SkillServer } from './server.ts';
export type { ServerState } from './tool-servers.ts';

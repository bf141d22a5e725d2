/**
 * The Model Context Protocol: skills as a server for other agents, and tools and skills of other servers for our runs. It decides nothing: every
 * call is an action of `#runtime`. Read server.ts first, then tool-servers.ts.
 */

export type { SkillServer } from './server.ts';

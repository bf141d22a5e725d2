/**
 * What is wrong with an installation: configuration, skills, agents, MCP servers, rights and executors. It changes nothing. Read examine.ts first.
 */
export { examineInstallation } from './examine.ts';

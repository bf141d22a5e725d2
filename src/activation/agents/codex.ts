import type { Agent } from './agent.ts';

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const CODEX: Agent = {
  id: 'codex',
  folders: [
    { path: '${CODEX_HOME:-~/.codex}/skills', depth: 6 },
    { path: '~/.agents/skills', depth: 6 },
    { path: '.agents/skills', isInParents: true, depth: 6 },
  ],
};

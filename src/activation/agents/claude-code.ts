import type { Agent } from './agent.ts';

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const CLAUDE_CODE: Agent = {
  id: 'claude-code',
  folders: [{ path: '${CLAUDE_CONFIG_DIR:-~/.claude}/skills' }, { path: '.claude/skills', isInParents: true }],
};

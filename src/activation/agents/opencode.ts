import type { Agent } from './agent.ts';

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const OPENCODE: Agent = {
  id: 'opencode',
  folders: [
    { path: '~/.claude/skills', depth: Infinity },
    { path: '~/.agents/skills', depth: Infinity },
    { path: '.claude/skills', isInParents: true, depth: Infinity },
    { path: '.agents/skills', isInParents: true, depth: Infinity },
    { path: '${XDG_CONFIG_HOME:-~/.config}/opencode/skills', depth: Infinity },
    { path: '.opencode/skills', isInParents: true, depth: Infinity },
    { path: '~/.opencode/skills', depth: Infinity },
  ],
};

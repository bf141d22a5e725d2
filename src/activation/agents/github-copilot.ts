import type { Agent } from './agent.ts';

export const GITHUB_COPILOT: Agent = {
  id: 'github-copilot',
  folders: [{ path: '.agents/skills' }, { path: '~/.agents/skills' }, { path: '~/.copilot/skills' }],
};

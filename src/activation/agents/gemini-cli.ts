import type { Agent } from './agent.ts';

export const GEMINI_CLI: Agent = {
  id: 'gemini-cli',
  folders: [
    { path: '~/.gemini/skills' },
    { path: '~/.agents/skills' },
    { path: '.gemini/skills' },
    { path: '.agents/skills' },
  ],
};

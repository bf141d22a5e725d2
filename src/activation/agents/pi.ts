import type { Agent } from './agent.ts';

export const PI: Agent = {
  id: 'pi',
  folders: [
    { path: '~/.pi/agent/skills', depth: Infinity },
    { path: '.pi/skills', depth: Infinity },
    { path: '~/.agents/skills', depth: Infinity },
    { path: '.agents/skills', isInParents: true, depth: Infinity },
  ],
};

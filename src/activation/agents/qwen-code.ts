import type { Agent } from './agent.ts';

export const QWEN_CODE: Agent = {
  id: 'qwen-code',
  folders: [
    { path: '.qwen/skills' },
    { path: '.agents/skills' },
    { path: '~/.qwen/skills' },
    { path: '~/.agents/skills' },
  ],
};

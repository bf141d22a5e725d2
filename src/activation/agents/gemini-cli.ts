import { listAll, type Agent } from './agent.ts';
import { isDisabledName } from './disabled-names.ts';
import { readByRules } from './skill-rules.ts';

export const GEMINI_CLI: Agent = {
  id: 'gemini-cli',
  checkedVersion: '0.61.0',
  folders: [
    { path: '~/.gemini/skills' },
    { path: '~/.agents/skills' },
    { path: '.gemini/skills' },
    { path: '.agents/skills' },
  ],
  sameName: 'last',
  projectTrust: 'trust the folder in Gemini CLI (/permissions)',
  settings: ['~/.gemini/settings.json', '.gemini/settings.json'],
  readSkill: (file) =>
    readByRules(file, {
      invalidYaml: 'lines',
      withoutFrontmatter: 'reject',
      isMarkRejected: true,
      name: 'field',
      withoutDescription: 'reject',
      emptyDescription: 'accept',
      otherTypes: 'text',
    }),
  visibility: ({ name }, settings) => (isDisabledName(name, settings) ? 'hidden' : 'listed'),
  listSkills: listAll,
};

import { byName, listAll, type Agent } from './agent.ts';
import { isDisabledName } from './disabled-names.ts';
import { readByRules } from './skill-rules.ts';

const sort = byName((a, b) => a.localeCompare(b));

export const QWEN_CODE: Agent = {
  id: 'qwen-code',
  checkedVersion: '0.24.4',
  folders: [
    { path: '.qwen/skills', withHidden: true },
    { path: '.agents/skills', withHidden: true },
    { path: '~/.qwen/skills', withHidden: true },
    { path: '~/.agents/skills', withHidden: true },
  ],
  sameName: 'first',
  settings: ['~/.qwen/settings.json', '.qwen/settings.json'],
  readSkill: (file) =>
    readByRules(file, {
      invalidYaml: 'lines',
      withoutFrontmatter: 'reject',
      name: 'field',
      namePattern: /^[\w:.-]+$/,
      withoutDescription: 'reject',
      otherTypes: 'text',
      hidesManual: true,
      hidesPaths: true,
    }),
  visibility: ({ name }, settings) => (isDisabledName(name, settings) ? 'hidden' : 'listed'),
  listSkills: (skills) => listAll(sort(skills)),
};

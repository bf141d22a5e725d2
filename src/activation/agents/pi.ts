import { listAll, type Agent } from './agent.ts';
import { readByRules } from './skill-rules.ts';

const EVERYWHERE = { depth: Number.POSITIVE_INFINITY } as const;

export const PI: Agent = {
  id: 'pi',
  checkedVersion: '0.87.1',
  folders: [
    { path: '.pi/skills', ...EVERYWHERE },
    { path: '.agents/skills', isInParents: true, ...EVERYWHERE },
    { path: '~/.pi/agent/skills', ...EVERYWHERE },
    { path: '~/.agents/skills', ...EVERYWHERE },
  ],
  sameName: 'first',
  projectTrust: 'trust the project in pi (pi --approve)',
  settings: [],
  readSkill: (file) =>
    readByRules(file, {
      invalidYaml: 'reject',
      withoutFrontmatter: 'reject',
      name: 'field-or-folder',
      withoutDescription: 'reject',
      otherTypes: 'missing',
      hidesManual: true,
    }),
  listSkills: listAll,
};

import { byName, listAll, type Agent, type Settings } from './agent.ts';
import { readByRules } from './skill-rules.ts';

const sort = byName((a, b) => a.localeCompare(b));
const EVERYWHERE = { depth: Number.POSITIVE_INFINITY, isInsideSkills: true, withHidden: true } as const;

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const OPENCODE: Agent = {
  id: 'opencode',
  checkedVersion: '1.18.18',
  folders: [
    { path: '~/.claude/skills', ...EVERYWHERE },
    { path: '~/.agents/skills', ...EVERYWHERE },
    { path: '.claude/skills', isInParents: true, ...EVERYWHERE },
    { path: '.agents/skills', isInParents: true, ...EVERYWHERE },
    { path: '${XDG_CONFIG_HOME:-~/.config}/opencode/skills', ...EVERYWHERE },
    { path: '.opencode/skills', isInParents: true, ...EVERYWHERE },
    { path: '~/.opencode/skills', ...EVERYWHERE },
  ],
  sameName: 'last',
  settings: ['${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.json', 'opencode.json'],
  readSkill: (file) =>
    readByRules(file, {
      invalidYaml: 'lines',
      openQuote: 'reject',
      withoutFrontmatter: 'reject',
      name: 'field',
      withoutDescription: 'reject',
      emptyDescription: 'accept',
      otherTypes: 'reject',
    }),
  visibility: ({ name }, settings) => (findPermission(name, settings) === 'deny' ? 'hidden' : 'listed'),
  listSkills: (skills) => listAll(sort(skills)),
};
/* oxlint-enable no-template-curly-in-string */

/** `permission.skill` maps patterns with `*` to a decision; the last pattern that matches wins. */
function findPermission(name: string, settings: Settings): unknown {
  const decisions = settings.flatMap(({ permission }): readonly (readonly [string, unknown])[] => {
    const skill: unknown =
      typeof permission === 'object' && permission !== null && 'skill' in permission && permission.skill;
    return typeof skill === 'object' && skill !== null ? Object.entries(skill) : [['*', skill]];
  });
  return decisions.findLast(([pattern]) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
  })?.[1];
}

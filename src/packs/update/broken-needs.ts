import path from 'node:path';

import type { PackRefusal } from '../problems.ts';
import { readRequirements } from '../requires/requires.ts';
import { requirementRefusal, resolveRequirements } from '../requires/resolve-requires.ts';
import type { OpenRoot } from '../root/open-root.ts';
import { readSkillHead } from '../lock/locked-skills.ts';
import type { ChangedSkill } from './update-skill.ts';

/** An installed skill that stays may need a version that is about to go. The lock has names only: ranges stand in its SKILL.md. */
export function brokenNeeds(root: OpenRoot, changed: readonly ChangedSkill[]): PackRefusal | undefined {
  const names = new Set(changed.map(({ name }) => name));
  const staying = [...root.lock.skills.values()].filter(
    ({ name, requires = [] }) => !names.has(name) && requires.some((need) => names.has(need)),
  );
  const resolution = resolveRequirements({
    wanted: changed.map(({ name, skill: { version } }) => ({
      name,
      ...(version === undefined ? {} : { version }),
      requires: [],
    })),
    installed: staying.map(({ name }) => {
      const head = readSkillHead(path.join(root.path, name), name);
      const requirements = head === undefined ? [] : readRequirements(head).requirements;
      return { name, requires: requirements.filter((need) => names.has(need.name)) };
    }),
    available: [],
  });
  return requirementRefusal(resolution);
}

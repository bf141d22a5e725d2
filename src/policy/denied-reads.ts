import path from 'node:path';

import { isInside } from '#platform';
import type { Policy } from './policy.ts';
import { matchesAccess } from './policy-rule.ts';

/**
 * Whether a rule with a path denies reading a file of the host: no program gets it by a mount or an input either. Undefined if there is no
 * such rule. `project` is the folder that relative patterns start from.
 */
export function deniedReads({ layers }: Policy, project: string): ((absolute: string) => boolean) | undefined {
  const rules = layers
    .flatMap((layer) => layer.rules)
    .filter(
      ({ effect, origin, subjects, tools }) =>
        effect === 'deny' && origin.layer !== 'built-in' && subjects?.kind === 'path' && tools.includes('read_file'),
    );
  if (rules.length === 0) return undefined;
  return (absolute) => {
    const shown = isInside(absolute, project) ? path.relative(project, absolute) : absolute;
    const access = { tool: 'read_file', subject: { kind: 'path', path: shown, absolute } } as const;
    return rules.some((rule) => matchesAccess(rule, access) === 'yes');
  };
}

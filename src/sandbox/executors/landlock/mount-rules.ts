import path from 'node:path';

import { invalidInput } from '#core';
import { isInside, namesIn } from '#platform';
import type { HostMount } from '../../program-types.ts';

/** A path and what programs may do below it. */
export interface MountRule {
  readonly path: string;
  readonly access: HostMount['access'] | 'list';
}

/** Each rule costs every program an opened file. */
const MAX_RULES = 10_000;

/**
 * Path rules for host folders at their own path. A rule allows everything below its path and none can take a part back, so a folder with
 * hidden or read-only entries is allowed entry by entry: nothing new can be created directly in it.
 */
export function mountRules(mounts: readonly HostMount[]): readonly MountRule[] {
  const rules: MountRule[] = [];
  const add = (file: string, access: HostMount['access'], inner: readonly HostMount[]): void => {
    if (rules.length >= MAX_RULES)
      throw invalidInput(`${mounts[0]?.source ?? ''} has too many hidden or protected entries`, 'a smaller folder');
    if (inner.length === 0) {
      rules.push({ path: file, access });
      return;
    }
    rules.push({ path: file, access: 'list' });
    for (const name of namesIn(file)) {
      const entry = path.join(file, name);
      const own = inner.findLast(({ target }) => target === entry);
      // What is covered by something else is hidden.
      if (own !== undefined && own.source !== own.target) continue;
      const below = inner.filter(({ target }) => target !== entry && isInside(target, entry));
      add(entry, own?.access ?? access, below);
    }
  };
  const outer = mounts.filter(
    (mount) => !mounts.some((other) => other !== mount && isInside(mount.target, other.target)),
  );
  for (const { source, access } of outer)
    add(
      source,
      access,
      mounts.filter(({ target }) => target !== source && isInside(target, source)),
    );
  return rules;
}

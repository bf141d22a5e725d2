/** Runtimes of a worker, by set of skills. */
import type { Pool } from 'pg';

import { createRuntime } from '#packs';
import type { Runtime, RuntimeOptions } from '#runtime';
import type { ContentStore } from './content-store.ts';
import { fetchSkills } from './skill-sets.ts';

export interface Runtimes {
  of(skillSet: string): Promise<Runtime>;
}

interface RuntimesOptions {
  readonly pool: Pool;
  readonly contents: ContentStore;
  readonly directory: string;
  readonly settings?: Pick<RuntimeOptions, 'config' | 'configFile'>;
}

/** Runs with the same skills share a runtime. */
export function openRuntimes({ pool, contents, directory, settings }: RuntimesOptions): Runtimes {
  const opened = new Map<string, Promise<Runtime>>();
  return {
    of(skillSet) {
      const known = opened.get(skillSet);
      if (known !== undefined) return known;
      const opening = (async () => {
        const root = await fetchSkills(pool, contents, skillSet, directory);
        return createRuntime({
          ...settings,
          cwd: directory,
          roots: [root],
          onlyRoots: true,
          vouched: [root],
        });
      })();
      opened.set(skillSet, opening);
      opening.catch(() => opened.delete(skillSet));
      return opening;
    },
  };
}

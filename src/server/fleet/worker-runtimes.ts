/** Runtimes of a worker, by set of skills. */
import { createRuntime } from '../../packs/open-runtime.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { fetchSkills } from './skill-sets.ts';
import type { WorkerOptions } from './worker.ts';

export interface Runtimes {
  of(skillSet: string): Promise<Runtime>;
}

/** Runs with the same skills share a runtime. */
export function openRuntimes({ pool, contents, directory, settings }: WorkerOptions): Runtimes {
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
          cache: false,
        });
      })();
      opened.set(skillSet, opening);
      opening.catch(() => opened.delete(skillSet));
      return opening;
    },
  };
}

/** The last step of an install: asks for consent to the plan, then commits it. */
import { requestChanges } from '../agents/place-targets.ts';
import { accepted, refused } from '../problems.ts';
import type { OpenRoot } from '../root/open-root.ts';
import type { BackgroundSync } from '../root/sync.ts';
import { trustArriving } from '../trust-confirmed.ts';
import type { InstallOptions, InstallPlan, Installed } from './options.ts';
import { isChanging, putChange } from './plan-install.ts';

/** Throws a refusal if the plan is not confirmed, or cannot be committed; the root is then unchanged. */
export async function applyPlan(
  plan: InstallPlan,
  root: OpenRoot,
  options: InstallOptions,
  backgroundSync: BackgroundSync | undefined,
): Promise<Installed> {
  const { settings, targets = [], copy, takeOver = false, trust, signal, onProgress, at } = options;
  const changing = plan.skills.filter(isChanging);
  const done = { type: 'installed', plan, kept: [], notes: [], unplaced: [] } as const;
  if (options.dryRun === true) return { ...done, isDone: false };
  const isPlaced = plan.places.every(
    ({ add, taken, problem }) => add.length + taken.length === 0 && problem === undefined,
  );
  if (changing.length === 0 && isPlaced) return { ...done, isDone: true };
  if ((await options.confirm(plan)) !== true) throw refused('install/refused', 'not confirmed: nothing was installed');
  const add = plan.skills.map(({ skill }) => skill.name);
  const { kept, notes, unplaced } = accepted(
    await root.commit(
      changing.map((planned) => putChange(planned, root, options)),
      {
        places: requestChanges(targets, { add }, { root: root.path, kind: copy === true ? 'copy' : 'link', takeOver }),
        signal,
        at,
        backgroundSync,
        beforeCommit: trust === true ? trustArriving(settings) : undefined,
        onProgress: ({ phase, ...count }) => onProgress?.({ step: phase, ...count }),
      },
    ),
  );
  return { ...done, isDone: true, kept, notes, unplaced };
}

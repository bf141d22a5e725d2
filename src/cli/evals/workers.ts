/** `eval --workers`: attempts run on the workers of a fleet; cases, skills and results are those of this machine. */
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { packAttempt } from '../../evals/run/portable-attempt.ts';
import type { Elsewhere } from '../../evals/run/run-suite.ts';
import type { SkillSet } from '../../evals/run/skill-set.ts';
import type { SuiteModel } from '../../evals/run/case-model.ts';
import type { CaseResult } from '../../evals/report/result.ts';
import { namesIn } from '../../platform/fs/paths.ts';
import { UsageError } from '../exit.ts';
import { fleetOptions, openFleetFor } from '../fleet/fleet-flags.ts';
import type { EvalInvocation } from './flags.ts';

export interface EvalWorkers {
  readonly elsewhere: (model: SuiteModel | undefined) => Elsewhere;
  close(): Promise<void>;
}

const PROJECT = 'default';

/** Returns nothing without --workers. Throws if no worker could take an attempt. */
export async function openWorkers({ flags, signal }: EvalInvocation): Promise<EvalWorkers | undefined> {
  if (flags.workers !== true) return undefined;
  for (const other of ['update-cassettes', 'subject', 'executor'] as const)
    if (flags[other] !== undefined && flags[other] !== false)
      throw new UsageError(`--workers and --${other} exclude each other`, `omit --${other}: workers have their own`);
  const [{ openQueue }, { attemptOnWorker }, { pinFolders }, { ensureProject }] = await Promise.all([
    import('../../server/fleet/dbos-queue.ts'),
    import('../../server/fleet/stored-attempt.ts'),
    import('../../server/fleet/skill-sets.ts'),
    import('../../server/fleet/keys.ts'),
  ]);
  const options = fleetOptions(flags);
  const fleet = await openFleetFor(options);
  const { pool, contents } = fleet;
  try {
    await ensureProject(pool, PROJECT);
    const { rowCount } = await pool.query(
      `select 1 from skillwright.workers where seen_at > now() - interval '10 seconds' and not is_draining limit 1`,
    );
    if (rowCount === 0) throw noWorkers();
    // Each attempt of the suite waits with it.
    setMaxListeners(0, signal);
    const queue = await openQueue(options.database, pool);
    const owner = { actor: `eval on ${hostname()}`, project: PROJECT };
    const pinned = new Map<string, Promise<readonly { readonly source: string; readonly skillSet: string }[]>>();
    const pin = (set: SkillSet): ReturnType<typeof pinRoots> => {
      const known = pinned.get(set.folder) ?? pinRoots(set);
      pinned.set(set.folder, known);
      return known;
    };
    // The copies of the suite, which have no cases in them.
    const pinRoots = async ({
      folder,
      roots,
    }: SkillSet): Promise<readonly { readonly source: string; readonly skillSet: string }[]> => {
      const made = [];
      for (const { source, path: root } of roots.length === 0 ? [{ source: 'option', path: folder }] : roots) {
        const skills = namesIn(root).map((name) => ({ name, dir: path.join(root, name) }));
        made.push({ source, skillSet: await pinFolders(pool, contents, skills) });
      }
      return made;
    };
    return {
      elsewhere:
        (model) =>
        async ({ evalCase, arm, attempt, set, timeoutMs, runs, outputs }) => {
          const pack = packAttempt({ evalCase, arm, attempt });
          // The run here reports a file that cannot be read.
          if (pack === undefined) return undefined;
          await contents.save(pack.bytes);
          const stored = {
            packed: pack.packed,
            timeoutMs,
            roots: await pin(set),
            skillsDigest: set.digest,
            ...(model === undefined ? {} : { model: { id: model.id, way: model.way } }),
            ...(flags.judge === undefined ? {} : { judge: flags.judge }),
          };
          const places = { runs, outputs };
          const sent = { pool, contents, queue, owner, signal };
          const { result, record } = await attemptOnWorker(stored, evalCase.input, places, sent);
          const { id, name, place, input, tags } = evalCase;
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `run-attempt.ts` of a worker made it from a CaseResult.
          const graded = result as unknown as CaseResult;
          const run = record === undefined ? {} : { run: path.join(runs, record) };
          return { ...graded, case: id, name, place, input, tags, ...run };
        },
      async close() {
        await queue.close();
        await fleet.close();
      },
    };
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

function noWorkers(): SkillError {
  return new SkillError({
    code: 'executor/unavailable',
    message: 'no worker of the fleet was seen in the last ten seconds',
    hint: 'start one with the same database and model: skillwright worker --model NAME',
    data: { executor: 'fleet', reasons: ['no worker'], install: 'skillwright worker' },
  });
}

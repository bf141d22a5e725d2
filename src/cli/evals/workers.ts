/** `eval --workers`: attempts run on the workers of a fleet; cases, skills and results are those of this machine. */
import { setMaxListeners } from 'node:events';
import path from 'node:path';

import { packAttempt, type CaseResult, type Elsewhere, type SuiteModel } from '#evals';
import { UsageError } from '../exit.ts';
import { fleetOptions, openFleetFor } from '../fleet/fleet-flags.ts';
import type { EvalInvocation } from './flags.ts';

export interface EvalWorkers {
  readonly elsewhere: (model: SuiteModel | undefined) => Elsewhere;
  close(): Promise<void>;
}

/** Returns nothing without --workers. Throws if no worker could take an attempt. */
export async function openWorkers({ flags, signal }: EvalInvocation): Promise<EvalWorkers | undefined> {
  if (flags.workers !== true) return undefined;
  for (const other of ['update-cassettes', 'subject', 'executor'] as const)
    if (flags[other] !== undefined && flags[other] !== false)
      throw new UsageError(`--workers and --${other} exclude each other`, `omit --${other}: workers have their own`);
  const { openAttemptsOnWorkers } = await import('#fleet');
  const options = fleetOptions(flags);
  const fleet = await openFleetFor(options);
  try {
    // Each attempt of the suite waits with it.
    setMaxListeners(0, signal);
    const attempts = await openAttemptsOnWorkers(fleet, { database: options.database, signal });
    return {
      elsewhere:
        (model) =>
        async ({ evalCase, arm, attempt, set, timeoutMs, runs, outputs }) => {
          const pack = packAttempt({ evalCase, arm, attempt });
          // The run here reports a file that cannot be read.
          if (pack === undefined) return undefined;
          await fleet.contents.save(pack.bytes);
          const stored = {
            packed: pack.packed,
            timeoutMs,
            roots: await attempts.pin(set),
            skillsDigest: set.digest,
            model: model === undefined ? undefined : { id: model.id, way: model.way },
            judge: flags.judge,
          };
          const { result, record } = await attempts.run(stored, evalCase.input, { runs, outputs });
          const { id, name, place, input, tags } = evalCase;
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `run-attempt.ts` of a worker made it from a CaseResult.
          const graded = result as unknown as CaseResult;
          const run = record === undefined ? {} : { run: path.join(runs, record) };
          return { ...graded, case: id, name, place, input, tags, ...run };
        },
      async close() {
        await attempts.close();
        await fleet.close();
      },
    };
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

import { UsageError } from '../exit.ts';
import { fleetOptions, openFleetFor } from '../fleet/fleet-flags.ts';
import type { EvalInvocation } from './flags.ts';

/** Opens the workers of `eval --workers`. Returns nothing without the flag, and throws if no worker could take an attempt. */
export async function openWorkers({ flags, signal }: EvalInvocation) {
  if (flags.workers !== true) return undefined;
  for (const other of ['update-cassettes', 'subject', 'executor'] as const)
    if (flags[other] !== undefined && flags[other] !== false)
      throw new UsageError(`--workers and --${other} exclude each other`, `omit --${other}: workers have their own`);
  const { openEvaluationWorkers } = await import('#fleet');
  const options = fleetOptions(flags);
  const fleet = await openFleetFor(options);
  try {
    const { database } = options;
    const workers = await openEvaluationWorkers(fleet, { database, judge: flags.judge, signal });
    return { elsewhere: workers.elsewhere, close: () => workers.close().finally(() => fleet.close()) };
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

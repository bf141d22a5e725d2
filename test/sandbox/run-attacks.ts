import type { Executor } from '../../src/core/execution.ts';
import { limitAttacks } from './attacks-limits.ts';
import { reachAttacks, runAttack } from './attacks.ts';
import type { AttackOutcome } from './attacks.ts';

/** Attacks that wait more than they work run side by side; those on limits run alone. */
const AT_ONCE = 4;

/** Runs all attacks and gives their outcomes in the order of `attackCases`. */
export async function runAttacks(executor: Executor, secret: string): Promise<readonly AttackOutcome[]> {
  const outcomes: AttackOutcome[] = [];
  for (let at = 0; at < reachAttacks.length; at += AT_ONCE)
    outcomes.push(
      ...(await Promise.all(
        reachAttacks.slice(at, at + AT_ONCE).map(async (attack) => await runAttack(attack, executor, secret)),
      )),
    );
  for (const attack of limitAttacks) outcomes.push(await runAttack(attack, executor, secret));
  return outcomes;
}

import type { Executor } from '../../src/core/execution.ts';
import type { AttackCase } from './attack-case.ts';
import { limitAttacks } from './attacks-limits.ts';
import { openAttackField, type AttackOutcome } from './attack-field.ts';
import { reachAttacks } from './attacks.ts';

/** Attacks that wait more than they work run side by side, each field with its own; those on limits run alone. */
const FIELDS = 3;

export interface AttackReport {
  /** In the order of `attackCases`. */
  readonly outcomes: readonly AttackOutcome[];
  /** What was damaged after the last attack had ended. */
  readonly later: readonly string[];
}

export async function runAttacks(executor: Executor, secret: string): Promise<AttackReport> {
  // One first: it finds out what the executor can do, and the others use it.
  const fields = [await openAttackField(executor, secret)];
  while (fields.length < FIELDS) fields.push(await openAttackField(executor, secret));
  const found = new Map<AttackCase, AttackOutcome>();
  const waiting = [...reachAttacks];
  await Promise.all(
    fields.map(async (field) => {
      for (let attack = waiting.shift(); attack !== undefined; attack = waiting.shift())
        found.set(attack, await field.run(attack));
    }),
  );
  for (const attack of limitAttacks) if (fields[0] !== undefined) found.set(attack, await fields[0].run(attack));
  const later = await Promise.all(fields.map(async (field) => await field.close()));
  return {
    outcomes: [...reachAttacks, ...limitAttacks].flatMap((attack) => found.get(attack) ?? []),
    later: later.flat(),
  };
}

import { applyPlanUpdate, startPlan } from '../core/plan.ts';
import type { PlanUpdate } from '../core/plan.ts';
import type { Run } from '../runtime/start-run.ts';
import type { AgentState } from './state.ts';

export interface PlanPlace {
  readonly run: Run;
  readonly state: Pick<AgentState, 'plan' | 'turn'>;
  /** The goal as long as the model names none. */
  readonly request: string;
}

/**
 * Records the plan where there is none yet or where it changes (AGT-3): it is there with the first decision, whatever that is. Gives what
 * of an update was not taken, for the model to read.
 */
export function keepPlan(update: PlanUpdate | undefined, { run, state, request }: PlanPlace): readonly string[] {
  const { turn, plan: before } = state;
  const plan = before ?? startPlan(request);
  const changed = update === undefined ? { plan, problems: [] } : applyPlanUpdate(plan, update);
  const isSame =
    changed.plan === before || (before !== undefined && JSON.stringify(changed.plan) === JSON.stringify(before));
  if (!isSame) run.record({ type: 'plan', turn, plan: changed.plan });
  for (const problem of changed.problems) run.record({ type: 'note', message: `plan: ${problem}` });
  return changed.problems;
}

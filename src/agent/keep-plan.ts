import type { Budget, Plan, PlanUpdate } from '#core';
import type { Run } from '#runtime';
import { applyPlanUpdate, startPlan, type PlanChange } from './plan.ts';
import { checkConstraints } from './plan-limits.ts';
import type { AgentState } from './state.ts';

export interface PlanContext {
  readonly run: Run;
  readonly state: Pick<AgentState, 'plan' | 'turn'>;
  /** The budget that the caller set; a plan can only tighten it. */
  readonly allowed: Budget;
  /** The goal, until the model names one. */
  readonly request: string;
}

/**
 * Records the plan if it is new or has changed (AGT-3): every run has a plan from its first decision on. Returns the problems with the
 * update, for the model.
 */
export function keepPlan(
  update: PlanUpdate | undefined,
  { run, state, allowed, request }: PlanContext,
): readonly string[] {
  const { turn, plan: before } = state;
  const plan = before ?? startPlan(request);
  const changed =
    update === undefined ? { plan, problems: [] } : checked(applyPlanUpdate(plan, update), before, allowed);
  const isSame =
    changed.plan === before || (before !== undefined && JSON.stringify(changed.plan) === JSON.stringify(before));
  if (!isSame) run.record({ type: 'plan', turn, plan: changed.plan });
  for (const problem of changed.problems) run.record({ type: 'note', message: `plan: ${problem}` });
  return changed.problems;
}

function checked({ plan, problems }: PlanChange, before: Plan | undefined, allowed: Budget): PlanChange {
  const enforced = checkConstraints({ plan, before }, allowed);
  return { plan: enforced.plan, problems: [...problems, ...enforced.problems] };
}

/** The constraints of a plan that limit the run. A plan can only tighten the budget that the caller set. */
import { describeValue, quoted, type Budget, type Plan } from '#core';
import type { Run } from '#runtime';
import { NOTHING_USED } from './count-budget.ts';
import { applyPlanUpdate, startPlan, type PlanChange } from './plan.ts';
import type { PlanUpdateReading } from './plan-update.ts';
import type { AgentState } from './state.ts';

const CONSTRAINTS = {
  max_turns: 'turns',
  max_tool_calls: 'toolCalls',
  max_script_runs: 'scriptRuns',
  max_tokens: 'tokens',
} as const satisfies Readonly<Record<string, keyof Budget>>;

/** A run can do without these; without turns and tokens it could not answer. */
const MAY_BE_NONE: ReadonlySet<keyof Budget> = new Set(['toolCalls', 'scriptRuns']);

const NAMES = Object.keys(CONSTRAINTS).join(', ');

function findBudgetName(constraint: string): keyof Budget | undefined {
  return Object.entries(CONSTRAINTS).find(([name]) => name === constraint)?.[1];
}

/** Returns the limits under a plan. `before` is the usage of earlier messages of a chat, which a plan does not count. */
export function planLimits(limits: Budget, plan: Plan | undefined, before: Budget = NOTHING_USED): Budget {
  const entries = Object.entries(plan?.constraints ?? {}).flatMap(([constraint, value]) => {
    const name = findBudgetName(constraint);
    return name === undefined || typeof value !== 'number'
      ? []
      : [[name, Math.min(limits[name], before[name] + value)] as const];
  });
  return entries.length === 0 ? limits : { ...limits, ...Object.fromEntries(entries) };
}

/** Whether a constraint no longer holds, because the caller set that budget when the run was resumed. */
export type IsLifted = (name: keyof Budget, value: number | string, turn: number) => boolean;

/** A model that repeats its plan repeats its constraints: a value that was lifted stays lifted. */
export function openLifts(lifts: Partial<Budget> = {}): IsLifted {
  const lifted = new Set<string>();
  return (name, value, turn) => {
    const constraint = `${name} ${String(value)}`;
    if (turn <= (lifts[name] ?? 0)) lifted.add(constraint);
    return lifted.has(constraint);
  };
}

/** Removes constraints that cannot be enforced, with the reason for the model. Other constraints stay as remarks of the model. */
function checkConstraints(
  plan: Plan,
  { allowed, isLifted, state: { turn, plan: before } }: PlanContext,
): { readonly plan: Plan; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const kept = Object.entries(plan.constraints).flatMap(([constraint, value]): [string, number | string][] => {
    const name = findBudgetName(constraint);
    const isNew = before?.constraints[constraint] !== value;
    if (name === undefined) {
      if (isNew) problems.push(`the constraint ${quoted(constraint)} is noted, not enforced; enforced are ${NAMES}`);
      return [[constraint, value]];
    }
    const amount = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
    const least = MAY_BE_NONE.has(name) ? 0 : 1;
    const isValid = typeof amount === 'number' && Number.isInteger(amount) && amount >= least;
    if (isValid && isLifted(name, amount, turn)) {
      problems.push(
        `${constraint} = ${String(amount)} no longer holds: the user allowed ${String(allowed[name])} and resumed the run`,
      );
      return [];
    }
    if (isValid && amount <= allowed[name]) return [[constraint, amount]];
    // A constraint that is refused does not take away the earlier one.
    const earlier = before?.constraints[constraint];
    const isKept = earlier !== undefined && !isLifted(name, earlier, turn);
    const reason = isValid
      ? `${constraint} = ${String(amount)} was refused: the run allows ${String(allowed[name])}, and a plan cannot raise that`
      : `${constraint} must be a whole number of at least ${String(least)}, not ${describeValue(value)}; it was ignored`;
    problems.push(isKept ? `${reason}; ${constraint} remains ${String(earlier)}` : reason);
    return isKept ? [[constraint, earlier]] : [];
  });
  return { plan: { ...plan, constraints: Object.fromEntries(kept) }, problems };
}

/** Whether a limit comes from the plan and not from the caller. */
export function isPlanLimit(name: keyof Budget, plan: Plan | undefined, allowed: Budget): boolean {
  return Object.entries(plan?.constraints ?? {}).some(
    ([constraint, value]) => findBudgetName(constraint) === name && typeof value === 'number' && value < allowed[name],
  );
}

export interface PlanContext {
  readonly run: Run;
  readonly state: Pick<AgentState, 'plan' | 'turn'>;
  /** The budget that the caller set; a plan can only tighten it. */
  readonly allowed: Budget;
  readonly isLifted: IsLifted;
  /** The goal, until the model names one. */
  readonly request: string;
}

/**
 * Records the plan if it is new or has changed (AGT-3): every run has a plan from its first decision on. Returns the problems with the
 * update, for the model.
 */
export function keepPlan({ update, problems }: PlanUpdateReading, context: PlanContext): readonly string[] {
  const { run, state, request } = context;
  const { turn, plan: before } = state;
  const plan = before ?? startPlan(request);
  const changed = update === undefined ? { plan, problems: [] } : checked(applyPlanUpdate(plan, update), context);
  const isSame =
    changed.plan === before || (before !== undefined && JSON.stringify(changed.plan) === JSON.stringify(before));
  if (!isSame) run.record({ type: 'plan', turn, plan: changed.plan });
  const told = [...problems, ...changed.problems];
  for (const problem of told) run.record({ type: 'note', message: `plan: ${problem}` });
  return told;
}

function checked({ plan, problems }: PlanChange, context: PlanContext): PlanChange {
  const enforced = checkConstraints(plan, context);
  return { plan: enforced.plan, problems: [...problems, ...enforced.problems] };
}

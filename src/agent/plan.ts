/** Changes to the plan of an agent (AGT-3): created with its first decision, then replaced or patched. */

import { nearest, quoted, cleanText, type Plan } from '#core';

/** A whole plan, or a patch, in the format of skills-agent. */
export type PlanUpdate =
  | { readonly mode: 'replace'; readonly plan: Plan }
  | {
      readonly mode: 'patch';
      readonly goal?: string;
      /** Changes existing steps by id and adds the others. */
      readonly steps?: readonly (Partial<Plan['steps'][number]> & { readonly id: string })[];
      readonly remove?: readonly string[];
      /** Ids in the new order; the others follow in their old order. */
      readonly order?: readonly string[];
      /** Replaces all assumptions. */
      readonly assumptions?: readonly string[];
      /** Sets the named constraints; the others stay. */
      readonly constraints?: Readonly<Record<string, number | string>>;
    };

export const STEP_STATES = [
  'pending',
  'in_progress',
  'completed',
] as const satisfies readonly Plan['steps'][number]['status'][];

/** The plan is part of every request, so its size is limited. */
export const PLAN_LIMITS = {
  steps: 50,
  assumptions: 20,
  constraints: 20,
  goalCharacters: 500,
  titleCharacters: 200,
  idCharacters: 40,
  textCharacters: 300,
} as const;

export interface PlanChange {
  readonly plan: Plan;
  readonly problems: readonly string[];
}

type Patch = Extract<PlanUpdate, { readonly mode: 'patch' }>;

type Report = (problem: string) => void;

const MOST = {
  steps: PLAN_LIMITS.steps,
  'step changes': PLAN_LIMITS.steps,
  removals: PLAN_LIMITS.steps,
  places: PLAN_LIMITS.steps,
  assumptions: PLAN_LIMITS.assumptions,
  constraints: PLAN_LIMITS.constraints,
} as const;

const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const satisfies Record<
  Plan['steps'][number]['status'],
  string
>;

export function startPlan(goal: string): Plan {
  return { goal: toPlanLine(goal, PLAN_LIMITS.goalCharacters), steps: [], assumptions: [], constraints: {} };
}

export function isPlanDone({ steps }: Plan): boolean {
  return steps.every(({ status }) => status === 'completed');
}

/** Applies an update. Invalid parts are reported and skipped. */
export function applyPlanUpdate(plan: Plan, update: PlanUpdate): PlanChange {
  const problems: string[] = [];
  const report: Report = (problem) => {
    if (problems.length < PLAN_LIMITS.steps) problems.push(problem);
  };
  const changed = update.mode === 'replace' ? replaced(plan, update.plan) : patched(plan, update, report);
  return { plan: bounded(changed, report), problems };
}

/** A replacement without a goal keeps the old goal. */
function replaced(plan: Plan, next: Plan): Plan {
  return { ...next, goal: next.goal.trim() === '' ? plan.goal : next.goal };
}

function patched(plan: Plan, patch: Patch, report: Report): Plan {
  const steps = new Map(plan.steps.map((step) => [step.id, step]));
  for (const id of within(patch.remove ?? [], 'removals', report)) {
    if (!steps.delete(toStepId(id))) report(missing('remove', id, steps));
  }
  for (const change of within(patch.steps ?? [], 'step changes', report)) changeStep(steps, change, report);
  return {
    goal: patch.goal === undefined || patch.goal.trim() === '' ? plan.goal : patch.goal,
    steps: ordered(steps, within(patch.order ?? [], 'places', report), report),
    assumptions: patch.assumptions ?? plan.assumptions,
    constraints: { ...plan.constraints, ...patch.constraints },
  };
}

function changeStep(
  steps: Map<string, Plan['steps'][number]>,
  change: Partial<Plan['steps'][number]> & { readonly id: string },
  report: Report,
): void {
  const id = toStepId(change.id);
  const known = steps.get(id);
  const title = change.title === undefined || change.title.trim() === '' ? known?.title : change.title;
  if (title === undefined) report(missing('change', change.id, steps));
  else steps.set(id, { id, title, status: change.status ?? known?.status ?? 'pending' });
}

function missing(verb: string, id: string, steps: ReadonlyMap<string, Plan['steps'][number]>): string {
  const near = nearest(toStepId(id), [...steps.keys()]).map((name) => quoted(name));
  const known = near.length === 0 ? '' : `; similar ids: ${near.join(', ')}`;
  return `there is no step ${quoted(id)} to ${verb}${known}${verb === 'change' ? '; a new step needs a title' : ''}`;
}

function ordered(
  steps: ReadonlyMap<string, Plan['steps'][number]>,
  order: readonly string[],
  report: Report,
): readonly Plan['steps'][number][] {
  const named = new Map<string, Plan['steps'][number]>();
  for (const id of order) {
    const step = steps.get(toStepId(id));
    if (step === undefined) report(missing('put in order', id, steps));
    else named.set(step.id, step);
  }
  return [...named.values(), ...[...steps.values()].filter(({ id }) => !named.has(id))];
}

/** Cleans all text and enforces the limits. Idempotent. */
function bounded(plan: Plan, report: Report): Plan {
  const constraints = within(Object.entries(plan.constraints), 'constraints', report);
  return {
    goal: toPlanLine(plan.goal, PLAN_LIMITS.goalCharacters),
    steps: boundedSteps(plan.steps, report),
    assumptions: within(plan.assumptions, 'assumptions', report)
      .map((text) => toPlanLine(text))
      .filter(isSomething),
    constraints: Object.fromEntries(
      constraints
        .map(([key, value]) => [toStepId(key), boundedConstraint(value)] as const)
        .filter(([key]) => key !== ''),
    ),
  };
}

function boundedSteps(steps: readonly Plan['steps'][number][], report: Report): readonly Plan['steps'][number][] {
  const kept = new Map<string, Plan['steps'][number]>();
  for (const step of within(steps, 'steps', report)) {
    const id = toStepId(step.id);
    const title = toPlanLine(step.title, PLAN_LIMITS.titleCharacters);
    if (id === '') report('a step has no id');
    else if (title === '') report(`step ${quoted(id)} has no title`);
    else if (kept.has(id)) report(`the id ${quoted(id)} is used twice; the first step was kept`);
    else kept.set(id, { id, title, status: step.status });
  }
  return [...kept.values()];
}

function boundedConstraint(value: number | string): number | string {
  if (typeof value === 'string') return toPlanLine(value);
  return Number.isFinite(value) ? value : 0;
}

function within<T>(items: readonly T[], what: keyof typeof MOST, report: Report): readonly T[] {
  const most = MOST[what];
  if (items.length <= most) return items;
  report(`${items.length} ${what}; only the first ${most} were used`);
  return items.slice(0, most);
}

function toStepId(text: string): string {
  return toPlanLine(text, PLAN_LIMITS.idCharacters);
}

/** Cleans text to one line and truncates it with `…`. */
function toPlanLine(text: string, limit: number = PLAN_LIMITS.textCharacters): string {
  // Bounds the work; eight times the limit leaves room for removed characters.
  const line = cleanText(text.slice(0, limit * 8))
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (line.length <= limit) return line;
  return `${cleanText(line.slice(0, limit - 1)).trim()}…`;
}

function isSomething(text: string): boolean {
  return text !== '';
}

export function planText({ goal, steps, assumptions, constraints }: Plan): string {
  const limits = Object.entries(constraints).map(([key, value]) => `${key} = ${value}`);
  return [
    `Goal: ${goal}`,
    ...steps.map(({ id, title, status }) => `${MARKS[status]} ${id}: ${title}`),
    ...assumptions.map((text) => `Assumed: ${text}`),
    ...limits.map((text) => `Constraint: ${text}`),
  ].join('\n');
}

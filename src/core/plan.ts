/** What an agent means to do (AGT-3): made in its first decision, replaced or patched later, never more than the model's own words. */
import { nearest } from './nearest.ts';
import { cleanText, quoted } from './text/text.ts';

export const STEP_STATES = ['pending', 'in_progress', 'completed'] as const;
export type StepState = (typeof STEP_STATES)[number];

export interface PlanStep {
  readonly id: string;
  readonly title: string;
  readonly status: StepState;
}

export interface Plan {
  readonly goal: string;
  readonly steps: readonly PlanStep[];
  readonly assumptions: readonly string[];
  readonly constraints: Readonly<Record<string, number | string>>;
}

/** As skills-agent's model writes it: a whole plan, or changes to steps. */
export type PlanUpdate =
  | { readonly mode: 'replace'; readonly plan: Plan }
  | {
      readonly mode: 'patch';
      readonly goal?: string;
      /** A step that is there is changed, another one is added. */
      readonly steps?: readonly (Partial<PlanStep> & { readonly id: string })[];
      readonly remove?: readonly string[];
      /** Ids in the new order; those not named keep theirs behind. */
      readonly order?: readonly string[];
      /** All of them, in the place of those before. */
      readonly assumptions?: readonly string[];
      /** Those that are named are set; the others stay. */
      readonly constraints?: Readonly<Record<string, number | string>>;
    };

/** A plan goes into every request, so it stays small whatever the model writes. */
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
  /** What of the update was not taken, and why, for the model to read. */
  readonly problems: readonly string[];
}

type Patch = Extract<PlanUpdate, { readonly mode: 'patch' }>;
type Report = (problem: string) => void;

export function startPlan(goal: string): Plan {
  return { goal: lineOf(goal, PLAN_LIMITS.goalCharacters), steps: [], assumptions: [], constraints: {} };
}

/** Nothing of it is left to do. */
export function isPlanDone({ steps }: Plan): boolean {
  return steps.every(({ status }) => status === 'completed');
}

/** The plan after an update. What cannot be taken is a problem and changes nothing; the rest counts. */
export function applyPlanUpdate(plan: Plan, update: PlanUpdate): PlanChange {
  const problems: string[] = [];
  const report: Report = (problem) => {
    if (problems.length < PLAN_LIMITS.steps) problems.push(problem);
  };
  const changed = update.mode === 'replace' ? replaced(plan, update.plan) : patched(plan, update, report);
  return { plan: bounded(changed, report), problems };
}

/** A plan without a goal is still a plan for the same task. */
function replaced(plan: Plan, next: Plan): Plan {
  return { ...next, goal: next.goal.trim() === '' ? plan.goal : next.goal };
}

function patched(plan: Plan, patch: Patch, report: Report): Plan {
  const steps = new Map(plan.steps.map((step) => [step.id, step]));
  for (const id of within(patch.remove ?? [], 'removals', report)) {
    if (!steps.delete(idOf(id))) report(missing('remove', id, steps));
  }
  for (const change of within(patch.steps ?? [], 'changes of steps', report)) changeStep(steps, change, report);
  return {
    goal: patch.goal === undefined || patch.goal.trim() === '' ? plan.goal : patch.goal,
    steps: ordered(steps, within(patch.order ?? [], 'places', report), report),
    assumptions: patch.assumptions ?? plan.assumptions,
    constraints: { ...plan.constraints, ...patch.constraints },
  };
}

function changeStep(
  steps: Map<string, PlanStep>,
  change: Partial<PlanStep> & { readonly id: string },
  report: Report,
): void {
  const id = idOf(change.id);
  const known = steps.get(id);
  const title = change.title === undefined || change.title.trim() === '' ? known?.title : change.title;
  if (title === undefined) report(missing('change', change.id, steps));
  else steps.set(id, { id, title, status: change.status ?? known?.status ?? 'pending' });
}

function missing(verb: string, id: string, steps: ReadonlyMap<string, PlanStep>): string {
  const near = nearest(idOf(id), [...steps.keys()]).map((name) => quoted(name));
  const known = near.length === 0 ? '' : `; there is ${near.join(', ')}`;
  return `there is no step ${quoted(id)} to ${verb}${known}${verb === 'change' ? '; a new step needs a title' : ''}`;
}

function ordered(steps: ReadonlyMap<string, PlanStep>, order: readonly string[], report: Report): readonly PlanStep[] {
  const named = new Map<string, PlanStep>();
  for (const id of order) {
    const step = steps.get(idOf(id));
    if (step === undefined) report(missing('put in order', id, steps));
    else named.set(step.id, step);
  }
  return [...named.values(), ...[...steps.values()].filter(({ id }) => !named.has(id))];
}

/** Clean text and no more than the limits, wherever the plan comes from. A plan that is so already stays as it is. */
function bounded(plan: Plan, report: Report): Plan {
  const constraints = within(Object.entries(plan.constraints), 'constraints', report);
  return {
    goal: lineOf(plan.goal, PLAN_LIMITS.goalCharacters),
    steps: boundedSteps(plan.steps, report),
    assumptions: within(plan.assumptions, 'assumptions', report)
      .map((text) => lineOf(text))
      .filter(isSomething),
    constraints: Object.fromEntries(
      constraints.map(([key, value]) => [idOf(key), boundedConstraint(value)] as const).filter(([key]) => key !== ''),
    ),
  };
}

function boundedSteps(steps: readonly PlanStep[], report: Report): readonly PlanStep[] {
  const kept = new Map<string, PlanStep>();
  for (const step of within(steps, 'steps', report)) {
    const id = idOf(step.id);
    const title = lineOf(step.title, PLAN_LIMITS.titleCharacters);
    if (id === '') report('a step has no id');
    else if (title === '') report(`step ${quoted(id)} has no title`);
    else if (kept.has(id)) report(`the id ${quoted(id)} stands twice; the first of the steps was kept`);
    else kept.set(id, { id, title, status: stateOf(step, report) });
  }
  return [...kept.values()];
}

function stateOf({ id, status }: PlanStep, report: Report): StepState {
  if (STEP_STATES.includes(status)) return status;
  report(`the status of step ${quoted(id)} is none of ${STEP_STATES.join(', ')}`);
  return 'pending';
}

function boundedConstraint(value: number | string): number | string {
  if (typeof value === 'string') return lineOf(value);
  return Number.isFinite(value) ? value : 0;
}

const MOST = {
  steps: PLAN_LIMITS.steps,
  'changes of steps': PLAN_LIMITS.steps,
  removals: PLAN_LIMITS.steps,
  places: PLAN_LIMITS.steps,
  assumptions: PLAN_LIMITS.assumptions,
  constraints: PLAN_LIMITS.constraints,
} as const;

function within<T>(items: readonly T[], what: keyof typeof MOST, report: Report): readonly T[] {
  const most = MOST[what];
  if (items.length <= most) return items;
  report(`${items.length} ${what}; only the first ${most} were taken`);
  return items.slice(0, most);
}

function idOf(text: string): string {
  return lineOf(text, PLAN_LIMITS.idCharacters);
}

/** One line of clean text; what is too long ends in `…`. */
function lineOf(text: string, limit: number = PLAN_LIMITS.textCharacters): string {
  // What is looked at is bounded; eight times the limit leaves room for what cleaning takes away.
  const line = cleanText(text.slice(0, limit * 8))
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (line.length <= limit) return line;
  return `${cleanText(line.slice(0, limit - 1)).trim()}…`;
}

function isSomething(text: string): boolean {
  return text !== '';
}

const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const satisfies Record<StepState, string>;

/** A plan as people and models read it: a line a step, its id before its title. */
export function planText({ goal, steps, assumptions, constraints }: Plan): string {
  const limits = Object.entries(constraints).map(([key, value]) => `${key} = ${value}`);
  return [
    `Goal: ${goal}`,
    ...steps.map(({ id, title, status }) => `${MARKS[status]} ${id}: ${title}`),
    ...assumptions.map((text) => `Assumed: ${text}`),
    ...limits.map((text) => `Constraint: ${text}`),
  ].join('\n');
}

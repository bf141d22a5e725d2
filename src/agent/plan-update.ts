import {
  jsonSchema,
  defined,
  describeValue,
  isObject,
  quoted,
  type JsonSchema,
  type Plan,
  type PlanUpdate,
} from '#core';
import { STEP_STATES } from './step-states.ts';

/** Parses the `plan_update` of an answer. A plan is only a statement of intent, so an invalid one never blocks an action. */
export interface PlanUpdateReading {
  /** Absent if nothing in it is usable. */
  readonly update?: PlanUpdate;
  readonly problems: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
type Report = (problem: string) => void;
type StepChange = Partial<Plan['steps'][number]> & { readonly id: string };

const MAX_PROBLEMS = 10;

/**
 * Accepts `{mode: 'replace', plan}`, `{mode: 'patch', …}`, or a bare plan. Without a mode, an object with a goal and steps is a whole
 * plan.
 */
export function readPlanUpdate(value: unknown): PlanUpdateReading {
  const problems: string[] = [];
  const report: Report = (problem) => {
    if (problems.length < MAX_PROBLEMS) problems.push(`plan_update${problem}`);
  };
  const update = isObject(value) ? readUpdate(value, report) : undefined;
  if (!isObject(value)) report(` must be an object, not ${describeValue(value)}`);
  return { update, problems };
}

function readUpdate(fields: Fields, report: Report): PlanUpdate | undefined {
  const { mode, plan } = fields;
  const whole = isObject(plan) ? plan : fields;
  const isWhole = whole !== fields || (typeof fields['goal'] === 'string' && Array.isArray(fields['steps']));
  if (mode === 'replace' || (mode === undefined && isWhole)) return readPlan(whole, report);
  if (mode === 'patch' || mode === undefined) return readPatch(fields, report);
  report(`.mode must be replace or patch, not ${describeValue(mode)}`);
  return undefined;
}

function readPlan(fields: Fields, report: Report): PlanUpdate | undefined {
  const { goal, steps } = fields;
  if (!Array.isArray(steps)) {
    report(`.steps must be a list of steps, not ${describeValue(steps)}`);
    return undefined;
  }
  const plan: Plan = {
    goal: readText(goal, '.goal', report) ?? '',
    steps: steps.flatMap((step: unknown, place) => readStep(step, place, report)),
    assumptions: readTexts(fields['assumptions'], '.assumptions', report) ?? [],
    constraints: readConstraints(fields['constraints'], report) ?? {},
  };
  return { mode: 'replace', plan };
}

/** A step of a new plan may be just its title; its position then becomes its id. */
function readStep(value: unknown, place: number, report: Report): readonly Plan['steps'][number][] {
  const fields = typeof value === 'string' ? { title: value } : value;
  const change = readChange(isObject(fields) ? { id: `s${place + 1}`, ...fields } : fields, place, report);
  return change.map(({ id, title = '', status = 'pending' }) => ({ id, title, status }));
}

function readPatch(fields: Fields, report: Report): PlanUpdate | undefined {
  const goal = readText(fields['goal'], '.goal', report);
  const steps = readList(fields['steps'], '.steps', report)?.flatMap((step, place) => readChange(step, place, report));
  const remove = readTexts(fields['remove'], '.remove', report);
  const order = readTexts(fields['order'], '.order', report);
  const assumptions = readTexts(fields['assumptions'], '.assumptions', report);
  const constraints = readConstraints(fields['constraints'], report);
  const patch: PlanUpdate = {
    mode: 'patch',
    ...defined({ goal, steps, remove, order, assumptions, constraints }),
  };
  if (Object.keys(patch).length > 1) return patch;
  report(' changes nothing: give goal, steps, remove, order, assumptions or constraints');
  return undefined;
}

function readChange(value: unknown, place: number, report: Report): readonly StepChange[] {
  const name = `.steps[${place}]`;
  if (!isObject(value)) {
    report(`${name} must be an object with an id, not ${describeValue(value)}`);
    return [];
  }
  const id = readId(value['id']);
  if (id === undefined) {
    report(`${name}.id must be a string, not ${describeValue(value['id'])}`);
    return [];
  }
  const title = readText(value['title'], `${name}.title`, report);
  const status = readState(value['status'], name, report);
  return [{ id, title, status }];
}

/** Models use numbers as ids, too. */
function readId(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function readState(value: unknown, name: string, report: Report): Plan['steps'][number]['status'] | undefined {
  if (value === undefined || value === null) return undefined;
  const word =
    typeof value === 'string'
      ? value
          .slice(0, 40)
          .trim()
          .toLowerCase()
          .replaceAll(/[\s-]+/g, '_')
      : '';
  const state = STEP_STATES.find((known) => known === word);
  if (state === undefined)
    report(`${name}.status must be one of ${STEP_STATES.join(', ')}, not ${describeValue(value)}`);
  return state;
}

function readText(value: unknown, name: string, report: Report): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  report(`${name} must be a string, not ${describeValue(value)}`);
  return undefined;
}

function readList(value: unknown, name: string, report: Report): readonly unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value;
  report(`${name} must be a list, not ${describeValue(value)}`);
  return undefined;
}

function readTexts(value: unknown, name: string, report: Report): readonly string[] | undefined {
  return readList(value, name, report)?.flatMap((item, place) => {
    const text = readId(item);
    if (text === undefined) report(`${name}[${place}] must be a string, not ${describeValue(item)}`);
    return text === undefined ? [] : [text];
  });
}

function readConstraints(value: unknown, report: Report): Plan['constraints'] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) {
    report(`.constraints must be an object, not ${describeValue(value)}`);
    return undefined;
  }
  const usable = Object.entries(value).filter((entry): entry is [string, number | string] => {
    const isUsable = typeof entry[1] === 'number' || typeof entry[1] === 'string';
    if (!isUsable)
      report(`.constraints: ${quoted(entry[0])} must be a number or a string, not ${describeValue(entry[1])}`);
    return isUsable;
  });
  return Object.fromEntries(usable);
}

const STEP_SCHEMA = jsonSchema.section(
  'A step.',
  {
    id: jsonSchema.text('Short and stable, such as s1.'),
    title: jsonSchema.text('What to do. Optional for a known step.'),
    status: jsonSchema.choice('The progress of the step.', STEP_STATES),
  },
  ['id'],
);

const PLAN_FIELDS = {
  goal: jsonSchema.text('The goal.'),
  steps: jsonSchema.list('The steps.', STEP_SCHEMA),
  assumptions: jsonSchema.list('Assumptions.', jsonSchema.text('One of them.')),
  constraints: {
    type: 'object',
    description: 'Numbers and strings that limit the work.',
    additionalProperties: {
      description: 'Its value.',
      anyOf: [
        jsonSchema.text('A text.'),
        {
          type: 'integer',
          description: 'A number.',
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        },
      ],
    },
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** The schema shows models the two forms that have a mode. */
export const PLAN_UPDATE_SCHEMA = {
  description: 'The plan, if it is new or has changed.',
  anyOf: [
    jsonSchema.section(
      'A whole plan.',
      {
        mode: jsonSchema.choice('Replaces the previous plan.', ['replace']),
        plan: jsonSchema.section('The plan.', PLAN_FIELDS, ['goal', 'steps']),
      },
      ['mode', 'plan'],
    ),
    jsonSchema.section(
      'Changes.',
      {
        mode: jsonSchema.choice('Changes the previous plan.', ['patch']),
        ...PLAN_FIELDS,
        remove: jsonSchema.list('Ids of steps to remove.', jsonSchema.text('An id.')),
        order: jsonSchema.list('Step ids in their new order.', jsonSchema.text('An id.')),
      },
      ['mode'],
    ),
  ],
} as const satisfies JsonSchema;

import {
  checkJson,
  jsonSchema,
  describeValue,
  isObject,
  quoted,
  sliceStart,
  type FromSchema,
  type JsonSchema,
} from '#core';
import { STEP_STATES, type PlanUpdate } from './plan.ts';

/** Parses the `plan_update` of an answer. A plan is only a statement of intent, so an invalid one never blocks an action. */
export interface PlanUpdateReading {
  /** Absent if nothing in it is usable. */
  readonly update?: PlanUpdate;
  readonly problems: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
type Report = (problem: string) => void;

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

/** A step of a new plan may be just its title; its position then becomes its id. */
function readPlan(fields: Fields, report: Report): PlanUpdate | undefined {
  if (!Array.isArray(fields['steps'])) {
    report(`.steps must be a list of steps, not ${describeValue(fields['steps'])}`);
    return undefined;
  }
  const withIds = fields['steps'].map((step: unknown, place) => {
    const stepFields = typeof step === 'string' ? { title: step } : step;
    return isObject(stepFields) ? { id: `s${place + 1}`, ...stepFields } : stepFields;
  });
  const {
    goal = '',
    assumptions = [],
    constraints = {},
    steps = [],
  } = readFields({ ...fields, steps: withIds }, report);
  const whole = steps.map(({ id, title = '', status = 'pending' as const }) => ({ id, title, status }));
  return { mode: 'replace', plan: { goal, steps: whole, assumptions, constraints } };
}

function readPatch(fields: Fields, report: Report): PlanUpdate | undefined {
  const changes = readFields(fields, report);
  const unknown = Object.keys(fields).filter((key) => key !== 'mode' && !Object.hasOwn(CHANGES.properties, key));
  for (const key of unknown) report(`.${sliceStart(key, 40)} is unknown and was ignored`);
  if (Object.keys(changes).length > 0) return { mode: 'patch', ...changes };
  report(' changes nothing: give goal, steps, remove, order, assumptions or constraints');
  return undefined;
}

function readFields(fields: Fields, report: Report): FromSchema<typeof CHANGES> {
  // `readPart` returns what follows the schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return readPart(fields, CHANGES, '', report) as FromSchema<typeof CHANGES>;
}

/** What of a value follows the schema; the rest is reported and left out. Models write numbers as ids, and null for omitted fields. */
function readPart(value: unknown, schema: JsonSchema, name: string, report: Report): unknown {
  if ('items' in schema && Array.isArray(value))
    return value
      .map((item: unknown, place) => readPart(item, schema.items, `${name}[${place}]`, report))
      .filter((item) => item !== undefined);
  if ('properties' in schema && isObject(value)) {
    const parts = Object.entries(schema.properties).flatMap(([key, property]) => {
      const isAbsent = (value[key] ?? undefined) === undefined && schema.required?.includes(key) !== true;
      const part = isAbsent ? undefined : readPart(value[key], property, `${name}.${key}`, report);
      return part === undefined ? [] : [[key, part] as const];
    });
    const isUsable = (schema.required ?? []).every((key) => parts.some(([present]) => present === key));
    return isUsable ? Object.fromEntries(parts) : undefined;
  }
  if ('additionalProperties' in schema && isObject(value)) return readConstraints(value, name, report);
  const meant = 'enum' in schema ? toWord(value) : typeof value === 'number' ? String(value) : value;
  const [problem] = checkJson(meant, schema);
  if (problem === undefined) return meant;
  report(`${name} must be ${problem.expected}, not ${describeValue(value)}`);
  return undefined;
}

/** Models write a status in other letters. */
function toWord(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const word = value.slice(0, 40).trim().toLowerCase();
  return word.replaceAll(/[\s-]+/g, '_');
}

function readConstraints(value: Fields, name: string, report: Report): Fields {
  const usable = Object.entries(value).flatMap(([key, item]) => {
    if (typeof item === 'number' || typeof item === 'string') return [[key, item] as const];
    if (typeof item === 'boolean') return [[key, String(item)] as const];
    report(`${name}: ${quoted(key)} must be a number, a string, true or false, not ${describeValue(item)}`);
    return [];
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

const CHANGES = jsonSchema.section('Changes.', {
  ...PLAN_FIELDS,
  remove: jsonSchema.list('Ids of steps to remove.', jsonSchema.text('An id.')),
  order: jsonSchema.list('Step ids in their new order.', jsonSchema.text('An id.')),
});

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
      { mode: jsonSchema.choice('Changes the previous plan.', ['patch']), ...CHANGES.properties },
      ['mode'],
    ),
  ],
} as const satisfies JsonSchema;
